// What the cpu platform leaves to the evaluator's loops is a list, over all of the conformance suite.
#include <map>
#include <set>

#include "backends/cpu/inspect.h"
#include "gtest/gtest.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "parser/parser.h"

namespace hlo::testing {
namespace {

using Path = std::pair<std::string, std::string>;  // opcode, reason

/// Of a fusion the opcode without code and the type of its first operand count.
Path PathOf(llvm::StringRef opcode, llvm::StringRef reason) {
  if (!reason.consume_front("no code for ")) return {opcode.str(), reason.str()};
  const auto [op, types] = reason.split(" of ");
  return {op.str(), "no code for " + types.take_until([](char c) { return c == ' ' || c == ','; }).str()};
}

void CollectPaths(llvm::StringRef explained, std::set<Path>& paths) {
  constexpr llvm::StringLiteral kEvaluator = ": general loops of the evaluator";
  for (llvm::StringRef line : llvm::split(explained, '\n')) {
    const size_t at = line.find(kEvaluator);
    if (at == llvm::StringRef::npos) continue;
    llvm::StringRef reason = line.drop_front(at + kEvaluator.size());
    reason.consume_front(": ");
    paths.insert(PathOf(line.take_front(at).rsplit(' ').second, reason));
  }
}

TEST(EvaluatorPaths, AreListed) {
  std::set<Path> found;
  int64_t modules = 0;
  std::error_code error;
  for (llvm::sys::fs::recursive_directory_iterator at(HLO_SOURCE_DIR "/testdata/conformance/cases", error),
       end;
       !error && at != end; at.increment(error)) {
    if (!llvm::StringRef(at->path()).ends_with(".hlo")) continue;
    const auto text = llvm::MemoryBuffer::getFile(at->path());
    ASSERT_TRUE(text) << at->path();
    const ParseResult parsed = ParseModule((*text)->getBuffer());
    if (!parsed.module) continue;
    const auto explained = ExplainCode(*parsed.module, CpuOptions(), [](llvm::StringRef) { return true; });
    if (explained) CollectPaths(*explained, found);
    ++modules;
  }
  EXPECT_GT(modules, 2000);
  // Whether it is there on all machines.
  const std::map<Path, bool> listed = {
#define EVALUATOR_PATH(opcode, reason, always) {{opcode, reason}, always},
#include "tools/testing/evaluator_paths.def"
  };
  for (const Path& path : found)
    EXPECT_TRUE(listed.contains(path)) << "not in evaluator_paths.def: EVALUATOR_PATH(\"" << path.first
                                       << "\", \"" << path.second << "\", true)";
  for (const auto& [path, always] : listed)
    EXPECT_TRUE(!always || found.contains(path))
        << "no longer left to the evaluator: " << path.first << ", " << path.second;
}

}  // namespace
}  // namespace hlo::testing
