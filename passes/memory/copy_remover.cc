#include "passes/memory/copy_remover.h"

#include "passes/analysis/buffer_assignment.h"

namespace hlo {
namespace {

bool IsCandidate(const Instruction& inst) {
  return inst.kind() == OpKind::Copy && inst.shape().IsArray() && inst.shape() == inst.operand(0)->shape() &&
         inst.extras().frontend_attributes.empty();
}

}  // namespace

CopyRemover::CopyRemover(const Ordering& ordering, PassContext& context)
    : ordering_(ordering), flow_(ordering.flow()), context_(context) {
  for (const std::vector<Place>& values : BufferClasses(flow_, ordering.timeline())) {
    class_of_[flow_.Buffer(values.front())] = classes_.size();
    Class made;
    for (const Place value : values) {
      made.values.insert(KeyOf(value));
      made.read_only |= IsReadOnly(flow_, value);
    }
    merged_into_.push_back(classes_.size());
    classes_.push_back(std::move(made));
  }
  for (const Place p : flow_.Parts(flow_.Of(*flow_.module().entry()->root())))
    if (const auto it = class_of_.find(flow_.Buffer(p)); it != class_of_.end())
      ++classes_[it->second].results;
}

size_t CopyRemover::ClassOf(Place value) {
  size_t at = class_of_.find(flow_.Buffer(value))->second;
  while (merged_into_[at] != at) at = merged_into_[at] = merged_into_[merged_into_[at]];
  return at;
}

Place CopyRemover::Current(Place value) const {
  for (auto it = replaced_by_.find(value); it != replaced_by_.end(); it = replaced_by_.find(value))
    value = it->second;
  return value;
}

/// All reads of `a` (with those of `also` if `a` is `source`) are over when `b` begins.
bool CopyRemover::OverBefore(Place a, Place b, Place source, Place also) const {
  const Instruction* copy = &flow_.instruction(also);
  const auto over = [&](const Use& use) {
    return use.user == copy || (use.user && gone_.contains(use.user)) ||
           ordering_.UseBeforeDefinition(use, b);
  };
  const auto all_over = [&](Place value) {
    const auto more = more_uses_.find(value);
    return llvm::all_of(flow_.Uses(value), over) &&
           (more == more_uses_.end() || llvm::all_of(more->second, over));
  };
  return all_over(a) && (a != source || all_over(also));
}

/// Those of the values of both, less the copy's, that would follow one another: one of each.
std::vector<std::pair<Place, Place>> CopyRemover::Neighbours(const Class& large, const Class& small,
                                                             Place copy) {
  std::vector<std::pair<Place, Place>> pairs;
  for (const auto& [time, value] : small.values) {
    if (value == copy) continue;
    auto next = large.values.lower_bound({time, value});
    auto previous = next;
    if (next != large.values.end() && next->second == copy) ++next;
    if (next != large.values.end()) pairs.push_back({value, next->second});
    if (previous == large.values.begin()) continue;
    --previous;
    if (previous->second == copy) {
      if (previous == large.values.begin()) continue;
      --previous;
    }
    pairs.push_back({previous->second, value});
  }
  return pairs;
}

bool CopyRemover::TryElide(Instruction* copy) {
  const Place result = flow_.Of(*copy);
  const Place source = Current(flow_.Value(flow_.Of(*copy->operand(0))));
  const size_t a = ClassOf(source), b = ClassOf(result);
  Class &from = classes_[a], &to = classes_[b];
  // What reads the copy now reads the source, before the next value takes the buffer.
  auto next = from.values.upper_bound(KeyOf(source));
  if (a == b && (next == from.values.end() || next->second != result)) return false;
  if (a == b) ++next;
  std::vector<std::pair<Place, Place>> pairs;
  if (next != from.values.end()) pairs.push_back({source, next->second});
  const bool from_larger = from.values.size() >= to.values.size();
  if (a != b) {
    if (from.results + to.results > 1 && to.results > 0) return false;
    if (to.read_only || (from.read_only && (to.values.size() > 1 || to.results > 0))) return false;
    llvm::append_range(pairs, Neighbours(from_larger ? from : to, from_larger ? to : from, result));
  }
  // Definitions first: a value may have many reads, and as many copies.
  for (const auto& [early, late] : pairs)
    if (!ordering_.DefinitionBeforeDefinition(early, late)) return false;
  for (const auto& [early, late] : pairs)
    if (!OverBefore(early, late, source, result)) return false;
  if (!context_.TakeRewrite()) return false;
  to.values.erase(KeyOf(result));
  if (a != b) {
    Class &kept = from_larger ? from : to, &merged = from_larger ? to : from;
    kept.values.insert(merged.values.begin(), merged.values.end());
    merged.values.clear();
    kept.results += merged.results;
    kept.read_only |= merged.read_only;
    merged_into_[from_larger ? b : a] = from_larger ? a : b;
  }
  std::vector<Use>& uses = more_uses_[source];
  const llvm::ArrayRef<Use> moved = flow_.Uses(result);
  uses.insert(uses.end(), moved.begin(), moved.end());
  if (const auto it = more_uses_.find(result); it != more_uses_.end()) {
    const std::vector<Use> more = it->second;
    std::vector<Use>& all = more_uses_[source];
    all.insert(all.end(), more.begin(), more.end());
  }
  replaced_by_[result] = source;
  gone_.insert(copy);
  chosen_.push_back(copy);
  return true;
}

Status CopyRemover::Choose(const llvm::DenseSet<const Instruction*>& made) {
  std::vector<Instruction*> others;
  for (const Computation* computation : flow_.computations()) {
    HLO_CHECK_OK(context_.CheckInterrupt());
    for (Instruction* inst : computation->PostOrder()) {
      if (!IsCandidate(*inst)) continue;
      if (made.contains(inst))
        TryElide(inst);
      else
        others.push_back(inst);
    }
  }
  for (Instruction* inst : others) TryElide(inst);
  return {};
}

/// What had to wait for the copy, or it for, waits for its neighbours; not where nothing could tell.
void CopyRemover::RelayControl(Instruction& copy) {
  const std::vector<Instruction*> before = copy.extras().control_predecessors;
  const std::vector<Instruction*> after = copy.extras().control_successors;
  copy.DropControlEdges();
  Instruction* source = copy.operand(0);
  const Instruction* origin = source;
  while (origin->kind() == OpKind::GetTupleElement) origin = origin->operand(0);
  for (Instruction* later : after) {
    if (origin->kind() != OpKind::Parameter && later != source) later->AddControlPredecessor(source);
    for (Instruction* earlier : before) later->AddControlPredecessor(earlier);
  }
  for (Instruction* user : copy.users()) {
    if (user->users().empty() && user->extras().control_successors.empty()) continue;
    for (Instruction* earlier : before)
      if (earlier != user) user->AddControlPredecessor(earlier);
  }
}

void CopyRemover::Remove() {
  for (Instruction* copy : chosen_) {
    RelayControl(*copy);
    copy->ReplaceAllUsesWith(copy->operand(0));
    copy->parent()->Remove(copy);
  }
}

}  // namespace hlo
