// The strategies of --reduce, from coarse to fine (tools.md §2.5).
#include "llvm/ADT/DenseSet.h"
#include "passes/analysis/side_effects.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"
#include "tools/reduce/reduce.h"
#include "tools/reduce/shapes.h"

namespace hlo {
namespace {

/// Instructions a range strategy can replace: all but parameters and constants, in a fixed order that Clone()
/// keeps.
std::vector<Instruction*> Replaceable(const Module& module) {
  std::vector<Instruction*> found;
  for (const auto& c : module.computations())
    for (Instruction* i : c->PostOrder())
      if (i->kind() != OpKind::Parameter && i->kind() != OpKind::Constant) found.push_back(i);
  return found;
}

int64_t CountReplaceable(const Module& module) { return static_cast<int64_t>(Replaceable(module).size()); }

/// Puts what `stand_in` makes in the place of each instruction of the range; null: it stays.
bool ReplaceRange(Module& module, int64_t begin, int64_t end,
                  llvm::function_ref<Instruction*(Instruction*)> stand_in) {
  const std::vector<Instruction*> all = Replaceable(module);
  bool changed = false;
  for (int64_t i = end - 1; i >= begin; --i) {
    Instruction* inst = all[static_cast<size_t>(i)];
    if (inst->users().empty() && !inst->IsRoot()) {
      if (!HasSideEffect(*inst)) continue;  // goes as dead
      inst->DropControlEdges();
      inst->parent()->Remove(inst);
      changed = true;
      continue;
    }
    Instruction* by = stand_in(inst);
    if (!by || by == inst) continue;
    inst->DropControlEdges();
    inst->ReplaceAllUsesWith(by);
    changed = true;
  }
  return changed;
}

Instruction* OperandOfSameShape(Instruction* inst) {
  for (Instruction* o : inst->operands())
    if (Same(o->shape(), inst->shape(), {.dynamic = true})) return o;
  return nullptr;
}

/// A value of the shape made of zeros; null for tokens and opaque values.
Instruction* ZerosLike(Instruction* inst, const Shape& shape) {
  Maker make(inst);
  if (shape.IsArray()) return shape.HasDynamicDimension() ? nullptr : make.Full(shape, 0);
  if (shape.IsToken()) return make.Add(OpKind::AfterAll, {});
  if (!shape.IsTuple()) return nullptr;
  llvm::SmallVector<Instruction*, 4> elements;
  for (const Shape& element : shape.tuple_shapes()) {
    Instruction* zeros = ZerosLike(inst, element);
    if (!zeros) return nullptr;
    elements.push_back(zeros);
  }
  return make.Tuple(elements);
}

bool BypassRange(Module& module, int64_t begin, int64_t end, const ObservedValues&) {
  return ReplaceRange(module, begin, end, OperandOfSameShape);
}

bool ZeroRange(Module& module, int64_t begin, int64_t end, const ObservedValues&) {
  return ReplaceRange(module, begin, end, [](Instruction* i) { return ZerosLike(i, i->shape()); });
}

/// What an instruction of the entry was seen to compute.
bool ObservedRange(Module& module, int64_t begin, int64_t end, const ObservedValues& observed) {
  return ReplaceRange(module, begin, end, [&](Instruction* inst) -> Instruction* {
    const auto value = observed.find(inst->name());
    if (inst->parent() != module.entry() || value == observed.end()) return nullptr;
    if (!Same(value->second->shape(), inst->shape(), {.dynamic = true})) return nullptr;
    return Maker(inst).Constant(value->second->WithShape(inst->shape()));
  });
}

/// A parameter of the entry with that shape: one that is there, or a new one.
bool ParameterRange(Module& module, int64_t begin, int64_t end, const ObservedValues&) {
  return ReplaceRange(module, begin, end, [&](Instruction* inst) -> Instruction* {
    Computation* entry = module.entry();
    if (inst->parent() != entry) return nullptr;
    for (Instruction* p : entry->parameters())
      if (p->shape() == inst->shape() && p != inst) return p;
    if (inst->shape().IsToken()) return ZerosLike(inst, inst->shape());
    return Maker(inst).Parameter(static_cast<int64_t>(entry->parameters().size()), inst->shape());
  });
}

/// Elements of the entry's root tuple.
int64_t CountOutputs(const Module& module) {
  const Instruction* root = module.entry()->root();
  return root->kind() == OpKind::Tuple ? root->operand_count() : 0;
}

bool DropOutputs(Module& module, int64_t begin, int64_t end, const ObservedValues&) {
  Instruction* root = module.entry()->root();
  llvm::SmallVector<Instruction*, 8> kept;
  for (int64_t i = 0; i < root->operand_count(); ++i)
    if (i < begin || i >= end) kept.push_back(root->operand(i));
  if (kept.empty()) return false;
  module.entry()->set_root(kept.size() == 1 ? kept[0] : Maker(root).Tuple(kept));
  return true;
}

/// Another root: instructions in post-order, halving the interval.
std::vector<ReduceEdit> EarlierRoots(const Module& module) {
  std::vector<ReduceEdit> edits;
  const auto count = static_cast<int64_t>(module.entry()->PostOrder().size());
  auto root_at = [](int64_t place) {
    return [place](Module& m) {
      const std::vector<Instruction*> order = m.entry()->PostOrder();
      Instruction* root = order[static_cast<size_t>(place)];
      if (root->IsRoot() || root->shape().IsToken()) return false;
      m.entry()->set_root(root);
      return true;
    };
  };
  for (int64_t step = count / 2; step > 0; step /= 2)
    for (const int64_t place : {step - 1, count - 1 - step})
      if (place >= 0 && place < count - 1) edits.emplace_back(root_at(place));
  const Instruction* root = module.entry()->root();
  for (int64_t i = 0; i < root->operand_count(); ++i)
    edits.emplace_back([i](Module& m) {
      Instruction* operand = m.entry()->root()->operand(i);
      if (operand->shape().IsToken()) return false;
      m.entry()->set_root(operand);
      return true;
    });
  return edits;
}

/// Applies `edit` to the instruction with a number among those of some kinds.
template <class Pick, class Edit>
std::vector<ReduceEdit> ForEachInstruction(const Module& module, Pick pick, Edit edit) {
  std::vector<ReduceEdit> edits;
  for (size_t c = 0; c < module.computations().size(); ++c) {
    int64_t number = 0;
    for (const Instruction* i : module.computations()[c]->instructions()) {
      if (pick(*i))
        edits.push_back([c, number, edit](Module& m) {
          int64_t n = number;
          for (Instruction* at : m.computations()[c]->instructions())
            if (n-- == 0) return edit(at);
          return false;
        });
      ++number;
    }
  }
  return edits;
}

bool InlinesToOneBody(const Instruction& i) { return i.kind() == OpKind::Call || i.kind() == OpKind::Fusion; }

std::vector<ReduceEdit> Inlinings(const Module& module) {
  return ForEachInstruction(module, InlinesToOneBody,
                            [](Instruction* i) { return InlineCall(i) != nullptr; });
}

void ReplaceByBody(Instruction* inst, const Computation& body, llvm::ArrayRef<Instruction*> arguments) {
  Instruction* root = InlineBody(inst, body, arguments);
  inst->DropControlEdges();
  inst->ReplaceAllUsesWith(root);
  inst->parent()->Remove(inst);
}

std::vector<ReduceEdit> ControlFlow(const Module& module) {
  std::vector<ReduceEdit> edits = ForEachInstruction(
      module, [](const Instruction& i) { return i.kind() == OpKind::While; },
      [](Instruction* i) {
        i->DropControlEdges();
        i->ReplaceAllUsesWith(i->operand(0));
        return true;
      });
  for (ReduceEdit& once : ForEachInstruction(
           module, [](const Instruction& i) { return i.kind() == OpKind::While; },
           [](Instruction* i) {
             ReplaceByBody(i, *i->callee(0), {i->operand(0)});
             return true;
           }))
    edits.push_back(std::move(once));
  for (const int64_t branch : {0, 1, 2})
    for (ReduceEdit& taken : ForEachInstruction(
             module,
             [branch](const Instruction& i) {
               return i.kind() == OpKind::Conditional && static_cast<int64_t>(i.callees().size()) > branch;
             },
             [branch](Instruction* i) {
               ReplaceByBody(i, *i->callee(branch), {i->operand(branch + 1)});
               return true;
             }))
      edits.push_back(std::move(taken));
  return edits;
}

/// Drops one thing everywhere.
std::vector<ReduceEdit> Decoration(const Module& module) {
  (void)module;
  auto everywhere = [](auto change) {
    return [change](Module& m) {
      bool changed = false;
      for (const auto& c : m.computations())
        for (Instruction* i : c->instructions()) changed |= change(*i);
      return changed;
    };
  };
  return {
      everywhere([](Instruction& i) {
        const bool had = i.metadata() != nullptr;
        i.set_metadata(nullptr);
        return had;
      }),
      [](Module& m) {
        const bool had = !m.stack_tables.empty() || !m.config.frontend_attributes.empty() ||
                         !m.config.origin_recovery_table.empty() || !m.config.debug_attributes.empty();
        m.stack_tables = {};
        m.config.frontend_attributes.clear();
        m.config.origin_recovery_table.clear();
        m.config.debug_attributes.clear();
        return had;
      },
      everywhere([](Instruction& i) {
        if (!i.has_extras()) return false;
        InstructionExtras& extras = i.MutableExtras();
        const bool had = extras.sharding || !extras.frontend_attributes.empty() || extras.statistics ||
                         extras.origin || !extras.unknown_attributes.empty();
        extras.sharding = nullptr;
        extras.frontend_attributes.clear();
        extras.statistics.reset();
        extras.origin = nullptr;
        extras.unknown_attributes = {};
        return had;
      }),
      everywhere([](Instruction& i) {
        if (!i.has_extras() || i.extras().backend_config.empty()) return false;
        i.MutableExtras().backend_config = {};
        return true;
      }),
      everywhere([](Instruction& i) {
        if (!i.has_extras() || i.extras().control_predecessors.empty()) return false;
        i.DropControlEdges();
        return true;
      }),
      [](Module& m) {
        const bool had =
            m.config.is_scheduled || !m.config.input_output_alias.empty() || !m.config.buffer_donors.empty();
        m.config.is_scheduled = false;
        for (const auto& c : m.computations()) c->set_schedule({});
        m.config.input_output_alias.clear();
        m.config.buffer_donors.clear();
        return had;
      },
      DefaultLayouts,
      ShortNames,
  };
}

constexpr ReduceStrategy kStrategies[] = {
    {.name = "outputs", .count = CountOutputs, .remove = DropOutputs},
    {.name = "roots", .edits = EarlierRoots, .restart = true},
    {.name = "bypasses", .count = CountReplaceable, .remove = BypassRange},
    {.name = "parameters", .count = CountReplaceable, .remove = ParameterRange},
    {.name = "observed values", .count = CountReplaceable, .remove = ObservedRange},
    {.name = "zeros", .count = CountReplaceable, .remove = ZeroRange},
    {.name = "control flow", .edits = ControlFlow},
    {.name = "inlining", .edits = Inlinings},
    {.name = "shapes", .edits = SmallerShapes},
    {.name = "types", .edits = SimplerTypes},
    {.name = "decoration", .edits = Decoration, .cosmetic = true},
};

/// Parameters of the entry that nothing uses, but for one if the entry would become empty.
void DropUnusedParameters(Computation& entry) {
  entry.RemoveParameters([](const Instruction& p) { return p.users().empty() && !p.IsRoot(); });
}

}  // namespace

llvm::ArrayRef<ReduceStrategy> ReduceStrategies() { return kStrategies; }

void TidyReduced(Module& module) {
  std::vector<std::pair<Computation*, std::vector<const Instruction*>>> schedules;
  for (const auto& c : module.computations())
    if (c->has_schedule()) {
      schedules.emplace_back(c.get(),
                             std::vector<const Instruction*>(c->schedule().begin(), c->schedule().end()));
      c->set_schedule({});
    }
  // Callers first, so that what only dead calls use goes too.
  const std::vector<Computation*> order = module.PostOrder();
  for (Computation* c : llvm::reverse(order)) {
    const std::vector<Instruction*> instructions = c->PostOrder();
    for (Instruction* i : llvm::reverse(instructions))
      if (IsDead(*i)) c->Remove(i);
  }
  RemoveUnreachableComputations(module);
  llvm::DenseSet<const Computation*> left;
  for (const auto& c : module.computations()) left.insert(c.get());
  for (const auto& [c, before] : schedules)
    if (left.contains(c)) c->set_schedule(RepairedSchedule(*c, before));
  DropUnusedParameters(*module.entry());
  Computation& entry = *module.entry();
  const std::vector<Shape> parameters = entry.ParameterShapes();
  const std::optional<EntryLayout>& before = module.config.entry_layout;
  const bool same_interface =
      before && before->result == entry.root()->shape() && before->parameters.size() == parameters.size() &&
      std::equal(parameters.begin(), parameters.end(), before->parameters.begin(),
                 [](const Shape& x, const Shape& y) { return Same(x, y, {.dynamic = true}); });
  if (same_interface) return;
  EntryLayout layout;
  layout.parameters = parameters;
  layout.result = entry.root()->shape();
  module.config.entry_layout = std::move(layout);
  module.config.input_output_alias.clear();
  module.config.buffer_donors.clear();
  module.config.spmd_propagation_to_parameters = {false};
  module.config.spmd_propagation_to_output = {false};
}

}  // namespace hlo
