// Steps that follow each other, or iterations of a loop, as one thing that a GPU is asked for.
#pragma once
#include <deque>
#include <functional>

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
  /// will be later. What has loops of AddLoop() has been done when this returns: the host ends them where the
  /// process is asked to stop. Errors: those of Gpu::Call() and of `ask`; with `insists` why it is not
  /// recorded, too, unless that is for the sake of conditions.
  Result<bool> Run(const void* what, Stream& stream, bool insists, llvm::function_ref<Status()> ask);
  /// Whether it is recorded.
  [[nodiscard]] bool Has(const void* what) const {
    const auto known = made_.find(what);
    return known != made_.end() && known->second.exec != nullptr;
  }

  /// Whether the GPU has graphs with conditions. Nothing may be recorded during the first call.
  bool HasConditions();
  using Ask = std::function<Status()>;
  /// While `ask` of Run() runs: goes on with a loop, whose predicate was computed before. `ask` asks for one
  /// iteration, with the predicate of the next; it is called later. Errors: those of Gpu::Call().
  Status AddLoop(Stream& stream, CuDevicePtr predicate, Ask ask);
  /// Goes on with one of several, by a predicate of one byte, true for the first, or a number of four;
  /// numbers out of range are the last. Nothing in the place of what has nothing to ask for.
  Status AddBranches(Stream& stream, CuDevicePtr selector, size_t bytes, std::vector<Ask> branches);

 private:
  struct Graph {
    CuGraphExec exec = nullptr;  // null: it is not recorded
    bool loops = false;
  };
  /// What a graph does by a condition, which is recorded when the rest of it is.
  struct Body {
    CuGraph graph;
    Ask ask;
  };
  Result<CuGraphExec> Record(Stream& stream, llvm::function_ref<Status()> ask);
  Status RecordBody(Stream& stream, const Body& body);
  Result<CuGraphCondition> NewCondition(Stream& stream);
  Result<llvm::ArrayRef<CuGraph>> AddNode(Stream& stream, CuConditionalNode node);
  Status AskToSet(Stream& stream, CuFunction setter, llvm::MutableArrayRef<void*> arguments);
  Status WaitForLoops(Stream& stream);
  [[nodiscard]] bool MayGoOn(const Diagnostic& error) const;

  GpuPtr gpu_;
  llvm::DenseMap<const void*, Graph> made_;
  /// Memory of the host that loops look at: not 0 if they are to end.
  uint32_t* stop_ = nullptr;
  // Of what is being recorded.
  std::deque<Body> bodies_;
  bool has_loops_ = false, has_conditions_ = false;
};

}  // namespace hlo::gpu
