#include "passes/analysis/reachability.h"

#include <algorithm>

namespace hlo {

Reachability::Reachability(const Computation& computation, size_t table_limit) {
  const std::vector<Instruction*> order = computation.PostOrder();
  index_.reserve(static_cast<unsigned>(order.size()));
  before_.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    index_[order[i]] = static_cast<int32_t>(i);
    std::vector<int32_t>& before = before_[i];
    for (const Instruction* operand : order[i]->operands()) before.push_back(index_.lookup(operand));
    for (const Instruction* p : order[i]->extras().control_predecessors) before.push_back(index_.lookup(p));
    llvm::sort(before);
    before.erase(std::unique(before.begin(), before.end()), before.end());
  }
  if (order.size() <= table_limit) {
    FillTable();
    return;
  }
  seen_.resize(order.size());
  for (int i = 0; i < kSearches; ++i) FillLabels(i, labels_[i]);
}

void Reachability::FillTable() {
  table_.reserve(before_.size());
  for (size_t i = 0; i < before_.size(); ++i) {
    llvm::BitVector row(static_cast<unsigned>(i) + 1);
    row.set(static_cast<unsigned>(i));
    for (const int32_t p : before_[i]) row |= table_[static_cast<size_t>(p)];
    table_.push_back(std::move(row));
  }
}

/// Ranks in the order of finishing. All that a node depends on has ranks in [low, rank]; what was first found
/// from it has exactly the ranks [tree_low, rank].
void Reachability::FillLabels(int search, std::vector<Label>& labels) const {
  const size_t n = before_.size();
  labels.assign(n, {-1, -1, -1});
  int32_t rank = 0;
  struct Entry {
    int32_t node;
    size_t next;
  };
  std::vector<Entry> stack;
  for (size_t k = n; k-- > 0;) {
    if (labels[k].tree_low >= 0) continue;
    stack.push_back({static_cast<int32_t>(k), 0});
    labels[k].tree_low = rank;
    while (!stack.empty()) {
      Entry& top = stack.back();
      const auto& before = before_[static_cast<size_t>(top.node)];
      if (top.next < before.size()) {
        // The searches differ in the order of the edges.
        const size_t at = search == 0 ? top.next : before.size() - 1 - top.next;
        ++top.next;
        Label& label = labels[static_cast<size_t>(before[at])];
        if (label.tree_low >= 0) continue;
        label.tree_low = rank;
        stack.push_back({before[at], 0});
        continue;
      }
      Label& label = labels[static_cast<size_t>(top.node)];
      label.rank = rank++;
      label.low = label.rank;
      for (const int32_t p : before) label.low = std::min(label.low, labels[static_cast<size_t>(p)].low);
      stack.pop_back();
    }
  }
}

bool Reachability::MayReach(int32_t from, int32_t to) const {
  if (from > to) return false;
  for (const auto& labels : labels_) {
    const Label& early = labels[static_cast<size_t>(from)];
    const Label& late = labels[static_cast<size_t>(to)];
    if (early.low < late.low || early.rank > late.rank) return false;
  }
  return true;
}

bool Reachability::SurelyReaches(int32_t from, int32_t to) const {
  for (const auto& labels : labels_) {
    const int32_t rank = labels[static_cast<size_t>(from)].rank;
    const Label& late = labels[static_cast<size_t>(to)];
    if (late.tree_low <= rank && rank <= late.rank) return true;
  }
  return false;
}

bool Reachability::Search(int32_t from, int32_t to) const {
  if (++stamp_ == 0) {
    std::fill(seen_.begin(), seen_.end(), 0);
    stamp_ = 1;
  }
  llvm::SmallVector<int32_t, 32> todo = {to};
  while (!todo.empty()) {
    const int32_t at = todo.pop_back_val();
    for (const int32_t p : before_[static_cast<size_t>(at)]) {
      if (seen_[static_cast<size_t>(p)] == stamp_ || !MayReach(from, p)) continue;
      if (SurelyReaches(from, p)) return true;
      seen_[static_cast<size_t>(p)] = stamp_;
      todo.push_back(p);
    }
  }
  return false;
}

bool Reachability::Reaches(const Instruction& earlier, const Instruction& later) const {
  const int32_t from = index_.find(&earlier)->second, to = index_.find(&later)->second;
  if (from >= to) return from == to;
  if (!table_.empty()) return table_[static_cast<size_t>(to)].test(static_cast<unsigned>(from));
  return MayReach(from, to) && (SurelyReaches(from, to) || Search(from, to));
}

}  // namespace hlo
