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

/// An add with one reader, which is a slice or will be.
bool IsHoisted(const Instruction& sum) {
  return sum.kind() == OpKind::Add && sum.users().size() == 1 && !sum.IsRoot() && !HasControlEdges(sum) &&
         HasStaticShapes(sum);
}

bool SlicesSum(const Instruction& inst) {
  return inst.kind() == OpKind::Slice && HasStaticShapes(inst) && IsHoisted(*inst.operand(0));
}

/// A slice of a tree of adds as adds of slices of its leaves. What reads the tree goes with it, so that a
/// slice that is made is hoisted further if the add that it slices had one reader.
class Hoister {
 public:
  Hoister(Instruction* slice, PassContext& context) : slice_(*slice), make_(slice), context_(context) {}

  Instruction* Hoist() {
    Enter(slice_.operand(0));
    Instruction* done = nullptr;
    while (!levels_.empty()) {
      Level& top = levels_.back();
      if (done) top.parts.push_back(done);
      done = nullptr;
      if (top.parts.size() < 2) {
        Instruction* x = top.sum->operand(static_cast<int64_t>(top.parts.size()));
        if (!top.parts.empty() && x == top.sum->operand(0))
          done = top.parts[0];
        else if (IsHoisted(*x) && context_.TakeRewrite())
          Enter(x);
        else
          done = RemakeWith(make_, slice_, slice_.shape(), {x});
        continue;
      }
      done = RemakeWith(make_, *top.sum, slice_.shape(), top.parts);
      levels_.pop_back();
    }
    return done;
  }

 private:
  struct Level {
    Instruction* sum;
    llvm::SmallVector<Instruction*, 2> parts;  // sliced
  };
  void Enter(Instruction* sum) { levels_.push_back({sum, {}}); }

  Instruction& slice_;
  Maker make_;
  PassContext& context_;
  std::vector<Level> levels_;
};

Result<bool> RunSliceHoister(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(module, context, SlicesSum, [&](Instruction* slice) -> Result<Instruction*> {
    return Hoister(slice, context).Hoist();
  });
}

}  // namespace

HLO_DEFINE_PASS(SliceHoister, NoPassOptions);

}  // namespace hlo
