// Arrays that stay on a GPU between runs.
#pragma once
#include <map>
#include <mutex>

#include "backends/device_value.h"
#include "backends/gpu/runtime/stream.h"

namespace hlo::gpu {

/// Memory of arrays that are gone, for those that come: programs that run again want the same sizes. A few
/// blocks of each size are kept.
class ArrayMemory {
 public:
  explicit ArrayMemory(GpuPtr gpu) : gpu_(std::move(gpu)) {}
  [[nodiscard]] const GpuPtr& gpu() const { return gpu_; }
  /// What is kept goes where there is no other memory. Errors: those of DeviceMemoryBlock::Allocate().
  Result<DeviceMemoryBlock> Take(int64_t bytes);
  void Give(int64_t bytes, DeviceMemoryBlock block);

 private:
  static constexpr size_t kMostOfOneSize = 4;
  GpuPtr gpu_;
  std::mutex mutex_;
  std::map<int64_t, std::vector<DeviceMemoryBlock>> idle_;  // by bytes
};

/// An array in memory of its own.
class GpuArray final : public DeviceArray {
 public:
  /// Errors: those of ArrayMemory::Take().
  static Result<std::shared_ptr<GpuArray>> Make(std::shared_ptr<ArrayMemory> memory, const Shape& shape);
  /// What was written into the memory of one that nobody else has.
  static std::shared_ptr<GpuArray> Renamed(std::shared_ptr<GpuArray> array, const Shape& shape);
  ~GpuArray() override;
  [[nodiscard]] const Gpu& gpu() const { return *memory_->gpu(); }
  [[nodiscard]] CuDevicePtr address() const { return block_.address(); }
  [[nodiscard]] int64_t bytes() const { return bytes_; }
  [[nodiscard]] Result<Literal> ToHost() const override;

 private:
  GpuArray(std::shared_ptr<ArrayMemory> memory, const Shape& shape, int64_t bytes, DeviceMemoryBlock block)
      : DeviceArray(shape), memory_(std::move(memory)), bytes_(bytes), block_(std::move(block)) {}
  std::shared_ptr<ArrayMemory> memory_;
  int64_t bytes_;
  DeviceMemoryBlock block_;
};

}  // namespace hlo::gpu
