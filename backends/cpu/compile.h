// The CPU backend: from a verified module to an executable.
#pragma once
#include "backends/compile/pass_plan.h"
#include "backends/compile/program_cache.h"
#include "backends/compile/program_source.h"
#include "backends/executable.h"
#include "ir/support/guarded_memory.h"

namespace hlo {

/// How kernels run: as machine code made at run time or from the cache, or by interpretation of their loops,
/// with the same results.
enum class Tier : uint8_t { Auto, Interpret, Compile };

/// What computes that for which code of kernels alone is slow, or cannot be made.
enum class CodeHost : uint8_t {
  Library,  // this library, which runs the code
  Archive,  // the archive of its loops, in programs that are linked with it
  Nobody,   // all is loops of kernels; what cannot be is left to the evaluator
};

/// The pipeline of a level is that of cpu::PipelineFor().
struct CpuOptions : compile::PassPlan {
  /// The module's steps as a text has them, instead of passes and planning. Errors: program-….
  compile::ProgramSource program;
  std::string cpu, features;  // --mcpu, --mattr; empty: this machine
  std::string triple;         // of another kind of machine, for code ahead of time
  Tier tier = Tier::Auto;
  /// How often the executable is going to run, about: what runs seldom and does little is interpreted, unless
  /// `cpu` or `features` ask for code.
  int64_t executions = kManyExecutions;
  static constexpr int64_t kManyExecutions = 1000;
  /// The way in which products and convolutions are computed where it can, of ProductPaths(); empty: what is
  /// best. Errors: unsupported-path if it can compute none.
  std::string force_path;
  compile::ProgramStore store;  // of compiled kernels
  /// Runs look for writes outside of buffers and reads of unwritten memory (tools.md §3.7, --check-memory);
  /// they give errors memory-….
  bool check_memory = false;
  CodeHost host = CodeHost::Library;
  /// Takes remarks and warnings: why something was not done as it could have been.
  std::function<void(Diagnostic)> report;
  /// A kernel that cannot be made though it was planned is a mistake of this library: an error, or else a
  /// warning (kernel-broken), and the evaluator computes the instruction. Without `report` always an error.
  bool broken_kernels_fail = ChecksItself();
  /// For tests: an error counts as such a mistake, while a kernel is planned or while code is made of it.
  std::function<Status(const Instruction& fusion, bool planned)> break_kernel;
};

namespace cpu {
/// Name of the pipeline of a level, `@cpu-O2`.
std::string PipelineFor(int optimization_level, CodeHost host = CodeHost::Library);
}  // namespace cpu

/// The names of the ways in which products and convolutions are computed.
std::vector<llvm::StringRef> ProductPaths();

/// Compiles a copy of `module`. Errors: unsupported-… (exit 5) naming the instruction, before any work.
Result<std::unique_ptr<Executable>> CompileForCpu(const Module& module, const CpuOptions& options);

}  // namespace hlo
