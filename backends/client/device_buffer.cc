#include "backends/client/device_buffer.h"

namespace hlo {

DeviceBuffer::DeviceBuffer(const Shape& shape, PendingValue value) : state_(std::make_shared<State>()) {
  state_->shape = shape;
  state_->value = std::move(value);
}

Result<PendingValue> DeviceBuffer::Claim(bool donate) const {
  const std::lock_guard lock(state_->mutex);
  if (state_->value == nullptr)
    return Error("usage-name", {}, "a buffer {0} is used that was donated to a run before", state_->shape);
  // Who claimed it earlier still has it: then the run gets memory of its own instead.
  return donate ? std::exchange(state_->value, nullptr) : state_->value;
}

bool DeviceBuffer::IsReady() const {
  const std::lock_guard lock(state_->mutex);
  return state_->value != nullptr && state_->value->IsSet();
}

Status DeviceBuffer::Wait() const {
  HLO_TRY(const PendingValue value, Claim(/*donate=*/false));
  return value->Wait();
}

Result<DeviceValue> DeviceBuffer::Value() const {
  HLO_TRY(const PendingValue value, Claim(/*donate=*/false));
  return value->Get();
}

Result<Literal> DeviceBuffer::ToHost() const {
  HLO_TRY(DeviceValue value, Value());
  return std::move(value).ToHost();
}

}  // namespace hlo
