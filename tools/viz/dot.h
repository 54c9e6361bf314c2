// Modules in the language of Graphviz, drawn as XLA draws them (tools.md §5.2).
#pragma once
#include "llvm/Support/raw_ostream.h"
#include "tools/viz/label.h"

namespace hlo {

/// Which called computations are drawn inside, as clusters.
enum DotExpand : uint8_t {
  kExpandNone = 0,
  kExpandFusion = 1,
  kExpandWhile = 2,
  kExpandConditional = 4,
  kExpandCall = 8,
  kExpandReduce = 16,  // everything else that calls, but for computations that NamedReducer() names
  kExpandAll = 31
};

struct DotOptions {
  LabelOptions labels;
  bool control = true;                       // edges of control dependencies
  uint8_t expand = kExpandFusion;            // DotExpand bits
  bool all_computations = false;             // also those that the entry's drawing does not hold
  const Computation* computation = nullptr;  // null: the entry
};

/// One digraph. A fusion drawn inside is a rounded cluster in the place of its node; other computations
/// are clusters with a dashed edge from their root to the caller. The bytes depend on the module alone.
void WriteDot(llvm::raw_ostream& os, const Module& module, const DotOptions& options = {});

}  // namespace hlo
