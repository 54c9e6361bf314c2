// Values on devices.
#include "tools/library/client_state.h"

namespace hlo_toolkit {

using internal::BufferState;
using internal::ToStatus;

namespace {

Status None() { return {StatusCode::kInvalidArgument, "the buffer is none"}; }

}  // namespace

Buffer BufferState::Make(BufferState state) {
  Buffer made;
  made.state_ = std::make_shared<BufferState>(std::move(state));
  return made;
}

Buffer BufferState::Of(std::shared_ptr<ClientState> client, std::shared_ptr<const Shape> shape, int device,
                       const hlo::DeviceBuffer& value) {
  BufferState made{std::move(client), std::move(shape), device, {}};
  if (!made.shape->IsTuple()) made.parts.push_back(value);
  for (size_t i = 0; made.shape->IsTuple() && i < made.shape->tuple_shapes().size(); ++i)
    if (hlo::Result<hlo::DeviceBuffer> element = value.Element(i)) made.parts.push_back(std::move(*element));
  return Make(std::move(made));
}

hlo::Shape BufferState::InnerShape() const {
  if (!shape->IsTuple()) return parts.front().shape();
  std::vector<hlo::Shape> shapes;
  for (const hlo::DeviceBuffer& part : parts) shapes.push_back(part.shape());
  return hlo::Shape::MakeTuple(shapes);
}

const Shape& Buffer::shape() const {
  static const Shape none;
  return state_ ? *state_->shape : none;
}

int Buffer::device() const { return state_ ? state_->device : 0; }

bool Buffer::IsReady() const {
  return state_ == nullptr || llvm::all_of(state_->parts, [](const auto& part) { return part.IsReady(); });
}

bool Buffer::WaitFor(std::chrono::nanoseconds limit) const {
  const auto end = std::chrono::steady_clock::now() + limit;
  return state_ == nullptr || llvm::all_of(state_->parts, [&](const auto& part) {
           return part.WaitFor(std::max(end - std::chrono::steady_clock::now(), std::chrono::nanoseconds()));
         });
}

Status Buffer::Await() const {
  if (!state_) return None();
  for (const hlo::DeviceBuffer& part : state_->parts)
    if (const hlo::Status status = part.Wait(); !status) return ToStatus(status.error());
  return {};
}

StatusOr<Literal> Buffer::ToLiteral() const {
  if (!state_) return None();
  std::vector<hlo::Literal> parts;
  for (const hlo::DeviceBuffer& part : state_->parts) {
    hlo::Result<hlo::Literal> value = part.ToHost();
    if (!value) return ToStatus(value.error());
    parts.push_back(value->Unpack());
  }
  hlo::Literal whole =
      shape().IsTuple() ? hlo::Literal::MakeTuple(std::move(parts)) : std::move(parts.front());
  return internal::LiteralAccess::Make(std::move(whole), state_->shape);
}

void Buffer::Delete() {
  if (!state_) return;
  // What was donated is gone already.
  for (const hlo::DeviceBuffer& part : state_->parts) (void)part.Claim(/*donate=*/true);
}

}  // namespace hlo_toolkit
