// dot_dimension_normalizer: dots get one contracting dimension per operand (passes.md §2.1).
//
// Requires nothing. Preserves flat-calls, fusions.
// Changes: several contracting dimensions (with merge_free_dims also several free ones) of an operand are
// merged into one by a transpose, where they do not follow one another, and a reshape; the result is reshaped
// back. Left alone: batch dimensions, dynamic shapes.
#include "passes/pass.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

struct DotDimensionNormalizerOptions {
  bool merge_free_dims = false;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&DotDimensionNormalizerOptions::merge_free_dims>("merge_free_dims", "free dimensions too"),
};

bool NeedsMerge(const Instruction& dot, const DotDimensionNormalizerOptions& options) {
  return dot.attr<DotAttrs>().lhs_contracting_dims.size() > 1 ||
         (options.merge_free_dims && (RolesOf(dot, 0).free.size() > 1 || RolesOf(dot, 1).free.size() > 1));
}

/// One operand with the dimensions of each merged role side by side, then as one; `roles` become those of it.
Instruction* MergeRoles(Maker& make, Instruction* x, DotRoles& roles, bool merge_free) {
  // The order of the dimensions: as they are, a merged role where its first dimension stands.
  llvm::SmallVector<llvm::ArrayRef<int64_t>, 6> runs;
  Dims singles = Range(0, x->shape().rank());
  for (const int64_t& d : singles) {
    const bool contracting = llvm::is_contained(roles.contracting, d);
    const bool free = merge_free && llvm::is_contained(roles.free, d);
    if (contracting && d == *llvm::min_element(roles.contracting))
      runs.push_back(roles.contracting);
    else if (free && d == roles.free[0])
      runs.push_back(roles.free);
    else if (!contracting && !free)
      runs.push_back(llvm::ArrayRef(&d, 1));
  }
  Dims order, sizes, old;
  for (const auto& run : runs) {
    order.append(run.begin(), run.end());
    sizes.push_back(ProductOf(x->shape(), run));
    old.push_back(run[0]);
  }
  auto renumber = [&](Dims& dims, bool merged) {
    if (merged && !dims.empty()) dims.resize(1);
    for (int64_t& d : dims) d = llvm::find(old, d) - old.begin();
  };
  Instruction* made = ReshapeIfNeeded(make, TransposeIfNeeded(make, x, order), sizes);
  renumber(roles.batch, false);
  renumber(roles.contracting, true);
  renumber(roles.free, merge_free);
  return made;
}

Instruction* Normalize(Maker& make, const Instruction& dot, const DotDimensionNormalizerOptions& options) {
  DotRoles left = RolesOf(dot, 0), right = RolesOf(dot, 1);
  Instruction* lhs = MergeRoles(make, dot.operand(0), left, options.merge_free_dims);
  Instruction* rhs = MergeRoles(make, dot.operand(1), right, options.merge_free_dims);
  DotAttrs attrs;
  attrs.lhs_batch_dims = left.batch;
  attrs.lhs_contracting_dims = left.contracting;
  attrs.rhs_batch_dims = right.batch;
  attrs.rhs_contracting_dims = right.contracting;
  return ReshapeIfNeeded(make, MakeDotLike(make, dot, lhs, rhs, std::move(attrs)), dot.shape().dims());
}

llvm::ArrayRef<PassOptionRow> DotDimensionNormalizerOptions::Rows() { return kRows; }

Result<bool> RunDotDimensionNormalizer(Module& module, const DotDimensionNormalizerOptions& options,
                                       PassContext& context) {
  return ExpandMatches(
      module, context,
      [&](const Instruction& inst) {
        return inst.kind() == OpKind::Dot && HasStaticArrays(inst) && NeedsMerge(inst, options);
      },
      [&](Instruction* inst) -> Result<Instruction*> {
        Maker make(inst);
        return Normalize(make, *inst, options);
      });
}

}  // namespace

HLO_DEFINE_PASS(DotDimensionNormalizer, DotDimensionNormalizerOptions);

}  // namespace hlo
