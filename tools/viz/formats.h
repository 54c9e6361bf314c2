// The forms in which hlo-viz writes a module.
#pragma once
#include "tools/viz/options.h"
#include "tools/viz/overlay.h"
#include "tools/viz/select.h"

namespace hlo {

/// One module, the part of it that the options select, and what is known about it.
struct VizTask {
  const Module& module;
  const VizOptions& options;
  const VizOverlay& overlay;
  const ShownParts& parts;
  VizDrawing& selected;
  llvm::function_ref<void(Diagnostic)> report;  // warnings
};

struct VizFormat {
  llvm::StringLiteral word;  // of --output-format, and extension of files
  bool binary;               // not for terminals
  bool single;               // a file holds one module
  Status (*write)(llvm::raw_ostream& os, VizTask& task);
};

/// --output-format, else the extension of the output, else dot. Errors: usage-option, unavailable-feature.
Result<const VizFormat*> FindVizFormat(const VizOptions& options);

/// Collapses groups of a drawing of more than `most` nodes (0: never), with a warning that names the limit.
void CollapseLarge(Drawing& drawing, int64_t most, llvm::StringRef limit,
                   llvm::function_ref<void(Diagnostic)> report);

/// Groups nodes as --group-by says and collapses groups beyond --max-nodes, with a warning.
void GroupDrawing(VizTask& task);

}  // namespace hlo
