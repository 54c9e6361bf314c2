// convert_operand_folding: ops that accumulate wider take narrow operands as they are (passes.md §2.2).
//
// Requires nothing. Preserves flat-calls, layouts, canonical-dots, fusions.
// Changes: a convert to a wider type on an operand of dot or convolution goes where the op computes in its
// result type and no value changes on the way there, also through slices, gathers, reshapes, transposes and
// integer sums over dimensions of size 1. Exact. Left alone: explicit algorithms, sparse convolutions.
#include "passes/analysis/reducers.h"
#include "passes/analysis/type_facts.h"
#include "passes/analysis/value_facts.h"
#include "passes/pass.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

bool AccumulatesInResultType(const Instruction& inst) {
  if (const auto* dot = inst.attrs().GetIf<DotAttrs>())
    return inst.kind() == OpKind::Dot && dot->algorithm == DotAlgorithm::Unset;
  if (const auto* convolution = inst.attrs().GetIf<ConvolutionAttrs>())
    return convolution->algorithm == DotAlgorithm::Unset && convolution->sparsity_config == SparsityConfig();
  return false;
}

/// Every value of the one type is one of the other, integers in floats included.
bool Keeps(ElementType from, ElementType to) {
  if (IsIntegral(from) && IsFloat(to)) {
    const int digits = Info(from).bits - (IsSigned(from) ? 1 : 0);
    return Info(to).special == FloatSpecial::Ieee && digits <= Info(to).mantissa_bits + 1 &&
           digits < (1 << (Info(to).exponent_bits - 1));
  }
  return ConvertsExactly(from, to);
}

constexpr OpKind kMovements[] = {OpKind::DynamicSlice, OpKind::Gather, OpKind::Reshape, OpKind::Slice,
                                 OpKind::Transpose};

/// Operand 0 comes through, whatever its type.
bool MovesOperand(const Instruction& inst) {
  if (llvm::is_contained(kMovements, inst.kind())) return true;
  return inst.kind() == OpKind::Reduce && IsSum(inst) && IsIntegral(inst.shape().element_type()) &&
         ScalarIntValue(*inst.operand(1)) == 0 &&
         inst.shape().ElementCount() == inst.operand(0)->shape().ElementCount();  // dimensions of size 1
}

/// The convert behind movements that is of no account to an op whose result has type `result`; null: none.
const Instruction* FoldableConvert(const Instruction& operand, ElementType result) {
  const Instruction* inst = &operand;
  while (MovesOperand(*inst) && HasStaticShapes(*inst) && !inst->has_extras()) inst = inst->operand(0);
  if (inst->kind() != OpKind::Convert) return nullptr;
  const Shape &to = inst->shape(), &from = inst->operand(0)->shape();
  const bool fits = from.element_type() != to.element_type() &&
                    from.WithElementType(to.element_type()) == to &&
                    Keeps(from.element_type(), to.element_type()) && Keeps(to.element_type(), result);
  return fits ? inst : nullptr;
}

/// The operand with the convert left out: the movements behind it are made anew.
Instruction* WithoutConvert(Instruction* operand, const Instruction* convert) {
  llvm::SmallVector<Instruction*, 4> movements;
  for (Instruction* inst = operand; inst != convert; inst = inst->operand(0)) movements.push_back(inst);
  Instruction* value = convert->operand(0);
  for (Instruction* moved : llvm::reverse(movements)) {
    Maker make(moved);
    const Shape shape = moved->shape().WithElementType(value->shape().element_type());
    if (moved->kind() == OpKind::Reduce) {
      value = make.AddWithShape(OpKind::Reshape, shape, {value});
      continue;
    }
    llvm::SmallVector<Instruction*, 4> operands(moved->operands());
    operands[0] = value;
    value = RemakeWith(make, *moved, shape, operands);
  }
  return value;
}

Result<bool> RunConvertOperandFolding(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    llvm::SmallVector<Instruction*, 8> candidates;
    for (Instruction* inst : c->instructions())
      if (AccumulatesInResultType(*inst)) candidates.push_back(inst);
    for (Instruction* inst : candidates)
      for (int64_t i = 0; i < inst->operand_count(); ++i) {
        Instruction* operand = inst->operand(i);
        const Instruction* convert = FoldableConvert(*operand, inst->shape().element_type());
        if (!convert || !context.TakeRewrite()) continue;
        inst->SetOperand(i, WithoutConvert(operand, convert));
        if (operand->users().empty()) RemoveIfDead(operand);
        changed = true;
      }
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(ConvertOperandFolding, NoPassOptions);

}  // namespace hlo
