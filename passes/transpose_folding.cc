#include "passes/transpose_folding.h"

#include "passes/rewrite/convolutions.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/edit.h"

namespace hlo {
namespace {

using O = TransposeFoldingOptions;
constexpr PassOptionRow kRows[] = {
    PassOption<&O::fold_dots>("fold_dots", "into dots"),
    PassOption<&O::fold_convolutions>("fold_convolutions", "into convolutions"),
};

/// Dimension d of the transposed value is dimension permutation[d] of the value.
void Follow(int64_t& d, llvm::ArrayRef<int64_t> permutation) { d = permutation[static_cast<size_t>(d)]; }
void Follow(Dims& dims, llvm::ArrayRef<int64_t> permutation) {
  for (int64_t& d : dims) Follow(d, permutation);
}

/// Free dimensions appear in the result in ascending order; the transpose must not reorder them.
bool KeepsFreeOrder(const Instruction& dot, int64_t side, llvm::ArrayRef<int64_t> permutation) {
  Dims free = RolesOf(dot, side).free;
  Follow(free, permutation);
  return llvm::is_sorted(free);
}

DotAttrs FoldedDot(const Instruction& dot, int64_t side, llvm::ArrayRef<int64_t> permutation) {
  DotAttrs attrs = dot.attr<DotAttrs>();
  Follow(side == 0 ? attrs.lhs_batch_dims : attrs.rhs_batch_dims, permutation);
  Follow(side == 0 ? attrs.lhs_contracting_dims : attrs.rhs_contracting_dims, permutation);
  return attrs;
}

bool MayFoldIntoDot(const Instruction& dot, int64_t side) {
  const Dims& permutation = dot.operand(side)->attr<DimensionsAttrs>().dimensions;
  if (!KeepsFreeOrder(dot, side, permutation) || dot.operand(side)->shape().rank() < 2) return false;
  if (!IsCanonicalDot(dot)) return true;
  const DotAttrs attrs = FoldedDot(dot, side, permutation);
  const Dims leading = Range(0, static_cast<int64_t>(attrs.lhs_batch_dims.size()));
  return attrs.lhs_batch_dims == leading && attrs.rhs_batch_dims == leading;
}

ConvolutionAttrs FoldedConvolution(const Instruction& conv, int64_t side,
                                   llvm::ArrayRef<int64_t> permutation) {
  ConvolutionAttrs attrs = conv.attr<ConvolutionAttrs>();
  ConvDimLabels& labels = *attrs.dim_labels;
  Follow(side == 0 ? labels.input_batch : labels.kernel_output_feature, permutation);
  Follow(side == 0 ? labels.input_feature : labels.kernel_input_feature, permutation);
  Follow(side == 0 ? labels.input_spatial : labels.kernel_spatial, permutation);
  return attrs;
}

/// The product over the transposed value of operand `side`; null if it cannot be.
Instruction* Fold(const Instruction& inst, int64_t side, const O& options, Maker make) {
  const Instruction& transpose = *inst.operand(side);
  if (transpose.kind() != OpKind::Transpose) return nullptr;
  const Dims& permutation = transpose.attr<DimensionsAttrs>().dimensions;
  Instruction* operands[] = {inst.operand(0), inst.operand(1)};
  operands[side] = transpose.operand(0);
  if (inst.kind() == OpKind::Dot) {
    if (!options.fold_dots || !HasStaticArrays(inst) || !MayFoldIntoDot(inst, side)) return nullptr;
    return MakeDotLike(make, inst, operands[0], operands[1], FoldedDot(inst, side, permutation));
  }
  if (!options.fold_convolutions || !IsPlainConvolution(inst)) return nullptr;
  return MakeConvolutionLike(make, inst, operands[0], operands[1],
                             FoldedConvolution(inst, side, permutation));
}

}  // namespace

llvm::ArrayRef<PassOptionRow> TransposeFoldingOptions::Rows() { return kRows; }

Result<bool> RunTransposeFolding(Module& module, const TransposeFoldingOptions& options,
                                 PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    for (Instruction* inst : llvm::make_early_inc_range(c->instructions())) {
      if (inst->kind() != OpKind::Dot && inst->kind() != OpKind::Convolution) continue;
      for (int64_t side = 0; side < 2;) {
        Instruction* folded = Fold(*inst, side, options, Maker(inst));
        if (!folded) {
          ++side;
          continue;
        }
        if (!context.TakeRewrite("", *inst, *folded)) return RemoveIfDead(folded), changed;
        ReplaceAndRemove(inst, folded);
        inst = folded;
        changed = true;
      }
    }
  }
  return changed;
}

HLO_DEFINE_PASS(TransposeFolding, TransposeFoldingOptions);

}  // namespace hlo
