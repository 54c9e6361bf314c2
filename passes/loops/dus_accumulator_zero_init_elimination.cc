// dus-accumulator-zero-init-elimination: what a loop fills completely need not be filled before (passes.md
// §2.5).
//
// Requires nothing. Preserves everything but the schedule.
// Changes: an element of a loop that starts as a splat constant, and whose only use in the loop is to be the
// operand of a dynamic-update-slice at the induction variable, starts as custom-call `AllocateBuffer`,
// whatever lies there, if the updates cover all of it.
// Left alone: loops of unknown trip count or induction variable, updates that overlap or leave gaps.
#include "passes/analysis/loop_facts.h"
#include "passes/analysis/value_facts.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"

namespace hlo {
namespace {

/// The elements of `tuple` that are read, if nothing reads it as a whole.
std::optional<llvm::SmallVector<Instruction*, 4>> ReadersOf(const Instruction& tuple, int64_t element) {
  llvm::SmallVector<Instruction*, 4> readers;
  for (Instruction* user : tuple.users()) {
    if (user->kind() != OpKind::GetTupleElement) return std::nullopt;
    if (user->attr<GetTupleElementAttrs>().index == element) readers.push_back(user);
  }
  if (tuple.IsRoot()) return std::nullopt;
  return readers;
}

/// The index without the wrap of negative ones: x of select(x < 0, …, x).
const Instruction* Unwrapped(const Instruction* index) {
  if (index->kind() != OpKind::Select || index->operand(0)->kind() != OpKind::Compare) return index;
  const Instruction &test = *index->operand(0), *x = index->operand(2);
  const bool wraps = test.attr<CompareAttrs>().direction == Direction::LT && test.operand(0) == x &&
                     ScalarIntValue(*test.operand(1)) == 0;
  return wraps ? x : index;
}

/// The updates of all trips, one behind the other, are the whole array.
bool Covers(const TupleLoop& loop, const LoopCount& trips, const Instruction& update) {
  const Shape &whole = update.shape(), &part = update.operand(1)->shape();
  if (update.operand_count() != 2 + whole.rank()) return false;
  int64_t moving = -1;
  for (int64_t d = 0; d < whole.rank(); ++d) {
    if (part.dim(d) == whole.dim(d)) continue;  // starts at 0, whatever the index
    if (moving >= 0) return false;
    moving = d;
  }
  if (moving < 0 || trips.init != 0 || part.dim(moving) == 0 || trips.step != part.dim(moving)) return false;
  const Instruction* index = Unwrapped(update.operand(2 + moving));
  return index->kind() == OpKind::GetTupleElement && index->operand(0) == loop.body_parameter &&
         index->attr<GetTupleElementAttrs>().index == trips.induction &&
         trips.count * part.dim(moving) == whole.dim(moving);
}

bool IsFilledByLoop(const TupleLoop& loop, const LoopCount& trips, int64_t element) {
  const Instruction *start = loop.InitElement(element), *update = loop.body_root->operand(element);
  if (!start || start->kind() != OpKind::Broadcast || start->operand(0)->kind() != OpKind::Constant ||
      update->kind() != OpKind::DynamicUpdateSlice || start->shape().HasDynamicDimension())
    return false;
  const auto in_condition = ReadersOf(*loop.condition_parameter, element);
  const auto in_body = ReadersOf(*loop.body_parameter, element);
  if (!in_condition || !in_body || in_body->size() != 1) return false;
  const auto is_used = [](const Instruction* reader) { return reader->IsRoot() || !reader->users().empty(); };
  const Instruction* before = in_body->front();
  return llvm::none_of(*in_condition, is_used) && before == update->operand(0) &&
         before->users().size() == 1 && llvm::count(update->operands(), before) == 1 &&
         Covers(loop, trips, *update);
}

/// The loop starts with an array of any values.
void Unset(const TupleLoop& loop, int64_t element) {
  Instruction *init = loop.init(), *old = loop.InitElement(element);
  Maker make(init);
  CustomCallAttrs attrs;
  attrs.custom_call_target = "AllocateBuffer";
  Instruction* any = make.AddWithShape(OpKind::CustomCall, old->shape(), {}, std::move(attrs));
  llvm::SmallVector<Instruction*, 8> elements(init->operands());
  elements[static_cast<size_t>(element)] = any;
  loop.loop->SetOperand(0, make.AddWithShape(OpKind::Tuple, init->shape(), elements));
  RemoveIfDead(init);
}

Result<bool> RunDusAccumulatorZeroInitElimination(Module& module, const NoPassOptions&,
                                                  PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module))
    for (Instruction* inst : c->InstructionsOf(OpKind::While)) {
      HLO_CHECK_OK(context.CheckInterrupt());
      const auto loop = AsTupleLoop(*inst);
      const auto trips = loop ? CountTrips(*loop) : std::nullopt;
      if (!trips || trips->induction < 0) continue;
      for (int64_t i = 0; i < loop->size(); ++i) {
        if (!IsFilledByLoop(*loop, *trips, i) || !context.TakeRewrite()) continue;
        Unset(*loop, i);
        changed = true;
      }
    }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(DusAccumulatorZeroInitElimination, NoPassOptions);

}  // namespace hlo
