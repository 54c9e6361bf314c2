// Steps that follow each other as one thing that a GPU is asked for.
#pragma once
#include "backends/gpu/runtime/stream.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace hlo::compile {
struct Step;
}

namespace hlo::gpu {

/// What a stream was asked for, by the first of the steps that did so. The memory that steps use must stay
/// where it is. Of one thread at a time.
class StepGraphs {
 public:
  explicit StepGraphs(GpuPtr gpu) : gpu_(std::move(gpu)) {}
  ~StepGraphs();
  StepGraphs(const StepGraphs&) = delete;
  StepGraphs& operator=(const StepGraphs&) = delete;

  /// Asks for all that `ask` asks the stream for. It is called once for a step, as what it does next time is
  /// the same. Errors: those of Gpu::Call() and of `ask`.
  Status Run(const compile::Step& first, Stream& stream, llvm::function_ref<Status()> ask);

 private:
  Result<CuGraphExec> Record(Stream& stream, llvm::function_ref<Status()> ask);
  GpuPtr gpu_;
  llvm::DenseMap<const compile::Step*, CuGraphExec> made_;
};

}  // namespace hlo::gpu
