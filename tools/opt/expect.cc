#include "tools/opt/expect.h"

namespace hlo {
namespace {

struct Expectation {
  Severity severity = Severity::Error;
  unsigned line = 0;
  bool anywhere = false;  // @unknown: a diagnostic without position
  std::string text;
  std::optional<Regex> regex;
  Loc loc;
  bool met = false;
};

std::optional<Severity> ParseSeverity(llvm::StringRef& text) {
  for (Severity s : {Severity::Error, Severity::Warning, Severity::Note, Severity::Remark})
    if (text.consume_front(ToString(s))) return s;
  return std::nullopt;
}

/// Reads `@+N`, `@-N`, `@above`, `@below`, `@unknown`; the line meant. False if it is none of these.
bool ParsePosition(llvm::StringRef& text, unsigned line, Expectation& e) {
  e.line = line;
  if (!text.consume_front("@")) return true;
  if (text.consume_front("above"))
    e.line = line - 1;
  else if (text.consume_front("below"))
    e.line = line + 1;
  else if (text.consume_front("unknown"))
    e.anywhere = true;
  else {
    const bool minus = text.starts_with("-");
    if (!minus && !text.starts_with("+")) return false;
    text = text.drop_front();
    unsigned offset = 0;
    if (text.consumeInteger(10, offset)) return false;
    e.line = minus ? line - std::min(line, offset) : line + offset;
  }
  return true;
}

/// The expectations of one line of text; errors for comments that begin like one and are none.
class ExpectationReader {
 public:
  explicit ExpectationReader(const SourceBuffer& source) : source_(source) {}

  void ReadLine(llvm::StringRef line, unsigned number) {
    for (size_t at = line.find("expected-"); at != llvm::StringRef::npos;
         at = line.find("expected-", at + 1)) {
      if (!line.take_front(at).contains("//")) continue;
      llvm::StringRef rest = line.drop_front(at + llvm::StringRef("expected-").size());
      const auto severity = ParseSeverity(rest);
      if (!severity) continue;
      Expectation e;
      e.severity = *severity;
      const auto begin = static_cast<uint32_t>(line.data() - source_.text().data() + at);
      e.loc = {&source_, begin, begin + static_cast<uint32_t>(line.size() - at)};
      const bool regex = rest.consume_front("-re");
      const bool position = ParsePosition(rest, number, e);
      rest = rest.ltrim();
      const size_t close = rest.rfind("}}");
      if (!position || !rest.starts_with("{{") || close == llvm::StringRef::npos || close < 2) {
        errors.push_back(MakeError("usage-expectation", e.loc,
                                   "malformed expectation; expected '// expected-{0}[-re][@+N] {{{{text}}'",
                                   ToString(*severity)));
        continue;
      }
      // Several expectations may share a line: this one ends at the first braces.
      const size_t end = rest.find("}}");
      e.text = rest.slice(2, end).str();
      if (regex) {
        auto compiled = Regex::Compile(e.text);
        if (!compiled) {
          errors.push_back(MakeError("usage-expectation", e.loc, "{0}", compiled.error().message));
          continue;
        }
        e.regex = std::move(*compiled);
      }
      expectations.push_back(std::move(e));
    }
  }

  std::vector<Expectation> expectations;
  std::vector<Diagnostic> errors;

 private:
  const SourceBuffer& source_;
};

bool Fits(const Expectation& e, const Diagnostic& d) {
  if (e.met || e.severity != d.severity) return false;
  if (e.anywhere ? d.loc.valid()
                 : !d.loc.valid() || FindLineColumn(*d.loc.source, d.loc.begin).line != e.line)
    return false;
  return e.regex ? e.regex->Matches(d.message) : llvm::StringRef(d.message).contains(e.text);
}

}  // namespace

std::vector<Diagnostic> CheckExpectations(const SourceBuffer& source, size_t begin, size_t end,
                                          llvm::ArrayRef<Diagnostic> diagnostics) {
  ExpectationReader reader(source);
  const llvm::StringRef text = source.text();
  auto number = static_cast<unsigned>(text.take_front(begin).count('\n')) + 1;
  for (llvm::StringRef rest = text.slice(begin, end); !rest.empty(); ++number) {
    const size_t length = std::min(rest.find('\n'), rest.size());
    reader.ReadLine(rest.take_front(length), number);
    rest = rest.drop_front(std::min(length + 1, rest.size()));
  }

  std::vector<Diagnostic> result = std::move(reader.errors);
  const auto meet = [&](const Diagnostic& d) {
    const auto it = llvm::find_if(reader.expectations, [&](const Expectation& e) { return Fits(e, d); });
    if (it != reader.expectations.end()) it->met = true;
    return it != reader.expectations.end();
  };
  for (const Diagnostic& d : diagnostics) {
    const bool must = d.severity == Severity::Error || d.severity == Severity::Warning;
    if (!meet(d) && must) {
      Diagnostic error = d;
      error.severity = Severity::Error;
      error.id = "mismatch-unexpected";
      error.message = ("unexpected " + ToString(d.severity) + ": " + d.message).str();
      error.notes.clear();
      result.push_back(std::move(error));
    }
    for (const Diagnostic& note : d.notes) meet(note);
  }
  for (const Expectation& e : reader.expectations)
    if (!e.met)
      result.push_back(MakeError("mismatch-expected", e.loc, "expected {0} '{1}'{2} was not reported",
                                 ToString(e.severity), e.text,
                                 e.anywhere ? std::string() : " at line " + std::to_string(e.line)));
  return result;
}

}  // namespace hlo
