#include "passes/rewrite/conditional_edit.h"

#include "passes/analysis/frontend_attributes.h"
#include "passes/analysis/reachable.h"
#include "passes/analysis/side_effects.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"

namespace hlo {
namespace {

bool MayAlwaysRun(const Computation& computation) {
  return !AnyInstruction(computation, [](const Instruction& inst) {
    return inst.kind() == OpKind::While || HasControlEdges(inst);
  });
}

bool MaySelect(const Shape& shape) {
  if (shape.IsTuple()) return llvm::all_of(shape.tuple_shapes(), MaySelect);
  return shape.IsArray() && !shape.HasDynamicDimension();
}

/// `predicate` ? x : y, for arrays and tuples of them.
Instruction* Join(Maker& make, Instruction* predicate, Instruction* x, Instruction* y) {
  const Shape& shape = x->shape();
  if (x == y) return x;
  if (!shape.IsTuple()) {
    const Shape mask = shape.WithElementType(ElementType::Pred);
    return make.Select(make.Splat(mask, predicate), x, y);
  }
  llvm::SmallVector<Instruction*, 8> elements;
  for (int64_t i = 0; i < shape.tuple_size(); ++i) {
    Instruction* a = x->kind() == OpKind::Tuple ? x->operand(i) : make.Gte(x, i);
    Instruction* b = y->kind() == OpKind::Tuple ? y->operand(i) : make.Gte(y, i);
    elements.push_back(Join(make, predicate, a, b));
  }
  return make.Tuple(elements);
}

}  // namespace

Computation* OwnBranch(Instruction* conditional, int64_t branch) {
  Computation* computation = conditional->callee(branch);
  if (computation->callers().size() == 1 && llvm::count(conditional->callees(), computation) == 1)
    return computation;
  Computation* copy = CloneComputation(*computation);
  llvm::SmallVector<Computation*, 4> callees(conditional->callees().begin(), conditional->callees().end());
  callees[static_cast<size_t>(branch)] = copy;
  conditional->SetCallees(callees);
  return copy;
}

bool MayRunAllBranches(const Instruction& conditional) {
  if (HasControlEdges(conditional) || HasSideEffect(conditional) || !MaySelect(conditional.shape()))
    return false;
  return llvm::all_of(conditional.callees(), [&](const Computation* branch) {
    return MayAlwaysRun(*branch) && branch->root()->shape() == conditional.shape();
  });
}

Instruction* InlineBranch(Instruction* conditional, int64_t branch) {
  if (FrontendValue(*conditional, "inlineable") == "false") {
    Instruction* call =
        Maker(conditional)
            .AddWithShape(OpKind::Call, conditional->shape(), {conditional->operand(branch + 1)}, {},
                          {conditional->callee(branch)});
    call->MutableExtras().frontend_attributes = conditional->extras().frontend_attributes;
    return call;
  }
  return InlineBody(conditional, *conditional->callee(branch), {conditional->operand(branch + 1)});
}

Instruction* SelectBetweenBranches(Instruction* conditional) {
  Maker make(conditional);
  const auto last = static_cast<int64_t>(conditional->callees().size()) - 1;
  Instruction* selector = conditional->operand(0);
  Instruction* result = InlineBranch(conditional, last);
  for (int64_t b = last - 1; b >= 0; --b) {
    Instruction* chosen = IsPred(selector->shape().element_type())
                              ? selector
                              : make.Compare(Direction::EQ, selector, make.ScalarInt(ElementType::S32, b));
    Instruction* branch = InlineBranch(conditional, b);
    Instruction* joined = Join(make, chosen, branch, result);
    if (joined != branch) {  // tuples of which only the elements are needed
      if (result != branch) RemoveIfDead(result);
      RemoveIfDead(branch);
    }
    result = joined;
  }
  return result;
}

}  // namespace hlo
