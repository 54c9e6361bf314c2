#include "backends/gpu/runtime/device_array.h"

namespace hlo::gpu {

Result<DeviceMemoryBlock> ArrayMemory::Take(int64_t bytes) {
  std::map<int64_t, std::vector<DeviceMemoryBlock>> unfit;
  {
    const std::lock_guard lock(mutex_);
    if (const auto kept = idle_.find(bytes); kept != idle_.end() && !kept->second.empty()) {
      DeviceMemoryBlock block = std::move(kept->second.back());
      kept->second.pop_back();
      return block;
    }
  }
  Result<DeviceMemoryBlock> block = DeviceMemoryBlock::Allocate(gpu_, bytes);
  if (block || block.error().id != "limit-memory") return block;
  {
    const std::lock_guard lock(mutex_);
    unfit.swap(idle_);
  }
  if (unfit.empty()) return block;
  unfit.clear();
  return DeviceMemoryBlock::Allocate(gpu_, bytes);
}

void ArrayMemory::Give(int64_t bytes, DeviceMemoryBlock block) {
  const std::lock_guard lock(mutex_);
  std::vector<DeviceMemoryBlock>& kept = idle_[bytes];
  if (kept.size() < kMostOfOneSize) kept.push_back(std::move(block));
}

Result<std::shared_ptr<GpuArray>> GpuArray::Make(std::shared_ptr<ArrayMemory> memory, const Shape& shape) {
  // As on the host: elements narrower than a byte take one each.
  const int64_t bytes = shape.ElementCount() * Info(shape.element_type()).host_bytes();
  DeviceMemoryBlock block;
  if (bytes != 0) {
    HLO_TRY(block, memory->Take(bytes));
  }
  return std::shared_ptr<GpuArray>(new GpuArray(std::move(memory), shape, bytes, std::move(block)));
}

std::shared_ptr<GpuArray> GpuArray::Renamed(std::shared_ptr<GpuArray> array, const Shape& shape) {
  if (array->shape() == shape) return array;
  const int64_t bytes = std::exchange(array->bytes_, 0);
  return std::shared_ptr<GpuArray>(new GpuArray(array->memory_, shape, bytes, std::move(array->block_)));
}

GpuArray::~GpuArray() {
  if (bytes_ != 0) memory_->Give(bytes_, std::move(block_));
}

Result<Literal> GpuArray::ToHost() const {
  Literal array = Literal::Make(shape());
  HLO_CHECK_OK(memory_->gpu()->MakeCurrent());
  HLO_TRY(const std::unique_ptr<Stream> stream, Stream::Create(memory_->gpu()));
  HLO_CHECK_OK(stream->ToHost(array.MutableData(), address(), array.byte_size()));
  return array;
}

}  // namespace hlo::gpu
