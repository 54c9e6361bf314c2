#include "passes/loops/collective_pipeliner.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "passes/analysis/side_effects.h"
#include "passes/analysis/value_facts.h"
#include "passes/loops/filled_elements.h"
#include "passes/loops/while_loop_trip_count_annotator.h"
#include "passes/rewrite/collectives.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/loop_unroll.h"
#include "passes/rewrite/restructure.h"

namespace hlo {
namespace {

struct CollectivePipelinerOptions {
  bool forward = true;
  bool backward = true;
  bool forward_sink = false;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&CollectivePipelinerOptions::forward>("forward", "reductions run an iteration later"),
    PassOption<&CollectivePipelinerOptions::backward>("backward", "gathers run an iteration earlier"),
    PassOption<&CollectivePipelinerOptions::forward_sink>(
        "forward_sink", "reductions whose results pile up in an array run once, behind the loop"),
};

using InstSet = llvm::SetVector<Instruction*>;
using Copies = llvm::DenseMap<const Instruction*, Instruction*>;

bool IsExchange(const Instruction& inst) { return inst.info().category == OpCategory::Communication; }

/// Which element of the state the instruction of the body reads; -1: none.
int64_t ReadElement(const TupleLoop& loop, const Instruction& inst) {
  const auto* read = inst.attrs().GetIf<GetTupleElementAttrs>();
  return read && inst.operand(0) == loop.body_parameter ? read->index : -1;
}

/// Of the state that the old body makes, also once the loop has another.
size_t SizeOf(const TupleLoop& loop) { return static_cast<size_t>(loop.body_root->operand_count()); }

/// The trips, if iterations may be taken apart. What an exchange does besides is not looked at here.
std::optional<LoopCount> SeparableTrips(const TupleLoop& loop) {
  if (!MayReshapeLoop(loop) || HasControlEdges(*loop.loop)) return std::nullopt;
  for (const Instruction* inst : loop.condition->instructions())
    if (HasSideEffect(*inst) || HasControlEdges(*inst)) return std::nullopt;
  for (const Instruction* inst : loop.body->instructions())
    if (HasControlEdges(*inst) || (HasSideEffect(*inst) && !IsPlainCollective(*inst))) return std::nullopt;
  const auto counted = CountTrips(loop, /*max_evaluated=*/0);
  const bool known = counted && counted->init && counted->count >= 2 && counted->induction >= 0;
  return known && std::abs(*counted->step) <= INT32_MAX ? counted : std::nullopt;
}

/// A copy of an exchange outside of the loop has a channel of its own, if it has one.
void RenewChannel(Instruction& exchange) {
  for (const FieldInfo& field : exchange.attrs().info().fields)
    if ((field.flags & kChannelId) != 0)
      if (auto& id = field.Mutable<std::optional<int64_t>>(exchange.mutable_attrs().mutable_data()))
        id = NextChannelId(*exchange.module());
}

/// Copies instructions of the body, which are in an order of execution, into `to`; what they read of the
/// others is in `copies`, where the copies come, too.
void CopyInto(const TupleLoop& loop, Computation& to, llvm::ArrayRef<Instruction*> instructions,
              Copies& copies) {
  for (Instruction* inst : instructions) {
    if (copies.contains(inst)) continue;
    llvm::SmallVector<Instruction*, 4> operands;
    for (const Instruction* o : inst->operands()) operands.push_back(copies.lookup(o));
    Instruction* copy = CloneWith(*inst, to, operands);
    if (IsExchange(*inst) && &to == loop.loop->parent()) RenewChannel(*copy);
    copies[inst] = copy;
  }
}

/// Reads of the state in the body stand for `state`.
void BindState(const TupleLoop& loop, llvm::ArrayRef<Instruction*> state, Copies& copies) {
  for (const Instruction* read : loop.body_parameter->users())
    copies[read] = state[static_cast<size_t>(ReadElement(loop, *read))];
}

/// The body without its parameter and root, and without `left_out`, in an order of execution.
std::vector<Instruction*> Steps(const TupleLoop& loop, const InstSet& left_out) {
  std::vector<Instruction*> steps = loop.body->PostOrder();
  llvm::erase_if(steps, [&](Instruction* i) {
    return i == loop.body_parameter || i == loop.body_root || left_out.contains(i);
  });
  return steps;
}

/// --- Forward.

/// An exchange, what follows from it, and the element that all this is written into.
struct Late {
  InstSet members;  // in an order of execution
  int64_t element = -1;
};

/// The exchange and what depends on it; nothing if more depends on it than the next value of one element that
/// is updated in place.
std::optional<Late> LateFrom(const TupleLoop& loop, const LoopReads& reads, Instruction* exchange) {
  Late late;
  llvm::SmallVector<Instruction*, 8> stack = {exchange};
  llvm::DenseSet<const Instruction*> seen = {exchange};
  while (!stack.empty()) {
    const Instruction* at = stack.pop_back_val();
    for (Instruction* user : at->users()) {
      if (user == loop.body_root) {
        if (late.element >= 0 || llvm::count(user->operands(), at) != 1) return std::nullopt;
        late.element = llvm::find(user->operands(), at) - user->operands().begin();
      } else if (HasSideEffect(*user) || IsExchange(*user)) {
        return std::nullopt;
      } else if (seen.insert(user).second) {
        stack.push_back(user);
      }
    }
  }
  if (late.element < 0) return std::nullopt;
  const Instruction* update = loop.body_root->operand(late.element);
  const auto& read = reads.in_body[static_cast<size_t>(late.element)];
  const bool in_place = update->kind() == OpKind::DynamicUpdateSlice && read.size() == 1 &&
                        update->operand(0) == read.front() && read.front()->users().size() == 1 &&
                        reads.in_condition[static_cast<size_t>(late.element)].empty();
  if (!in_place) return std::nullopt;
  for (Instruction* inst : loop.body->PostOrder())
    if (seen.contains(inst)) late.members.insert(inst);
  return late;
}

std::vector<Late> LateParts(const TupleLoop& loop) {
  const LoopReads reads(loop);
  std::vector<Late> parts;
  llvm::DenseSet<const Instruction*> taken;
  for (Instruction* inst : loop.body->PostOrder()) {
    const bool reduces = inst->kind() == OpKind::AllReduce || inst->kind() == OpKind::ReduceScatter;
    if (!reduces || !IsPlainCollective(*inst) || ReadElement(loop, *inst->operand(0)) >= 0) continue;
    auto late = LateFrom(loop, reads, inst);
    if (!late || llvm::any_of(late->members, [&](Instruction* i) { return taken.contains(i); })) continue;
    taken.insert(late->members.begin(), late->members.end());
    parts.push_back(std::move(*late));
  }
  return parts;
}

/// What `late` reads of the same iteration and the next iteration no longer has.
InstSet Handed(const TupleLoop& loop, const InstSet& late, llvm::ArrayRef<int64_t> elements) {
  InstSet handed;
  for (const Instruction* inst : late)
    for (Instruction* operand : inst->operands()) {
      const int64_t element = ReadElement(loop, *operand);
      const bool there =
          operand->kind() == OpKind::Constant ||
          (element >= 0 && (loop.IsInvariant(element) || llvm::is_contained(elements, element)));
      if (!there && !late.contains(operand)) handed.insert(operand);
    }
  return handed;
}

/// `late` in the computation, once what it reads is there: `state` and the values handed on.
Copies CopyLate(const TupleLoop& loop, Computation& to, const InstSet& late, const InstSet& handed,
                llvm::ArrayRef<Instruction*> state) {
  Copies copies;
  BindState(loop, state.take_front(SizeOf(loop)), copies);
  size_t next = SizeOf(loop);
  for (const Instruction* value : handed) copies[value] = state[next++];
  std::vector<Instruction*> order;
  for (Instruction* inst : late) {
    for (Instruction* operand : inst->operands())
      if (operand->kind() == OpKind::Constant) order.push_back(operand);
    order.push_back(inst);
  }
  CopyInto(loop, to, order, copies);
  return copies;
}

llvm::SmallVector<Instruction*, 8> ReadAll(Maker& make, Instruction* state, int64_t count) {
  llvm::SmallVector<Instruction*, 8> parts;
  for (int64_t i = 0; i < count; ++i) parts.push_back(make.Gte(state, i));
  return parts;
}

/// One iteration without `late`: the state after it, with what is handed on. Elements that `late` writes
/// stay.
llvm::SmallVector<Instruction*, 8> CopyEarly(const TupleLoop& loop, Computation& to, const InstSet& late,
                                             const InstSet& handed, llvm::ArrayRef<Instruction*> state) {
  Copies copies;
  BindState(loop, state, copies);
  CopyInto(loop, to, Steps(loop, late), copies);
  llvm::SmallVector<Instruction*, 8> after;
  for (int64_t i = 0; i < loop.body_root->operand_count(); ++i) {
    Instruction* next = loop.body_root->operand(i);
    after.push_back(late.contains(next) ? state[static_cast<size_t>(i)] : copies.lookup(next));
  }
  for (const Instruction* value : handed) after.push_back(copies.lookup(value));
  return after;
}

Computation* NewBody(const TupleLoop& loop) {
  Computation* body = NewComputation(*loop.loop->module(), (loop.body->name() + ".pipelined").str());
  body->set_execution_thread(loop.body->execution_thread());
  return body;
}

void PipelineForward(const TupleLoop& loop, const LoopCount& counted, llvm::ArrayRef<Late> parts) {
  InstSet late;
  llvm::SmallVector<int64_t, 2> elements;
  for (const Late& part : parts) {
    late.insert(part.members.begin(), part.members.end());
    elements.push_back(part.element);
  }
  const InstSet handed = Handed(loop, late, elements);
  const Shape old_shape = loop.loop->shape();
  const auto induction = static_cast<size_t>(counted.induction);
  NewLoopState made(loop);

  Computation& outer = *loop.loop->parent();
  Maker before(loop.loop);
  auto init = InitialState(loop);
  const ElementType type = init[induction]->shape().element_type();
  init[induction] = before.ScalarInt(type, *counted.init);
  init = CopyEarly(loop, outer, late, handed, init);
  init[induction] = before.ScalarInt(type, *counted.init + *counted.step);

  Computation* body = NewBody(loop);
  Maker inside(*body, loop.loop);
  Instruction* start = Maker(loop.loop).Tuple(init);
  Instruction* parameter = inside.Parameter(0, start->shape());
  outer.Remove(start);
  const auto state = ReadAll(inside, parameter, static_cast<int64_t>(init.size()));
  auto next = CopyEarly(loop, *body, late, handed, llvm::ArrayRef(state).take_front(SizeOf(loop)));
  const Copies then = CopyLate(loop, *body, late, handed, state);
  for (const int64_t element : elements)
    next[static_cast<size_t>(element)] = then.lookup(loop.body_root->operand(element));
  body->set_root(inside.Tuple(next));
  made.Set(body, init);

  Maker behind(outer, loop.loop);
  const auto last = ReadAll(behind, loop.loop, static_cast<int64_t>(init.size()));
  const Copies end = CopyLate(loop, outer, late, handed, last);
  llvm::SmallVector<Instruction*, 8> results(SizeOf(loop), nullptr);
  for (const int64_t element : elements)
    results[static_cast<size_t>(element)] = end.lookup(loop.body_root->operand(element));
  made.ReplaceResults(results, old_shape);
  for (Instruction* read : last) RemoveIfDead(read);
}

/// --- Backward.

/// The exchange and all it needs but reads of the state; nothing if it needs anything that an iteration
/// makes.
std::optional<InstSet> EarlyFor(const TupleLoop& loop, int64_t induction, Instruction* exchange) {
  llvm::DenseSet<const Instruction*> seen = {exchange};
  llvm::SmallVector<Instruction*, 8> stack = {exchange};
  while (!stack.empty()) {
    const Instruction* at = stack.pop_back_val();
    for (Instruction* operand : at->operands()) {
      const int64_t element = ReadElement(loop, *operand);
      if (element >= 0 && (element == induction || loop.IsInvariant(element))) continue;
      if (element >= 0 || operand == loop.body_parameter || HasSideEffect(*operand) || IsExchange(*operand))
        return std::nullopt;
      if (seen.insert(operand).second) stack.push_back(operand);
    }
  }
  InstSet early;
  for (Instruction* inst : loop.body->PostOrder())
    if (seen.contains(inst)) early.insert(inst);
  return early;
}

/// The comparison of the induction variable with a constant that is the condition.
Instruction* BoundOf(const TupleLoop& loop, int64_t induction) {
  Instruction* compare = loop.condition->root();
  if (compare->kind() != OpKind::Compare) return nullptr;
  for (int64_t i = 0; i < 2; ++i) {
    const auto* read = compare->operand(i)->attrs().GetIf<GetTupleElementAttrs>();
    if (read && read->index == induction && compare->operand(i)->operand(0) == loop.condition_parameter &&
        compare->operand(1 - i)->kind() == OpKind::Constant && ScalarIntValue(*compare->operand(1 - i)))
      return compare->operand(1 - i);
  }
  return nullptr;
}

struct Gather {
  Instruction* exchange;
  InstSet early;
};

std::vector<Gather> EarlyGathers(const TupleLoop& loop, const LoopCount& counted) {
  std::vector<Gather> gathers;
  if (!BoundOf(loop, counted.induction)) return gathers;
  for (Instruction* inst : loop.body->InstructionsOf(OpKind::AllGather)) {
    const bool is_next = llvm::all_of(inst->users(), [&](Instruction* u) { return u == loop.body_root; });
    if (!IsPlainCollective(*inst) || is_next) continue;
    auto early = EarlyFor(loop, counted.induction, inst);
    // What never changes is hoisted, not pipelined.
    const bool varies = early && llvm::any_of(*early, [&](const Instruction* i) {
                          return llvm::any_of(i->operands(), [&](const Instruction* o) {
                            return ReadElement(loop, *o) == counted.induction;
                          });
                        });
    if (varies) gathers.push_back({inst, std::move(*early)});
  }
  return gathers;
}

Copies CopyEarlyGathers(const TupleLoop& loop, Computation& to, llvm::ArrayRef<Gather> gathers,
                        llvm::ArrayRef<Instruction*> state) {
  Copies copies;
  BindState(loop, state, copies);
  for (const Gather& gather : gathers) CopyInto(loop, to, gather.early.getArrayRef(), copies);
  return copies;
}

/// One iteration whose gathers have been made: the state after it.
llvm::SmallVector<Instruction*, 8> CopyWithGathers(const TupleLoop& loop, Computation& to,
                                                   llvm::ArrayRef<Gather> gathers,
                                                   llvm::ArrayRef<Instruction*> state) {
  Copies copies;
  BindState(loop, state.take_front(SizeOf(loop)), copies);
  size_t at = SizeOf(loop);
  for (const Gather& gather : gathers) copies[gather.exchange] = state[at++];
  CopyInto(loop, to, Steps(loop, {}), copies);
  llvm::SmallVector<Instruction*, 8> after;
  for (const Instruction* next : loop.body_root->operands()) after.push_back(copies.lookup(next));
  return after;
}

/// What is left over of the copies where gathers were made before.
void DropDead(Computation& computation) {
  const std::vector<Instruction*> order = computation.PostOrder();
  for (Instruction* inst : llvm::reverse(order))
    if (IsDead(*inst)) computation.Remove(inst);
}

void LowerBound(const TupleLoop& loop, const LoopCount& counted) {
  Instruction* bound = BoundOf(loop, counted.induction);
  Instruction* lower =
      Maker(bound).ScalarInt(bound->shape().element_type(), *ScalarIntValue(*bound) - *counted.step);
  loop.condition->root()->ReplaceOperand(bound, lower);
  RemoveIfDead(bound);
}

void PipelineBackward(const TupleLoop& loop, const LoopCount& counted, llvm::ArrayRef<Gather> gathers) {
  const Shape old_shape = loop.loop->shape();
  const auto induction = static_cast<size_t>(counted.induction);
  NewLoopState made(loop);
  LowerBound(loop, counted);

  Computation& outer = *loop.loop->parent();
  Maker before(loop.loop);
  auto init = InitialState(loop);
  const ElementType type = init[induction]->shape().element_type();
  init[induction] = before.ScalarInt(type, *counted.init);
  const Copies first = CopyEarlyGathers(loop, outer, gathers, init);
  for (const Gather& gather : gathers) init.push_back(first.lookup(gather.exchange));

  Computation* body = NewBody(loop);
  Maker inside(*body, loop.loop);
  Instruction* start = before.Tuple(init);
  Instruction* parameter = inside.Parameter(0, start->shape());
  outer.Remove(start);
  const auto state = ReadAll(inside, parameter, static_cast<int64_t>(init.size()));
  auto next = CopyWithGathers(loop, *body, gathers, state);
  const Copies ahead = CopyEarlyGathers(loop, *body, gathers, next);
  for (const Gather& gather : gathers) next.push_back(ahead.lookup(gather.exchange));
  body->set_root(inside.Tuple(next));
  made.Set(body, init);

  Maker behind(outer, loop.loop);
  auto last = ReadAll(behind, loop.loop, static_cast<int64_t>(init.size()));
  last[induction] = behind.ScalarInt(type, *counted.init + (counted.count - 1) * *counted.step);
  made.ReplaceResults(CopyWithGathers(loop, outer, gathers, last), old_shape);
  DropDead(*body);
}

bool Sink(Instruction* inst, PassContext& context) {
  const auto loop = AsTupleLoop(*inst);
  const auto counted = loop ? SeparableTrips(*loop) : std::nullopt;
  return counted && SinkExchanges(*loop, *counted, context);
}

bool Pipeline(Instruction* inst, const CollectivePipelinerOptions& options, PassContext& context) {
  bool changed = options.forward_sink && Sink(inst, context);
  for (const bool forward : {true, false}) {
    if (!(forward ? options.forward : options.backward)) continue;
    const auto loop = AsTupleLoop(*inst);
    const auto counted = loop ? SeparableTrips(*loop) : std::nullopt;
    if (!counted) return changed;
    const std::vector<Late> late = forward ? LateParts(*loop) : std::vector<Late>();
    const std::vector<Gather> gathers = forward ? std::vector<Gather>() : EarlyGathers(*loop, *counted);
    if ((late.empty() && gathers.empty()) || !context.TakeRewrite()) continue;
    if (forward)
      PipelineForward(*loop, *counted, late);
    else
      PipelineBackward(*loop, *counted, gathers);
    changed = true;
  }
  if (changed && inst->extras().backend_config.contains("known_trip_count"))
    AnnotateTripCount(*inst, /*keep_unproven=*/false);
  return changed;
}

llvm::ArrayRef<PassOptionRow> CollectivePipelinerOptions::Rows() { return kRows; }

Result<bool> RunCollectivePipeliner(Module& module, const CollectivePipelinerOptions& options,
                                    PassContext& context) {
  HLO_TRY(const bool changed,
          ForEachLoop(module, context, [&](Instruction* inst) { return Pipeline(inst, options, context); }));
  if (changed) RemoveUnreachableComputations(module);
  return changed;
}

}  // namespace

void NewLoopState::Set(Computation* body, llvm::ArrayRef<Instruction*> init) {
  Instruction* inst = loop_.loop;
  Instruction* old = inst->operand(0);
  Instruction* start = Maker(inst).Tuple(init);
  SetStructure(*inst, start->shape());
  SetStructure(*loop_.condition_parameter, start->shape());
  inst->SetOperand(0, start);
  inst->SetCallees({body, loop_.condition});
  RemoveIfDead(old);
}

void NewLoopState::ReplaceResults(llvm::ArrayRef<Instruction*> results, const Shape& shape) {
  Instruction* inst = loop_.loop;
  for (Instruction* user : users_)
    if (const auto* read = user->attrs().GetIf<GetTupleElementAttrs>())
      if (Instruction* result = results[static_cast<size_t>(read->index)]) ReplaceAndRemove(user, result);
  llvm::erase_if(users_, [](const Instruction* u) { return u->kind() == OpKind::GetTupleElement; });
  if (users_.empty() && !was_root_) return;
  Maker behind(*inst->parent(), inst);
  llvm::SmallVector<Instruction*, 8> parts(results);
  for (size_t i = 0; i < parts.size(); ++i)
    if (!parts[i]) parts[i] = behind.Gte(inst, static_cast<int64_t>(i));
  Instruction* whole = behind.AddWithShape(OpKind::Tuple, shape, parts);
  for (Instruction* user : users_) user->ReplaceOperand(inst, whole);
  if (was_root_) inst->parent()->set_root(whole);
}

HLO_DEFINE_PASS(CollectivePipeliner, CollectivePipelinerOptions);

}  // namespace hlo
