// A compiled program: buffers, and the steps that fill them.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "backends/cpu/kernel_table.h"
#include "ir/eval/executor.h"
#include "ir/module.h"
#include "ir/support/result.h"

namespace hlo::cpu {

/// Where the bytes of an array lie: at an offset of a buffer. Values without bytes (tokens, empty arrays) lie
/// nowhere. Arrays are stored in row-major order whatever their layout says, elements narrower than a byte
/// one per byte (the unpacked storage of ir/literal.h).
struct Slice {
  int32_t buffer = -1;
  int32_t sizes = -1;  // arrays with dynamic dimensions: the number of their run-time sizes, see Frame
  int64_t offset = 0;
  int64_t size = 0;
  /// Shares bytes with `o`.
  [[nodiscard]] bool Overlaps(const Slice& o) const {
    return buffer >= 0 && buffer == o.buffer && offset < o.offset + o.size && o.offset < offset + size;
  }
  bool operator==(const Slice&) const = default;
};

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
  /// Makes the pointers of Program::pointers; once all bases are set.
  void ResolvePointers(llvm::ArrayRef<Slice> slices) {
    pointers_.reserve(slices.size());
    for (const Slice& slice : slices) pointers_.push_back(At(slice));
  }
  /// The pointers from the given number of Program::pointers on.
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

/// One thing to do. Immutable; run by several threads at once, each with its frame.
class Step {
 public:
  virtual ~Step() = default;
  virtual Status Run(Frame& frame) const = 0;
  /// The instruction it computes and by which way, for --explain-codegen: `%dot.3: library: …`.
  [[nodiscard]] virtual const Instruction* instruction() const = 0;
  [[nodiscard]] virtual std::string Explain() const = 0;
  /// Indented lines on what else it could do and why it does not, for the same; empty: nothing.
  [[nodiscard]] virtual std::string ExplainChoice() const { return ""; }
  /// The number of its kernel in Program::kernels, if it runs one.
  [[nodiscard]] virtual int32_t kernel() const { return -1; }
  /// How often it runs that kernel, or pieces of it that are as much together.
  [[nodiscard]] virtual int64_t KernelRuns() const { return 1; }
  /// The number of its code in Program::jit, if it runs some.
  [[nodiscard]] virtual int32_t code() const { return -1; }
  /// Loops: how often the body runs; nothing if that is not known.
  [[nodiscard]] virtual std::optional<int64_t> Trips() const { return std::nullopt; }
  /// Calls `visit` with the sequences it runs, each with what it is: `condition`, `body`, `branch 0`.
  using Part = llvm::function_ref<void(llvm::StringRef name, std::vector<std::unique_ptr<Step>>&)>;
  virtual void ForEachPart(Part visit) { (void)visit; }
  /// What lengthens its first run and can be done before it, on another thread; null if there is nothing.
  [[nodiscard]] virtual std::function<void()> Preparation() const { return {}; }
  /// Adds itself to a function that does what several steps do; false if it cannot be part of one, and the
  /// routine is then of no use.
  virtual bool AddTo(RoutineBuilder& routine) const { return (void)routine, false; }
};
using Sequence = std::vector<std::unique_ptr<Step>>;

Status RunSequence(const Sequence& sequence, Frame& frame);

/// Of buffers that a run allocates.
inline constexpr int64_t kAlignment = 64;

/// An array of a value with its place; a tuple's arrays stand in depth-first order.
struct Leaf {
  Shape shape;
  Slice slice;
  bool written = true;   // results: false for parts that are other values
  bool aligned = false;  // begins at a multiple of kAlignment
};
/// A value: its shape and its leaves (tokens are leaves without bytes).
struct Value {
  Shape shape;
  llvm::SmallVector<Leaf, 1> leaves;
};

enum class BufferKind : uint8_t { Parameter, Constant, Output, Temporary };
struct Buffer {
  BufferKind kind = BufferKind::Temporary;
  int64_t size = 0;
  int64_t offset = 0;      // temporaries: in the arena
  int64_t parameter = -1;  // parameters: number and part
  ShapeIndex index;
  bool written = false;  // a parameter that results are written over
  Literal constant;      // constants
};

/// Everything that is needed to run; the module is what the passes left of the source.
struct Program {
  std::unique_ptr<Module> module;
  std::vector<Buffer> buffers;
  int64_t arena_bytes = 0;
  int32_t sizes_count = 0;
  KernelTable kernels;
  std::unique_ptr<Jit> jit;
  Sequence entry;
  std::vector<Value> parameters;  // of the entry computation
  Value result;
  /// What steps that are called often need as pointers: they know their part of the list by its first number.
  std::vector<Slice> pointers;
  mutable ExecutionPlans plans;  // of called computations that the evaluator runs

  /// Appends to `pointers`; the number of the first.
  size_t AddPointers(llvm::ArrayRef<Slice> slices) {
    pointers.insert(pointers.end(), slices.begin(), slices.end());
    return pointers.size() - slices.size();
  }
};

}  // namespace hlo::cpu
