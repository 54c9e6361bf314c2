#include "backends/client/device_buffer.h"

namespace hlo {

DeviceBuffer::DeviceBuffer(const Shape& shape, PendingLiteral value) : state_(std::make_shared<State>()) {
  state_->shape = shape;
  state_->value = std::move(value);
}

Result<PendingLiteral> DeviceBuffer::Claim(bool donate) const {
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
  HLO_TRY(const PendingLiteral value, Claim(/*donate=*/false));
  return value->Wait();
}

Result<Literal> DeviceBuffer::ToHost() const {
  HLO_TRY(const PendingLiteral value, Claim(/*donate=*/false));
  return value->Get();
}

}  // namespace hlo
