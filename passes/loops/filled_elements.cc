#include "passes/loops/filled_elements.h"

#include "passes/analysis/value_facts.h"
#include "passes/rewrite/loop_edit.h"

namespace hlo {
namespace {

/// The index without the wrap of negative ones: x of select(x < 0, …, x).
const Instruction* Unwrapped(const Instruction* index) {
  if (index->kind() != OpKind::Select || index->operand(0)->kind() != OpKind::Compare) return index;
  const Instruction &test = *index->operand(0), *x = index->operand(2);
  const bool wraps = test.attr<CompareAttrs>().direction == Direction::LT && test.operand(0) == x &&
                     ScalarIntValue(*test.operand(1)) == 0;
  return wraps ? x : index;
}

/// The dimension along which the updates of all trips, one behind the other, are the whole array; -1: they
/// are not.
int64_t CoveredAlong(const TupleLoop& loop, const LoopCount& trips, const Instruction& update) {
  const Shape &whole = update.shape(), &part = update.operand(1)->shape();
  if (update.operand_count() != 2 + whole.rank()) return -1;
  int64_t moving = -1;
  for (int64_t d = 0; d < whole.rank(); ++d) {
    if (part.dim(d) == whole.dim(d)) continue;  // starts at 0, whatever the index
    if (moving >= 0) return -1;
    moving = d;
  }
  if (moving < 0 || trips.init != 0 || part.dim(moving) == 0 || trips.step != part.dim(moving) ||
      trips.count * part.dim(moving) != whole.dim(moving))
    return -1;
  return StartsAtInduction(loop, trips, update, 2, moving) ? moving : -1;
}

}  // namespace

LoopReads::LoopReads(const TupleLoop& loop)
    : in_body(ReadsByElement(*loop.body_parameter)), in_condition(ReadsByElement(*loop.condition_parameter)) {
  by_element = true;
  for (const Instruction* state : {loop.body_parameter, loop.condition_parameter})
    by_element &= !state->IsRoot() && llvm::all_of(state->users(), [](const Instruction* user) {
      return user->kind() == OpKind::GetTupleElement;
    });
}

bool LoopReads::Decides(int64_t element) const {
  return llvm::any_of(in_condition[static_cast<size_t>(element)],
                      [](const Instruction* reader) { return reader->IsRoot() || !reader->users().empty(); });
}

bool StartsAtInduction(const TupleLoop& loop, const LoopCount& trips, const Instruction& inst, int64_t first,
                       int64_t d) {
  const Instruction* index = Unwrapped(inst.operand(first + d));
  return index->kind() == OpKind::GetTupleElement && index->operand(0) == loop.body_parameter &&
         index->attr<GetTupleElementAttrs>().index == trips.induction;
}

FilledElement AsFilledByLoop(const TupleLoop& loop, const LoopReads& reads, const LoopCount& trips,
                             int64_t element) {
  Instruction* update = loop.body_root->operand(element);
  const auto& in_body = reads.in_body[static_cast<size_t>(element)];
  if (!reads.by_element || update->kind() != OpKind::DynamicUpdateSlice ||
      update->shape().HasDynamicDimension() || in_body.size() != 1 || reads.Decides(element))
    return {};
  const Instruction* before = in_body.front();
  if (before != update->operand(0) || before->users().size() != 1 ||
      llvm::count(update->operands(), before) != 1)
    return {};
  const int64_t dimension = CoveredAlong(loop, trips, *update);
  return dimension < 0 ? FilledElement() : FilledElement{update, dimension};
}

}  // namespace hlo
