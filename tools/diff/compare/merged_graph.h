// Both modules of a comparison as one graph, unchanged regions folded: what drawings show.
#pragma once
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "tools/diff/compare/report.h"

namespace hlo {

/// Nodes are entries of the comparison or regions of entries that are not drawn one by one.
struct MergedNode {
  const DiffEntry* entry = nullptr;     // null: a region
  int32_t computation = -1;             // index into MergedGraph::computations
  int64_t folded[kDiffKindCount] = {};  // of a region: entries by kind
  int64_t repeats = 1;                  // of an entry: how many places have the same change
};

/// An arrow from a value to its user, which one module has or both have.
struct MergedEdge {
  int32_t from = 0, to = 0;
  bool in_left = false, in_right = false;
  bool control = false;
};

struct MergedGraph {
  std::vector<ComputationMatch> computations;  // that are drawn, callers first
  std::vector<MergedNode> nodes;               // by computation, operands before users as far as possible
  std::vector<MergedEdge> edges;               // by `to`, then `from`
  int64_t not_drawn = 0;                       // differences that --max-entries folds

  /// The node that stands for an instruction of either module; -1: none.
  [[nodiscard]] int32_t NodeOf(const Instruction* instruction) const;
  llvm::DenseMap<const Instruction*, int32_t> node_of;
};

/// Drawn are computations with differences and their callers; in them the differences (of larger groups the
/// first one), at most DiffReportOptions::max_entries per kind, and what is `context` steps from those.
MergedGraph MergeGraphs(const DiffReport& report);

}  // namespace hlo
