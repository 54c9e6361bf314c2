// What steps that are ready are, and what they run on.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "backends/compile/program.h"
#include "ir/eval/executor.h"
#include "ir/module.h"
#include "ir/support/result.h"

namespace hlo::cpu {

using compile::Buffer;
using compile::BufferKind;
using compile::kAlignment;
using compile::KernelCall;
using compile::Leaf;
using compile::Sequence;
using compile::Slice;
using compile::Step;
using compile::StepKind;
using compile::Value;

/// One execution of a program on one device: where the buffers are, and what steps may use.
class Frame {
 public:
  Frame(size_t buffer_count, size_t sizes_count, ExecutionPlans& plans, Device& device,
        const Executor::Observer* observer, InstructionListener* listener = nullptr)
      : bases_(buffer_count),
        sizes_(sizes_count),
        context_(plans, device),
        observer_(observer),
        listener_(listener) {}

  [[nodiscard]] uint8_t* At(const Slice& slice) const {
    return slice.buffer < 0 ? nullptr : bases_[static_cast<size_t>(slice.buffer)] + slice.offset;
  }
  void SetBase(size_t buffer, uint8_t* base) { bases_[buffer] = base; }
  /// Makes the pointers of a PointerList; once all bases are set.
  void ResolvePointers(llvm::ArrayRef<Slice> slices) {
    pointers_.reserve(slices.size());
    for (const Slice& slice : slices) pointers_.push_back(At(slice));
  }
  /// The pointers from the given number of the list on.
  [[nodiscard]] void* const* Pointers(size_t first) const { return pointers_.data() + first; }
  /// Run-time sizes of a dynamic array, one per dimension; empty: the bounds.
  Dims& Sizes(const Slice& slice) { return sizes_[static_cast<size_t>(slice.sizes)]; }
  /// For ops that are run by the reference evaluator.
  EvalContext& context() { return context_; }
  Status CheckInterrupt() { return context_.CheckInterrupt(); }
  /// Tells the observer, if there is one, that `inst` is about to run.
  void Observe(const Instruction& inst) const {
    if (observer_ != nullptr) (*observer_)(inst);
  }
  /// Who wants to know when steps begin and end, or null.
  [[nodiscard]] InstructionListener* listener() const { return listener_; }

 private:
  llvm::SmallVector<uint8_t*, 16> bases_;
  llvm::SmallVector<void*, 32> pointers_;
  std::vector<Dims> sizes_;
  Executor context_;
  const Executor::Observer* observer_;
  InstructionListener* listener_;
};

class RoutineBuilder;

/// A step made ready. Immutable; run by several threads at once, each with its frame.
class StepRunner : public compile::Runner {
 public:
  virtual Status Run(Frame& frame) const = 0;
  /// By which way, for --explain-codegen: `library: …`.
  [[nodiscard]] virtual std::string Explain() const = 0;
  /// Indented lines on what else it could do and why it does not, for the same; empty: nothing.
  [[nodiscard]] virtual std::string ExplainChoice() const { return ""; }
  /// The number of its code in Program::jit, if it runs some.
  [[nodiscard]] virtual int32_t code() const { return -1; }
  /// What lengthens its first run and can be done before it, on another thread; null if there is nothing.
  [[nodiscard]] virtual std::function<void()> Preparation() const { return {}; }
  /// Adds itself to a function that does what several steps do; false if it cannot be part of one, and the
  /// routine is then of no use.
  virtual bool AddTo(RoutineBuilder& routine) const { return (void)routine, false; }
};
/// Of a step that is loaded.
inline StepRunner& RunnerOf(const Step& step) { return static_cast<StepRunner&>(*step.runner); }

Status RunSequence(const Sequence& sequence, Frame& frame);

/// What steps that are called often need as pointers: they know their part of the list by its first number.
struct PointerList {
  std::vector<Slice> pointers;

  /// The number of the first.
  size_t AddPointers(llvm::ArrayRef<Slice> slices) {
    pointers.insert(pointers.end(), slices.begin(), slices.end());
    return pointers.size() - slices.size();
  }
};

}  // namespace hlo::cpu
