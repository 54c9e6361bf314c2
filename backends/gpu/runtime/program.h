// A program that is ready to run on a GPU, and one run of it.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "backends/compile/machine.h"
#include "backends/compile/program.h"
#include "backends/gpu/libraries/library.h"
#include "backends/gpu/runtime/kernel_table.h"
#include "backends/gpu/runtime/stream.h"
#include "backends/gpu/runtime/stream_plan.h"
#include "ir/eval/executor.h"

namespace hlo::gpu {

class StepGraphs;
using compile::Buffer;
using compile::BufferKind;
using compile::KernelCall;
using compile::Leaf;
using compile::Sequence;
using compile::Slice;
using compile::Step;
using compile::StepKind;
using compile::Value;

/// Buffers begin at its multiples, and values within temporary memory. Bytes.
inline constexpr int64_t kDeviceAlignment = 256;

/// What libraries do of a program on one GPU.
using LibraryPlans = llvm::DenseMap<const Step*, std::unique_ptr<LibraryPlan>>;

/// A step that a library may do instead of a kernel or the host.
struct LibraryStep {
  const LibraryInfo* library = nullptr;
  std::unique_ptr<LibraryWork> work;
  std::string why;  // there is no work for it
};

/// One execution of a program on one simulated device: where the buffers are, and what steps may use.
class Frame {
 public:
  struct Of {
    llvm::ArrayRef<std::unique_ptr<Stream>> streams;  // as many as `plan` needs
    llvm::ArrayRef<CuDevicePtr> bases;                // by buffer
    llvm::ArrayRef<CuFunction> functions;             // by kernel
    ExecutionPlans& plans;
    hlo::Device& device;
    const Executor::Observer* observer = nullptr;
    InstructionListener* listener = nullptr;
    std::function<void(int64_t)> took = nullptr;  // is told what a step took by the GPU's clock, in ns
    std::function<void(llvm::StringRef)> done_by = nullptr;  // is told of the library that does a step
    bool wait_each = false;                                  // for what each step has asked for
    bool names_each = false;           // errors are those of one step: none are done together
    StepGraphs* graphs = nullptr;      // loops of many steps are asked for together, …
    bool graphs_of_all = false;        // … and other steps that follow each other, too
    bool insists_on_graphs = false;    // what is not recorded is an error
    const StreamPlan* plan = nullptr;  // null: all is asked for on the first stream
    llvm::ArrayRef<Event> events = {};
    const LibraryPlans* libraries = nullptr;      // what they do; null: nothing
    llvm::ArrayRef<CuDevicePtr> workspaces = {};  // for these, by stream
  };
  Frame(const Of& of, size_t sizes_count)
      : of_(of), stream_(of.streams.front().get()), sizes_(sizes_count), context_(of.plans, of.device) {}

  [[nodiscard]] CuDevicePtr At(const Slice& slice) const {
    return slice.buffer < 0
               ? 0
               : of_.bases[static_cast<size_t>(slice.buffer)] + static_cast<uint64_t>(slice.offset);
  }
  [[nodiscard]] CuFunction Function(int32_t kernel) const {
    return of_.functions[static_cast<size_t>(kernel)];
  }
  /// The one that steps are asked for on now.
  [[nodiscard]] Stream& stream() const { return *stream_; }
  Stream& Use(int32_t stream) {
    number_ = static_cast<size_t>(stream);
    return *(stream_ = of_.streams[number_].get());
  }
  /// Null: no library does the step.
  [[nodiscard]] const LibraryPlan* PlanOf(const Step& step) const {
    if (of_.libraries == nullptr) return nullptr;
    const auto it = of_.libraries->find(&step);
    return it == of_.libraries->end() ? nullptr : it->second.get();
  }
  /// Memory for what libraries do on the stream of now.
  [[nodiscard]] CuDevicePtr Workspace() const { return of_.workspaces[number_]; }
  [[nodiscard]] const Event& event(int32_t number) const { return of_.events[static_cast<size_t>(number)]; }
  /// Null: the steps are asked for on the first stream.
  [[nodiscard]] const SequenceStreams* StreamsOf(const Sequence& sequence) const {
    if (of_.plan == nullptr || recording_ || wait_each() || IsWatched()) return nullptr;
    const auto it = of_.plan->sequences.find(&sequence);
    return it == of_.plan->sequences.end() ? nullptr : &it->second;
  }
  /// Run-time sizes of a dynamic array, one per dimension, as the host knows them; empty: the bounds.
  Dims& Sizes(const Slice& slice) { return sizes_[static_cast<size_t>(slice.sizes)]; }
  EvalContext& context() { return context_; }
  Status CheckInterrupt() { return context_.CheckInterrupt(); }
  void Observe(const Instruction& inst) const {
    if (of_.observer != nullptr) (*of_.observer)(inst);
  }
  [[nodiscard]] const std::function<void(int64_t)>& took() const { return of_.took; }
  void DoneBy(llvm::StringRef library) const {
    if (of_.done_by) of_.done_by(library);
  }
  [[nodiscard]] InstructionListener* listener() const { return of_.listener; }
  /// Whether somebody wants to know of each instruction.
  [[nodiscard]] bool IsWatched() const { return of_.observer != nullptr || of_.listener != nullptr; }
  /// Null: steps are asked for one by one, as those that are being recorded, or that somebody watches.
  [[nodiscard]] StepGraphs* graphs() const { return recording_ || IsWatched() ? nullptr : of_.graphs; }
  [[nodiscard]] bool graphs_of_all() const { return of_.graphs_of_all; }
  [[nodiscard]] bool insists_on_graphs() const { return of_.insists_on_graphs; }
  /// Null: nothing is being recorded.
  [[nodiscard]] StepGraphs* recorder() const { return recording_ ? of_.graphs : nullptr; }
  /// Whether graphs may have loops and branches that the GPU decides about.
  [[nodiscard]] bool MayDecideInGraphs() const;
  /// As StepGraphs::Run() on the stream of now, which `ask` records.
  Result<bool> RunRecorded(const void* what, llvm::function_ref<Status()> ask);
  /// Nobody waits for what is being recorded.
  [[nodiscard]] bool wait_each() const { return !recording_ && (of_.wait_each || of_.listener != nullptr); }
  [[nodiscard]] bool names_each() const { return of_.names_each && !recording_; }

 private:
  Of of_;
  Stream* stream_;
  size_t number_ = 0;  // of the stream
  bool recording_ = false;
  std::vector<Dims> sizes_;
  Executor context_;
};

/// A step made ready. Immutable; run by several threads at once, each with its frame.
class StepRunner : public compile::Runner {
 public:
  /// Asks the GPU for what the step does; it may be done later, in the order of the stream.
  virtual Status Run(Frame& frame) const = 0;
  /// By which way, for --explain-codegen.
  [[nodiscard]] virtual std::string Explain() const = 0;
  /// Whether a graph may hold what it asks for, if no library does any of it.
  [[nodiscard]] virtual bool MayBeRecorded() const { return false; }
  /// Null: no library is asked.
  [[nodiscard]] virtual const LibraryStep* library_step() const { return nullptr; }
};
inline const StepRunner& RunnerOf(const Step& step) { return static_cast<const StepRunner&>(*step.runner); }

/// Errors name the instruction of the step that gave them.
Status RunSequence(const Sequence& sequence, Frame& frame);

struct Program : compile::Program {
  Program(Target of, compile::Machine machine_of)
      : target(std::move(of)), machine(std::move(machine_of)), kernels(target) {}
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  Target target;
  compile::Machine machine;  // that its kernels were made for
  KernelTable kernels;
  StreamPlan streams;
  mutable ExecutionPlans plans;  // of called computations that the evaluator runs
};

}  // namespace hlo::gpu
