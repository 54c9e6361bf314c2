// slice-hoister: sums are taken of slices, not slices of sums (passes.md §2.2).
//
// Requires nothing. Preserves flat-calls, layouts, canonical-dots, fusions.
// Changes: a slice of an add that nobody else reads becomes an add of slices. Left alone: all others, dynamic
// shapes.
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

bool SlicesSum(const Instruction& inst) {
  if (inst.kind() != OpKind::Slice || !HasStaticShapes(inst)) return false;
  const Instruction& sum = *inst.operand(0);
  return sum.kind() == OpKind::Add && sum.users().size() == 1 && !sum.IsRoot() && !HasControlEdges(sum);
}

Result<bool> RunSliceHoister(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (bool again = true; again; changed |= again) {  // what is sliced now may be a sum, too
    HLO_TRY(again, ExpandMatches(module, context, SlicesSum, [](Instruction* slice) -> Result<Instruction*> {
              Maker make(slice);
              const Instruction& sum = *slice->operand(0);
              llvm::SmallVector<Instruction*, 2> parts;
              for (Instruction* x : sum.operands())
                parts.push_back(x == sum.operand(0) && !parts.empty()
                                    ? parts[0]
                                    : RemakeWith(make, *slice, slice->shape(), {x}));
              return RemakeWith(make, sum, slice->shape(), parts);
            }));
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(SliceHoister, NoPassOptions);

}  // namespace hlo
