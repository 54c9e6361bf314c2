#include "tools/testing/test_file.h"

#include "ir/support/cpu_features.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

namespace hlo::testing {
namespace {

struct SeverityKeyword {
  llvm::StringRef text;
  Severity severity;
};
constexpr SeverityKeyword kSeverities[] = {{"ERROR", Severity::Error},
                                           {"WARNING", Severity::Warning},
                                           {"NOTE", Severity::Note},
                                           {"REMARK", Severity::Remark}};

tl::unexpected<Diagnostic> Malformed(llvm::StringRef path, unsigned line, const char* what) {
  Diagnostic d = MakeError({}, {}, "line {0}: {1}", line, what);
  d.file = path.str();
  return Error(std::move(d));
}

/// Reads the directives of one chunk, line by line.
class ChunkReader {
 public:
  explicit ChunkReader(TestCase& test) : test_(test) {}

  Status Read() {
    llvm::SmallVector<llvm::StringRef> lines;
    llvm::StringRef(test_.text).split(lines, '\n');
    for (size_t i = 0; i < lines.size(); ++i) {
      line_ = test_.first_line + static_cast<unsigned>(i);
      HLO_CHECK_OK(ReadDirective(lines[i].trim()));
      HLO_CHECK_OK(ReadAnnotations(lines[i]));
    }
    return {};
  }

 private:
  Status ReadDirective(llvm::StringRef line) {
    if (!line.consume_front("//")) return {};
    line = line.trim();
    if (line.consume_front("RUN:")) return ReadRun(line.trim(), {});
    if (line.consume_front("RUN[")) {
      const auto [features, command] = line.split("]:");
      return ReadRun(command.trim(), features);
    }
    if (line.consume_front("INPUT:")) test_.inputs.push_back(line.trim().str());
    if (line.consume_front("EXPECT:")) test_.expected.push_back(line.trim().str());
    if (line.consume_front("STDERR:")) test_.stderr_texts.push_back(line.trim().str());
    if (line == "NOUPDATE") test_.no_update = true;
    if (line.consume_front("RULE:")) test_.rules.push_back(line.trim().str());
    if (line.consume_front("NOEXEC:")) test_.no_execution = line.trim().str();
    if (line.consume_front("INEXACT:")) test_.inexact = line.trim().str();
    if (line.consume_front("CHECK")) test_.has_checks |= line.contains(':');
    if (line.consume_front("EXIT:")) {
      int code = 0;
      if (line.trim().getAsInteger(10, code)) return Malformed(test_.path, line_, "EXIT needs a number");
      test_.exit_code = code;
    }
    return {};
  }

  /// A command; a trailing backslash continues it on the next RUN line.
  /// `features` are of the first line: those that the command needs, between commas.
  Status ReadRun(llvm::StringRef command, llvm::StringRef features) {
    const bool continues = command.consume_back("\\");
    if (continued_) {
      test_.runs.back().command += " " + command.trim().str();
    } else {
      test_.runs.push_back({line_, command.trim().str(), {}});
      llvm::SmallVector<llvm::StringRef> names;
      features.split(names, ',', -1, /*KeepEmpty=*/false);
      for (llvm::StringRef name : names) {
        if (!llvm::is_contained(KnownCpuFeatures(), name))
          return Malformed(test_.path, line_, "RUN[...] needs instruction sets by LLVM's names");
        test_.runs.back().features.push_back(name.str());
      }
    }
    continued_ = continues;
    return {};
  }

  Status ReadAnnotations(llvm::StringRef line) {
    for (const SeverityKeyword& keyword : kSeverities) {
      const std::string marker = "// " + keyword.text.str();
      for (size_t at = line.find(marker); at != llvm::StringRef::npos; at = line.find(marker, at + 1)) {
        llvm::StringRef rest = line.drop_front(at + marker.size());
        if (!rest.starts_with(":") && !rest.starts_with("@")) continue;
        HLO_CHECK_OK(ReadAnnotation(keyword.severity, rest));
      }
    }
    return {};
  }

  /// `[@POSITION]: text`; the text ends at the next comment of the line.
  Status ReadAnnotation(Severity severity, llvm::StringRef rest) {
    unsigned line = line_;
    if (rest.consume_front("@")) {
      const bool relative = rest.starts_with("+") || rest.starts_with("-");
      rest.consume_front("+");
      int offset = 0;
      if (rest.consumeInteger(10, offset) || (!relative && offset != 0))
        return Malformed(test_.path, line_, "the position of an annotation is @+N, @-N or @0");
      line = relative ? line_ + static_cast<unsigned>(offset) : 0;
    }
    if (!rest.consume_front(":"))
      return Malformed(test_.path, line_, "expected ':' after the annotation's kind");
    const llvm::StringRef text = rest.take_front(rest.find(" // ")).trim();
    if (text.empty()) return Malformed(test_.path, line_, "an annotation needs a text");
    test_.annotations.push_back({line_, line, severity, text.str()});
    return {};
  }

  TestCase& test_;
  unsigned line_ = 0;
  bool continued_ = false;
};

bool IsSplitMarker(llvm::StringRef line) { return line.trim() == "// -----"; }

/// True if the chunk holds no module and expects nothing.
bool OnlyRuns(const TestCase& test) {
  if (test.has_checks || test.exit_code || !test.annotations.empty() || !test.stderr_texts.empty())
    return false;
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(test.text).split(lines, '\n');
  return llvm::all_of(lines, [](llvm::StringRef line) {
    line = line.trim();
    return line.empty() || line.starts_with("//");
  });
}

}  // namespace

Result<std::vector<TestCase>> ParseTestFile(llvm::StringRef path, llvm::StringRef text) {
  std::vector<TestCase> cases;
  std::vector<RunLine> inherited;
  unsigned line = 1;
  while (!text.empty()) {
    TestCase test;
    test.path = path.str();
    test.first_line = line;
    while (!text.empty()) {
      const size_t length = std::min(text.find('\n'), text.size() - 1) + 1;
      const llvm::StringRef this_line = text.take_front(length);
      text = text.drop_front(length);
      ++line;
      if (IsSplitMarker(this_line)) break;
      test.text += this_line.trim() == "// AND" ? "// -----\n" : this_line;
    }
    HLO_CHECK_OK(ChunkReader(test).Read());
    if (!test.runs.empty()) inherited = test.runs;
    if (OnlyRuns(test)) continue;
    if (inherited.empty()) return Malformed(path, test.first_line, "no RUN line in this chunk or above");
    test.runs = inherited;
    cases.push_back(std::move(test));
  }
  return cases;
}

}  // namespace hlo::testing
