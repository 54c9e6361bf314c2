// How a comparison is told: what the writers of all formats share.
#pragma once
#include <optional>
#include <string>

#include "ir/support/result.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"
#include "tools/diff/compare/module_diff.h"

namespace hlo {

/// Options of the report; they change what is shown, never what is found.
struct DiffReportOptions {
  int64_t context = 1;       // unchanged neighbours shown around a change
  int64_t max_entries = 50;  // shown per kind; 0: all
  bool group = true;         // changes that repeat are told once
  bool show_renames = false;
  bool color = false;
  int width = 100;  // of lines, in characters, for side-by-side
  int64_t json_indent = 0;
};

/// What --cost tells of one module; -1: unknown.
struct DiffCost {
  double flops = 0, transcendentals = 0, bytes = 0;
  int64_t memory_bytes = -1, kernels = 0;
};

/// What --verify-equivalence found.
/// Vacuous: no difference, but some outputs prove nothing: they are NaN, or other arguments do not change
/// them.
enum class DiffVerdict : uint8_t { NotRun, Equal, Different, Vacuous };
llvm::StringRef ToString(DiffVerdict verdict);
struct DiffEquivalence {
  DiffVerdict verdict = DiffVerdict::NotRun;
  std::string reason;                     // why it was not run
  uint64_t seed = 0;                      // of the first arguments; the next one is that of the second
  int64_t outputs = 0;                    // arrays that were compared
  double max_abs = 0, max_rel = 0;        // largest errors in any of them
  std::string details;                    // lines about outputs that differ
  std::vector<std::string> vacuous = {};  // outputs that prove nothing, and why
  std::string unmeasured = {};            // why bounds are not measured; empty: they are
};

/// What a writer gets; everything in it outlives the call.
struct DiffReport {
  const ModuleDiff& diff;
  std::string left_file, right_file;  // as diagnostics name them
  DiffReportOptions options;
  std::optional<std::pair<DiffCost, DiffCost>> cost = {};  // left, right
  std::optional<DiffEquivalence> equivalence = {};
};

/// A form of the report. Writers read `report`, write to `os` and keep nothing.
struct DiffFormatInfo {
  llvm::StringRef word;       // of --output-format
  llvm::StringRef extension;  // of files that -o names, without a dot; empty: none
  bool single;                // a document: one comparison per file
  bool lines;                 // text for people: verdicts and costs are appended
  int64_t entries;            // shown per kind unless --max-entries says otherwise
  Status (*write)(llvm::raw_ostream& os, const DiffReport& report);
};
/// The first is the default.
llvm::ArrayRef<DiffFormatInfo> AllDiffFormats();
/// By word; null if there is none.
const DiffFormatInfo* FindDiffFormat(llvm::StringRef word);

// Writers, one per file of the same stem.
Status WriteDiffText(llvm::raw_ostream& os, const DiffReport& report);
Status WriteDiffSummary(llvm::raw_ostream& os, const DiffReport& report);
Status WriteDiffJson(llvm::raw_ostream& os, const DiffReport& report);
Status WriteDiffSideBySide(llvm::raw_ostream& os, const DiffReport& report);
Status WriteDiffDot(llvm::raw_ostream& os, const DiffReport& report);
Status WriteDiffHtml(llvm::raw_ostream& os, const DiffReport& report);

/// The escape sequence that colours a line about a kind, empty for unchanged; and the one that ends colours.
llvm::StringRef AnsiColorOf(DiffKind kind);
inline constexpr llvm::StringLiteral kNoAnsiColor = "\x1b[0m";

/// `a.hlo -> b.hlo: 391 vs 363 instructions; 301 unchanged, …` without line end: what text and summary
/// begin with.
void WriteDiffHeading(llvm::raw_ostream& os, const DiffReport& report);

}  // namespace hlo
