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

bool CopyAdder::Wanted(Place shadow, const Leaves& leaves) const {
  if (leaves.empty()) return false;
  for (Place p = shadow; p < flow_.End(shadow); ++p)
    if (leaves.contains(p)) return true;
  return false;
}

/// The arrays that the instruction itself defines.
CopyAdder::Leaves CopyAdder::OwnLeaves(const Instruction& inst) const {
  Leaves leaves;
  for (Place p = flow_.Of(inst), end = flow_.End(p); p < end; ++p)
    if (flow_.Defines(p) && flow_.shape(p).IsArray()) leaves.insert(p);
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
Instruction* CopyAdder::DeepCopy(Instruction* value, Place shadow, const Leaves& leaves, Maker& maker,
                                 CopyOf* made) {
  if (!Wanted(shadow, leaves)) return value;
  if (!value->shape().IsTuple()) {
    Instruction* copy = Copy(value, maker);
    if (made) (*made)[shadow].push_back(copy);
    return copy;
  }
  const Elements present = PresentElements(*value);
  std::vector<Instruction*> elements;
  for (int64_t i = 0; i < value->shape().tuple_size(); ++i)
    elements.push_back(
        DeepCopy(Element(value, i, present, maker), flow_.Child(shadow, i), leaves, maker, made));
  Instruction* tuple = maker.AddWithShape(OpKind::Tuple, value->shape(), elements);
  rebuilt_.push_back({tuple, value});
  return tuple;
}

/// All present users of `value` read copies of the wanted leaves instead.
void CopyAdder::CopyForUsers(Instruction* value, Place shadow, const Leaves& leaves, CopyOf& made) {
  if (!Wanted(shadow, leaves)) return;
  Maker maker(*value->parent(), value);
  const std::vector<Instruction*> users(value->users().begin(), value->users().end());
  const auto redirect = [&](Instruction* user, Instruction* to) { user->ReplaceOperand(value, to); };
  if (!value->shape().IsTuple()) {
    Instruction* copy = Copy(value, maker);
    made[shadow].push_back(copy);
    for (Instruction* user : users) redirect(user, copy);
    if (value->IsRoot()) value->parent()->set_root(copy);
    return;
  }
  // Elements are copied behind one get-tuple-element each.
  std::vector<Instruction*> whole_users;
  llvm::DenseMap<int64_t, Instruction*> elements;
  for (Instruction* user : users) {
    if (user->kind() != OpKind::GetTupleElement) {
      whole_users.push_back(user);
      continue;
    }
    const auto [it, fresh] = elements.try_emplace(user->attr<GetTupleElementAttrs>().index, user);
    if (fresh) continue;
    if (!user->users().empty() || user->IsRoot()) merged_elements_ = true;
    user->ReplaceAllUsesWith(it->second);
    replaced_.push_back(user);
  }
  for (int64_t i = 0; i < value->shape().tuple_size(); ++i)
    if (const auto it = elements.find(i); it != elements.end())
      CopyForUsers(it->second, flow_.Child(shadow, i), leaves, made);
  if (whole_users.empty() && !value->IsRoot()) return;
  // The others get a tuple of what the elements' users read.
  const Elements present = PresentElements(*value);
  std::vector<Instruction*> parts;
  for (int64_t i = 0; i < value->shape().tuple_size(); ++i) {
    const Place child = flow_.Child(shadow, i);
    Instruction* element = Element(value, i, present, maker);
    const auto copied = made.find(child);
    parts.push_back(copied != made.end() ? copied->second.front()
                                         : DeepCopy(element, child, leaves, maker, &made));
  }
  Instruction* tuple = maker.AddWithShape(OpKind::Tuple, value->shape(), parts);
  rebuilt_.push_back({tuple, value});
  for (Instruction* user : whole_users) redirect(user, tuple);
  if (value->IsRoot()) value->parent()->set_root(tuple);
}

/// Copies wanted leaves of a root; each after the copies in `after` of the same leaf.
void CopyAdder::CopyRoot(Computation& computation, Place shadow, const Leaves& leaves, const CopyOf* after) {
  Instruction* root = computation.root();
  Maker maker(computation, root);
  CopyOf made;
  Instruction* copied = DeepCopy(root, shadow, leaves, maker, &made);
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
/// `value` whose places begin at `shadow`.
void CopyAdder::LeaveTransfers(const Instruction& value, Place shadow, Leaves& leaves) const {
  if (!value.shape().IsTuple()) return;
  if (value.info().Is(kStart) || value.kind() == OpKind::AsyncUpdate) {
    for (Place p = shadow; p < flow_.End(shadow); ++p) leaves.erase(p);
    return;
  }
  if (value.kind() != OpKind::Tuple) return;
  for (int64_t i = 0; i < value.operand_count(); ++i)
    LeaveTransfers(*value.operand(i), flow_.Child(shadow, i), leaves);
}

void CopyAdder::AddForWhile(Instruction* loop) {
  const Place shadow = flow_.Of(*loop);
  Leaves changing = OwnLeaves(*loop);
  LeaveTransfers(*loop->operand(0), shadow, changing);
  LeaveTransfers(*loop->callee(0)->root(), shadow, changing);
  if (changing.empty()) return;
  Computation& body = *loop->callee(0);
  CopyOf parameter_copies;
  CopyForUsers(body.parameter(0), shadow, changing, parameter_copies);
  CopyRoot(body, shadow, changing, &parameter_copies);
  Maker maker(loop);
  replaced_.push_back(loop->operand(0));
  loop->SetOperand(0, DeepCopy(loop->operand(0), shadow, changing, maker, nullptr));
}

void CopyAdder::AddForConditional(Instruction* conditional) {
  const Leaves merged = OwnLeaves(*conditional);
  for (Computation* branch : conditional->callees())
    CopyRoot(*branch, flow_.Of(*conditional), merged, nullptr);
}

/// Only before other copies are added: the operands must be those that `flow_` knows.
void CopyAdder::AddInPlace(Instruction* inst) {
  llvm::SmallDenseMap<int64_t, Leaves, 2> wanted;  // by operand
  for (const OutputOperandAlias& pair : InPlacePairs(*inst)) {
    const Place part = flow_.Of(*inst->operand(pair.operand), pair.operand_index);
    for (Place p = part; part != kNoPlace && p < flow_.End(part); ++p)
      if (flow_.shape(p).IsArray()) wanted[pair.operand].insert(p);
  }
  if (IsWrapped(*inst->parent())) return AddBeforeStart(*inst, wanted);
  Maker maker(inst);
  for (int64_t i = 0; i < inst->operand_count(); ++i)
    if (const auto it = wanted.find(i); it != wanted.end()) {
      Instruction* operand = inst->operand(i);
      replaced_.push_back(operand);
      inst->SetOperand(i, DeepCopy(operand, flow_.Of(*operand), it->second, maker, nullptr));
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
      const Place from = flow_.Of(parameter), to = flow_.Of(*operand);
      Leaves outside;
      for (const Place leaf : leaves) outside.insert(to + (leaf - from));
      replaced_.push_back(operand);
      start->SetOperand(i, DeepCopy(operand, to, outside, maker, nullptr));
    }
  }
}

void CopyAdder::AddForEntry() {
  Computation& entry = *module_.entry();
  const Place root = flow_.Of(*entry.root());
  Leaves results;
  CopyOf after;
  // Parameters that results overwrite, each once: several parts of one may be.
  std::map<int64_t, Leaves> overwritten;
  std::vector<std::pair<Place, Place>> pairs;  // part of a parameter, part of the result
  for (const InputOutputAlias& alias : module_.config.input_output_alias) {
    if (alias.parameter < 0 || alias.parameter >= static_cast<int64_t>(entry.parameters().size())) continue;
    const Place from = flow_.Of(*entry.parameter(alias.parameter), alias.parameter_index);
    const Place to = flow_.Of(*entry.root(), alias.output);
    if (from == kNoPlace || to == kNoPlace || !flow_.shape(from).IsArray() || flow_.Value(to) == from)
      continue;
    overwritten[alias.parameter].insert(from);
    results.insert(to);
    pairs.push_back({from, to});
  }
  CopyOf made;
  for (const auto& [number, leaves] : overwritten)
    CopyForUsers(entry.parameter(number), flow_.Of(*entry.parameter(number)), leaves, made);
  for (const auto& [from, to] : pairs) after[to] = made.lookup(from);
  // Results that are no buffers of their own.
  llvm::DenseSet<Place> seen;
  for (Place p = root; p < flow_.End(root); ++p)
    if (flow_.shape(p).IsArray() &&
        (!seen.insert(flow_.Buffer(p)).second || IsReadOnly(flow_, flow_.Value(p))))
      results.insert(p);
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
