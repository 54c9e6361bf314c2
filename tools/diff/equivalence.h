// Whether two modules compute the same, as far as runs on made-up data show (hlo-diff
// --verify-equivalence).
#pragma once
#include "tools/common/sink.h"
#include "tools/diff/compare/report.h"

namespace hlo {

/// Runs both modules on the cpu platform, twice, on the arguments that hlo-run would make up for the left one
/// (--fake=random, --seed=0 and 1), and compares all outputs within what rounding does (rounding_bounds.h).
/// Outputs that prove nothing give DiffVerdict::Vacuous, and a warning each. Modules that cannot be run, or
/// not on the same arguments, give DiffVerdict::NotRun with the reason; errors: interrupted.
Result<DiffEquivalence> CheckEquivalence(const Module& left, const Module& right, DiagnosticSink& sink);

/// The verdict as lines: `equivalence: …`.
void WriteEquivalence(llvm::raw_ostream& os, const DiffEquivalence& equivalence);

}  // namespace hlo
