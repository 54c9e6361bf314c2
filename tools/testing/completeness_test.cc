// Every opcode has its test file with a round trip, a rejected program and an evaluation, and every
// diagnostic is expected by some test file, unless exemptions.def says why not.
#include <map>
#include <set>

#include "gtest/gtest.h"
#include "ir/op.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
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

/// Ids in brackets in the directives of the test files below `folder`.
void AddExpectedIds(const std::string& folder, std::set<std::string>& ids) {
  std::error_code error;
  for (llvm::sys::fs::recursive_directory_iterator it(folder, error), end; it != end && !error;
       it.increment(error)) {
    const llvm::StringRef path = it->path();
    if (!path.ends_with("_test.hlo")) continue;
    const auto buffer = llvm::MemoryBuffer::getFile(path);
    if (!buffer) continue;
    llvm::SmallVector<llvm::StringRef> lines;
    (*buffer)->getBuffer().split(lines, '\n');
    for (llvm::StringRef line : lines) {
      line = line.drop_front(std::min(line.find("//"), line.size()));
      while (line.contains('[')) {
        const auto [id, rest] = line.split('[').second.split(']');
        ids.insert(id.str());
        line = rest;
      }
    }
  }
}

TEST(Completeness, EveryDiagnosticIsExpectedSomewhere) {
  const std::map<llvm::StringRef, llvm::StringRef> exempt = {
#define EXEMPT_DIAGNOSTIC(id, reason) {id, reason},
#include "tools/testing/exemptions.def"
  };
  std::set<std::string> expected;
  for (const char* folder : {"ir", "parser", "passes", "backends", "tools", "testdata/invalid"})
    AddExpectedIds(Path(folder), expected);
  for (const DiagnosticInfo& info : AllDiagnostics()) {
    const bool met = expected.count(info.id.str()) != 0, exempted = exempt.count(info.id) != 0;
    EXPECT_TRUE(met || exempted) << "no test file expects [" << info.id.str() << "]";
    EXPECT_FALSE(met && exempted) << info.id.str() << " is exempted without need";
  }
}

}  // namespace
}  // namespace hlo::testing
