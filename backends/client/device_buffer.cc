#include "backends/client/device_buffer.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace hlo {

DeviceBuffer::DeviceBuffer(const Shape& shape, PendingValue value) : state_(std::make_shared<State>()) {
  state_->shape = shape;
  state_->value = std::move(value);
}

namespace {

/// Elements of a tuple that are still to come.
struct Gathering {
  std::mutex mutex;
  std::vector<DeviceValue> elements;
  size_t missing = 0;
  std::optional<Diagnostic> error;
  PendingValue whole = std::make_shared<Pending<DeviceValue>>();

  void Take(size_t number, const Result<DeviceValue>& value) {
    std::unique_lock lock(mutex);
    if (value)
      elements[number] = *value;
    else if (!error)
      error = value.error();
    if (--missing != 0) return;
    lock.unlock();
    // Nobody else comes.
    if (error)
      whole->Set(Error(std::move(*error)));
    else
      whole->Set(DeviceValue::OfElements(std::move(elements)));
  }
};

}  // namespace

Result<DeviceBuffer> DeviceBuffer::OfElements(llvm::ArrayRef<DeviceBuffer> elements, bool donate) {
  std::vector<std::pair<const DeviceBuffer*, bool>> wanted;
  std::vector<Shape> shapes;
  for (const DeviceBuffer& element : elements) {
    wanted.emplace_back(&element, donate);
    shapes.push_back(element.shape());
  }
  HLO_TRY(const std::vector<PendingValue> claimed, ClaimAll(wanted));
  const auto gathering = std::make_shared<Gathering>();
  gathering->elements.resize(elements.size());
  gathering->missing = elements.size();
  if (elements.empty()) gathering->whole->Set(DeviceValue(Literal::MakeTuple({})));
  for (size_t i = 0; i < elements.size(); ++i)
    claimed[i]->Then([gathering, i](const Result<DeviceValue>& value) { gathering->Take(i, value); });
  return DeviceBuffer(Shape::MakeTuple(shapes), gathering->whole);
}

Result<DeviceBuffer> DeviceBuffer::Element(size_t number) const {
  HLO_TRY(const PendingValue tuple, Claim(/*donate=*/false));
  auto element = std::make_shared<Pending<DeviceValue>>();
  tuple->Then([element, number](const Result<DeviceValue>& value) {
    if (value)
      element->Set(value->Element(number));
    else
      element->Set(Error(value.error()));
  });
  return DeviceBuffer(shape().tuple_shapes()[number], std::move(element));
}

Result<std::vector<PendingValue>> DeviceBuffer::ClaimAll(
    llvm::ArrayRef<std::pair<const DeviceBuffer*, bool>> buffers) {
  std::vector<PendingValue> claimed;
  for (const auto& [buffer, donate] : buffers) {
    HLO_TRY(claimed.emplace_back(), buffer->Claim(/*donate=*/false));
  }
  if (llvm::none_of(buffers, [](const auto& wanted) { return wanted.second; })) return claimed;
  // Of two that want the same ones each would have some otherwise.
  static std::mutex donation;
  const std::lock_guard donating(donation);
  for (const auto& [buffer, donate] : buffers)
    if (donate) HLO_CHECK_OK(buffer->Claim(/*donate=*/false));
  llvm::SmallPtrSet<const Pending<DeviceValue>*, 8> given;
  for (const auto [number, wanted] : llvm::enumerate(buffers))
    if (wanted.second && given.insert(claimed[number].get()).second)
      HLO_CHECK_OK(wanted.first->Claim(/*donate=*/true));
  return claimed;
}

Result<PendingValue> DeviceBuffer::Claim(bool donate) const {
  const std::lock_guard lock(state_->mutex);
  if (state_->value == nullptr)
    return Error("runtime-buffer", {}, "a buffer {0} is used that was donated to a run before",
                 state_->shape);
  // Who claimed it earlier still has it: then the run gets memory of its own instead.
  return donate ? std::exchange(state_->value, nullptr) : state_->value;
}

bool DeviceBuffer::IsReady() const {
  const std::lock_guard lock(state_->mutex);
  return state_->value != nullptr && state_->value->IsSet();
}

bool DeviceBuffer::WaitFor(std::chrono::nanoseconds limit) const {
  const Result<PendingValue> value = Claim(/*donate=*/false);
  return !value || (*value)->WaitFor(limit);
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
