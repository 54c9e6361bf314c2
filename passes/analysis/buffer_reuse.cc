// Allocations that values share in every legal order.
#include <map>

#include "llvm/Support/MathExtras.h"
#include "passes/analysis/buffer_assigner.h"

namespace hlo {
namespace {

bool FitsOver(const Group& group, const Allocation& allocation) {
  if (allocation.memory_space != group.memory_space || allocation.size < group.size) return false;
  return allocation.size == group.size || !(group.live_out || allocation.live_out);
}

}  // namespace

/// Without a schedule: largest first, each into the allocation of an operand, the first other one that has
/// room in every order, or a new one.
Status BufferAssigner::ReuseAllocations() {
  constexpr size_t kTries = 128;
  std::vector<const Group*> sorted;
  for (const Group& group : groups_)
    if (group.kind == AllocationKind::LiveOut || (group.kind == AllocationKind::Temp && group.size > 0))
      sorted.push_back(&group);
  const auto key = [](const Group* g) {
    return std::tuple(-g->size, !g->live_out, g->live.start, g->values[0]);
  };
  llvm::sort(sorted, [&](const Group* a, const Group* b) { return key(a) < key(b); });
  // The values of each allocation by definition: neighbours tell whether another fits between.
  using Chain = std::map<std::pair<int64_t, Place>, Place>;
  llvm::DenseMap<size_t, Chain> chains;
  std::vector<size_t> open;
  const auto fits = [&](const Group& group, size_t at) {
    if (!FitsOver(group, result_.allocations_[at])) return false;
    const Chain& chain = chains[at];
    return llvm::all_of(group.values, [&](Place value) {
      const auto next = chain.lower_bound({Range(value).start, value});
      if (next != chain.end() && !ordering_.Before(value, next->second)) return false;
      return next == chain.begin() || ordering_.Before(std::prev(next)->second, value);
    });
  };
  for (const Group* group : sorted) {
    std::optional<size_t> found;
    for (const Instruction* operand : flow_.instruction(group->values.front()).operands()) {
      const int64_t at = result_.slices_[static_cast<size_t>(flow_.Value(flow_.Of(*operand)))].allocation;
      if (at >= 0 && chains.contains(static_cast<size_t>(at)) && fits(*group, static_cast<size_t>(at)))
        found = static_cast<size_t>(at);
      if (found) break;
    }
    size_t tries = 0;
    for (auto it = open.begin(); !found && it != open.end() && tries < kTries; ++it) {
      if (result_.allocations_[*it].memory_space != group->memory_space) continue;
      ++tries;
      if (fits(*group, *it)) found = *it;
    }
    if (!found) {
      found = AddAllocation(group->kind, group->size, group->memory_space);
      open.push_back(*found);
    }
    if (group->live_out) result_.allocations_[*found].kind = AllocationKind::LiveOut;
    for (const Place value : group->values) chains[*found][{Range(value).start, value}] = value;
    Assign(*group, *found, 0);
  }
  return JoinTemps();
}

/// The temporary allocations of a memory space become one.
Status BufferAssigner::JoinTemps() {
  std::vector<Allocation> kept;
  std::map<int64_t, Allocation> joined;
  std::vector<int64_t> base(result_.allocations_.size(), -1);
  for (size_t i = 0; i < result_.allocations_.size(); ++i) {
    Allocation& from = result_.allocations_[i];
    if (from.kind != AllocationKind::Temp) continue;
    Allocation& to = joined[from.memory_space];
    to.kind = AllocationKind::Temp;
    to.memory_space = from.memory_space;
    base[i] = (to.size + options_.alignment - 1) / options_.alignment * options_.alignment;
    if (llvm::AddOverflow(base[i], from.size, to.size) || to.size > INT64_MAX / 4) return TooLarge();
    for (AssignedValue& value : from.values) {
      value.offset += base[i];
      to.values.push_back(value);
    }
  }
  std::vector<int64_t> renamed(result_.allocations_.size(), -1);
  for (size_t i = 0; i < result_.allocations_.size(); ++i) {
    if (base[i] >= 0) continue;
    renamed[i] = static_cast<int64_t>(kept.size());
    kept.push_back(std::move(result_.allocations_[i]));
  }
  std::map<int64_t, int64_t> number;
  for (auto& [space, allocation] : joined) {
    number[space] = static_cast<int64_t>(kept.size());
    kept.push_back(std::move(allocation));
  }
  for (BufferSlice& slice : result_.slices_) {
    if (slice.allocation < 0) continue;
    const auto old = static_cast<size_t>(slice.allocation);
    if (base[old] >= 0) {
      slice.offset += base[old];
      slice.allocation = number[result_.allocations_[old].memory_space];
    } else {
      slice.allocation = renamed[old];
    }
  }
  result_.allocations_ = std::move(kept);
  return {};
}

}  // namespace hlo
