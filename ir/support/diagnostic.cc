// Rendering of diagnostics as text and JSON.
#include "ir/support/diagnostic.h"

#include "ir/support/excerpt.h"
#include "ir/support/json.h"
#include "ir/support/utf8.h"
#include "llvm/Support/raw_ostream.h"

namespace hlo {
namespace {

constexpr DiagnosticInfo kDiagnostics[] = {
#define HLO_DIAGNOSTIC(id, severity, exit, explanation) {id, Severity::severity, ExitCode::exit, explanation},
#include "ir/support/diagnostics.def"
};

struct SeverityStyle {
  llvm::StringRef text;
  llvm::raw_ostream::Colors color;
};
// In the order of Severity.
constexpr SeverityStyle kSeverities[] = {{"error", llvm::raw_ostream::RED},
                                         {"warning", llvm::raw_ostream::MAGENTA},
                                         {"note", llvm::raw_ostream::CYAN},
                                         {"remark", llvm::raw_ostream::BLUE}};

const SeverityStyle& Style(Severity severity) { return kSeverities[static_cast<size_t>(severity)]; }

llvm::StringRef FileOf(const Diagnostic& d) {
  return d.loc.valid() ? d.loc.source->name() : llvm::StringRef(d.file);
}

void RenderHeadline(const Diagnostic& d, bool color, llvm::raw_ostream& os) {
  const llvm::StringRef file = FileOf(d);
  if (d.loc.valid()) {
    const LineColumn at = FindLineColumn(*d.loc.source, d.loc.begin);
    os << EscapeControls(file) << ':' << at.line << ':' << at.column << ": ";
  } else if (!file.empty()) {
    os << EscapeControls(file) << ": ";
  }
  if (color) os.changeColor(Style(d.severity).color, /*Bold=*/true);
  os << ToString(d.severity) << ": ";
  if (color) os.resetColor();
  os << EscapeControls(d.message);
  if (!d.loc.valid() && !d.context.empty()) os << ' ' << EscapeControls(d.context);
  if (d.severity != Severity::Note && !d.id.empty()) os << " [" << d.id.text() << ']';
  os << '\n';
}

/// A note without a place of its own is shown at that of its parent.
Diagnostic PlaceNote(const Diagnostic& note, const Diagnostic& parent) {
  Diagnostic placed = note;
  placed.severity = Severity::Note;
  if (!placed.loc.valid() && placed.file.empty()) {
    placed.loc = parent.loc;
    placed.file = parent.file;
  }
  return placed;
}

/// The instruction of `in %name of computation %comp`; empty if the text has another form.
llvm::StringRef InstructionOf(llvm::StringRef context) {
  return context.consume_front("in ") ? context.split(" of computation ").first : llvm::StringRef();
}

void WriteString(JsonWriter& json, llvm::StringRef key, llvm::StringRef value) {
  if (value.empty())
    json.Member(key, nullptr);
  else
    json.Member(key, value);
}

void WritePlace(JsonWriter& json, const Diagnostic& d) {
  WriteString(json, "file", FileOf(d));
  if (!d.loc.valid()) {
    for (const char* key : {"line", "column", "end_column"}) json.Member(key, nullptr);
    return;
  }
  const LineColumn at = FindLineColumn(*d.loc.source, d.loc.begin);
  json.Member("line", at.line);
  json.Member("column", at.column);
  json.Member("end_column", at.column + CountCharacters(FirstLineOf(d.loc)));
}

/// The edit that a note `did you mean 'x'?` proposes, if it names one word; marks around the word stay.
std::optional<FixIt> SuggestedFix(const Diagnostic& note) {
  llvm::StringRef word = note.message;
  if (!note.loc.valid() || !word.consume_front("did you mean '") || !word.consume_back("'?") ||
      word.contains('\''))
    return std::nullopt;
  FixIt fix{note.loc, word.str()};
  const llvm::StringRef replaced = FirstLineOf(note.loc);
  if (replaced.starts_with("%") && !word.starts_with("%")) fix.text = "%" + fix.text;
  if (replaced.starts_with("'") || replaced.starts_with("\""))
    fix.text = replaced.front() + fix.text + replaced.front();
  return fix;
}

void WriteFixIts(JsonWriter& json, const Diagnostic& d) {
  std::vector<FixIt> fixes = d.fixits;
  for (const Diagnostic& note : d.notes)
    if (auto fix = SuggestedFix(note)) fixes.push_back(std::move(*fix));
  json.Array("fixits", [&] {
    for (const FixIt& fix : fixes) {
      if (!fix.where.valid()) continue;
      const LineColumn at = FindLineColumn(*fix.where.source, fix.where.begin);
      json.Object([&] {
        json.Member("line", at.line);
        json.Member("column", at.column);
        json.Member("length", CountCharacters(FirstLineOf(fix.where)));
        json.Member("text", fix.text);
      });
    }
  });
}

}  // namespace

llvm::StringRef ToString(Severity severity) { return Style(severity).text; }

llvm::ArrayRef<DiagnosticInfo> AllDiagnostics() { return kDiagnostics; }

std::optional<DiagnosticId> DiagnosticId::Find(llvm::StringRef id) {
  DiagnosticId found;
  found.number_ = NumberOf(id);
  return found.empty() ? std::nullopt : std::optional(found);
}

const DiagnosticInfo& DiagnosticInfo::Of(DiagnosticId id) { return kDiagnostics[id.number_ - 1]; }

Diagnostic& Diagnostic::Note(Loc where, std::string text) {
  Diagnostic note;
  note.severity = Severity::Note;
  note.message = std::move(text);
  note.loc = where;
  notes.push_back(std::move(note));
  return *this;
}

std::string Render(const Diagnostic& diagnostic, const RenderOptions& options) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os.enable_colors(options.color);
  RenderHeadline(diagnostic, options.color, os);
  if (diagnostic.loc.valid()) RenderExcerpt(diagnostic.loc, options, os);
  if (!options.notes) return text;
  for (const Diagnostic& raw : diagnostic.notes) {
    const Diagnostic note = PlaceNote(raw, diagnostic);
    RenderHeadline(note, options.color, os);
    const bool shown = note.loc.source == diagnostic.loc.source && note.loc.begin == diagnostic.loc.begin;
    if (note.loc.valid() && !shown) RenderExcerpt(note.loc, options, os);
  }
  return text;
}

std::string RenderJson(const Diagnostic& diagnostic, llvm::StringRef module, llvm::StringRef instruction) {
  std::string text;
  llvm::raw_string_ostream os(text);
  JsonWriter json(os);
  json.Object([&] {
    WritePlace(json, diagnostic);
    json.Member("severity", ToString(diagnostic.severity));
    WriteString(json, "id", diagnostic.id.text());
    json.Member("message", diagnostic.message);
    WriteString(json, "module", module);
    WriteString(json, "instruction", instruction.empty() ? InstructionOf(diagnostic.context) : instruction);
    json.Array("notes", [&] {
      for (const Diagnostic& raw : diagnostic.notes) {
        const Diagnostic note = PlaceNote(raw, diagnostic);
        json.Object([&] {
          WritePlace(json, note);
          json.Member("severity", ToString(note.severity));
          json.Member("message", note.message);
        });
      }
    });
    WriteFixIts(json, diagnostic);
  });
  return text;
}

}  // namespace hlo
