// A stream of one run, and how arrays of the host come to the GPU and back.
#pragma once
#include <array>

#include "backends/gpu/runtime/gpu.h"

namespace hlo::gpu {

/// What is asked for on a stream is done in that order. Of one thread at a time.
class Stream {
 public:
  /// Errors: those of Gpu::Call().
  static Result<std::unique_ptr<Stream>> Create(const GpuPtr& gpu);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  [[nodiscard]] Gpu& gpu() const { return *gpu_; }
  [[nodiscard]] CuStream handle() const { return stream_; }
  /// The bytes may change once this returns: they go through memory that the GPU reads by itself.
  Status ToDevice(CuDevicePtr to, const void* from, size_t bytes);
  /// Waits until the bytes are there.
  Status ToHost(void* to, CuDevicePtr from, size_t bytes);
  /// Bytes that do not overlap.
  Status Copy(CuDevicePtr to, CuDevicePtr from, size_t bytes);
  Status Wait() { return gpu_->Call(&DriverApi::StreamSynchronize, stream_); }

 private:
  /// Pinned memory; `used`: what was copied from it or into it is done.
  struct Staging {
    void* memory = nullptr;
    CuEvent used = nullptr;
  };
  static constexpr size_t kStagingBytes = size_t{4} << 20;

  explicit Stream(GpuPtr gpu) : gpu_(std::move(gpu)) {}
  Status Start();
  /// The one whose turn it is, free to be written.
  Result<Staging*> Next();

  GpuPtr gpu_;
  CuStream stream_ = nullptr;
  std::array<Staging, 2> staging_;
  size_t next_ = 0;
};

}  // namespace hlo::gpu
