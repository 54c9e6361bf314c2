// Nodes of a drawing put together: by where they come from, or because there are too many.
#pragma once
#include "tools/viz/drawing/drawing.h"

namespace hlo {

enum class GroupNodesBy : uint8_t { Unset, Computation, OpName, Source, Schedule, Device, None };

/// Adds groups to those of the computations that are no fusions. What has no name or source of its own
/// belongs where all its users do. `None`: takes all groups away.
void GroupNodes(Drawing& drawing, GroupNodesBy by);

struct Collapsed {
  int64_t nodes = 0;   // there were
  int64_t groups = 0;  // that are drawn as one node
};
/// Collapses groups until at most `most` nodes are left to draw: the innermost ones first, large ones before
/// small ones. Computations that are too large on their own are divided, by op_name or in order.
Collapsed CollapseGroups(Drawing& drawing, int64_t most);

/// What a drawing shows after collapsing.
class ShownItems {
 public:
  explicit ShownItems(const Drawing& drawing);
  /// The collapsed group that stands for what is in this group; -1: it is open.
  [[nodiscard]] int32_t StandIn(int32_t group) const { return stand_in_[static_cast<size_t>(group)]; }
  /// True for a called computation that is left out altogether: its caller is drawn.
  [[nodiscard]] bool IsLeftOut(int32_t group) const { return left_out_[static_cast<size_t>(group)]; }

 private:
  std::vector<int32_t> stand_in_;
  std::vector<bool> left_out_;
};

}  // namespace hlo
