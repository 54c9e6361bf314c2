// Modules in the language of Graphviz, drawn as XLA draws them (tools.md §5.2).
#pragma once
#include "llvm/Support/raw_ostream.h"
#include "tools/viz/drawing/drawing.h"
#include "tools/viz/drawing/label.h"

namespace hlo {

/// How a node or a cluster looks, and what it says besides.
struct NodeLook {
  std::string fill, border, text;
  std::string mark;                // before the name: `+`, `~`
  std::vector<std::string> lines;  // after those of the instruction
  bool painted = false;            // the colours say more than the opcode
};

struct LegendEntry {
  std::string text, fill, border, font = "black";
};

/// What is said about the nodes of a drawing, and how.
struct DotStyle {
  LabelOptions labels;
  /// Changes the look that follows from the opcode; may be empty.
  std::function<void(const Instruction&, NodeLook&)> paint;
  /// The same for a group drawn as one node, of whose instructions it is told; may be empty.
  std::function<void(llvm::ArrayRef<const Instruction*>, NodeLook&)> paint_group;
  std::string legend_title;
  std::vector<LegendEntry> legend;
};

/// One digraph. A fusion drawn inside is a rounded cluster in the place of its node; other computations
/// are clusters with a dashed edge from their root to the caller. The bytes depend on the arguments alone.
void WriteDot(llvm::raw_ostream& os, const Drawing& drawing, const DotStyle& style = {});

}  // namespace hlo
