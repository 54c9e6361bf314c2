// simplify-conditional: conditionals with one possible branch, cheap branches, or unneeded values (passes.md
// §4.6).
//
// Requires nothing. Preserves layouts, canonical-dots, fusions.
// Changes: a conditional with one branch or a constant selector becomes that branch; one between two branches
// of cheap operations becomes both and a select; elements of operands that no branch reads and elements of
// results that nobody reads, or that all branches compute as another, go. Branches that others call are
// copied first. Left alone: control edges, sends and receives in branches, shardings.
#include "passes/analysis/frontend_attributes.h"
#include "passes/analysis/side_effects.h"
#include "passes/analysis/value_facts.h"
#include "passes/pass.h"
#include "passes/rewrite/conditional_edit.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/loop_edit.h"
#include "passes/rewrite/maker.h"
#include "passes/rewrite/restructure.h"

namespace hlo {
namespace {

/// The only branch that can be selected.
std::optional<int64_t> OnlyBranch(const Instruction& conditional) {
  const auto branches = static_cast<int64_t>(conditional.callees().size());
  if (branches == 1) return 0;
  const Instruction& selector = *conditional.operand(0);
  if (selector.kind() != OpKind::Constant || !selector.attr<ConstantAttrs>().literal) return std::nullopt;
  if (IsPred(selector.shape().element_type()))
    return selector.attr<ConstantAttrs>().literal->Bits(0) != 0 ? 0 : 1;
  const int64_t index = *ScalarIntValue(selector);
  return index < 0 || index >= branches ? branches - 1 : index;
}

bool IsCheap(const Instruction& inst) {
  if (inst.info().Is(kElementwise)) return true;
  switch (inst.kind()) {
    case OpKind::Constant:
    case OpKind::Broadcast:
    case OpKind::Concatenate:
    case OpKind::DynamicSlice:
    case OpKind::GetTupleElement:
    case OpKind::Reduce:
    case OpKind::Reshape:
    case OpKind::Pad:
    case OpKind::Parameter:
    case OpKind::Slice:
    case OpKind::Tuple: return true;
    default: return false;
  }
}

/// Both branches do something, all of it cheap.
bool HasCheapBranches(const Instruction& conditional) {
  if (conditional.callees().size() != 2 || !IsPred(conditional.operand(0)->shape().element_type()))
    return false;
  return llvm::all_of(conditional.callees(), [](const Computation* branch) {
    bool computes = false;
    for (const Instruction* inst : branch->instructions()) {
      if (!IsCheap(*inst)) return false;
      computes |= inst->kind() != OpKind::Parameter && inst->info().category != OpCategory::Tuple;
    }
    return computes;
  });
}

bool OnlyElementsRead(const Instruction& tuple) {
  return !tuple.IsRoot() && llvm::all_of(tuple.users(), [](const Instruction* u) {
    return u->kind() == OpKind::GetTupleElement;
  });
}

using Kept = llvm::SmallVector<bool, 8>;

Kept ReadElements(const Instruction& tuple) {
  Kept read(static_cast<size_t>(tuple.shape().tuple_size()), false);
  for (const Instruction* user : tuple.users())
    read[static_cast<size_t>(user->attr<GetTupleElementAttrs>().index)] = true;
  return read;
}

bool KeepsAll(const Kept& kept) {
  return llvm::all_of(kept, [](bool k) { return k; });
}

/// Elements of a value that are kept, as instructions.
llvm::SmallVector<Instruction*, 8> Elements(Instruction* tuple, const Kept& kept, Maker make) {
  llvm::SmallVector<Instruction*, 8> elements;
  for (size_t i = 0; i < kept.size(); ++i)
    if (kept[i])
      elements.push_back(tuple->kind() == OpKind::Tuple ? tuple->operand(static_cast<int64_t>(i))
                                                        : make.Gte(tuple, static_cast<int64_t>(i)));
  return elements;
}

Shape Keep(const Shape& tuple, const Kept& kept) {
  llvm::SmallVector<Shape, 8> shapes;
  for (size_t i = 0; i < kept.size(); ++i)
    if (kept[i]) shapes.push_back(tuple.tuple_shape(static_cast<int64_t>(i)));
  return Shape::MakeTuple(shapes);
}

void RenumberReads(const Instruction& tuple, const Kept& kept) {
  for (Instruction* read : tuple.users()) {
    int64_t& index = read->mutable_attrs().Mutable<GetTupleElementAttrs>().index;
    index = std::count(kept.begin(), kept.begin() + index, true);
  }
}

bool DropOperandElements(Instruction* conditional, int64_t b, PassContext& context) {
  Instruction* operand = conditional->operand(b + 1);
  const Instruction* shared = conditional->callee(b)->parameter(0);
  if (!shared->shape().IsTuple() || !OnlyElementsRead(*shared) || operand->shape() != shared->shape())
    return false;
  const Kept kept = ReadElements(*shared);
  if (KeepsAll(kept) || !context.TakeRewrite()) return false;
  Instruction* parameter = OwnBranch(conditional, b)->parameter(0);
  conditional->SetOperand(b + 1, Maker(conditional).Tuple(Elements(operand, kept, Maker(conditional))));
  SetStructure(*parameter, Keep(parameter->shape(), kept));
  RenumberReads(*parameter, kept);
  return true;
}

bool DropResultElements(Instruction* conditional, PassContext& context) {
  if (!conditional->shape().IsTuple() || !OnlyElementsRead(*conditional)) return false;
  if (conditional->users().empty() && !HasSideEffect(*conditional)) return false;  // dead
  const Kept kept = ReadElements(*conditional);
  if (KeepsAll(kept) || !context.TakeRewrite()) return false;
  for (size_t b = 0; b < conditional->callees().size(); ++b) {
    Computation* branch = OwnBranch(conditional, static_cast<int64_t>(b));
    Instruction* root = branch->root();
    branch->set_root(Maker(*branch, root).Tuple(Elements(root, kept, Maker(*branch, root))));
    RemoveIfDead(root);
  }
  SetStructure(*conditional, Keep(conditional->shape(), kept));
  RenumberReads(*conditional, kept);
  return true;
}

/// Reads of an element that every branch computes as it does an earlier one go to that one.
bool MergeResultElements(Instruction* conditional, PassContext& context) {
  if (!conditional->shape().IsTuple() || llvm::any_of(conditional->callees(), [](const Computation* b) {
        return b->root()->kind() != OpKind::Tuple;
      }))
    return false;
  bool changed = false;
  const auto reads = ReadsByElement(*conditional);  // of an element that goes to an earlier one
  llvm::DenseMap<uint64_t, int64_t> first;
  for (int64_t j = 0; j < conditional->shape().tuple_size(); ++j) {
    llvm::hash_code key(0);
    for (const Computation* b : conditional->callees()) key = llvm::hash_combine(key, b->root()->operand(j));
    const auto [entry, added] = first.try_emplace(static_cast<uint64_t>(key), j);
    const int64_t i = entry->second;
    if (added || !llvm::all_of(conditional->callees(), [&](const Computation* b) {
          return b->root()->operand(i) == b->root()->operand(j);
        }))
      continue;
    for (Instruction* read : reads[static_cast<size_t>(j)]) {
      if (!context.TakeRewrite()) return changed;
      read->mutable_attrs().Mutable<GetTupleElementAttrs>().index = i;
      changed = true;
    }
  }
  return changed;
}

bool HasShardings(const Instruction& conditional) {
  if (conditional.extras().sharding) return true;
  for (const Instruction* o : conditional.operands())
    if (o->extras().sharding) return true;
  return llvm::any_of(conditional.callees(), [](const Computation* branch) {
    return branch->root()->extras().sharding || branch->parameter(0)->extras().sharding;
  });
}

bool SimplifyElements(Instruction* conditional, PassContext& context) {
  if (HasShardings(*conditional)) return false;
  bool changed = MergeResultElements(conditional, context);
  changed |= DropResultElements(conditional, context);
  for (int64_t b = 0; b < static_cast<int64_t>(conditional->callees().size()); ++b)
    changed |= DropOperandElements(conditional, b, context);
  return changed;
}

/// What the conditional is without deciding anything at run time; null if it must stay.
Instruction* Replacement(Instruction* conditional, PassContext& context) {
  // A group is scheduled as it stands.
  if (!FrontendValue(*conditional, "_scheduling_group_id").empty()) return nullptr;
  const auto only = OnlyBranch(*conditional);
  if (only && conditional->callee(*only)->root()->shape() == conditional->shape())
    return context.TakeRewrite() ? InlineBranch(conditional, *only) : nullptr;
  if (!HasCheapBranches(*conditional) || !MayRunAllBranches(*conditional)) return nullptr;
  return context.TakeRewrite() ? SelectBetweenBranches(conditional) : nullptr;
}

Result<bool> RunSimplifyConditional(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    for (Instruction* inst : c->InstructionsOf(OpKind::Conditional)) {
      HLO_CHECK_OK(context.CheckInterrupt());
      if (HasControlEdges(*inst)) continue;
      if (llvm::any_of(inst->callees(), [](const Computation* b) { return HasTransfers(*b); })) continue;
      if (Instruction* by = Replacement(inst, context)) {
        ReplaceWith(inst, by);
        c->Remove(inst);
        changed = true;
      } else {
        changed |= SimplifyElements(inst, context);
      }
    }
  }
  if (changed) RemoveUnreachableComputations(module);
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(SimplifyConditional, NoPassOptions);

}  // namespace hlo
