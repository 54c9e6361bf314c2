// Parts of drawings: neighbourhoods, paths, slices (tools.md §5.1, §5.2).
#pragma once
#include "tools/viz/drawing/drawing.h"

namespace hlo {

/// From here on a node is not followed to its users by neighbourhoods.
inline constexpr int64_t kManyUsers = 17;

/// One flag per node of a drawing.
using NodeSet = llvm::SmallVector<bool, 0>;

/// Ways between the nodes of a drawing, along values and control dependencies.
class DrawingGraph {
 public:
  explicit DrawingGraph(const Drawing& drawing);

  /// The nodes that stand for an instruction: its own, or those of its body; none if it is not drawn.
  [[nodiscard]] std::vector<int32_t> NodesOf(const Instruction& instruction) const;

  /// Adds what is at most `radius` steps from the centre. Bitcasts are no step; operands of tuples are
  /// followed only from the centre, users of nodes with kManyUsers not at all, nothing from `boundary`.
  void AddNeighbours(NodeSet& set, llvm::ArrayRef<int32_t> centre, int64_t radius,
                     const NodeSet& boundary) const;
  /// Adds all that depends on the start (forward) or that it depends on.
  void AddSlice(NodeSet& set, llvm::ArrayRef<int32_t> start, bool forward) const;

  struct Paths {
    int64_t nodes = 0;  // that lie on paths
    bool cut = false;   // not all of them are in the set
    int64_t shown = 0;
  };
  /// Adds the nodes on paths between two sets, in whichever direction there are some: whole paths, shortest
  /// first, until there are `most` nodes. The shortest path is added whatever its length.
  Paths AddPaths(NodeSet& set, llvm::ArrayRef<int32_t> a, llvm::ArrayRef<int32_t> b, int64_t most) const;

 private:
  /// Edges that leave or reach nodes, as lists one behind the other.
  struct Adjacency {
    std::vector<int32_t> first, other;
    [[nodiscard]] llvm::ArrayRef<int32_t> Of(int32_t node) const {
      const auto n = static_cast<size_t>(node);
      return llvm::ArrayRef(other).slice(static_cast<size_t>(first[n]),
                                         static_cast<size_t>(first[n + 1] - first[n]));
    }
  };
  static Adjacency Make(const Drawing& drawing, bool forward);
  /// Steps from the start along one direction; -1: not reached.
  [[nodiscard]] std::vector<int32_t> Distances(llvm::ArrayRef<int32_t> start, const Adjacency& edges) const;
  [[nodiscard]] int64_t UserCount(int32_t node) const;

  const Drawing& drawing_;
  Adjacency users_, operands_;
};

}  // namespace hlo
