#include "backends/client/device_buffer.h"

namespace hlo {

DeviceBuffer::DeviceBuffer(const Shape& shape, PendingValue value) : state_(std::make_shared<State>()) {
  state_->shape = shape;
  state_->value = std::move(value);
}

namespace {

/// Elements of a tuple that are still to come.
struct Gathering {
  std::mutex mutex;
  std::vector<Literal> elements;
  size_t missing = 0;
  std::optional<Diagnostic> error;
  PendingValue whole = std::make_shared<Pending<DeviceValue>>();

  void Take(size_t number, Result<Literal> value) {
    std::unique_lock lock(mutex);
    if (value)
      elements[number] = std::move(*value);
    else if (!error)
      error = std::move(value).error();
    if (--missing != 0) return;
    lock.unlock();
    // Nobody else comes.
    if (error)
      whole->Set(Error(std::move(*error)));
    else
      whole->Set(DeviceValue(Literal::MakeTuple(std::move(elements))));
  }
};

}  // namespace

Result<DeviceBuffer> DeviceBuffer::OfElements(llvm::ArrayRef<DeviceBuffer> elements, bool donate) {
  std::vector<PendingValue> claimed;
  std::vector<Shape> shapes;
  for (const DeviceBuffer& element : elements) {
    HLO_TRY(claimed.emplace_back(), element.Claim(/*donate=*/false));
    shapes.push_back(element.shape());
  }
  // Not before all are there; one may stand there several times.
  if (donate)
    for (const DeviceBuffer& element : elements) (void)element.Claim(/*donate=*/true);
  const auto gathering = std::make_shared<Gathering>();
  gathering->elements.resize(elements.size());
  gathering->missing = elements.size();
  if (elements.empty()) gathering->whole->Set(DeviceValue(Literal::MakeTuple({})));
  for (size_t i = 0; i < elements.size(); ++i)
    claimed[i]->Then([gathering, i](const Result<DeviceValue>& value) {
      gathering->Take(i, value ? value->ToHost() : Result<Literal>(Error(value.error())));
    });
  return DeviceBuffer(Shape::MakeTuple(shapes), gathering->whole);
}

Result<DeviceBuffer> DeviceBuffer::Element(size_t number) const {
  HLO_TRY(const PendingValue tuple, Claim(/*donate=*/false));
  auto element = std::make_shared<Pending<DeviceValue>>();
  tuple->Then([element, number](const Result<DeviceValue>& value) {
    if (value)
      element->Set(DeviceValue(value->host().elements()[number]));
    else
      element->Set(Error(value.error()));
  });
  return DeviceBuffer(shape().tuple_shapes()[number], std::move(element));
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
