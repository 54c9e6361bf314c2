// Parameters, constants, tuples: what has no operands or puts them together.
#include "hlo/ops.h"
#include "tools/library/builder_state.h"

namespace hlo_toolkit {

using internal::Emission;
using internal::Emit;
using internal::LiteralAccess;
using internal::Wrong;
using InstructionOr = hlo::Result<hlo::Instruction*>;

namespace {

/// More parameters than a computation can have (Computation::Add).
constexpr int64_t kMaxParameters = int64_t{1} << 20;

/// Whether all elements of an array, at least two, have the same bits.
bool IsSplat(const hlo::Literal& literal) {
  const size_t width = static_cast<size_t>(hlo::Info(literal.shape().element_type()).host_bytes());
  if (literal.byte_size() < 2 * width) return false;
  return std::memcmp(literal.data(), literal.data() + width, literal.byte_size() - width) == 0;
}

bool HoldsArraysOnly(const hlo::Shape& shape) {
  if (!shape.IsTuple()) return shape.IsArray();
  return llvm::all_of(shape.tuple_shapes(), HoldsArraysOnly);
}

/// `on_true` or `on_false`, tuples, by branches that return their parameters.
InstructionOr SelectTuple(Emission& e) {
  HLO_CHECK_OK(e.ScalarOf(0, hlo::ElementType::Pred, "the predicate of a choice between tuples"));
  llvm::SmallVector<hlo::Computation*, 2> branches;
  for (const size_t i : {1, 2}) {
    hlo::Module& module = e.state().module();
    hlo::Computation* branch =
        module.AddComputation(module.UniqueComputationName(module.Save(i == 1 ? "on_true" : "on_false")));
    hlo::Builder builder(*branch);
    branch->set_root(builder.Parameter(0, e.shape(i), "x"));
    e.state().Own(branch);
    branches.push_back(branch);
  }
  return e.Add(hlo::OpKind::Conditional, e.operands(), hlo::ConditionalAttrs(), branches);
}

}  // namespace

namespace ops {

XlaOp Parameter(XlaBuilder* builder, int64_t number, const Shape& shape, std::string_view name,
                Location location) {
  return Emit(builder, {}, location, [&](Emission& e) -> InstructionOr {
    HLO_TRY(hlo::Shape made, internal::ToShape(shape));
    if (number < 0 || number >= kMaxParameters)
      return Wrong("parameter {0} is beyond the numbers from 0 to {1}", number, kMaxParameters - 1);
    const auto taken = e.state().computation().parameters();
    if (static_cast<size_t>(number) < taken.size() && taken[static_cast<size_t>(number)])
      return Wrong("parameter {0} is there already, %{1}", number,
                   taken[static_cast<size_t>(number)]->name());
    hlo::ParameterAttrs attrs;
    attrs.number = number;
    return e.AddWithShape(hlo::OpKind::Parameter, std::move(made), {}, attrs, {},
                          llvm::StringRef(name.data(), name.size()));
  });
}

XlaOp ConstantLiteral(XlaBuilder* builder, const Literal& literal, Location location) {
  return Emit(builder, {}, location, [&](Emission& e) -> InstructionOr {
    const hlo::Literal* value = LiteralAccess::Get(literal);
    if (!value) return Wrong("the literal has no value");
    const hlo::Shape shape = value->shape().WithDefaultLayouts();
    if (shape.IsToken()) return e.Add(hlo::OpKind::AfterAll, {});
    if (!HoldsArraysOnly(shape)) return Wrong("a constant of {0}, which is no tuple of arrays", shape);
    if (shape.HasDynamicDimension()) return Wrong("a constant of {0}, which has dynamic dimensions", shape);
    if (!shape.IsArray() || !IsSplat(*value))
      return e.Constant(shape.IsArray() ? value->WithShape(shape) : *value);
    hlo::Literal scalar = hlo::Literal::Make(hlo::Shape::ArrayWithDefaultLayout(shape.element_type(), {}));
    std::memcpy(scalar.MutableData(), value->data(), scalar.byte_size());
    hlo::DimensionsAttrs attrs;
    return e.AddWithShape(hlo::OpKind::Broadcast, shape, {e.Constant(scalar)}, attrs);
  });
}

XlaOp Iota(XlaBuilder* builder, const Shape& shape, int64_t iota_dimension, Location location) {
  return Emit(builder, {}, location, [&](Emission& e) -> InstructionOr {
    HLO_TRY(hlo::Shape made, internal::ToShape(shape));
    if (made.HasDynamicDimension()) return Wrong("iota of {0}, which has dynamic dimensions", made);
    hlo::IotaAttrs attrs;
    attrs.iota_dimension = iota_dimension;
    return e.AddWithShape(hlo::OpKind::Iota, std::move(made), {}, attrs);
  });
}

XlaOp Iota(XlaBuilder* builder, PrimitiveType type, int64_t size, Location location) {
  return ops::Iota(builder, Shape(type, {size}), 0, location);
}

XlaOp Tuple(XlaBuilder* builder, Span<const XlaOp> elements, Location location) {
  return Emit(builder, elements, location, [&](Emission& e) -> InstructionOr {
    std::vector<hlo::Shape> shapes;
    for (const hlo::Instruction* operand : e.operands()) shapes.push_back(operand->shape());
    if (internal::IsHugeTuple(shapes)) return Wrong("a tuple of too many values or of tuples too deep");
    return e.Add(hlo::OpKind::Tuple, e.operands());
  });
}

XlaOp GetTupleElement(XlaBuilder* builder, XlaOp tuple, int64_t index, Location location) {
  return Emit(builder, {tuple}, location, [&](Emission& e) {
    hlo::GetTupleElementAttrs attrs;
    attrs.index = index;
    return e.Add(hlo::OpKind::GetTupleElement, e.operands(), attrs);
  });
}

XlaOp Select(XlaBuilder* builder, XlaOp pred, XlaOp on_true, XlaOp on_false, Location location) {
  return Emit(builder, {pred, on_true, on_false}, location, [&](Emission& e) -> InstructionOr {
    if (e.shape(1).IsTuple()) return SelectTuple(e);
    for (const size_t i : {0, 1, 2}) HLO_CHECK_OK(e.Array(i));
    // A scalar branch has the sizes of the other one, or else of the predicate.
    const size_t like = !e.shape(1).IsScalar() ? 1 : !e.shape(2).IsScalar() ? 2 : 0;
    HLO_TRY(hlo::Instruction * x, internal::BroadcastScalar(e, e.operand(1), e.shape(like)));
    HLO_TRY(hlo::Instruction * y, internal::BroadcastScalar(e, e.operand(2), e.shape(like)));
    return e.Add(hlo::OpKind::Select, {e.operand(0), x, y});
  });
}

}  // namespace ops
}  // namespace hlo_toolkit
