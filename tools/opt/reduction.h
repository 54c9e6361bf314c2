// --reduce and --bisect-passes of hlo-opt (tools.md §2.5).
#pragma once
#include "tools/opt/passes.h"

namespace hlo {

/// Shrinks the module while --test stays interesting; -o receives every improvement. Errors:
/// reduce-not-interesting (exit 1) if the module itself is not.
Status ReduceInput(const InputModule& input, const OptOptions& options, DiagnosticSink& sink,
                   llvm::raw_ostream& out);

/// Finds the pass execution, then the rewrite, that makes the command interesting, and saves the modules
/// around it in `bisect/`. Errors: bisect-precondition (exit 1).
Status BisectPasses(const InputModule& input, const OptOptions& options, const PassRunner& passes,
                    DiagnosticSink& sink, llvm::raw_ostream& out);

}  // namespace hlo
