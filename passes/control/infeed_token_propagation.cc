// infeed-token-propagation: tokens of infeeds and outfeeds in loops and branches come from outside and go
// there (passes.md §2.4).
//
// Requires nothing. Preserves everything but the schedule and flat-calls.
// Changes: a token that begins with an after-all of nothing in the body of a loop or in a branch, and that
// nobody reads at its end, becomes an element of what the loop carries or the conditional takes and gives,
// again and again until it begins in the entry. Left alone: loops and branches that share their computations,
// operands and results that are no tuples, shardings, control edges of the after-all.
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/conditional_edit.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/loop_edit.h"
#include "passes/rewrite/maker.h"
#include "passes/rewrite/restructure.h"

namespace hlo {
namespace {

/// A chain of one: the token that begins from nothing, who takes it, and where it comes out.
struct DanglingToken {
  Instruction* begin;
  Instruction* user;
  int64_t element;  // of the user's tuple that is the token at the end; -1: it is the token itself
};

bool BeginsFromNothing(const Instruction& token) {
  return token.kind() == OpKind::AfterAll && token.operands().empty() && token.users().size() == 1 &&
         !token.IsRoot() && !HasControlEdges(token);
}

bool IsRead(const Instruction& value, int64_t element) {
  if (value.IsRoot()) return true;
  if (element < 0) return !value.users().empty();
  return llvm::any_of(value.users(), [&](const Instruction* user) {
    if (user->kind() != OpKind::GetTupleElement) return true;
    return user->attr<GetTupleElementAttrs>().index == element && (!user->users().empty() || user->IsRoot());
  });
}

/// The token that the operand of a loop or branch holds in `element`, if it begins there.
Instruction* BegunElement(const Instruction& operand, int64_t element) {
  if (operand.kind() != OpKind::Tuple || operand.users().size() != 1) return nullptr;
  Instruction* token = operand.operand(element);
  return BeginsFromNothing(*token) ? token : nullptr;
}

using Tokens = std::vector<DanglingToken>;

void AddOf(Instruction* inst, Tokens& tokens) {
  if (inst->kind() == OpKind::Infeed || inst->kind() == OpKind::Outfeed) {
    const int64_t element = inst->kind() == OpKind::Infeed ? 1 : -1;
    Instruction* token = inst->operand(inst->operand_count() - 1);
    if (BeginsFromNothing(*token) && !IsRead(*inst, element)) tokens.push_back({token, inst, element});
    return;
  }
  const bool loop = inst->kind() == OpKind::While, branches = inst->kind() == OpKind::Conditional;
  if ((!loop && !branches) || !inst->shape().IsTuple()) return;
  for (int64_t i = 0; i < inst->shape().tuple_size(); ++i) {
    if (!inst->shape().tuple_shape(i).IsToken() || IsRead(*inst, i)) continue;
    // Of a conditional: the last element of all, which this pass has added.
    for (int64_t b = loop ? 0 : 1; b < inst->operand_count(); ++b) {
      const Instruction& operand = *inst->operand(b);
      if (!operand.shape().IsTuple() || operand.shape().tuple_size() == 0) continue;
      const int64_t place = loop ? i : operand.shape().tuple_size() - 1;
      if (Instruction* token = BegunElement(operand, place); token && token->users().size() == 1) {
        tokens.push_back({token, inst, i});
        break;
      }
    }
  }
}

Tokens TokensOf(const Computation& computation) {
  Tokens tokens;
  for (Instruction* inst : computation.PostOrder()) AddOf(inst, tokens);
  return tokens;
}

Instruction* EndOf(const DanglingToken& token) {
  return token.element < 0 ? token.user
                           : Maker(*token.user->parent(), token.user).Gte(token.user, token.element);
}

void TakeFrom(const DanglingToken& token, Instruction* outside) {
  token.begin->ReplaceAllUsesWith(outside);
  token.begin->parent()->Remove(token.begin);
}

bool CarryInLoop(Instruction* loop_inst, const DanglingToken& token, PassContext& context) {
  const auto loop = AsTupleLoop(*loop_inst);
  if (!loop || !MayReshapeLoop(*loop) || !context.TakeRewrite()) return false;
  Instruction* end = EndOf(token);
  AddLoopElement(*loop, Maker(loop_inst).Add(OpKind::AfterAll, {}), [&](Instruction* read) {
    TakeFrom(token, read);
    return end;
  });
  return true;
}

bool MayTakeToken(const Instruction& conditional) {
  if (!conditional.shape().IsTuple() || conditional.extras().sharding) return false;
  for (int64_t b = 0; b < static_cast<int64_t>(conditional.callees().size()); ++b) {
    const Computation& branch = *conditional.callee(b);
    if (branch.callers().size() != 1 || !branch.parameter(0)->shape().IsTuple() ||
        branch.root()->extras().sharding || branch.parameter(0)->extras().sharding)
      return false;
    for (const Instruction* user : branch.parameter(0)->users())
      if (user->kind() != OpKind::GetTupleElement) return false;
    if (branch.parameter(0)->IsRoot()) return false;
  }
  for (const Instruction* user : conditional.users())
    if (user->kind() != OpKind::GetTupleElement) return false;
  return !conditional.IsRoot() && llvm::count(conditional.operands(), conditional.operand(0)) == 1;
}

Shape WithToken(const Shape& tuple) {
  llvm::SmallVector<Shape, 8> shapes(tuple.tuple_shapes());
  shapes.push_back(Shape::MakeToken());
  return Shape::MakeTuple(shapes);
}

/// The elements of a tuple and one more, as a tuple.
Instruction* Longer(Maker& make, Instruction* tuple, Instruction* more) {
  llvm::SmallVector<Instruction*, 8> elements;
  for (int64_t i = 0; i < tuple->shape().tuple_size(); ++i)
    elements.push_back(tuple->kind() == OpKind::Tuple ? tuple->operand(i) : make.Gte(tuple, i));
  elements.push_back(more);
  return make.Tuple(elements);
}

bool PassThroughBranches(Instruction* conditional, const Computation& in, const DanglingToken& token,
                         PassContext& context) {
  if (!MayTakeToken(*conditional) || !context.TakeRewrite()) return false;
  for (int64_t b = 0; b < static_cast<int64_t>(conditional->callees().size()); ++b) {
    Maker outside(conditional);
    Instruction* old = conditional->operand(b + 1);
    conditional->SetOperand(b + 1, Longer(outside, old, outside.Add(OpKind::AfterAll, {})));
    RemoveIfDead(old);
    Computation& branch = *conditional->callee(b);
    Instruction* parameter = branch.parameter(0);
    const int64_t place = parameter->shape().tuple_size();
    SetStructure(*parameter, WithToken(parameter->shape()));
    Instruction* end = &branch == &in ? EndOf(token) : nullptr;
    Maker inside(branch, branch.root());
    Instruction* begin = inside.Gte(parameter, place);
    if (end) TakeFrom(token, begin);
    Instruction* root = branch.root();
    branch.set_root(Longer(inside, root, end ? end : begin));
    RemoveIfDead(root);
  }
  SetStructure(*conditional, WithToken(conditional->shape()));
  return true;
}

/// Brings the first token out that can be.
bool BringOneOut(Computation& computation, PassContext& context) {
  if (computation.callers().size() != 1) return false;
  Instruction* caller = computation.callers().front();
  const bool body = caller->kind() == OpKind::While && caller->callee(0) == &computation;
  if (!body && caller->kind() != OpKind::Conditional) return false;
  for (const DanglingToken& token : TokensOf(computation))
    if (body ? CarryInLoop(caller, token, context) : PassThroughBranches(caller, computation, token, context))
      return true;
  return false;
}

Result<bool> RunInfeedTokenPropagation(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {  // callees first
    HLO_CHECK_OK(context.CheckInterrupt());
    while (BringOneOut(*c, context)) changed = true;
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(InfeedTokenPropagation, NoPassOptions);

}  // namespace hlo
