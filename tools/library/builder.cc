#include "hlo/builder.h"

#include "ir/print.h"
#include "tools/library/builder_state.h"

namespace hlo_toolkit {

using internal::BuilderState;
using internal::ToStatus;

XlaBuilder::XlaBuilder(std::string_view name)
    : name_(name), state_(std::make_unique<BuilderState>(this, name)) {}
XlaBuilder::XlaBuilder(Client* client, std::string_view name) : XlaBuilder(name) { client_ = client; }
XlaBuilder::~XlaBuilder() = default;

void XlaBuilder::set_die_immediately_on_error(bool enabled) { state_->set_die(enabled); }
const Status& XlaBuilder::first_error() const { return state_->error(); }

XlaOp XlaBuilder::ReportError(const Status& error, Location location) {
  if (!error.ok()) return state_->Fail(error, location);
  return state_->Fail({StatusCode::kInternal, "an error without one was reported"}, location);
}

Status XlaBuilder::SetReturnValue(XlaOp operand, Location location) {
  if (!first_error().ok()) return first_error();
  const auto found = state_->Find(operand, "the return value");
  if (found)
    state_->set_return_value(*found);
  else
    state_->Fail(ToStatus(found.error()), location);
  return first_error();
}

StatusOr<XlaComputation> XlaBuilder::Build(Location location) {
  if (!first_error().ok()) return first_error();
  if (!state_->root())
    return state_->Fail({StatusCode::kFailedPrecondition, "nothing was enqueued"}, location), first_error();
  auto made = state_->Finish(state_->root());
  if (made) return *made;
  state_->Fail(ToStatus(made.error()), state_->PlaceOf(made.error(), location));
  return first_error();
}

StatusOr<XlaComputation> XlaBuilder::Build(XlaOp root, Location location) {
  Status status = SetReturnValue(root, location);
  if (!status.ok()) return status;
  return Build(location);
}

XlaComputation XlaBuilder::BuildAndNoteError(Location location) {
  StatusOr<XlaComputation> made = Build(location);
  if (made.ok()) return *made;
  if (parent_)
    parent_->ReportError({made.status().code(), "error from: " + name_ + ": " + made.status().message()},
                         location);
  return {};
}

std::unique_ptr<XlaBuilder> XlaBuilder::CreateSubBuilder(std::string_view name) {
  auto made = std::make_unique<XlaBuilder>(client_, name);
  BecomeParentOf(*made);
  return made;
}

void XlaBuilder::BecomeParentOf(XlaBuilder& child) {
  child.parent_ = this;
  child.state_->set_die(state_->die());
}

StatusOr<Shape> XlaBuilder::GetShape(XlaOp operand) const {
  if (!first_error().ok()) return first_error();
  const auto found = state_->Find(operand, "the operand");
  if (!found) return ToStatus(found.error());
  return internal::FromShape((*found)->shape().WithoutLayout());
}

StatusOr<ProgramShape> XlaBuilder::GetProgramShape() const {
  if (!first_error().ok()) return first_error();
  ProgramShape shape;
  for (const hlo::Instruction* parameter : state_->computation().parameters()) {
    shape.parameters.push_back(parameter ? internal::FromShape(parameter->shape()) : Shape());
    shape.parameter_names.push_back(parameter ? parameter->name().str() : "");
  }
  if (state_->root()) shape.result = internal::FromShape(state_->root()->shape());
  return shape;
}

XlaOp XlaBuilder::CheckShape(XlaOp operand, const Shape& expected, Location location) {
  if (!first_error().ok()) return state_->Fail({}, location);
  const auto found = state_->Find(operand, "the operand");
  if (!found) return state_->Fail(ToStatus(found.error()), location);
  const auto wanted = internal::ToShape(expected);
  if (!wanted) return state_->Fail(ToStatus(wanted.error()), location);
  if (hlo::Compatible((*found)->shape(), *wanted)) return operand;
  return state_->Fail(
      {StatusCode::kInvalidArgument, "the shape is " + hlo::ToString((*found)->shape(), false) + ", but " +
                                         expected.ToString() + " was expected"},
      location);
}

void XlaBuilder::CheckSameShape(XlaOp lhs, XlaOp rhs, Location location) {
  const StatusOr<Shape> expected = GetShape(rhs);
  if (expected.ok())
    CheckShape(lhs, *expected, location);
  else
    state_->Fail(expected.status(), location);
}

void XlaBuilder::Trace(std::string_view /*tag*/, XlaOp operand, Location location) {
  if (!first_error().ok()) return;
  const auto found = state_->Find(operand, "the operand");
  if (!found) state_->Fail(ToStatus(found.error()), location);
}

std::string XlaBuilder::ToString() const {
  const hlo::Module* module = state_->Current();
  return module ? hlo::ToString(*module) : "";
}

}  // namespace hlo_toolkit
