// The part of a module that hlo-viz draws (tools.md §5.1 "Selection").
#pragma once
#include <string>
#include <vector>

#include "tools/viz/drawing/drawing.h"
#include "tools/viz/options.h"

namespace hlo {

struct VizDrawing {
  Drawing drawing;
  std::vector<const Instruction*> requested;  // by name, in the order of the command line
  bool partial = false;                       // the options select
};

/// Finds names, draws what the options say, selects. `control`: control dependencies are part of it. Errors:
/// usage-name, usage-option. `report` is told of paths that are cut or do not exist.
Result<VizDrawing> SelectDrawing(const Module& module, const VizOptions& options, bool control,
                                 llvm::function_ref<void(Diagnostic)> report);

}  // namespace hlo
