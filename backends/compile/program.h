// A program: where the values of a module lie, and the steps that compute them, as data. What a backend needs
// to run a step it makes of the step alone, so that programs can be stored and read back.
#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/kernel/outer_loops.h"
#include "ir/literal.h"
#include "ir/module.h"
#include "ir/support/result.h"

namespace hlo::compile {

/// Buffers that a run allocates, and values within temporary memory, begin at its multiples. Bytes.
inline constexpr int64_t kAlignment = 64;

/// Where the bytes of an array lie: at an offset of a buffer. Values without bytes (tokens, empty arrays) lie
/// nowhere. Arrays are stored in row-major order whatever their layout says, elements narrower than a byte
/// one per byte (the unpacked storage of ir/literal.h).
struct Slice {
  int32_t buffer = -1;
  int32_t sizes = -1;  // arrays with dynamic dimensions: the number of their run-time sizes
  int64_t offset = 0;
  int64_t size = 0;
  /// Shares bytes with `o`.
  [[nodiscard]] bool Overlaps(const Slice& o) const {
    return buffer >= 0 && buffer == o.buffer && offset < o.offset + o.size && o.offset < offset + size;
  }
  bool operator==(const Slice&) const = default;
};

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
inline constexpr llvm::StringLiteral kBufferKinds[] = {"parameter", "constant", "output", "temporary"};

struct Buffer {
  BufferKind kind = BufferKind::Temporary;
  int64_t size = 0;
  int64_t offset = 0;                   // temporaries: in the arena
  int64_t parameter = -1;               // parameters: the number
  const Instruction* source = nullptr;  // constants: the instruction
  ShapeIndex index;                     // parameters and constants: which part
  bool written = false;                 // a parameter that results are written over
  Literal constant;                     // constants: the value, unpacked
};

/// A kernel as it is called: what stays the same for all runs.
struct KernelCall {
  int32_t kernel = -1;                  // in the program's table
  llvm::SmallVector<Slice, 8> buffers;  // as the kernel numbers them
  size_t first_result = 0;              // buffers from here on are written
  uint64_t defined = 0;                 // bit i: buffer i is written as a whole and not read
  /// Before the call bytes are copied from one slice to another, unless they lie in the same place.
  llvm::SmallVector<std::pair<Slice, Slice>, 1> copies;  // (from, to)
  int64_t extent = 1;                                    // of the parallel loop
  int64_t grain = 1;                                     // iterations per piece
  /// Of a kernel of rows: loops that its caller runs around it, outermost first; strides in bytes, none of
  /// the two arrays of rows.
  llvm::SmallVector<kernel::OuterLoop, 2> outer;
  bool operator==(const KernelCall&) const = default;
};

enum class StepKind : uint8_t {
  Copy,         // bytes of the operand
  Kernel,       // compiled or interpreted loops; its parts, if there are any, are steps that it does in turns
  Chain,        // a product, a kernel over its rows and perhaps a product of these, block by block
  Structured,   // loops of the op's own
  Product,      // a dot or a convolution
  Evaluate,     // the loops of the evaluator
  While,        // parts: condition and body
  Conditional,  // parts: branches
  Call,         // parts: steps that follow each other, which something else may do as one
};
/// By StepKind, as programs are printed.
inline constexpr llvm::StringLiteral kStepKinds[] = {
    "copy", "kernel", "chain", "structured", "product", "evaluate", "while", "conditional", "call"};

/// Chooses, by a value, which of its parts are run.
inline bool HasPredicate(StepKind kind) { return kind == StepKind::While || kind == StepKind::Conditional; }
/// Has parts, which read and write what it would.
inline bool HasParts(StepKind kind) { return HasPredicate(kind) || kind == StepKind::Call; }

/// What a backend makes of a step to run it.
class Runner {
 public:
  Runner() = default;
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  virtual ~Runner() = default;
};

struct Step;
using Sequence = std::vector<std::unique_ptr<Step>>;

/// One thing to do.
struct Step {
  StepKind kind = StepKind::Evaluate;
  const Instruction* instruction = nullptr;
  std::vector<Value> operands;  // of steps that do not choose among parts
  Value result;                 // of all but branches, whose parts write it
  std::string why;              // why it has no faster way, if anybody knows
  KernelCall call;              // Kernel, Chain
  /// While: where the condition leaves its result. Conditional: what chooses.
  Slice predicate;
  /// While: integers of its state that begin as constants: (where the constant lies, where the integer does).
  llvm::SmallVector<std::pair<Slice, Slice>, 1> constants;
  std::vector<Sequence> parts;
  bool routine = false;            // While: all of it is one compiled function
  Loc loc;                         // of the step, where it comes from a text
  std::unique_ptr<Runner> runner;  // made of the rest

  /// How often it runs its kernel, or pieces of it that are as much together.
  [[nodiscard]] int64_t KernelRuns() const {
    int64_t runs = 1;
    for (const kernel::OuterLoop& loop : call.outer) runs *= loop.extent;
    return runs;
  }
  /// Loops: how often the body runs; nothing if that is not known.
  [[nodiscard]] std::optional<int64_t> Trips() const;
  /// `condition`, `body`, `branch 0`.
  [[nodiscard]] std::string PartName(size_t part) const;
};

/// Everything that is needed to run but kernels; the module is what the passes left of the source.
struct Program {
  std::unique_ptr<Module> module;
  std::vector<Buffer> buffers;
  int64_t arena_bytes = 0;
  int32_t sizes_count = 0;
  std::vector<Value> parameters;  // of the entry computation
  Value result;
  Sequence entry;
};

/// The part of a constant that a buffer holds, unpacked.
Literal PartOf(const Instruction& constant, llvm::ArrayRef<int64_t> index);

}  // namespace hlo::compile
