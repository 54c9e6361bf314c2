// dot_dimension_merger: consecutive batch dimensions of dots become one (passes.md §2.1).
//
// Requires nothing. Preserves flat-calls, fusions.
// Changes: batch dimensions that follow one another in both operands, in equal order, are merged by reshapes,
// and the result is reshaped back. Left alone: other dimensions, dynamic shapes.
#include "passes/pass.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

/// Batch dimension i stands right after batch dimension i - 1 in both operands.
bool FollowsPrevious(const DotAttrs& attrs, int64_t i) {
  const auto at = static_cast<size_t>(i);
  return attrs.lhs_batch_dims[at] == attrs.lhs_batch_dims[at - 1] + 1 &&
         attrs.rhs_batch_dims[at] == attrs.rhs_batch_dims[at - 1] + 1;
}

bool HasRun(const DotAttrs& attrs) {
  for (size_t i = 1; i < attrs.lhs_batch_dims.size(); ++i)
    if (FollowsPrevious(attrs, static_cast<int64_t>(i))) return true;
  return false;
}

/// Dimension d of the value without the dimensions `gone`.
int64_t Renumbered(int64_t d, const Dims& gone) {
  return d - llvm::count_if(gone, [&](int64_t g) { return g < d; });
}

/// Dimensions `gone` of x are merged into those right before them.
Instruction* MergeInto(Maker& make, Instruction* x, const Dims& gone) {
  Dims sizes;
  for (int64_t d = 0; d < x->shape().rank(); ++d) {
    if (llvm::is_contained(gone, d))
      sizes.back() *= x->shape().dim(d);
    else
      sizes.push_back(x->shape().dim(d));
  }
  return make.Reshape(x, sizes);
}

Instruction* MergeBatchDims(const Instruction& dot, Maker make) {
  const auto& attrs = dot.attr<DotAttrs>();
  Dims gone[2];
  DotAttrs merged;
  for (size_t i = 0; i < attrs.lhs_batch_dims.size(); ++i) {
    if (i == 0 || !FollowsPrevious(attrs, static_cast<int64_t>(i))) {
      merged.lhs_batch_dims.push_back(attrs.lhs_batch_dims[i]);
      merged.rhs_batch_dims.push_back(attrs.rhs_batch_dims[i]);
    } else {
      gone[0].push_back(attrs.lhs_batch_dims[i]);
      gone[1].push_back(attrs.rhs_batch_dims[i]);
    }
  }
  merged.lhs_contracting_dims = attrs.lhs_contracting_dims;
  merged.rhs_contracting_dims = attrs.rhs_contracting_dims;
  for (int64_t& d : merged.lhs_batch_dims) d = Renumbered(d, gone[0]);
  for (int64_t& d : merged.lhs_contracting_dims) d = Renumbered(d, gone[0]);
  for (int64_t& d : merged.rhs_batch_dims) d = Renumbered(d, gone[1]);
  for (int64_t& d : merged.rhs_contracting_dims) d = Renumbered(d, gone[1]);
  Instruction* lhs = MergeInto(make, dot.operand(0), gone[0]);
  Instruction* rhs = MergeInto(make, dot.operand(1), gone[1]);
  return make.Reshape(MakeDotLike(make, dot, lhs, rhs, std::move(merged)), dot.shape().dims());
}

Result<bool> RunDotDimensionMerger(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(
      module, context,
      [](const Instruction& inst) {
        return inst.kind() == OpKind::Dot && HasStaticArrays(inst) && HasRun(inst.attr<DotAttrs>());
      },
      [](Instruction* inst) -> Result<Instruction*> { return MergeBatchDims(*inst, Maker(inst)); });
}

}  // namespace

HLO_DEFINE_PASS(DotDimensionMerger, NoPassOptions);

}  // namespace hlo
