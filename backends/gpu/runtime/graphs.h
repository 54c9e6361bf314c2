// Steps that follow each other, or iterations of a loop, as one thing that a GPU is asked for.
#pragma once
#include "backends/gpu/runtime/stream.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace hlo::gpu {

enum class GraphUse : uint8_t {
  Off,
  Auto,  // loops of many steps in each run, all steps in the second run on the same memory and those after it
  On     // all steps in the first run already
};

/// What a stream was asked for, by what did so. The memory that it uses must stay where it is. Of one thread
/// at a time.
class StepGraphs {
 public:
  explicit StepGraphs(GpuPtr gpu) : gpu_(std::move(gpu)) {}
  ~StepGraphs();
  StepGraphs(const StepGraphs&) = delete;
  StepGraphs& operator=(const StepGraphs&) = delete;

  /// Asks for all that `ask` asks the stream for. It is called once for `what`, a step or a sequence, as what
  /// it does next time is the same. False if the driver does not record it: nothing has been done then, nor
  /// will be later. Errors: those of Gpu::Call() and of `ask`; with `insists` why it is not recorded, too.
  Result<bool> Run(const void* what, Stream& stream, bool insists, llvm::function_ref<Status()> ask);

 private:
  Result<CuGraphExec> Record(Stream& stream, llvm::function_ref<Status()> ask);
  GpuPtr gpu_;
  [[nodiscard]] bool MayGoOn(const Diagnostic& error) const;
  llvm::DenseMap<const void*, CuGraphExec> made_;  // null: it is not recorded
};

}  // namespace hlo::gpu
