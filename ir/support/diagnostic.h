// Diagnostics: what is wrong, where, and how it is shown (tools.md §1.5).
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ir/support/diagnostic_id.h"
#include "ir/support/source.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"

namespace hlo {

/// Replaces the text of `where` by `text`; an empty range inserts.
struct FixIt {
  Loc where;
  std::string text;
};

/// One message. The text starts in lower case, has no final period and names what was found and what was
/// expected.
struct Diagnostic {
  Severity severity = Severity::Error;
  DiagnosticId id;
  std::string message;
  Loc loc;
  std::string file;  // shown where loc has no source; may be empty
  std::vector<Diagnostic> notes{};
  /// Where the location is no text position: `in %name of computation %comp`; may be empty.
  std::string context{};
  /// Replacements of source text that would repair the error, for editors.
  std::vector<FixIt> fixits{};

  Diagnostic& Note(Loc where, std::string text);
  Diagnostic& Note(std::string text) { return Note(Loc{}, std::move(text)); }
};

/// An error with a formatv message: Error("verify-shape", loc, "{0} is not {1}", a, b).
template <class... Args>
Diagnostic MakeError(DiagnosticId id, Loc loc, const char* format, Args&&... args) {
  Diagnostic d;
  d.id = id;
  d.loc = loc;
  d.message = llvm::formatv(format, std::forward<Args>(args)...).str();
  return d;
}

/// One-based line and column (in characters) of a byte offset.
struct LineColumn {
  unsigned line = 0, column = 0;
};
LineColumn FindLineColumn(const SourceBuffer& source, uint32_t offset);

/// How diagnostics are rendered as text.
struct RenderOptions {
  bool color = false;
  unsigned width = 100;  // excerpt window, in characters
  bool notes = true;
};
/// `FILE:LINE:COL: SEVERITY: MESSAGE [ID]`, excerpt, caret, notes; ends with a newline.
std::string Render(const Diagnostic& diagnostic, const RenderOptions& options = {});

/// One JSON object on one line (no newline): file, line, column, end_column, severity, id, message,
/// module, instruction, notes, fixits. What is not known is null; `end_column` is one past the range
/// on its first line. Without `instruction` the name in `context` is used.
std::string RenderJson(const Diagnostic& diagnostic, llvm::StringRef module = {},
                       llvm::StringRef instruction = {});

/// ` did you mean` candidates: edit distance at most max(1, length/3), at most three, best first.
std::vector<std::string> DidYouMean(llvm::StringRef word, llvm::ArrayRef<llvm::StringRef> candidates);
/// "did you mean 'a', 'b' or 'c'?" or "" if there are no candidates.
std::string DidYouMeanText(llvm::StringRef word, llvm::ArrayRef<llvm::StringRef> candidates);

}  // namespace hlo
