// --output-format=summary: one line per comparison.
#include "tools/diff/compare/report.h"

namespace hlo {

void WriteDiffHeading(llvm::raw_ostream& os, const DiffReport& report) {
  const ModuleDiff& diff = report.diff;
  os << report.left_file << " -> " << report.right_file << ": " << diff.left->InstructionCount() << " vs "
     << diff.right->InstructionCount() << " instructions;";
  for (int kind = 0; kind < kDiffKindCount; ++kind)
    os << (kind > 0 ? ", " : " ") << diff.counts[kind] << ' ' << ToString(static_cast<DiffKind>(kind));
}

Status WriteDiffSummary(llvm::raw_ostream& os, const DiffReport& report) {
  WriteDiffHeading(os, report);
  os << '\n';
  return {};
}

}  // namespace hlo
