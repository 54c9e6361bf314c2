// What platforms leave to the evaluator's loops is a list for each, over all of the conformance suite.
#include <map>
#include <set>

#include "backends/cpu/inspect.h"
#include "backends/gpu/passes/passes.h"
#include "backends/gpu/runtime/compile.h"
#include "gtest/gtest.h"
#include "ir/support/sanitized.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "parser/parser.h"
#include "passes/pipeline.h"

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

/// `%name (opcode): host: …`. Which library a custom call takes depends on the machine.
void CollectHostSteps(llvm::StringRef explained, std::set<Path>& paths) {
  for (const llvm::StringRef line : llvm::split(explained, '\n')) {
    const auto [head, why] = line.split("): host: ");
    if (why.empty()) continue;
    const llvm::StringRef opcode = head.rsplit('(').second;
    llvm::StringRef reason = why.contains(" yet: ") ? why.split(" yet: ").second : why;
    if (reason.starts_with("%")) reason = reason.split(' ').second;
    paths.insert(opcode == "custom-call" ? Path(opcode, "a function of the host") : PathOf(opcode, reason));
  }
}

constexpr size_t kEvery = kSanitized ? 7 : 1;

/// Calls `explain` with every module of the conformance suite, or with some.
void ForEachCase(llvm::function_ref<void(const Module&)> explain) {
  size_t modules = 0;
  std::error_code error;
  std::vector<std::string> files;
  for (llvm::sys::fs::recursive_directory_iterator at(HLO_SOURCE_DIR "/testdata/conformance/cases", error),
       end;
       !error && at != end; at.increment(error))
    if (llvm::StringRef(at->path()).ends_with(".hlo")) files.push_back(at->path());
  llvm::sort(files);
  for (size_t i = 0; i < files.size(); i += kEvery) {
    const auto text = llvm::MemoryBuffer::getFile(files[i]);
    ASSERT_TRUE(text) << files[i];
    const ParseResult parsed = ParseModule((*text)->getBuffer());
    if (!parsed.module) continue;
    explain(*parsed.module);
    ++modules;
  }
  EXPECT_GT(modules, 2000 / kEvery);
}

/// `listed`: and whether it is there on all machines.
void Compare(const std::set<Path>& found, const std::map<Path, bool>& listed, llvm::StringRef list) {
  for (const Path& path : found)
    EXPECT_TRUE(listed.contains(path))
        << "not in " << list.str() << ": (\"" << path.first << "\", \"" << path.second << "\", true)";
  for (const auto& [path, always] : listed)
    EXPECT_TRUE(!always || kEvery > 1 || found.contains(path))
        << "no longer left to the evaluator: " << path.first << ", " << path.second;
}

bool All(llvm::StringRef) { return true; }

TEST(EvaluatorPaths, AreListed) {
  std::set<Path> found;
  ForEachCase([&](const Module& module) {
    if (const auto explained = ExplainCode(module, CpuOptions(), All)) CollectPaths(*explained, found);
  });
  Compare(found,
          {
#define EVALUATOR_PATH(opcode, reason, always) {{opcode, reason}, always},
#include "tools/testing/evaluator_paths.def"
          },
          "evaluator_paths.def");
}

TEST(EvaluatorPaths, OfGpusAreListed) {
  std::set<Path> found;
  GpuRunOptions options;
  const auto target = gpu::FindTarget("h100");
  ASSERT_TRUE(target);
  options.target = *target;
  const compile::Machine machine = gpu::MachineOf(options.target);
  options.machine = &machine;
  options.libraries = {gpu::LibraryOptions::Use::Off};
  RewriteControls controls;
  controls.machine = &machine;
  const auto pipeline = ParsePipeline(gpu::PipelineFor(2));
  ASSERT_TRUE(pipeline);
  options.run_passes = [&](Module& copy) -> Status {
    PassManager manager(controls, {});
    HLO_TRY([[maybe_unused]] const bool changed, manager.Run(copy, *pipeline));
    return {};
  };
  ForEachCase([&](const Module& module) {
    if (const auto explained = ExplainGpuCode(module, options, All)) CollectHostSteps(*explained, found);
  });
  Compare(found,
          {
#define HOST_STEP(opcode, reason) {{opcode, reason}, true},
#include "tools/testing/gpu_host_steps.def"
          },
          "gpu_host_steps.def");
}

}  // namespace
}  // namespace hlo::testing
