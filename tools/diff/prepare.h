// What hlo-diff does to modules before and to results after a comparison.
#pragma once
#include "tools/diff/options.h"

namespace hlo {

/// Puts the bodies of fusions or calls in the places of these, as --inline says. Instructions keep their
/// positions in the text. Error limit-inline if calls within calls would make too many instructions; the
/// module is as it was then.
Status InlineForDiff(Module& module, DiffInline what);

/// The options of a comparison with the hints of --map for these modules. Error usage-name, with
/// suggestions, for names that a module does not have.
Result<DiffOptions> ResolveHints(const HloDiffOptions& options, const Module& left, const Module& right);

/// Checks the words of --only (usage-option), and that --computation matches something (usage-name).
Status CheckDiffFilters(const HloDiffOptions& options, const Module& left, const Module& right);
/// Hides the entries that --only, --opcode and --computation leave out.
void HideEntries(const HloDiffOptions& options, ModuleDiff& diff);
/// Whether the exit code says equal: nothing differs, or with --filter-exit nothing that is shown.
bool CountsAsEqual(const HloDiffOptions& options, const ModuleDiff& diff);

/// --mode=canonical and text: the difference of the printed modules, line by line. True if there is none.
Result<bool> CompareLines(const HloDiffOptions& options, const Module& left, const Module& right,
                          llvm::StringRef left_file, llvm::StringRef right_file, llvm::raw_ostream& os);

/// The remark that matching was cut short, if it was.
std::optional<Diagnostic> EffortRemark(const ModuleDiff& diff);

}  // namespace hlo
