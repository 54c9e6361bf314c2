// --output-format=html: both modules as one drawing and in linked panes of one page (tools.md §4.3, §5.3).
#include "llvm/Support/Path.h"
#include "tools/diff/compare/merged_graph.h"
#include "tools/diff/compare/report.h"
#include "tools/viz/drawing/page.h"

namespace hlo {
namespace {

/// The drawing of WriteDiffDot, for the page to draw.
PageMerge MergeOf(const DiffReport& report) {
  const MergedGraph graph = MergeGraphs(report);
  PageMerge merge;
  for (const ComputationMatch& match : graph.computations)
    for (const Computation* side : {match.left, match.right})
      if (side) merge.computations.push_back(side);
  std::vector<size_t> region_of(graph.nodes.size(), SIZE_MAX);
  for (const DiffEntry& entry : report.diff.entries) {
    const Instruction* inst = entry.right ? entry.right : entry.left;
    const int32_t node = graph.NodeOf(inst);
    if (node < 0) continue;
    const MergedNode& merged = graph.nodes[static_cast<size_t>(node)];
    if (merged.entry) {
      if (merged.repeats > 1) merge.repeats.emplace_back(inst, merged.repeats);
      continue;
    }
    size_t& region = region_of[static_cast<size_t>(node)];
    if (region == SIZE_MAX) {
      region = merge.regions.size();
      merge.regions.emplace_back();
    }
    merge.regions[region].push_back(inst);
  }
  return merge;
}

/// The entries as they are shown: those that filters hide say only what belongs together.
ModuleDiff WithoutHidden(const ModuleDiff& diff) {
  ModuleDiff shown = diff;
  for (DiffEntry& entry : shown.entries) {
    if (!entry.hidden) continue;
    entry.hidden = entry.moved = false;
    entry.kind = DiffKind::Unchanged;
    entry.changes.clear();
    entry.note.clear();
  }
  return shown;
}

}  // namespace

Status WriteDiffHtml(llvm::raw_ostream& os, const DiffReport& report) {
  PageInput page;
  page.module = report.diff.right;
  page.left = report.diff.left;
  page.title =
      (llvm::sys::path::filename(report.left_file) + " -> " + llvm::sys::path::filename(report.right_file))
          .str();
  page.merge = MergeOf(report);
  const ModuleDiff shown = WithoutHidden(report.diff);
  DiffReport compact{shown, report.left_file, report.right_file, report.options};
  compact.options.json_indent = 0;
  llvm::raw_string_ostream json(page.diff);
  HLO_CHECK_OK(WriteDiffJson(json, compact));
  WritePage(os, page);
  return {};
}

}  // namespace hlo
