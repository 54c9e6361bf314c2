// Finding what makes a run fail: running the module again and again, quietly (tools.md §3.6).
#pragma once
#include "tools/opt/passes.h"
#include "tools/run/result.h"
#include "tools/run/run_module.h"

namespace hlo {

/// The part of the options that passes see.
OptOptions PassPart(const RunOptions& options);
/// What becomes of modules behind their passes on the platform.
PassUse PassUseOf(const RunOptions& options);

/// --bisect-passes: the pass execution and its rewrite that make results differ from those that they are
/// compared with. `module` is the one before passes. Errors: bisect-precondition (exit 1).
Status BisectRun(const RunOptions& options, const InputModule& input, const Module& module,
                 const RunShared& shared, DiagnosticSink& sink, llvm::raw_ostream& out);

/// --reduce-to: the smallest module found that still ends with the exit code and the first error of `failed`,
/// or still differs where that does.
Status ReduceRun(const RunOptions& options, const InputModule& input, const Module& module,
                 const ModuleResult& failed, const RunShared& shared, DiagnosticSink& sink,
                 llvm::raw_ostream& out);

}  // namespace hlo
