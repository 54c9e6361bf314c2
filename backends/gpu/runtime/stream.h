// A stream of one run, and how arrays of the host come to the GPU and back.
#pragma once
#include <array>

#include "backends/gpu/runtime/gpu.h"

namespace hlo::gpu {

/// A point in the work of a stream.
class Event {
 public:
  Event() = default;
  /// Errors: those of Gpu::Call().
  static Result<Event> Create(const GpuPtr& gpu, bool timed);
  Event(Event&& o) noexcept : gpu_(std::move(o.gpu_)), event_(o.event_) { o.gpu_.reset(); }
  Event& operator=(Event&& o) noexcept {
    std::swap(gpu_, o.gpu_);
    std::swap(event_, o.event_);
    return *this;
  }
  ~Event();
  [[nodiscard]] CuEvent handle() const { return event_; }

 private:
  GpuPtr gpu_;  // null: there is nothing
  CuEvent event_ = nullptr;
};

/// What is asked for on a stream is done in that order. Of one thread at a time.
class Stream {
 public:
  /// Errors: those of Gpu::Call().
  static Result<std::unique_ptr<Stream>> Create(const GpuPtr& gpu);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  [[nodiscard]] Gpu& gpu() const { return *gpu_; }
  [[nodiscard]] const GpuPtr& gpu_ptr() const { return gpu_; }
  [[nodiscard]] CuStream handle() const { return stream_; }
  /// The bytes may change once this returns: they go through memory that the GPU reads by itself.
  Status ToDevice(CuDevicePtr to, const void* from, size_t bytes);
  /// The bytes are there after the next Arrive(); what several calls ask for travels together.
  Status ToHostLater(void* to, CuDevicePtr from, size_t bytes);
  Status Arrive();
  /// Waits until the bytes are there.
  Status ToHost(void* to, CuDevicePtr from, size_t bytes) {
    HLO_CHECK_OK(ToHostLater(to, from, bytes));
    return Arrive();
  }
  /// Bytes that do not overlap.
  Status Copy(CuDevicePtr to, CuDevicePtr from, size_t bytes);
  Status Record(const Event& event) { return gpu_->Call(&DriverApi::EventRecord, event.handle(), stream_); }
  /// What is asked for from now on waits for the event.
  Status WaitFor(const Event& event) {
    return gpu_->Call(&DriverApi::StreamWaitEvent, stream_, event.handle(), 0U);
  }
  Status Wait() { return gpu_->Call(&DriverApi::StreamSynchronize, stream_); }

 private:
  /// Bytes on their way into staging memory, and where they belong.
  struct Arrival {
    void* to;
    const uint8_t* from;
    size_t bytes;
  };
  /// Pinned memory, filled piece by piece. `used`: what was copied from it or into it is done.
  struct Staging {
    uint8_t* memory = nullptr;
    size_t filled = 0;
    Event used;
    std::vector<Arrival> arrivals;
  };
  static constexpr size_t kStagingBytes = size_t{4} << 20;
  /// Pieces begin at its multiples.
  static constexpr size_t kStagingAlignment = 256;

  explicit Stream(GpuPtr gpu) : gpu_(std::move(gpu)) {}
  Status Start();
  /// Staging memory for at least one and at most `most` bytes, which are `bytes`.
  Result<uint8_t*> Take(size_t most, size_t& bytes);
  /// Waits for what it is used for: it is free then.
  Status Finish(Staging& staging);

  GpuPtr gpu_;
  CuStream stream_ = nullptr;
  /// One is filled while the other is used.
  std::array<Staging, 2> staging_;
  size_t turn_ = 0;
};

}  // namespace hlo::gpu
