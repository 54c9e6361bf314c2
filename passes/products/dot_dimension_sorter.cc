// dot_dimension_sorter: contracting dimensions of dots in memory order (passes.md §2.1).
//
// Requires nothing. Preserves flat-calls, layouts, canonical-dots, fusions.
// Changes: pairs of contracting dimensions change places where this makes those of more operands ascend, so
// that fewer transposes are needed later. Left alone: everything else.
#include "passes/pass.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

/// How many of the two lists of contracting dimensions ascend.
int Ascending(const DotAttrs& attrs) {
  return static_cast<int>(llvm::is_sorted(attrs.lhs_contracting_dims)) +
         static_cast<int>(llvm::is_sorted(attrs.rhs_contracting_dims));
}

/// The pairs in the order of their left dimensions.
DotAttrs Sorted(const DotAttrs& attrs) {
  DotAttrs sorted = attrs;
  Dims order = Range(0, static_cast<int64_t>(attrs.lhs_contracting_dims.size()));
  llvm::sort(order, [&](int64_t a, int64_t b) {
    return attrs.lhs_contracting_dims[static_cast<size_t>(a)] <
           attrs.lhs_contracting_dims[static_cast<size_t>(b)];
  });
  for (size_t i = 0; i < order.size(); ++i) {
    sorted.lhs_contracting_dims[i] = attrs.lhs_contracting_dims[static_cast<size_t>(order[i])];
    sorted.rhs_contracting_dims[i] = attrs.rhs_contracting_dims[static_cast<size_t>(order[i])];
  }
  return sorted;
}

Result<bool> RunDotDimensionSorter(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(
      module, context,
      [](const Instruction& inst) {
        return inst.kind() == OpKind::Dot &&
               Ascending(Sorted(inst.attr<DotAttrs>())) > Ascending(inst.attr<DotAttrs>());
      },
      [](Instruction* inst) -> Result<Instruction*> {
        Maker make(inst);
        return MakeDotLike(make, *inst, inst->operand(0), inst->operand(1), Sorted(inst->attr<DotAttrs>()));
      });
}

}  // namespace

HLO_DEFINE_PASS(DotDimensionSorter, NoPassOptions);

}  // namespace hlo
