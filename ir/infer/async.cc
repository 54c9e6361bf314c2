// Shape rules of asynchronous pairs: copy-start/done, async-start/update/done (ops-structured §9.5, §9.6).
#include "ir/computation.h"
#include "ir/infer/check.h"

namespace hlo {
namespace {

/// `shapes` begins with as many elements of `wanted` as it has.
bool IsPrefix(llvm::ArrayRef<Shape> shapes, llvm::ArrayRef<Shape> wanted) {
  if (shapes.size() > wanted.size()) return false;
  for (size_t i = 0; i < shapes.size(); ++i)
    if (!Compatible(shapes[i], wanted[i])) return false;
  return true;
}

/// ((operands…), result, contexts…)
Status CheckForm(const Instruction& inst) {
  const Shape& shape = inst.shape();
  if (shape.IsTuple() && shape.tuple_size() >= 2 && shape.tuple_shape(0).IsTuple()) return {};
  return RuleError("verify-shape", inst, "{0} is declared {1}, but {2} makes ((operands, ...), result, ...)",
                   Name(inst), shape, ToString(inst.kind()));
}

/// The async-start at the head of the chain that operand 0 belongs to; null if there is none.
const Instruction* FindStart(const Instruction& inst) {
  const Instruction* at = inst.operand_count() > 0 ? inst.operand(0) : nullptr;
  while (at && at->kind() == OpKind::AsyncUpdate) at = at->operand_count() > 0 ? at->operand(0) : nullptr;
  return at && at->kind() == OpKind::AsyncStart ? at : nullptr;
}

Result<const Computation*> Wrapped(const Instruction& inst) {
  const Instruction* start = FindStart(inst);
  if (!start)
    return OperandError("verify-async", inst, 0,
                        "operand 0 of {0} is {1}, a {2}, but must be an async-start or async-update",
                        Name(inst), Name(*inst.operand(0)), ToString(inst.operand(0)->kind()));
  return Callee(*start);
}

/// Elements 0 and 1 of a start's or update's shape against the wrapped computation. Late binding: a
/// prefix of the parameters may be bound, and the result may be `()` so far.
Status CheckAgainstWrapped(const Instruction& inst, const Computation& wrapped) {
  const Shape& bound = inst.shape().tuple_shape(0);
  const Shape& result = inst.shape().tuple_shape(1);
  const std::vector<Shape> parameters = wrapped.ParameterShapes();
  if (!IsPrefix(bound.tuple_shapes(), parameters))
    return RuleError("verify-async", inst, "{0} binds {1}, but {2} takes {3}", Name(inst), bound,
                     Name(wrapped), Shape::MakeTuple(parameters));
  const Shape& made = wrapped.root()->shape();
  const bool unbound =
      bound.tuple_shapes().size() < parameters.size() && result.IsTuple() && result.tuple_size() == 0;
  if (!unbound && !Compatible(result, made))
    return RuleError("verify-async", inst, "{0} is declared to make {1}, but {2} returns {3}", Name(inst),
                     result, Name(wrapped), made);
  return {};
}

/// The update takes over what the one before it has bound and made. What is true of that one needs no look
/// at the head of the chain, which may be long.
bool ChangesNothing(const Instruction& update) {
  const Instruction& before = *update.operand(0);
  return before.kind() == OpKind::AsyncUpdate && update.operand_count() == 1 &&
         update.shape().tuple_shape(0) == before.shape().tuple_shape(0) &&
         update.shape().tuple_shape(1) == before.shape().tuple_shape(1);
}

Status CheckBindsOperands(const Instruction& inst, llvm::ArrayRef<Shape> before, int64_t first_operand) {
  const auto bound = inst.shape().tuple_shape(0).tuple_shapes();
  const auto fresh = inst.operands().drop_front(static_cast<size_t>(first_operand));
  bool fits = bound.size() == before.size() + fresh.size() && IsPrefix(before, bound);
  for (size_t i = 0; fits && i < fresh.size(); ++i)
    fits = Compatible(bound[before.size() + i], fresh[i]->shape());
  if (fits) return {};
  llvm::SmallVector<Shape, 4> wanted(before);
  for (const Instruction* operand : fresh) wanted.push_back(operand->shape());
  return RuleError("verify-async", inst, "{0} is declared to hold {1}, but its operands are {2}", Name(inst),
                   inst.shape().tuple_shape(0), Shape::MakeTuple(wanted));
}

}  // namespace

Result<Shape> InferCopyStart(const Instruction& inst, const InferOptions&) {
  const Shape& x = inst.operand(0)->shape();
  const Shape context = Shape::ArrayWithDefaultLayout(ElementType::U32, {});
  const Shape& shape = inst.shape();
  // The destination may lie elsewhere, so its written layout stands.
  if (shape.IsTuple() && shape.tuple_size() == 3 && Compatible(shape.tuple_shape(0), x))
    return TupleResult(inst, {shape.tuple_shape(0), x, context});
  return Shape::MakeTuple({x, x, context});
}

Result<Shape> InferCopyDone(const Instruction& inst, const InferOptions&) {
  const Instruction& start = *inst.operand(0);
  // That it is a copy-start is the verifier's rule; parsed forms only need the parts.
  if (!start.shape().IsTuple() || start.shape().tuple_size() < 2)
    return OperandError("verify-async", inst, 0,
                        "operand 0 of {0} is {1} of shape {2}, but must be a copy-start", Name(inst),
                        Name(start), start.shape());
  const Shape& dest = start.shape().tuple_shape(0);
  if (!Compatible(dest, start.shape().tuple_shape(1)))
    return OperandError("verify-async", inst, 0, "{0} copies {1} to {2}, which differ", Name(start),
                        start.shape().tuple_shape(1), dest);
  return dest;
}

Result<Shape> InferAsyncStart(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckForm(inst));
  HLO_TRY(const Computation* wrapped, Callee(inst));
  HLO_CHECK_OK(CheckAgainstWrapped(inst, *wrapped));
  HLO_CHECK_OK(CheckBindsOperands(inst, {}, 0));
  return inst.shape();
}

Result<Shape> InferAsyncUpdate(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckForm(inst));
  const Shape& before = inst.operand(0)->shape();
  const bool formed = before.IsTuple() && before.tuple_size() >= 2 && before.tuple_shape(0).IsTuple();
  if (formed && ChangesNothing(inst)) return inst.shape();
  HLO_TRY(const Computation* wrapped, Wrapped(inst));
  if (!formed)
    return OperandError("verify-async", inst, 0,
                        "operand 0 of {0} is {1}, but must be ((operands, ...), result, ...)", Name(inst),
                        before);
  HLO_CHECK_OK(CheckAgainstWrapped(inst, *wrapped));
  HLO_CHECK_OK(CheckBindsOperands(inst, before.tuple_shape(0).tuple_shapes(), 1));
  return inst.shape();
}

Result<Shape> InferAsyncDone(const Instruction& inst, const InferOptions&) {
  HLO_TRY(const Computation* wrapped, Wrapped(inst));
  const Shape& before = inst.operand(0)->shape();
  const bool formed = before.IsTuple() && before.tuple_size() >= 2 && before.tuple_shape(0).IsTuple();
  if (!formed || before.tuple_shape(0).tuple_shapes().size() != wrapped->parameters().size())
    return OperandError("verify-async", inst, 0,
                        "{0} ends {1} of shape {2}, but all {3} parameters of {4} must be bound", Name(inst),
                        Name(*inst.operand(0)), before, wrapped->parameters().size(), Name(*wrapped));
  return wrapped->root()->shape();
}

}  // namespace hlo
