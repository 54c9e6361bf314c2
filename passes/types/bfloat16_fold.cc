// bfloat16-fold: what comes from bf16 and becomes bf16 stays bf16 (passes.md §2.2).
//
// Requires nothing. Preserves flat-calls, fusions, layouts, canonical-dots.
// Changes: data movement, choices between values, and exchanges in f32 all of whose f32 operands are converts
// of bf16 or splats that bf16 holds, and all of whose users are converts to bf16, are done in bf16; dots and
// convolutions with such operands take them as they are, and yield bf16 themselves if nobody reads f32.
// Exact. Left alone: explicit algorithms, side effects, control edges.
#include "ir/by_op_kind.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "passes/analysis/side_effects.h"
#include "passes/analysis/value_facts.h"
#include "passes/pass.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

/// Opcodes that yield values of their operands, or their negatives or absolute values, beside movement.
constexpr ByOpKind<bool> kChoices({{OpKind::Abs, true},
                                   {OpKind::AllGather, true},
                                   {OpKind::Clamp, true},
                                   {OpKind::CollectivePermute, true},
                                   {OpKind::Gather, true},
                                   {OpKind::Maximum, true},
                                   {OpKind::Minimum, true},
                                   {OpKind::Negate, true},
                                   {OpKind::Select, true}});

bool KeepsValues(const Instruction& inst) {
  return kChoices[inst.kind()] || (inst.info().category == OpCategory::Movement &&
                                   inst.kind() != OpKind::Bitcast && inst.kind() != OpKind::Copy);
}

bool IsProduct(const Instruction& inst) {
  if (const auto* dot = inst.attrs().GetIf<DotAttrs>())
    return inst.kind() == OpKind::Dot && dot->algorithm == DotAlgorithm::Unset;
  const auto* convolution = inst.attrs().GetIf<ConvolutionAttrs>();
  return inst.kind() == OpKind::Convolution && convolution->algorithm == DotAlgorithm::Unset;
}

bool HasType(const Instruction& inst, ElementType type) {
  return inst.shape().IsArray() && inst.shape().element_type() == type;
}

bool WidensBf16(const Instruction& inst) {
  return inst.kind() == OpKind::Convert && HasType(inst, ElementType::F32) &&
         inst.operand(0)->shape() == inst.shape().WithElementType(ElementType::BF16);
}

/// The number of a splat that bf16 holds.
std::optional<double> SplatInBf16(const Instruction& inst) {
  const Instruction* constant = SplatConstant(inst);
  if (!constant || inst.shape().ElementCount() == 0) return std::nullopt;
  const double value = LiteralValue(*constant->attr<ConstantAttrs>().literal, 0);
  const double held = LiteralValue(ScalarLiteral(ElementType::BF16, value), 0);
  return held == value ? std::optional(value) : std::nullopt;
}

bool ComesFromBf16(const Instruction& operand) {
  return WidensBf16(operand) || SplatInBf16(operand).has_value();
}

bool AllBecomeBf16(const Instruction& inst) {
  return !inst.IsRoot() && !inst.users().empty() && llvm::all_of(inst.users(), [&](const Instruction* user) {
    return user->kind() == OpKind::Convert &&
           user->shape() == inst.shape().WithElementType(ElementType::BF16) && !HasControlEdges(*user) &&
           user->extras().sharding == inst.extras().sharding;
  });
}

bool IsFoldable(const Instruction& inst) {
  if (!HasType(inst, ElementType::F32) || !HasStaticShapes(inst) || HasControlEdges(inst) ||
      HasSideEffect(inst))
    return false;
  bool any = false;
  for (const Instruction* o : inst.operands()) {
    if (!HasType(*o, ElementType::F32)) continue;
    if (IsProduct(inst) ? !WidensBf16(*o) : !ComesFromBf16(*o)) return false;
    any |= WidensBf16(*o);
  }
  return any && (IsProduct(inst) || (KeepsValues(inst) && AllBecomeBf16(inst)));
}

Instruction* Narrowed(Maker& make, Instruction* operand) {
  if (!HasType(*operand, ElementType::F32)) return operand;
  if (WidensBf16(*operand)) return operand->operand(0);
  return make.Splat(operand->shape().WithElementType(ElementType::BF16),
                    make.Scalar(ElementType::BF16, *SplatInBf16(*operand)));
}

void Fold(Instruction* inst, llvm::SmallPtrSetImpl<const Instruction*>& gone) {
  Maker make(inst);
  const bool narrow = AllBecomeBf16(*inst);
  llvm::SmallVector<Instruction*, 4> operands;
  for (Instruction* o : inst->operands()) operands.push_back(Narrowed(make, o));
  const Shape shape = inst->shape().WithElementType(narrow ? ElementType::BF16 : ElementType::F32);
  Instruction* folded = RemakeWith(make, *inst, shape, operands);
  const auto note = [&](const Instruction* dead) { gone.insert(dead); };
  if (narrow) {
    const llvm::SmallVector<Instruction*, 4> users(inst->users().begin(), inst->users().end());
    for (Instruction* convert : users) {
      ReplaceWith(convert, folded);
      note(convert);
      inst->parent()->Remove(convert);
    }
  } else {
    ReplaceWith(inst, folded);
  }
  RemoveIfDead(inst, note);
}

Result<bool> RunBfloat16Fold(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    HLO_CHECK_OK(context.CheckInterrupt());
    llvm::SmallPtrSet<const Instruction*, 8> gone;
    for (Instruction* inst : c->PostOrder()) {
      if (gone.contains(inst) || !IsFoldable(*inst)) continue;
      if (!context.TakeRewrite()) return changed;
      Fold(inst, gone);
      changed = true;
    }
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(Bfloat16Fold, NoPassOptions);

}  // namespace hlo
