// simplify-sorts: sorts lose operands that nobody reads (passes.md §2.2).
//
// Requires nothing. Preserves flat-calls, layouts, canonical-dots, fusions.
// Changes: operands of a variadic sort whose results are not read and whose elements the comparator does not
// look at are removed, from the comparator too; a sort of one operand yields an array. Left alone: sorts
// whose tuple is read as a whole.
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"

namespace hlo {
namespace {

/// By operand: it is read after the sort or by the comparator. Empty: the tuple is read as a whole.
std::vector<bool> NeededOperands(const Instruction& sort) {
  std::vector<bool> needed(static_cast<size_t>(sort.operand_count()));
  if (sort.IsRoot() || !sort.shape().IsTuple() || sort.extras().sharding) return {};
  for (const Instruction* user : sort.users()) {
    if (user->kind() != OpKind::GetTupleElement) return {};
    needed[static_cast<size_t>(user->attr<GetTupleElementAttrs>().index)] = true;
  }
  for (const Instruction* p : sort.callee()->parameters())
    if (!p->users().empty() || p->IsRoot())
      needed[static_cast<size_t>(p->attr<ParameterAttrs>().number / 2)] = true;
  return needed;
}

Computation* ComparatorOf(const Computation& comparator, const std::vector<bool>& needed) {
  Computation* made = CloneComputation(comparator);
  made->RemoveParameters([&](const Instruction& p) {
    return !needed[static_cast<size_t>(p.attr<ParameterAttrs>().number / 2)];
  });
  return made;
}

void Simplify(Instruction* sort, const std::vector<bool>& needed) {
  llvm::SmallVector<Instruction*, 4> operands;
  llvm::SmallVector<Shape, 4> shapes;
  std::vector<int64_t> places(needed.size(), -1);
  for (size_t i = 0; i < needed.size(); ++i) {
    if (!needed[i]) continue;
    places[i] = static_cast<int64_t>(operands.size());
    operands.push_back(sort->operand(static_cast<int64_t>(i)));
    shapes.push_back(sort->shape().tuple_shape(static_cast<int64_t>(i)));
  }
  Maker make(sort);
  const bool single = operands.size() == 1;
  Instruction* made = make.AddWithShape(OpKind::Sort, single ? shapes[0] : Shape::MakeTuple(shapes), operands,
                                        sort->attrs(), {ComparatorOf(*sort->callee(), needed)});
  MoveControlEdges(*sort, *made);
  const std::vector<Instruction*> users(sort->users().begin(), sort->users().end());
  for (Instruction* user : users) {
    const int64_t place = places[static_cast<size_t>(user->attr<GetTupleElementAttrs>().index)];
    ReplaceAndRemove(user, single ? made : make.Gte(made, place));
  }
  // The last user took the sort along.
}

Result<bool> RunSimplifySorts(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    for (Instruction* sort : c->InstructionsOf(OpKind::Sort)) {
      if (sort->operand_count() == 1 || sort->users().empty()) continue;
      const std::vector<bool> needed = NeededOperands(*sort);
      if (needed.empty() || llvm::is_contained(needed, false) == false || !llvm::is_contained(needed, true))
        continue;
      if (!context.TakeRewrite()) return changed;
      Simplify(sort, needed);
      changed = true;
    }
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(SimplifySorts, NoPassOptions);

}  // namespace hlo
