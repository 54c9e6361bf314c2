#include "passes/memory/copy_adder.h"

#include <map>

#include "passes/analysis/buffer_assignment.h"
#include "passes/analysis/side_effects.h"
#include "passes/rewrite/context.h"
#include "passes/rewrite/edit.h"

namespace hlo {
namespace {

/// The first get-tuple-element of each element.
llvm::DenseMap<int64_t, Instruction*> PresentElements(const Instruction& tuple) {
  llvm::DenseMap<int64_t, Instruction*> present;
  for (Instruction* user : tuple.users())
    if (user->kind() == OpKind::GetTupleElement)
      present.try_emplace(user->attr<GetTupleElementAttrs>().index, user);
  return present;
}

}  // namespace

std::vector<CopyAdder::Part> CopyAdder::Children(Part tuple) const {
  std::vector<Part> children;
  int64_t number = tuple.number + 1;
  for (int64_t i = 0; i < flow_.shape(tuple.place).tuple_size(); ++i) {
    const Place child = flow_.Child(tuple.place, i);
    children.push_back({child, number});
    number += flow_.PartCount(child);
  }
  return children;
}

bool CopyAdder::Wanted(Part part, const Leaves& leaves) const {
  const auto next = leaves.lower_bound(part.number);
  return next != leaves.end() && *next < part.number + flow_.PartCount(part.place);
}

/// The arrays that the instruction itself defines.
CopyAdder::Leaves CopyAdder::OwnLeaves(const Instruction& inst) const {
  Leaves leaves;
  for (const Place p : flow_.Own(inst))
    if (flow_.Defines(p) && flow_.shape(p).IsArray()) leaves.insert(leaves.end(), p - flow_.Of(inst));
  return leaves;
}

Instruction* CopyAdder::Copy(Instruction* value, Maker& maker) {
  Instruction* copy = maker.AddWithShape(OpKind::Copy, value->shape(), {value});
  copies_.insert(copy);
  return copy;
}

Instruction* CopyAdder::Element(Instruction* tuple, int64_t index, const Elements& present, Maker& maker) {
  if (tuple->kind() == OpKind::Tuple && !IsSharedStart(*tuple, index)) return tuple->operand(index);
  if (Instruction* element = present.lookup(index)) return element;
  made_.push_back(maker.Gte(tuple, index));
  return made_.back();
}

/// `value` with copies in place of the wanted leaves; itself if none is.
Instruction* CopyAdder::DeepCopy(Instruction* value, Part part, const Leaves& leaves, Maker& maker,
                                 CopyOf* made) {
  struct Level {
    Instruction* tuple;
    std::vector<Part> parts;
    Elements present;
    std::vector<Instruction*> elements;
  };
  std::vector<Level> levels;
  // Null: a tuple that is gone into.
  const auto enter = [&](Instruction* of, Part at) -> Instruction* {
    if (!Wanted(at, leaves)) return of;
    if (of->shape().IsTuple()) {
      levels.push_back({of, Children(at), PresentElements(*of), {}});
      return nullptr;
    }
    Instruction* copy = Copy(of, maker);
    if (made) (*made)[at.number].push_back(copy);
    return copy;
  };
  Instruction* done = enter(value, part);
  while (!levels.empty()) {
    Level& top = levels.back();
    if (done) top.elements.push_back(done);
    if (const size_t i = top.elements.size(); i < top.parts.size()) {
      Instruction* element = Element(top.tuple, static_cast<int64_t>(i), top.present, maker);
      done = enter(element, top.parts[i]);
      continue;
    }
    done = maker.AddWithShape(OpKind::Tuple, top.tuple->shape(), top.elements);
    rebuilt_.push_back({done, top.tuple});
    levels.pop_back();
  }
  return done;
}

void CopyAdder::CopyArrayForUsers(Instruction* value, Part part, CopyOf& made) {
  Maker maker(*value->parent(), value);
  const std::vector<Instruction*> users(value->users().begin(), value->users().end());
  Instruction* copy = Copy(value, maker);
  made[part.number].push_back(copy);
  for (Instruction* user : users) user->ReplaceOperand(value, copy);
  if (value->IsRoot()) value->parent()->set_root(copy);
}

/// Users of elements read one get-tuple-element each from now on.
CopyAdder::TupleUsers CopyAdder::UsersOf(Instruction* tuple, Part part) {
  TupleUsers found;
  found.tuple = tuple;
  found.parts = Children(part);
  const std::vector<Instruction*> users(tuple->users().begin(), tuple->users().end());
  for (Instruction* user : users) {
    if (user->kind() != OpKind::GetTupleElement) {
      found.others.push_back(user);
      continue;
    }
    const auto [it, fresh] = found.elements.try_emplace(user->attr<GetTupleElementAttrs>().index, user);
    if (fresh) continue;
    if (!user->users().empty() || user->IsRoot()) merged_elements_ = true;
    user->ReplaceAllUsesWith(it->second);
    replaced_.push_back(user);
  }
  return found;
}

/// All present users of `value` read copies of the wanted leaves instead.
void CopyAdder::CopyForUsers(Instruction* value, Part part, const Leaves& leaves, CopyOf& made) {
  std::vector<TupleUsers> levels;
  const auto enter = [&](Instruction* of, Part at) {
    if (!Wanted(at, leaves)) return;
    if (of->shape().IsTuple())
      levels.push_back(UsersOf(of, at));
    else
      CopyArrayForUsers(of, at, made);
  };
  enter(value, part);
  while (!levels.empty()) {
    TupleUsers& top = levels.back();
    if (top.next < top.parts.size()) {
      const size_t i = top.next++;
      if (Instruction* element = top.elements.lookup(static_cast<int64_t>(i))) enter(element, top.parts[i]);
      continue;
    }
    CopyForOthers(top, leaves, made);
    levels.pop_back();
  }
}

/// Who reads the whole reads a tuple of what the elements' users read.
void CopyAdder::CopyForOthers(const TupleUsers& users, const Leaves& leaves, CopyOf& made) {
  Instruction* value = users.tuple;
  if (users.others.empty() && !value->IsRoot()) return;
  Maker maker(*value->parent(), value);
  const Elements present = PresentElements(*value);
  std::vector<Instruction*> parts;
  for (size_t i = 0; i < users.parts.size(); ++i) {
    const Part part = users.parts[i];
    Instruction* element = Element(value, static_cast<int64_t>(i), present, maker);
    const auto copied = made.find(part.number);
    parts.push_back(copied != made.end() ? copied->second.front()
                                         : DeepCopy(element, part, leaves, maker, &made));
  }
  Instruction* tuple = maker.AddWithShape(OpKind::Tuple, value->shape(), parts);
  rebuilt_.push_back({tuple, value});
  for (Instruction* user : users.others) user->ReplaceOperand(value, tuple);
  if (value->IsRoot()) value->parent()->set_root(tuple);
}

/// Copies wanted leaves of a root; each after the copies in `after` of the same leaf.
void CopyAdder::CopyRoot(Computation& computation, Part whole, const Leaves& leaves, const CopyOf* after) {
  Instruction* root = computation.root();
  Maker maker(computation, root);
  CopyOf made;
  Instruction* copied = DeepCopy(root, whole, leaves, maker, &made);
  if (copied == root) return;
  computation.set_root(copied);
  replaced_.push_back(root);
  if (!after) return;
  for (const auto& [leaf, copies] : made) {
    const auto it = after->find(leaf);
    if (it == after->end()) continue;
    for (Instruction* copy : copies)
      for (Instruction* before : it->second) copy->AddControlPredecessor(before);
  }
}

/// Takes out what belongs to values of operations under way, which only their ends may read: the arrays of
/// `value`, whose number in all is that of `part`.
void CopyAdder::LeaveTransfers(const Instruction& value, Part part, Leaves& leaves) const {
  std::vector<std::pair<const Instruction*, Part>> todo = {{&value, part}};
  while (!todo.empty()) {
    const auto [inst, at] = todo.back();
    todo.pop_back();
    if (!inst->shape().IsTuple() || !Wanted(at, leaves)) continue;
    if (inst->info().Is(kStart) || inst->kind() == OpKind::AsyncUpdate) {
      leaves.erase(leaves.lower_bound(at.number), leaves.lower_bound(at.number + flow_.PartCount(at.place)));
      continue;
    }
    if (inst->kind() != OpKind::Tuple) continue;
    for (const auto& [operand, child] : llvm::zip_equal(inst->operands(), Children(at)))
      todo.push_back({operand, child});
  }
}

void CopyAdder::AddForWhile(Instruction* loop) {
  const Part whole = Whole(*loop);
  Leaves changing = OwnLeaves(*loop);
  LeaveTransfers(*loop->operand(0), whole, changing);
  LeaveTransfers(*loop->callee(0)->root(), whole, changing);
  if (changing.empty()) return;
  Computation& body = *loop->callee(0);
  CopyOf parameter_copies;
  CopyForUsers(body.parameter(0), whole, changing, parameter_copies);
  CopyRoot(body, whole, changing, &parameter_copies);
  Maker maker(loop);
  replaced_.push_back(loop->operand(0));
  loop->SetOperand(0, DeepCopy(loop->operand(0), whole, changing, maker, nullptr));
}

void CopyAdder::AddForConditional(Instruction* conditional) {
  const Leaves merged = OwnLeaves(*conditional);
  for (Computation* branch : conditional->callees()) CopyRoot(*branch, Whole(*conditional), merged, nullptr);
}

/// Only before other copies are added: the operands must be those that `flow_` knows.
void CopyAdder::AddInPlace(Instruction* inst) {
  llvm::SmallDenseMap<int64_t, Leaves, 2> wanted;  // by operand
  for (const OutputOperandAlias& pair : InPlacePairs(*inst)) {
    const Place whole = flow_.Of(*inst->operand(pair.operand));
    const int64_t first = flow_.PartAt(whole, pair.operand_index);
    if (first < 0) continue;
    for (const auto& [i, p] : llvm::enumerate(flow_.Parts(flow_.Part(whole, pair.operand_index))))
      if (flow_.shape(p).IsArray()) wanted[pair.operand].insert(first + static_cast<int64_t>(i));
  }
  if (IsWrapped(*inst->parent())) return AddBeforeStart(*inst, wanted);
  Maker maker(inst);
  for (int64_t i = 0; i < inst->operand_count(); ++i)
    if (const auto it = wanted.find(i); it != wanted.end()) {
      Instruction* operand = inst->operand(i);
      replaced_.push_back(operand);
      inst->SetOperand(i, DeepCopy(operand, Whole(*operand), it->second, maker, nullptr));
    }
}

/// A wrapped computation holds one instruction: what that overwrites is copied before the start.
void CopyAdder::AddBeforeStart(const Instruction& wrapped,
                               const llvm::SmallDenseMap<int64_t, Leaves, 2>& by_operand) {
  for (Instruction* start : wrapped.parent()->callers()) {
    Maker maker(start);
    for (const auto& [number, leaves] : by_operand) {
      const Instruction& parameter = *wrapped.operand(number);
      if (parameter.kind() != OpKind::Parameter || start->kind() != OpKind::AsyncStart) continue;
      const int64_t i = parameter.attr<ParameterAttrs>().number;
      Instruction* operand = start->operand(i);
      replaced_.push_back(operand);
      start->SetOperand(i, DeepCopy(operand, Whole(*operand), leaves, maker, nullptr));
    }
  }
}

/// Copies what results overwrite of parameters, for all who read it. Adds these results, and returns the
/// copies after which each may be written.
CopyAdder::CopyOf CopyAdder::CopyOverwritten(Leaves& results) {
  struct Pair {
    int64_t parameter, from, to;  // a part of the parameter, a part of the result
  };
  Computation& entry = *module_.entry();
  std::map<int64_t, Leaves> overwritten;  // each parameter once: several parts of one may be
  std::vector<Pair> pairs;
  for (const InputOutputAlias& alias : module_.config.input_output_alias) {
    if (alias.parameter < 0 || alias.parameter >= static_cast<int64_t>(entry.parameters().size())) continue;
    const Place parameter = flow_.Of(*entry.parameter(alias.parameter)), root = flow_.Of(*entry.root());
    const Place from = flow_.Part(parameter, alias.parameter_index), to = flow_.Part(root, alias.output);
    if (from == kNoPlace || to == kNoPlace || !flow_.shape(from).IsArray() || flow_.Value(to) == from)
      continue;
    pairs.push_back(
        {alias.parameter, flow_.PartAt(parameter, alias.parameter_index), flow_.PartAt(root, alias.output)});
    overwritten[alias.parameter].insert(pairs.back().from);
    results.insert(pairs.back().to);
  }
  std::map<int64_t, CopyOf> made;
  for (const auto& [number, leaves] : overwritten)
    CopyForUsers(entry.parameter(number), Whole(*entry.parameter(number)), leaves, made[number]);
  CopyOf after;
  for (const Pair& pair : pairs) after[pair.to] = made[pair.parameter].lookup(pair.from);
  return after;
}

/// Results that are no buffers of their own.
CopyAdder::Leaves CopyAdder::SharedResults() const {
  Leaves results;
  llvm::DenseSet<Place> seen;
  for (const auto& [i, p] : llvm::enumerate(flow_.Parts(flow_.Of(*module_.entry()->root()))))
    if (flow_.shape(p).IsArray() &&
        (!seen.insert(flow_.Buffer(p)).second || IsReadOnly(flow_, flow_.Value(p))))
      results.insert(static_cast<int64_t>(i));
  return results;
}

void CopyAdder::AddForEntry() {
  Computation& entry = *module_.entry();
  const Part root = Whole(*entry.root());
  Leaves results = SharedResults();
  const CopyOf after = CopyOverwritten(results);
  LeaveTransfers(*entry.root(), root, results);
  CopyRoot(entry, root, results, &after);
}

void CopyAdder::Run() {
  std::vector<Instruction*> in_place, loops, conditionals;
  for (const Computation* computation : flow_.computations()) {
    const bool wrapped = IsWrapped(*computation);
    for (Instruction* inst : computation->instructions()) {
      if (wrapped && inst->info().category == OpCategory::Control) continue;
      if (inst->kind() == OpKind::While)
        loops.push_back(inst);
      else if (inst->kind() == OpKind::Conditional)
        conditionals.push_back(inst);
      else if (!InPlacePairs(*inst).empty())
        in_place.push_back(inst);
    }
  }
  for (Instruction* inst : in_place) AddInPlace(inst);
  AddForEntry();
  for (Instruction* conditional : conditionals) AddForConditional(conditional);
  for (Instruction* loop : loops) AddForWhile(loop);
}

void CopyAdder::RestoreTuples() {
  for (const Rebuilt& rebuilt : rebuilt_) {
    const Instruction& tuple = *rebuilt.tuple;
    Instruction* original = rebuilt.original;
    bool same = true;
    for (int64_t i = 0; same && i < tuple.operand_count(); ++i) {
      const Instruction* part = tuple.operand(i);
      same = original->kind() == OpKind::Tuple
                 ? part == original->operand(i)
                 : part->kind() == OpKind::GetTupleElement && part->operand(0) == original &&
                       part->attr<GetTupleElementAttrs>().index == i;
    }
    if (same) rebuilt.tuple->ReplaceAllUsesWith(original);
  }
}

void CopyAdder::RemoveDead(llvm::DenseSet<const Instruction*> removed) {
  llvm::DenseSet<const Instruction*> gone = std::move(removed);
  const auto remove = [&](Instruction* inst) {
    if (!gone.contains(inst)) RemoveIfDead(inst, [&](Instruction* dead) { gone.insert(dead); });
  };
  for (const Rebuilt& rebuilt : llvm::reverse(rebuilt_)) remove(rebuilt.tuple);
  for (Instruction* inst : replaced_) remove(inst);
  for (Instruction* inst : llvm::reverse(made_)) remove(inst);
}

}  // namespace hlo
