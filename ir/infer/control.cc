// Shape rules of calls, control flow and ordering ops (ops-structured §9, §10).
#include "ir/computation.h"
#include "ir/infer/check.h"

namespace hlo {
namespace {

/// Shapes agree as values that pass between instructions must.
bool Agree(const Shape& a, const Shape& b, const InferOptions& options, bool dynamic = true,
           bool memory_space = true) {
  if (LLVM_LIKELY(a == b)) return true;
  ShapeComparison how;
  how.layout = options.layout_sensitive;
  how.dynamic = options.layout_sensitive && options.dynamic_flags && dynamic;
  how.ignore_float_precision = options.allow_mixed_precision;
  how.ignore_memory_space = !memory_space;
  return Same(a, b, how);
}

Status CheckParameterCount(const Instruction& inst, const Computation& callee, int64_t wanted,
                           llvm::StringRef role) {
  if (static_cast<int64_t>(callee.parameters().size()) == wanted) return {};
  return RuleError("verify-callee", inst, "{0} {1} of {2} has {3} parameters, but {4} are passed", role,
                   Name(callee), Name(inst), callee.parameters().size(), wanted);
}

/// Parameter p of the callee takes operand i.
Status CheckPassed(const Instruction& inst, const Computation& callee, int64_t p, int64_t i,
                   llvm::StringRef role, const InferOptions& options, bool memory_space = true) {
  const Shape& parameter = callee.parameter(p)->shape();
  const Shape& operand = inst.operand(i)->shape();
  if (Agree(parameter, operand, options, /*dynamic=*/true, memory_space)) return {};
  Diagnostic d =
      MakeError("verify-callee", inst.loc(), "parameter {0} of {1} {2} is {3}, but {4} passes it {5}", p,
                role, Name(callee), ToString(parameter, options.layout_sensitive), Name(inst),
                ToString(operand, options.layout_sensitive));
  d.Note(callee.parameter(p)->loc(), "the parameter is defined here");
  return Error(WithOperandNote(std::move(d), inst, i));
}

Status CheckPassedAll(const Instruction& inst, const Computation& callee, llvm::StringRef role,
                      const InferOptions& options, bool memory_space = true) {
  HLO_CHECK_OK(CheckParameterCount(inst, callee, inst.operand_count(), role));
  for (int64_t i = 0; i < inst.operand_count(); ++i)
    HLO_CHECK_OK(CheckPassed(inst, callee, i, i, role, options, memory_space));
  return {};
}

Status CheckReturns(const Instruction& inst, const Computation& callee, const Shape& wanted,
                    llvm::StringRef role, const InferOptions& options, bool dynamic = true) {
  if (Agree(callee.root()->shape(), wanted, options, dynamic)) return {};
  Diagnostic d =
      MakeError("verify-callee", inst.loc(), "{0} {1} of {2} returns {3}, but must return {4}", role,
                Name(callee), Name(inst), ToString(callee.root()->shape(), options.layout_sensitive),
                ToString(wanted, options.layout_sensitive));
  d.Note(callee.root()->loc(), "the result is made here");
  return Error(std::move(d));
}

/// Value of a frontend attribute, or nothing.
std::optional<llvm::StringRef> FrontendValue(const Instruction& inst, llvm::StringRef key) {
  for (const FrontendAttribute& a : inst.extras().frontend_attributes)
    if (a.key == key) return a.value;
  return std::nullopt;
}

// §9.1 "Reject"
Status CheckComposite(const Instruction& inst) {
  const auto name = FrontendValue(inst, "composite.name"),
             attributes = FrontendValue(inst, "composite.attributes"),
             version = FrontendValue(inst, "composite.version");
  if (!name || name->empty())
    return RuleError("verify-attribute", inst,
                     "{0} has is_composite=true, but its frontend attribute 'composite.name' is {1}",
                     Name(inst), name ? "empty" : "missing");
  if (attributes && attributes->empty())
    return RuleError("verify-attribute", inst, "frontend attribute 'composite.attributes' of {0} is empty",
                     Name(inst));
  int64_t number = 0;
  if (version && (version->getAsInteger(10, number) || number < 0))
    return RuleError(
        "verify-attribute", inst,
        "frontend attribute 'composite.version' of {0} is '{1}', but must be an integer of at least 0",
        Name(inst), *version);
  return {};
}

/// The result shape with every dimension dynamic that is so in `other`, a shape of the same structure.
Shape MergeDynamic(const Shape& result, const Shape& other) {
  if (result == other || !other.HasDynamicDimension()) return result;
  if (result.IsTuple()) {
    llvm::SmallVector<Shape, 4> elements;
    for (int64_t i = 0; i < result.tuple_size(); ++i)
      elements.push_back(MergeDynamic(result.tuple_shape(i), other.tuple_shape(i)));
    return Shape::MakeTuple(elements);
  }
  if (!result.IsArray()) return result;
  llvm::SmallVector<bool, 8> dynamic;
  for (int64_t d = 0; d < result.rank(); ++d) dynamic.push_back(result.is_dynamic(d) || other.is_dynamic(d));
  const Shape merged = Shape::Array(result.element_type(), result.dims(), dynamic);
  return result.has_layout() ? merged.WithLayout(result.layout()) : merged;
}

}  // namespace

// §9.2
Result<Shape> InferWhile(const Instruction& inst, const InferOptions& options) {
  HLO_TRY(const Computation* body, Callee(inst, 0));
  HLO_TRY(const Computation* condition, Callee(inst, 1));
  HLO_CHECK_OK(CheckPassedAll(inst, *condition, "condition", options));
  HLO_CHECK_OK(CheckPassedAll(inst, *body, "body", options));
  if (!condition->root()->shape().IsScalarOf(ElementType::Pred))
    return RuleError("verify-callee", inst, "condition {0} of {1} returns {2}, but must return pred[]",
                     Name(*condition), Name(inst), condition->root()->shape());
  const Shape& init = inst.operand(0)->shape();
  HLO_CHECK_OK(CheckReturns(inst, *body, init, "body", options));
  return init;
}

// §9.3
Result<Shape> InferConditional(const Instruction& inst, const InferOptions& options) {
  const Shape& selector = inst.operand(0)->shape();
  const auto branches = static_cast<int64_t>(inst.callees().size());
  const bool by_pred = selector.IsScalarOf(ElementType::Pred);
  if (!by_pred && !selector.IsScalarOf(ElementType::S32))
    return OperandError("verify-operand-type", inst, 0, "selector of {0} is {1}, but must be pred[] or s32[]",
                        Name(inst), selector);
  if (branches < 1 || (by_pred && branches != 2))
    return RuleError("verify-callee", inst, "{0} has {1} branches, but selector {2} needs {3}", Name(inst),
                     branches, selector, by_pred ? "2" : "at least 1");
  if (inst.operand_count() != branches + 1)
    return RuleError("verify-operand-count", inst,
                     "{0} has {1} operands, but needs a selector and one for each of {2} branches",
                     Name(inst), inst.operand_count(), branches);
  Shape result;
  for (int64_t b = 0; b < branches; ++b) {
    HLO_TRY(const Computation* branch, Callee(inst, b));
    HLO_CHECK_OK(CheckParameterCount(inst, *branch, 1, "branch"));
    HLO_CHECK_OK(CheckPassed(inst, *branch, 0, b + 1, "branch", options));
    const Shape& made = branch->root()->shape();
    if (b == 0) {
      result = made;
      continue;
    }
    // Which dimensions are dynamic is put together from all branches.
    HLO_CHECK_OK(CheckReturns(inst, *branch, result, "branch", options, /*dynamic=*/false));
    result = MergeDynamic(result, made);
  }
  return result;
}

// §9.1
Result<Shape> InferCall(const Instruction& inst, const InferOptions& options) {
  HLO_TRY(const Computation* callee, Callee(inst));
  HLO_CHECK_OK(CheckPassedAll(inst, *callee, "computation", options));
  if (inst.attr<CallAttrs>().is_composite) HLO_CHECK_OK(CheckComposite(inst));
  return callee->root()->shape();
}

// §9.4; the structure of the body is checked by the verifier.
Result<Shape> InferFusion(const Instruction& inst, const InferOptions& options) {
  HLO_TRY(const Computation* callee, Callee(inst));
  // In which memory values lie is written inside of fusions late (memory-space-propagation).
  HLO_CHECK_OK(CheckPassedAll(inst, *callee, "computation", options, /*memory_space=*/false));
  return callee->root()->shape();
}

// §10: the shape is what is written; aliases and layout constraints are checked by the verifier.
Result<Shape> InferCustomCall(const Instruction& inst, const InferOptions&) { return inst.shape(); }

Result<Shape> InferOptimizationBarrier(const Instruction& inst, const InferOptions&) {
  return inst.operand(0)->shape();
}

Result<Shape> InferDomain(const Instruction& inst, const InferOptions&) { return inst.operand(0)->shape(); }

// §9.6
Result<Shape> InferAfterAll(const Instruction& inst, const InferOptions&) {
  for (int64_t i = 0; i < inst.operand_count(); ++i)
    if (!inst.operand(i)->shape().IsToken())
      return OperandError("verify-operand-type", inst, i,
                          "operand {0} of {1} is {2}, but after-all joins tokens", i, Name(inst),
                          inst.operand(i)->shape());
  return Shape::MakeToken();
}

Result<Shape> InferAddDependency(const Instruction& inst, const InferOptions&) {
  if (!inst.operand(1)->shape().IsToken())
    return OperandError("verify-operand-type", inst, 1, "operand 1 of {0} is {1}, but must be a token",
                        Name(inst), inst.operand(1)->shape());
  return inst.operand(0)->shape();
}

}  // namespace hlo
