// Which instructions of a computation depend on which, answered quickly.
#pragma once
#include <vector>

#include "ir/module.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"

namespace hlo {

/// Answers for one computation; instructions and edges must not change meanwhile. Small computations have a
/// table of all pairs; large ones labels from depth-first searches, which decide nearly every question, and a
/// search bounded by them for the rest: time and memory grow about linearly with the computation.
class Reachability {
 public:
  /// `table_limit`: instructions up to which there is a table.
  explicit Reachability(const Computation& computation, size_t table_limit = 4096);
  /// True if `later` depends on `earlier` through operands and control edges; every instruction reaches
  /// itself.
  [[nodiscard]] bool Reaches(const Instruction& earlier, const Instruction& later) const;

 private:
  static constexpr int kSearches = 2;
  struct Label {
    int32_t tree_low, low, rank;  // of one depth-first search against the edges
  };
  void FillTable();
  void FillLabels(int search, std::vector<Label>& labels) const;
  [[nodiscard]] bool Search(int32_t from, int32_t to) const;
  [[nodiscard]] bool MayReach(int32_t from, int32_t to) const;
  [[nodiscard]] bool SurelyReaches(int32_t from, int32_t to) const;

  llvm::DenseMap<const Instruction*, int32_t> index_;  // in post-order
  std::vector<std::vector<int32_t>> before_;           // direct predecessors
  std::vector<llvm::BitVector> table_;
  std::vector<Label> labels_[kSearches];
  mutable std::vector<uint32_t> seen_;
  mutable uint32_t stamp_ = 0;
};

}  // namespace hlo
