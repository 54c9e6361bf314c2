// scan_loop_accumulator_input_unification: what a loop reads part by part and what it writes part by part lie
// in one array (passes.md §2.4).
//
// Requires nothing. Preserves layouts, canonical-dots, fusions.
// Changes: an array that a loop carries unchanged, and of which each iteration reads just the part that
// another element of the same shape gets in that iteration, becomes that element's initial value, is read
// there, and is carried no more. Left alone: loops of unknown trip count or induction variable, that share
// their computations or have a sharded state, updates that overlap or leave gaps, other readers.
#include "passes/analysis/side_effects.h"
#include "passes/loops/filled_elements.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/loop_edit.h"
#include "passes/rewrite/maker.h"

namespace hlo {
namespace {

/// Elements of one shape: one is read, the other written.
struct Pair {
  int64_t input, accumulator;
  Instruction* written_before;               // the accumulator as an iteration finds it
  llvm::SmallVector<Instruction*, 2> reads;  // of the input, in the body
};

/// The slice is the part that the update is going to overwrite.
bool ReadsSamePart(const TupleLoop& loop, const LoopCount& trips, const Instruction& slice,
                   const FilledElement& filled) {
  return slice.kind() == OpKind::DynamicSlice &&
         slice.operand_count() == 1 + slice.operand(0)->shape().rank() &&
         SameDims(slice.shape(), filled.update->operand(1)->shape()) &&
         StartsAtInduction(loop, trips, slice, 1, filled.dimension);
}

bool IsReadLike(const TupleLoop& loop, const LoopReads& reads, const LoopCount& trips, int64_t input,
                const FilledElement& filled) {
  if (!loop.IsInvariant(input) || reads.Decides(input)) return false;
  bool any = false;
  for (const Instruction* read : reads.in_body[static_cast<size_t>(input)])
    for (const Instruction* user : read->users()) {
      if (user == loop.body_root) continue;
      if (llvm::count(user->operands(), read) != 1 || !ReadsSamePart(loop, trips, *user, filled))
        return false;
      any = true;
    }
  return any;
}

/// Elements of one shape that the loop does not change.
llvm::SmallVector<int64_t, 4> InputsOfShape(const TupleLoop& loop, const Shape& shape) {
  llvm::SmallVector<int64_t, 4> inputs;
  for (int64_t i = 0; i < loop.size(); ++i)
    if (loop.loop->shape().tuple_shape(i) == shape && loop.InitElement(i) && loop.IsInvariant(i))
      inputs.push_back(i);
  return inputs;
}

std::optional<Pair> FindPair(const TupleLoop& loop, const LoopCount& trips) {
  const LoopReads reads(loop);
  for (int64_t to = 0; to < loop.size(); ++to) {
    const FilledElement filled = AsFilledByLoop(loop, reads, trips, to);
    if (!filled.update) continue;
    for (const int64_t from : InputsOfShape(loop, loop.loop->shape().tuple_shape(to)))
      if (from != to && loop.InitElement(from) != loop.InitElement(to) &&
          IsReadLike(loop, reads, trips, from, filled))
        return Pair{from, to, filled.update->operand(0), reads.in_body[static_cast<size_t>(from)]};
  }
  return std::nullopt;
}

void Unify(const TupleLoop& loop, const Pair& pair) {
  Instruction *inst = loop.loop, *old_init = loop.init(), *input = loop.InitElement(pair.input);
  llvm::SmallVector<Instruction*, 8> elements(old_init->operands());
  elements[static_cast<size_t>(pair.accumulator)] = input;
  inst->SetOperand(0, Maker(inst).AddWithShape(OpKind::Tuple, old_init->shape(), elements));
  if (IsDead(*old_init)) old_init->parent()->Remove(old_init);  // alone: other loops are still looked at
  for (Instruction* read : pair.reads) {
    const llvm::SmallVector<Instruction*, 4> users(read->users().begin(), read->users().end());
    for (Instruction* user : users)
      if (user != loop.body_root) user->ReplaceOperand(read, pair.written_before);
  }
  std::vector<LoopElementEdit> edits(static_cast<size_t>(loop.size()));
  edits[static_cast<size_t>(pair.input)] = {false, -1, input};
  DropLoopElements(loop, edits);
}

Result<bool> RunScanLoopAccumulatorInputUnification(Module& module, const NoPassOptions&,
                                                    PassContext& context) {
  return ForEachLoop(module, context, [&](Instruction* inst) {
    for (bool changed = false;; changed = true) {
      const auto loop = AsTupleLoop(*inst);  // anew, as the state has shrunk
      const auto trips = loop && MayReshapeLoop(*loop) ? CountTrips(*loop) : std::nullopt;
      const auto pair = trips && trips->induction >= 0 ? FindPair(*loop, *trips) : std::nullopt;
      if (!pair || !context.TakeRewrite()) return changed;
      Unify(*loop, *pair);
    }
  });
}

}  // namespace

HLO_DEFINE_PASS(ScanLoopAccumulatorInputUnification, NoPassOptions);

}  // namespace hlo
