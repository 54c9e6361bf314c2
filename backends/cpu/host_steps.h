// Steps that code does not compute alone, as bytes: what a program that is compiled ahead of time has the
// archive of loops (backends/cpu/runtime) do.
#pragma once
#include <string>

#include "backends/cpu/chains.h"
#include "backends/cpu/frame.h"
#include "backends/cpu/product_ways.h"
#include "backends/llvm/emit_entry.h"

namespace hlo::cpu {

/// Why the archive cannot compute a step of a module with this configuration; empty: it can.
std::string ObstacleToHostStep(const Step& step, const ModuleConfig& config);

/// The arrays of a step as its runner has them: those of the operands, then those of the result; `results`
/// are where the latter begin. Some have no bytes, or are not written.
struct HostArrays {
  llvm::SmallVector<Slice, 4> slices;
  size_t results = 0;
};
HostArrays ArraysOf(const Step& step);

/// What routines leave to their host: calls with numbers from 0 on. A kernel with the number of a step is a
/// part of that step.
struct HostCalls {
  bool cuts_kernels = false;  // large kernels are among them
  std::vector<std::pair<int32_t, const Step*>> steps;
  std::vector<codegen::EntryPoint::Kernel> kernels;
  int32_t count = 0;
};

/// A chain, and how many of its rows go through it together, by preference.
struct ChainRows {
  Chain chain;
  int64_t block = 0;
};

/// Steps that are called by number.
struct HostSteps {
  struct Row {
    int32_t number;
    std::unique_ptr<Step> step;
    WaysOfParts ways;                // products, those of a chain in their order; null: the best
    std::optional<ChainRows> chain;  // chains
  };
  std::unique_ptr<Module> module;
  gemm::Rates rates;  // of the machine that the object was made for
  std::vector<Row> rows;
};

/// The bytes that ReadHostSteps() takes, of the same version of this project. Large constants that lie in
/// `buffers` are left out: code has them.
std::string WriteHostSteps(const Module& module, llvm::ArrayRef<Buffer> buffers,
                           llvm::ArrayRef<std::pair<int32_t, const Step*>> steps, const gemm::Rates& rates);
/// Null for bytes of another version. `bytes` outlive the module.
std::unique_ptr<HostSteps> ReadHostSteps(llvm::StringRef bytes);

}  // namespace hlo::cpu
