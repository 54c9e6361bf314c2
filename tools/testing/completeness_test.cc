// Every opcode has its test file with a round trip, a rejected program and an evaluation, and every
// diagnostic is expected by some test file, unless exemptions.def says why not.
#include <map>
#include <set>

#include "gtest/gtest.h"
#include "ir/op.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "tools/opt/pass_options.h"
#include "tools/testing/test_file.h"

namespace hlo::testing {
namespace {

enum class Need : uint8_t { RoundTrip, Rejection, Evaluation };
constexpr std::pair<Need, llvm::StringRef> kNeeds[] = {
    {Need::RoundTrip, "round trip (--verify-roundtrip)"},
    {Need::Rejection, "rejected program (ERROR)"},
    {Need::Evaluation, "evaluation (hlo-run with EXPECT)"}};

std::string Path(llvm::StringRef relative) { return (llvm::Twine(HLO_SOURCE_DIR "/") + relative).str(); }

std::vector<TestCase> CasesOf(const std::string& path) {
  const auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer) return {};
  auto cases = ParseTestFile(path, (*buffer)->getBuffer());
  EXPECT_TRUE(cases) << path << ": " << (cases ? "" : cases.error().message);
  return cases ? std::move(*cases) : std::vector<TestCase>();
}

bool Runs(const TestCase& test, llvm::StringRef what) {
  return llvm::any_of(test.runs,
                      [&](const RunLine& run) { return llvm::StringRef(run.command).contains(what); });
}

bool Meets(const TestCase& test, Need need) {
  const bool rejected =
      llvm::any_of(test.annotations, [](const Annotation& a) { return a.severity == Severity::Error; });
  switch (need) {
    case Need::RoundTrip: return !rejected && Runs(test, "--verify-roundtrip");
    case Need::Rejection: return rejected && Runs(test, "hlo-opt");
    case Need::Evaluation:
      return !rejected && Runs(test, "hlo-run") && (!test.expected.empty() || test.has_checks);
  }
  llvm_unreachable("unknown need");
}

TEST(Completeness, EveryOpcodeIsTested) {
  const std::set<std::pair<llvm::StringRef, Need>> exempt = {
#define EXEMPT_OP(opcode, need, reason) {opcode, Need::need},
#include "tools/testing/exemptions.def"
  };
  for (const OpInfo& op : AllOps()) {
    const std::string path = "ir/ops/" + op.text.str() + "_test.hlo";
    const std::vector<TestCase> cases = CasesOf(Path(path));
    for (const auto& [need, name] : kNeeds) {
      const bool met = llvm::any_of(cases, [&op, need](const TestCase& test) {
        return Meets(test, need) && llvm::StringRef(test.text).contains((" " + op.text + "(").str());
      });
      const bool exempted = exempt.count({op.text, need}) != 0;
      EXPECT_TRUE(met || exempted) << path << ": no " << name.str() << " of " << op.text.str();
      EXPECT_FALSE(met && exempted) << path << ": exempted from " << name.str() << " without need";
    }
  }
}

constexpr const char* kTestFolders[] = {"ir", "parser", "passes", "backends", "tools", "testdata/invalid"};

/// Calls f(path, text) for the files below `folder`, given from the root of the tree.
template <class F>
void ForEachFile(llvm::StringRef folder, F f) {
  std::error_code error;
  for (llvm::sys::fs::recursive_directory_iterator it(Path(folder), error), end; it != end && !error;
       it.increment(error)) {
    const auto buffer = llvm::MemoryBuffer::getFile(it->path());
    if (buffer) f(llvm::StringRef(it->path()).drop_front(Path("").size()), (*buffer)->getBuffer());
  }
}

/// The comments of HLO text, where the directives stand; one per line.
std::string Comments(llvm::StringRef text) {
  std::string comments;
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n');
  for (llvm::StringRef line : lines)
    if (const size_t at = line.find("//"); at != llvm::StringRef::npos)
      comments += (line.drop_front(at) + "\n").str();
  return comments;
}

/// Ids in brackets in the directives of the test files, those that must not be printed left out.
std::set<std::string> ExpectedIds() {
  std::set<std::string> ids;
  for (const char* folder : kTestFolders)
    ForEachFile(folder, [&](llvm::StringRef path, llvm::StringRef text) {
      if (!path.ends_with("_test.hlo")) return;
      const std::string comments = Comments(text);
      // Between a bracket that closes and the last one that opens before it.
      for (llvm::StringRef rest = comments; rest.contains(']');) {
        const auto [before, after] = rest.split(']');
        ids.insert(before.rsplit('[').second.str());
        rest = after;
      }
    });
  return ids;
}

/// Whether a test that is no text case, given from the root of the tree, says an id.
bool Names(llvm::StringRef test, llvm::StringRef id) {
  const auto buffer = llvm::MemoryBuffer::getFile(Path(test));
  const llvm::StringRef text = buffer ? (*buffer)->getBuffer() : "";
  return text.contains(("[" + id + "]").str()) || text.contains(("\"" + id + "\"").str());
}

TEST(Completeness, EveryDiagnosticIsExpectedSomewhere) {
  const std::map<llvm::StringRef, llvm::StringRef> exempt = {
#define EXEMPT_DIAGNOSTIC(id, test, reason) {id, test},
#include "tools/testing/exemptions.def"
  };
  const std::set<std::string> expected = ExpectedIds();
  for (const auto& [id, test] : exempt) {
    EXPECT_TRUE(DiagnosticId::Find(id)) << id.str() << " is exempted and no diagnostic";
    EXPECT_TRUE(test.empty() || Names(test, id)) << test.str() << " does not expect [" << id.str() << "]";
  }
  for (const DiagnosticInfo& info : AllDiagnostics()) {
    const bool met = expected.count(info.name.str()) != 0, exempted = exempt.count(info.name) != 0;
    EXPECT_TRUE(met || exempted) << "no test file expects [" << info.name.str() << "]";
    EXPECT_FALSE(met && exempted) << info.name.str() << " is exempted without need";
  }
}

/// Reads the string literals of C++ text. Raw ones are left out: they hold programs.
class LiteralReader {
 public:
  explicit LiteralReader(llvm::StringRef text) : text_(text) {}

  /// Literals in order, those side by side joined.
  std::vector<std::string> Read() {
    std::vector<std::string> literals;
    bool beside = false;
    while (!text_.empty()) {
      if (text_.consume_front("//")) {
        text_ = text_.drop_until([](char c) { return c == '\n'; });
      } else if (text_.consume_front("R\"(")) {
        text_ = text_.split(")\"").second;
      } else if (text_.consume_front("\"")) {
        if (!beside) literals.emplace_back();
        ReadRest(literals.back());
        beside = true;
      } else {
        // A quote behind a digit separates digits.
        if (text_.starts_with("'") && !llvm::isDigit(before_)) SkipCharacter();
        before_ = text_.front();
        beside &= llvm::isSpace(before_);
        text_ = text_.drop_front();
      }
    }
    return literals;
  }

 private:
  void ReadRest(std::string& literal) {
    while (!text_.empty() && !text_.consume_front("\"")) {
      text_.consume_front("\\");
      literal += text_.front();
      text_ = text_.drop_front();
    }
  }
  void SkipCharacter() { text_ = text_.drop_front(text_.size() > 1 && text_[1] == '\\' ? 3 : 2); }

  llvm::StringRef text_;
  char before_ = ' ';
};

/// The longest piece of a format between its placeholders.
std::string LongestPiece(llvm::StringRef format) {
  std::string longest, piece;
  auto end_piece = [&] {
    if (llvm::StringRef(piece).trim().size() > longest.size()) longest = llvm::StringRef(piece).trim().str();
    piece.clear();
  };
  while (!format.empty()) {
    if (format.starts_with("{") && !format.starts_with("{{")) {
      format = format.split('}').second;
      end_piece();
      continue;
    }
    piece += format.front();
    format = format.drop_front(format.starts_with("{{") ? 2 : 1);
  }
  end_piece();
  return longest;
}

bool HasVerifierMessages(llvm::StringRef path) {
  return !path.ends_with("_test.cc") && path.ends_with(".cc") &&
         (path.starts_with("ir/verify") || path.starts_with("ir/infer/"));
}

/// What directives and C++ tests say, one piece of text per line.
std::string ExpectedTexts() {
  std::string texts;
  for (const char* folder : kTestFolders)
    ForEachFile(folder, [&](llvm::StringRef path, llvm::StringRef text) {
      if (path.ends_with("_test.hlo")) texts += Comments(text);
      if (path.ends_with("_test.cc"))
        for (const std::string& literal : LiteralReader(text).Read()) texts += literal + "\n";
    });
  return texts;
}

TEST(Completeness, EveryMessageOfTheVerifierIsExpectedSomewhere) {
  const std::map<llvm::StringRef, llvm::StringRef> exempt = {
#define EXEMPT_MESSAGE(format, reason) {format, reason},
#include "tools/testing/exemptions.def"
  };
  std::set<llvm::StringRef> ids;
  for (const DiagnosticInfo& info : AllDiagnostics()) ids.insert(info.name);
  const std::string expected = ExpectedTexts();
  size_t count = 0;
  ForEachFile("ir", [&](llvm::StringRef path, llvm::StringRef text) {
    if (!HasVerifierMessages(path)) return;
    bool after_id = false;
    for (const std::string& literal : LiteralReader(text).Read()) {
      const bool is_id = ids.contains(literal);
      if (after_id && !is_id) {
        ++count;
        const bool met = expected.find(LongestPiece(literal)) != std::string::npos;
        const bool exempted = exempt.contains(literal);
        EXPECT_TRUE(met || exempted) << path.str() << ": no test expects \"" << literal << '"';
        EXPECT_FALSE(met && exempted) << path.str() << ": exempted without need: \"" << literal << '"';
      }
      after_id = is_id;
    }
  });
  EXPECT_GT(count, 250u);
}

/// Switches about passes that have no effect on what runs, or the same code as another one.
constexpr llvm::StringLiteral kNoSwitches[] = {
    "list-passes",     "describe-pass", "list-pipelines", "print-pipeline",  // texts: nothing runs
    "deterministic",                                                         // no rewrite asks for it so far
    "trace",                                                                 // of runs in hlo-run
    "print-after-all",                                                       // what others are tried with
    "run-hlo-passes",                                                        // auto, always, never: below
};

TEST(Completeness, EverySwitchAboutPassesReachesEveryPlatform) {
  const std::vector<TestCase> cases = CasesOf(Path("tools/run/switches_test.hlo"));
  ASSERT_FALSE(cases.empty());
  const auto tried = [&](llvm::StringRef option, llvm::StringRef platform) {
    return llvm::any_of(cases, [&](const TestCase& test) {
      return llvm::any_of(test.runs, [&](const RunLine& run) {
        const llvm::StringRef command = run.command;
        return command.contains("hlo-run") && command.contains(platform) && command.contains(option);
      });
    });
  };
  PassRunOptions options;
  for (const OptionGroup& group : PassGroups(options)) {
    if (group.title == "Dumps") continue;  // one observer writes all of them: --dump-to and --dump-pass-re
    for (const OptionRow& row : group.rows) {
      if (llvm::is_contained(kNoSwitches, row.name)) continue;
      const std::string option = row.name.size() == 1 ? ("-" + row.name).str() : ("--" + row.name).str();
      for (const char* platform : {"--platform=cpu", "--platform=gpu-emu", "--platform=interpreter"})
        EXPECT_TRUE(tried(option, platform)) << option << " on " << platform;
    }
  }
  for (const char* option :
       {"--dump-to", "--dump-pass-re", "--verify=each", "--bisect-passes", "--reduce-to", "--run-hlo-passes"})
    for (const char* platform : {"--platform=cpu", "--platform=gpu-emu", "--platform=interpreter"})
      EXPECT_TRUE(tried(option, platform)) << option << " on " << platform;
}

}  // namespace
}  // namespace hlo::testing
