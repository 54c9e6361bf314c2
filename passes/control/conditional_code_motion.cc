// conditional-code-motion: what all branches do last is done once behind them (passes.md §2.4).
//
// Requires nothing. Preserves layouts, canonical-dots, fusions.
// Changes: an element of a result that every branch makes by the same elementwise operation on one value is
// made of that value behind the conditional. Branches that others call are copied first. Left alone: values
// that branches use elsewhere, values larger than what is made of them, results that are no tuples, control
// edges, shardings.
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/conditional_edit.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/restructure.h"

namespace hlo {
namespace {

/// An operation on one array that the result of its branch alone needs, once.
bool IsLast(const Instruction& made) {
  return made.info().Is(kElementwise) && made.operand_count() == 1 && made.callees().empty() &&
         made.users().size() == 1 && !HasControlEdges(made) && !made.extras().sharding &&
         llvm::count(made.parent()->root()->operands(), &made) == 1 && !made.shape().HasDynamicDimension() &&
         ByteSize(made.operand(0)->shape()) <= ByteSize(made.shape());
}

bool DoTheSameLast(const Instruction& conditional, int64_t i) {
  const Instruction& first = *conditional.callee()->root()->operand(i);
  return llvm::all_of(conditional.callees(), [&](const Computation* branch) {
    const Instruction& made = *branch->root()->operand(i);
    return IsLast(made) && made.kind() == first.kind() && made.attrs() == first.attrs() &&
           made.shape() == first.shape() && made.operand(0)->shape() == first.operand(0)->shape() &&
           made.extras().result_accuracy == first.extras().result_accuracy;
  });
}

/// The elements that can be made behind the conditional.
Dims ElementsToMove(const Instruction& inst) {
  Dims elements;
  const bool puts_together = inst.kind() == OpKind::Conditional && inst.shape().IsTuple() &&
                             !HasControlEdges(inst) && !inst.extras().sharding &&
                             llvm::all_of(inst.callees(), [](const Computation* branch) {
                               return branch->root()->kind() == OpKind::Tuple &&
                                      branch->root()->users().empty() && !branch->root()->extras().sharding;
                             });
  for (int64_t i = 0; puts_together && i < inst.shape().tuple_size(); ++i)
    if (DoTheSameLast(inst, i)) elements.push_back(i);
  return elements;
}

using Operations = llvm::SmallVector<Instruction*, 4>;

/// The branch hands over what its last operations are applied to; they stay, unused.
Operations LeaveOut(Computation& branch, llvm::ArrayRef<int64_t> elements) {
  Instruction* root = branch.root();
  Operations last;
  llvm::SmallVector<Shape, 4> shapes(root->shape().tuple_shapes());
  for (const int64_t i : elements) {
    last.push_back(root->operand(i));
    shapes[static_cast<size_t>(i)] = last.back()->operand(0)->shape();
    root->SetOperand(i, last.back()->operand(0));
  }
  SetStructure(*root, Shape::MakeTuple(shapes));
  return last;
}

/// The conditional gives less, and the operations stand behind it.
void MoveBehind(Instruction* conditional, llvm::ArrayRef<int64_t> elements) {
  std::vector<Operations> last;
  for (int64_t b = 0; b < static_cast<int64_t>(conditional->callees().size()); ++b)
    last.push_back(LeaveOut(*OwnBranch(conditional, b), elements));
  Maker make(conditional);
  Instruction* less =
      RemakeWith(make, *conditional, conditional->callee()->root()->shape(), conditional->operands());
  Operations parts;
  for (int64_t i = 0; i < conditional->shape().tuple_size(); ++i) {
    parts.push_back(make.Gte(less, i));
    const auto* moved = llvm::find(elements, i);
    if (moved == elements.end()) continue;
    const Instruction& like = *last.front()[static_cast<size_t>(moved - elements.begin())];
    parts.back() = RemakeWith(make, like, like.shape(), {parts.back()});
  }
  for (const Operations& of_branch : last)
    for (Instruction* operation : of_branch) RemoveIfDead(operation);
  Instruction* whole = make.Tuple(parts);
  conditional->ReplaceAllUsesWith(whole);  // all else it had has the new one
  conditional->parent()->Remove(conditional);
  const Operations users(whole->users());
  for (Instruction* user : users)  // the tuple goes with the last of these
    if (const auto* read = user->attrs().GetIf<GetTupleElementAttrs>())
      ReplaceAndRemove(user, parts[static_cast<size_t>(read->index)]);
}

Result<bool> RunConditionalCodeMotion(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    HLO_CHECK_OK(context.CheckInterrupt());
    for (bool again = true; again;) {  // what was second to last is last now
      again = false;
      for (Instruction* conditional : c->InstructionsOf(OpKind::Conditional)) {
        const Dims elements = ElementsToMove(*conditional);
        if (elements.empty()) continue;
        if (!context.TakeRewrite()) return changed;
        MoveBehind(conditional, elements);
        changed = again = true;
      }
    }
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(ConditionalCodeMotion, NoPassOptions);

}  // namespace hlo
