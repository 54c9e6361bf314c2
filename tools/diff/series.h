// A module followed through the dumps of its compilation (hlo-diff --series).
#pragma once
#include "tools/common/sink.h"
#include "tools/diff/options.h"

namespace hlo {

/// Compares consecutive dumps of every compilation in the directory that --module selects, and writes a
/// table (or with `json` an object) of the steps that change something, and of those where what --find asks
/// for appears or disappears. Raises ExitCode::Negative if --find is answered with a step, or without --find
/// if anything changes. Errors: input-open, input-empty, usage-name, usage-option, interrupted.
Status DiffSeries(const HloDiffOptions& options, llvm::StringRef directory, bool json, DiagnosticSink& sink,
                  llvm::raw_ostream& os);

}  // namespace hlo
