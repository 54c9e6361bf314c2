// transpose-folding: dots and convolutions read transposed operands directly (passes.md §4.9).
//
// Requires nothing. Preserves flat-calls, canonical-dots, fusions.
// Changes: operands of dots and convolutions that are transposes give way to what is transposed, dimension
// numbers and labels follow. With any_dot also where dimensions are merged after the transpose (the other
// operand is reshaped then) and where a transposed result is the product of exchanged operands. Left alone:
// dots that would stop being canonical unless any_dot, dots of vectors, dynamic shapes.
#include "passes/analysis/reshape_facts.h"
#include "passes/pass.h"
#include "passes/rewrite/convolutions.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/edit.h"

namespace hlo {
namespace {

struct TransposeFoldingOptions {
  bool fold_dots = true;
  bool fold_convolutions = true;
  bool any_dot = false;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

using O = TransposeFoldingOptions;
constexpr PassOptionRow kRows[] = {
    PassOption<&O::fold_dots>("fold_dots", "into dots"),
    PassOption<&O::fold_convolutions>("fold_convolutions", "into convolutions"),
    PassOption<&O::any_dot>("any_dot",
                            "also through reshapes, out of results, and into dots that stop being canonical"),
};

/// Dimension d of the transposed value is dimension permutation[d] of the value.
void Follow(int64_t& d, llvm::ArrayRef<int64_t> permutation) { d = permutation[static_cast<size_t>(d)]; }
void Follow(Dims& dims, llvm::ArrayRef<int64_t> permutation) {
  for (int64_t& d : dims) Follow(d, permutation);
}

/// Free dimensions appear in the result in ascending order; the transpose must not reorder them, `any_dot`:
/// but those of size 1.
bool KeepsFreeOrder(const Instruction& dot, int64_t side, llvm::ArrayRef<int64_t> permutation, bool any_dot) {
  Dims free = RolesOf(dot, side).free;
  if (any_dot) llvm::erase_if(free, [&](int64_t d) { return dot.operand(side)->shape().dim(d) == 1; });
  Follow(free, permutation);
  return llvm::is_sorted(free);
}

DotAttrs FoldedDot(const Instruction& dot, int64_t side, llvm::ArrayRef<int64_t> permutation) {
  DotAttrs attrs = dot.attr<DotAttrs>();
  Follow(side == 0 ? attrs.lhs_batch_dims : attrs.rhs_batch_dims, permutation);
  Follow(side == 0 ? attrs.lhs_contracting_dims : attrs.rhs_contracting_dims, permutation);
  return attrs;
}

bool MayFoldIntoDot(const Instruction& dot, int64_t side, const O& options) {
  const Dims& permutation = dot.operand(side)->attr<DimensionsAttrs>().dimensions;
  if (!KeepsFreeOrder(dot, side, permutation, options.any_dot) || dot.operand(side)->shape().rank() < 2)
    return false;
  if (options.any_dot || !IsCanonicalDot(dot)) return true;
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

/// Dimensions [begins[d], begins[d + 1]) are what dimension d is made of.
using Parts = llvm::SmallVector<std::pair<int64_t, int64_t>, 6>;
Dims AllParts(llvm::ArrayRef<int64_t> dims, const Parts& parts) {
  Dims all;
  for (const int64_t d : dims) {
    const auto [begin, end] = parts[static_cast<size_t>(d)];
    all.append(Range(begin, end - begin));
  }
  return all;
}

/// What the dimensions `to` are merged of; nothing if some of them are split.
std::optional<Parts> MergedParts(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to) {
  Parts parts;
  for (const ReshapeGroup& group : ReshapeGroups(from, to)) {
    if (group.to_end - group.to_begin > 1) return std::nullopt;
    if (group.to_end > group.to_begin) parts.emplace_back(group.from_begin, group.from_end);
  }
  return parts;
}

/// The product over a transpose whose dimensions are merged before it: the other operand's are split instead.
/// Null if the transpose would stay.
Instruction* FoldMerged(const Instruction& inst, int64_t side, const O& options, Maker make) {
  Instruction* transpose = inst.operand(side);
  while (transpose->kind() == OpKind::Reshape) transpose = transpose->operand(0);
  if (transpose == inst.operand(side) || transpose->kind() != OpKind::Transpose ||
      transpose->shape().HasDynamicDimension() || inst.operand(side)->shape().ElementCount() == 0)
    return nullptr;
  const auto from = transpose->shape().dims();
  const auto parts = MergedParts(from, inst.operand(side)->shape().dims());
  if (!parts) return nullptr;
  const DotRoles mine = RolesOf(inst, side), theirs = RolesOf(inst, 1 - side);
  // The partners of what is merged come apart, the others stay.
  Instruction* other = inst.operand(1 - side);
  const auto rank = static_cast<size_t>(other->shape().rank());
  std::vector<Dims> sizes(rank);
  for (size_t d = 0; d < rank; ++d) sizes[d] = {other->shape().dim(static_cast<int64_t>(d))};
  const auto split = [&](const Dims& own, const Dims& partners) {
    for (size_t i = 0; i < own.size(); ++i) {
      const auto [begin, end] = (*parts)[static_cast<size_t>(own[i])];
      const auto slice = from.slice(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
      sizes[static_cast<size_t>(partners[i])].assign(slice.begin(), slice.end());
    }
  };
  split(mine.batch, theirs.batch);
  split(mine.contracting, theirs.contracting);
  Dims dims;
  Parts other_parts;
  for (const Dims& part : sizes) {
    const auto begin = static_cast<int64_t>(dims.size());
    dims.append(part);
    other_parts.emplace_back(begin, static_cast<int64_t>(dims.size()));
  }
  Instruction* operands[] = {transpose, transpose};
  operands[1 - side] = ReshapeIfNeeded(make, other, dims);
  const Parts& left = side == 0 ? *parts : other_parts;
  const Parts& right = side == 0 ? other_parts : *parts;
  const auto& old = inst.attr<DotAttrs>();
  DotAttrs attrs;
  attrs.lhs_batch_dims = AllParts(old.lhs_batch_dims, left);
  attrs.rhs_batch_dims = AllParts(old.rhs_batch_dims, right);
  attrs.lhs_contracting_dims = AllParts(old.lhs_contracting_dims, left);
  attrs.rhs_contracting_dims = AllParts(old.rhs_contracting_dims, right);
  Instruction* dot = MakeDotLike(make, inst, operands[0], operands[1], std::move(attrs));
  if (!MayFoldIntoDot(*dot, side, options)) return RemoveIfDead(dot), nullptr;
  const Dims& permutation = transpose->attr<DimensionsAttrs>().dimensions;
  operands[side] = transpose->operand(0);
  Instruction* folded = MakeDotLike(make, *dot, operands[0], operands[1], FoldedDot(*dot, side, permutation));
  RemoveIfDead(dot);
  return ReshapeIfNeeded(make, folded, inst.shape().dims());
}

/// The dimensions in this order, those of size 1 left out, numbered in ascending order.
Dims OrderWithoutSizeOne(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> order) {
  Dims numbers(dims.size(), -1), result;
  int64_t next = 0;
  for (size_t d = 0; d < dims.size(); ++d)
    if (dims[d] != 1) numbers[d] = next++;
  for (const int64_t d : order)
    if (dims[static_cast<size_t>(d)] != 1) result.push_back(numbers[static_cast<size_t>(d)]);
  return result;
}

/// The product of exchanged operands that a transposed product is; null if it is none.
Instruction* FoldResult(const Instruction& transpose, Maker make) {
  const Instruction* at = transpose.operand(0);
  while (at->kind() == OpKind::Reshape && at->users().size() == 1) at = at->operand(0);
  const Instruction& dot = *at;
  const auto dims = dot.shape().dims(), before = transpose.operand(0)->shape().dims();
  if (dot.kind() != OpKind::Dot || dot.users().size() != 1 || !HasStaticArrays(dot) ||
      !HasStaticArrays(transpose) || WithoutSizeOne(dims) != WithoutSizeOne(before))
    return nullptr;
  const DotRoles left = RolesOf(dot, 0), right = RolesOf(dot, 1);
  const auto batch = static_cast<int64_t>(left.batch.size()), rows = static_cast<int64_t>(left.free.size()),
             columns = static_cast<int64_t>(right.free.size());
  const Dims exchanged =
      OrderWithoutSizeOne(dims, Joined({Range(0, batch), Range(batch + rows, columns), Range(batch, rows)}));
  const Dims order = OrderWithoutSizeOne(before, transpose.attr<DimensionsAttrs>().dimensions);
  if (llvm::is_sorted(order) || order != exchanged) return nullptr;
  DotAttrs attrs = dot.attr<DotAttrs>();
  std::swap(attrs.lhs_batch_dims, attrs.rhs_batch_dims);
  std::swap(attrs.lhs_contracting_dims, attrs.rhs_contracting_dims);
  Instruction* product = MakeDotLike(make, dot, dot.operand(1), dot.operand(0), std::move(attrs), true);
  return ReshapeIfNeeded(make, product, transpose.shape().dims());
}

/// The product over the transposed value of operand `side`; null if it cannot be.
Instruction* Fold(const Instruction& inst, int64_t side, const O& options, Maker make) {
  const Instruction& transpose = *inst.operand(side);
  if (inst.kind() == OpKind::Dot && options.fold_dots && options.any_dot && HasStaticArrays(inst) &&
      transpose.kind() == OpKind::Reshape)
    return FoldMerged(inst, side, options, make);
  if (transpose.kind() != OpKind::Transpose) return nullptr;
  const Dims& permutation = transpose.attr<DimensionsAttrs>().dimensions;
  Instruction* operands[] = {inst.operand(0), inst.operand(1)};
  operands[side] = transpose.operand(0);
  if (inst.kind() == OpKind::Dot) {
    if (!options.fold_dots || !HasStaticArrays(inst) || !MayFoldIntoDot(inst, side, options)) return nullptr;
    Instruction* dot = MakeDotLike(make, inst, operands[0], operands[1], FoldedDot(inst, side, permutation));
    return ReshapeIfNeeded(make, dot, inst.shape().dims());
  }
  if (!options.fold_convolutions || !IsPlainConvolution(inst)) return nullptr;
  return MakeConvolutionLike(make, inst, operands[0], operands[1],
                             FoldedConvolution(inst, side, permutation));
}

llvm::ArrayRef<PassOptionRow> TransposeFoldingOptions::Rows() { return kRows; }

/// Folds what it can into a product or, being a transpose, into the product before it. False if told to stop.
static bool FoldAll(Instruction* inst, const TransposeFoldingOptions& options, PassContext& context,
                    bool& changed) {
  const bool result = inst->kind() == OpKind::Transpose && options.fold_dots && options.any_dot;
  const bool product = inst->kind() == OpKind::Dot || inst->kind() == OpKind::Convolution;
  for (int64_t side = 0; side < (product ? 2 : result ? 1 : 0);) {
    Instruction* folded = result ? FoldResult(*inst, Maker(inst)) : Fold(*inst, side, options, Maker(inst));
    if (!folded) {
      ++side;
      continue;
    }
    if (!context.TakeRewrite("", *inst, *folded)) return RemoveIfDead(folded), false;
    ReplaceAndRemove(inst, folded);
    changed = true;
    if (result) return true;
    inst = folded->kind() == OpKind::Reshape ? folded->operand(0) : folded;
  }
  return true;
}

Result<bool> RunTransposeFolding(Module& module, const TransposeFoldingOptions& options,
                                 PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module))
    for (Instruction* inst : llvm::make_early_inc_range(c->instructions()))
      if (!FoldAll(inst, options, context, changed)) return changed;
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(TransposeFolding, TransposeFoldingOptions);

}  // namespace hlo
