// async-collective-creator, convert-async-collectives-to-sync: collectives as a start and a done, and back
// (passes.md §2.6).
//
// async-collective-creator requires nothing and preserves layouts, fusions. It makes of collectives a
// start and a done, with their own opcodes where there are such (all-reduce, all-gather, collective-permute),
// else as asynchronous operations.
// convert-async-collectives-to-sync requires schedule and preserves everything. It makes of starts and
// dones one collective, in the place of the done, where nothing that takes time runs between them: only other
// starts and dones, parameters, constants, tuples and bitcasts.
// Left alone: asynchronous operations that are no collective, or have updates or other readers.
#include "llvm/ADT/DenseSet.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"

namespace hlo {
namespace {

struct AsyncCollectiveCreatorOptions {
  bool all_reduce = true;
  bool all_gather = true;
  bool collective_permute = true;
  bool collective_broadcast = true;
  bool all_to_all = true;
  bool reduce_scatter = true;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&AsyncCollectiveCreatorOptions::all_reduce>("all_reduce", "take all-reduces"),
    PassOption<&AsyncCollectiveCreatorOptions::all_gather>("all_gather", "take all-gathers"),
    PassOption<&AsyncCollectiveCreatorOptions::collective_permute>("collective_permute",
                                                                   "take collective-permutes"),
    PassOption<&AsyncCollectiveCreatorOptions::collective_broadcast>("collective_broadcast",
                                                                     "take collective-broadcasts"),
    PassOption<&AsyncCollectiveCreatorOptions::all_to_all>("all_to_all", "take all-to-alls"),
    PassOption<&AsyncCollectiveCreatorOptions::reduce_scatter>("reduce_scatter", "take reduce-scatters"),
};

/// A collective, its halves if they have opcodes, and the option that takes it.
struct Collective {
  OpKind whole;
  std::optional<std::pair<OpKind, OpKind>> halves;
  bool AsyncCollectiveCreatorOptions::* taken;
};
using Options = AsyncCollectiveCreatorOptions;
const Collective kCollectives[] = {
    {OpKind::AllReduce, {{OpKind::AllReduceStart, OpKind::AllReduceDone}}, &Options::all_reduce},
    {OpKind::AllGather, {{OpKind::AllGatherStart, OpKind::AllGatherDone}}, &Options::all_gather},
    {OpKind::CollectivePermute,
     {{OpKind::CollectivePermuteStart, OpKind::CollectivePermuteDone}},
     &Options::collective_permute},
    {OpKind::CollectiveBroadcast, {}, &Options::collective_broadcast},
    {OpKind::AllToAll, {}, &Options::all_to_all},
    {OpKind::ReduceScatter, {}, &Options::reduce_scatter},
};

/// The result is declared in the types of what is exchanged.
bool KeepsTypes(const Instruction& inst) {
  const Shape& shape = inst.shape();
  for (int64_t i = 0; i < inst.operand_count(); ++i) {
    const Shape& from = inst.operand(i)->shape();
    const Shape& to = shape.IsTuple() && i < shape.tuple_size() ? shape.tuple_shape(i) : shape;
    if (!from.IsArray() || !to.IsArray() || from.element_type() != to.element_type()) return false;
  }
  return true;
}

Shape OperandsOf(const Instruction& inst) {
  llvm::SmallVector<Shape, 4> shapes;
  for (const Instruction* operand : inst.operands()) shapes.push_back(operand->shape());
  return Shape::MakeTuple(shapes);
}

/// A computation of the collective alone.
Computation* Wrapped(const Instruction& inst) {
  Computation* made = NewComputation(*inst.module(), "async_wrapped");
  Maker make(*made);
  llvm::SmallVector<Instruction*, 4> parameters;
  for (const Instruction* operand : inst.operands())
    parameters.push_back(make.Parameter(static_cast<int64_t>(parameters.size()), operand->shape()));
  made->set_root(CloneWith(inst, *made, parameters));
  return made;
}

Instruction* Split(Instruction* inst, const Collective& collective) {
  Maker make(inst);
  if (!collective.halves) {
    const Shape shape = Shape::MakeTuple({OperandsOf(*inst), inst->shape()});
    Instruction* start =
        make.AddWithShape(OpKind::AsyncStart, shape, inst->operands(), AsyncStartAttrs(), {Wrapped(*inst)});
    return make.AddWithShape(OpKind::AsyncDone, inst->shape(), {start});
  }
  Shape shape = inst->shape();
  if (inst->kind() != OpKind::AllReduce) {
    const Shape from = inst->operand_count() == 1 ? inst->operand(0)->shape() : OperandsOf(*inst);
    shape = Shape::MakeTuple({from, shape});
  }
  Instruction* start =
      make.AddWithShape(collective.halves->first, shape, inst->operands(), inst->attrs(), inst->callees());
  return make.AddWithShape(collective.halves->second, inst->shape(), {start});
}

/// The collective that a start begins; null for other instructions.
const Collective* StartedBy(const Instruction& inst) {
  OpKind kind = inst.kind();
  const auto begins = [&](const Collective& c) {
    return kind == OpKind::AsyncStart ? inst.callee()->root()->kind() == c.whole
                                      : c.halves && kind == c.halves->first;
  };
  const Collective* found = llvm::find_if(kCollectives, begins);
  return found == std::end(kCollectives) ? nullptr : found;
}

bool IsDoneOf(const Instruction& done, const Instruction& start) {
  return done.info().Is(kDone) && done.operand_count() == 1 && done.operand(0) == &start &&
         start.users().size() == 1 && !start.IsRoot();
}

bool TakesNoTime(const Instruction& inst) {
  constexpr OpKind kNothing[] = {OpKind::Parameter, OpKind::Constant, OpKind::Bitcast,
                                 OpKind::GetTupleElement, OpKind::Tuple};
  return llvm::is_contained(kNothing, inst.kind()) || inst.info().Is(kStart) || inst.info().Is(kDone);
}

/// The starts whose dones follow at once, with these. Nothing that waits for the start alone runs before the
/// done.
std::vector<std::pair<Instruction*, Instruction*>> UselessPairs(const Computation& computation) {
  std::vector<std::pair<Instruction*, Instruction*>> pairs;
  llvm::DenseSet<const Instruction*> under_way, before;
  for (Instruction* inst : computation.schedule()) {
    before.insert(inst);
    if (StartedBy(*inst)) under_way.insert(inst);
    Instruction* start = inst->operand_count() == 1 ? inst->operand(0) : nullptr;
    const auto has_run = [&](const Instruction* waiting) {
      return waiting != inst && before.contains(waiting);
    };
    if (start && under_way.contains(start) && IsDoneOf(*inst, *start) &&
        llvm::none_of(start->extras().control_successors, has_run))
      pairs.emplace_back(start, inst);
    if (!TakesNoTime(*inst)) under_way.clear();
  }
  return pairs;
}

void Join(Instruction* start, Instruction* done) {
  Computation& computation = *start->parent();
  Maker make(done);
  Instruction* whole = start->kind() == OpKind::AsyncStart
                           ? InlineBody(done, *start->callee(), start->operands())
                           : make.AddWithShape(StartedBy(*start)->whole, done->shape(), start->operands(),
                                               start->attrs(), start->callees());
  std::vector<Instruction*> order = computation.schedule();
  *llvm::find(order, done) = whole;
  llvm::erase(order, start);
  ReplaceWith(done, whole);
  computation.set_schedule(std::move(order));
  computation.Remove(done);
  MoveControlEdges(*start, *whole);
  computation.Remove(start);
}

llvm::ArrayRef<PassOptionRow> AsyncCollectiveCreatorOptions::Rows() { return kRows; }

Result<bool> RunAsyncCollectiveCreator(Module& module, const AsyncCollectiveCreatorOptions& options,
                                       PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module))
    for (const Collective& collective : kCollectives) {
      if (!(options.*collective.taken)) continue;
      for (Instruction* inst : c->InstructionsOf(collective.whole)) {
        if (!KeepsTypes(*inst)) continue;
        if (!context.TakeRewrite()) return changed;
        ReplaceWith(inst, Split(inst, collective));
        c->Remove(inst);
        changed = true;
      }
    }
  return changed;
}

Result<bool> RunConvertAsyncCollectivesToSync(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    if (!c->has_schedule()) continue;
    for (const auto& [start, done] : UselessPairs(*c)) {
      if (!context.TakeRewrite()) return changed;
      Join(start, done);
      changed = true;
    }
  }
  if (changed) RemoveUnreachableComputations(module);
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(AsyncCollectiveCreator, AsyncCollectiveCreatorOptions);
HLO_DEFINE_PASS(ConvertAsyncCollectivesToSync, NoPassOptions);

}  // namespace hlo
