#include "ir/infer/infer.h"

#include "ir/infer/check.h"
#include "ir/locate.h"

namespace hlo {
namespace {

Status CheckOperandCount(const Instruction& inst, const OpInfo& info) {
  const int64_t count = inst.operand_count();
  if (LLVM_LIKELY(count >= info.min_operands &&
                  (info.max_operands == OpInfo::kVariadic || count <= info.max_operands)))
    return {};
  return RuleError("verify-operand-count", inst, "{0} has {1} operands, but {2} takes {3}{4}", Name(inst),
                   count, info.text, info.HasFixedArity() ? "" : "at least ",
                   static_cast<int>(info.min_operands));
}

/// The Types column of the op table.
Status CheckOperandType(const Instruction& inst, const OpInfo& info) {
  if (info.operand_types == 0) return {};
  const Shape& shape = inst.operand(0)->shape();
  HLO_CHECK_OK(CheckArray(inst, 0));
  if (LLVM_LIKELY(info.AllowsOperandType(shape.element_type()))) return {};
  static constexpr struct {
    TypeClass type_class;
    llvm::StringRef text;
  } kClasses[] = {{TypeClass::Pred, "pred"},
                  {TypeClass::Signed, "signed"},
                  {TypeClass::Unsigned, "unsigned"},
                  {TypeClass::Float, "floating"},
                  {TypeClass::Complex, "complex"}};
  std::string allowed;
  for (const auto& c : kClasses)
    if ((info.operand_types >> static_cast<int>(c.type_class) & 1) != 0)
      allowed += (allowed.empty() ? "" : ", ") + c.text.str();
  return OperandError("verify-operand-type", inst, 0, "operand 0 of {0} is {1}, but {2} takes {3} elements",
                      Name(inst), shape, info.text, allowed);
}

/// Floating operands have one type (ops-structured §1.2 rule 4).
Status CheckOnePrecision(const Instruction& inst) {
  const Instruction* first = nullptr;
  for (int64_t i = 0; i < inst.operand_count(); ++i) {
    const Instruction* operand = inst.operand(i);
    const Shape& shape = operand->shape();
    if (!IsFloat(shape.element_type())) continue;
    if (!first) first = operand;
    if (LLVM_LIKELY(first->shape().element_type() == shape.element_type())) continue;
    return OperandError("verify-mixed-precision", inst, i, "{0} mixes floating types: {1} is {2}, {3} is {4}",
                        Name(inst), Name(*first), first->shape(), Name(*operand), shape);
  }
  return {};
}

}  // namespace

InferFn InferRule(OpKind kind) {
  static constexpr InferFn kRules[] = {
#define HLO_OP(Kind, text, min, max, Attrs, Category, Traits, Types, Rounding, Shape_, Eval) &Infer##Shape_,
#include "ir/ops.def"
  };
  return kRules[static_cast<size_t>(kind)];
}

Result<Shape> InferShape(const Instruction& inst, const InferOptions& options) {
  const OpInfo& info = Info(inst.kind());
  HLO_CHECK_OK(CheckOperandCount(inst, info));
  HLO_CHECK_OK(CheckOperandType(inst, info));
  if (!options.allow_mixed_precision && !info.Is(kMixed)) HLO_CHECK_OK(CheckOnePrecision(inst));
  return InferRule(inst.kind())(inst, options);
}

Status CheckWrittenShape(const Instruction& inst, const Shape& inferred, const ShapeComparison& how) {
  if (LLVM_LIKELY(inst.shape() == inferred) || Same(inst.shape(), inferred, how)) return {};
  const bool layouts = how.layout;
  Diagnostic d =
      MakeError("verify-shape", LocateShape(inst), "{0} is declared {1} but {2} has shape {3}", Name(inst),
                ToString(inst.shape(), layouts), Describe(inst), ToString(inferred, layouts));
  for (int64_t i = 0; i < std::min<int64_t>(inst.operand_count(), 2); ++i)
    d = WithOperandNote(std::move(d), inst, i);
  return Error(std::move(d));
}

}  // namespace hlo
