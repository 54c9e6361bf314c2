// Kernel IR: loop nests over arrays, independent of the machine that runs them.
//
// A kernel is a tree of regions. A region is a list of statements in static single assignment form: values
// are scalars, numbered over the whole kernel, and visible in the region that defines them and in those
// below. What a loop does to vectors and threads is a property of the loop, set by a schedule. Kernels of
// blocks and threads are those of loops that are bound to them: threads.h says what holds there.
#pragma once
#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "backends/kernel/matrix_units.h"
#include "ir/attrs.h"
#include "ir/op.h"
#include "ir/support/result.h"
#include "ir/types.h"
#include "llvm/ADT/SmallVector.h"

namespace hlo {
class Instruction;
}

namespace hlo::kernel {

using ValueId = int32_t;   // %0, %1, …
using LoopId = int32_t;    // i0, i1, …
using BufferId = int32_t;  // position among the kernel's buffers

/// Whose an array is: the caller's; each block's, for its threads; or the kernel's own for each call and
/// thread, which nobody else sees. Those that are not the caller's begin without values.
enum class Space : uint8_t { Global, Shared, Local };

/// An array, flat in row-major order, in the unpacked storage of ir/literal.h.
struct Buffer {
  ElementType type = ElementType::F32;
  int64_t count = 0;     // elements
  bool written = false;  // the kernel writes it, and may then read what it wrote
  Space space = Space::Global;
  /// Of a shared array: an earlier one in whose memory it lies, as what is in that is not used any more.
  BufferId over = -1;
  /// Of a shared array: byte n lies at n ^ (n >> shift & mask), so that neighbours across lines lie in banks
  /// of their own. Pieces of 16 bytes stay whole.
  struct Swizzle {
    int32_t shift = 0, mask = 0;
    bool operator==(const Swizzle&) const = default;
  };
  Swizzle swizzle = {};
  [[nodiscard]] bool IsLocal() const { return space == Space::Local; }
  bool operator==(const Buffer&) const = default;
};

/// A number of elements or an index: offset + sum of loop variable * factor + sum of value * factor.
/// Values are s64.
struct Address {
  template <class Id>
  struct Term {
    Id id;
    int64_t factor;
    bool operator==(const Term&) const = default;
  };
  int64_t offset = 0;
  llvm::SmallVector<Term<LoopId>, 3> loops;    // sorted by id, factors not 0
  llvm::SmallVector<Term<ValueId>, 1> values;  // likewise
  void AddLoop(LoopId loop, int64_t factor);
  void AddValue(ValueId value, int64_t factor);
  /// this += other * factor
  void Add(const Address& other, int64_t factor = 1);
  [[nodiscard]] int64_t FactorOf(LoopId loop) const;
  [[nodiscard]] bool IsConstant() const { return loops.empty() && values.empty(); }
  bool operator==(const Address&) const = default;
};

struct Region;

/// %result = constant TYPE bits
struct ConstantStmt {
  ValueId result;
  ElementType type;
  uint64_t bits[2];  // as in unpacked storage; complex: real, imaginary
};
/// %result = index address: its value as s64.
struct IndexStmt {
  ValueId result;
  Address address;
};
/// %result = op TYPE operands: an elementwise opcode of the op table on scalars; TYPE is the result's.
/// `bounded` before the type says what the first operand surely is where it exists: that of an exponential at
/// most 0, a difference that is NaN only if what is subtracted is not finite, that of a quotient at most 1 in
/// magnitude, or NaN.
struct OpStmt {
  ValueId result;
  OpKind kind;
  ElementType type;
  llvm::SmallVector<ValueId, 3> operands;
  Attrs attrs;  // compare, reduce-precision
  bool bounded = false;
};
/// %result = load buffer[address]. With a mask (a pred) the element is read only where it is true, and
/// `otherwise` is the value where not.
struct LoadStmt {
  ValueId result;
  BufferId buffer;
  Address address;
  ValueId mask = -1;
  ValueId otherwise = -1;
};
/// store buffer[address], value; with a mask only where it is true. `stream` instead of store: what is
/// written is not read soon, and vectors begin at multiples of their size, or of 64 bytes.
struct StoreStmt {
  BufferId buffer;
  Address address;
  ValueId value;
  ValueId mask = -1;
  bool streaming = false;
};
/// What stands for the iterations of a loop: the blocks of a grid or the threads of a block, in up to three
/// directions, or the lanes of a group of threads that hand each other values (the innermost of all).
enum class Binding : uint8_t { None, BlockX, BlockY, BlockZ, ThreadX, ThreadY, ThreadZ, Lane };

/// A loop variable, 0 <= i < extent. Iterations are independent of each other but for what a reduce folds and
/// where the loop is `ordered`. How they are run is for a schedule to set: `width` of them at once in the
/// lanes of a vector, `unroll` such groups interleaved, pieces on several threads (an outermost loop only). A
/// loop that a schedule cut in two runs below `limit`, counted over both: outer * extent + i < limit. A loop
/// of one iteration may be run where a value, a pred, is true: `when`. A loop may end `before` a value, an
/// s64 that is known when it begins: i < value.
struct Dimension {
  LoopId id;
  int64_t extent;
  int32_t width = 1, unroll = 1;
  bool parallel = false;
  bool ordered = false;  // one iteration after the other: a scatter may write an element more than once
  LoopId outer = -1;     // the other half of a cut whose pieces are not all whole
  int64_t limit = 0;
  Binding binding = Binding::None;
  ValueId when = -1;
  ValueId before = -1;
};
/// Not all iterations run: it is a half of a cut whose pieces are not all whole, or ends before a value.
inline bool HasEnd(const Dimension& d) { return d.outer >= 0 || d.before >= 0; }
/// for i in extent { body }
struct LoopStmt {
  Dimension loop;
  std::unique_ptr<Region> body;
};
/// %results = reduce i, j, … init %inits { body yields elements } by (accumulators, elements) { combiner }:
/// folds the elements of all iterations into the inits. In order, unless the combiner is one operation with a
/// neutral element (ReductionOp): then a wide dimension folds into width * unroll partial results, which are
/// folded pairwise, neighbours last; and the inits and elements of a single dimension that is written out
/// (unroll = extent) are folded like a list of such partial results (FoldsPairwise). Lanes of a wide
/// dimension that selects (selection.h) find what an order finds. One that is `in_order` is folded in order
/// whatever its combiner, so that an array that is computed in several places has the same bits everywhere.
/// Of a fold in order the last one of several dimensions may be written out (IsWrittenInOrder), which changes
/// no result.
struct ReduceStmt {
  llvm::SmallVector<ValueId, 1> results;
  llvm::SmallVector<Dimension, 2> loops;  // outermost first; only the last may be wider than 1
  llvm::SmallVector<ValueId, 1> inits;
  std::unique_ptr<Region> body;
  llvm::SmallVector<ValueId, 2> parameters;  // accumulators, then elements: values of the combiner
  std::unique_ptr<Region> combiner;
  bool in_order = false;
  /// Not printed: what it makes elements of, and into how many parts of sums it was divided.
  const Instruction* origin = nullptr;
  int64_t parts = 0;
};

/// barrier: all threads of the block come here before any goes on, and see what the others wrote before.
struct BarrierStmt {};
enum class AtomicOp : uint8_t { Add, Multiply, Maximum, Minimum, And, Or, Xor, Exchange, CompareExchange };
/// atomic op buffer[address], value: the element becomes op(element, value) in one go, whoever else does so;
/// in what order is open. `%result =` in front of it: the element before, with a mask `otherwise` where that
/// is false. compare-exchange buffer[address], expected, value: where the element has the bits of `expected`.
struct AtomicStmt {
  ValueId result = -1;
  AtomicOp op;
  BufferId buffer;
  Address address;
  ValueId value;
  ValueId expected = -1;
  ValueId mask = -1;
  ValueId otherwise = -1;
};
enum class ShuffleMode : uint8_t { Up, Down, Xor, Index };
/// %result = shuffle mode %value by address: the value that another lane of the group has; its number is the
/// lane's own less, plus or xor the address, or the address. The lane's own where there is no such lane.
struct ShuffleStmt {
  ValueId result;
  ShuffleMode mode;
  ValueId value;
  Address by;
};
/// %result = lane-reduce op %value: the values of all lanes of the group, folded as the partial results of a
/// wide reduce are; each lane has the result. `op` is one that ReductionOp() knows.
struct LaneReduceStmt {
  ValueId result;
  OpKind kind;
  ValueId value;
};

/// load-matrix UNIT left|right into[at], from[address] pitch N: the words that each lane has of a factor of a
/// tile, out of a shared array, whose element at the address is the first of the first row (column of the
/// right factor): neighbours in depth lie side by side and rows `pitch` apart, or, `across`, the other way
/// round. The array `into` is the thread's own. All lanes of a group come here, with one address.
struct LoadMatrixStmt {
  MatrixUnit unit;
  bool right = false;
  bool across = false;
  BufferId into;
  Address at;
  BufferId from;
  Address address;
  int64_t pitch = 0;
};
/// multiply-matrix UNIT sums[at], left[at], right[at]: sums += left * right, in words that each lane has in
/// arrays of its own.
struct MultiplyMatrixStmt {
  MatrixUnit unit;
  struct Words {
    BufferId buffer;
    Address address;
  };
  Words sums, left, right;
};
/// copy into[at], from[address] of N if %mask: N neighbours, zeros where the mask is false, of a caller's
/// array that is only read into a shared one. They are there when the thread has waited for them.
struct CopyStmt {
  BufferId into;
  Address at;
  BufferId from;
  Address address;
  int64_t count = 0;
  ValueId mask = -1;
};
/// commit-copies: those since the last one are a group. wait-for-copies N: until at most the N last groups of
/// the thread are under way; a barrier tells others.
struct CommitCopiesStmt {};
struct WaitForCopiesStmt {
  int64_t pending = 0;
};

using Stmt = std::variant<ConstantStmt, IndexStmt, OpStmt, LoadStmt, StoreStmt, LoopStmt, ReduceStmt,
                          BarrierStmt, AtomicStmt, ShuffleStmt, LaneReduceStmt, LoadMatrixStmt,
                          MultiplyMatrixStmt, CopyStmt, CommitCopiesStmt, WaitForCopiesStmt>;
/// Statements that only machines of blocks and threads run.
template <class S>
concept ThreadStmt =
    std::same_as<S, BarrierStmt> || std::same_as<S, AtomicStmt> || std::same_as<S, ShuffleStmt> ||
    std::same_as<S, LaneReduceStmt> || std::same_as<S, LoadMatrixStmt> ||
    std::same_as<S, MultiplyMatrixStmt> || std::same_as<S, CopyStmt> || std::same_as<S, CommitCopiesStmt> ||
    std::same_as<S, WaitForCopiesStmt>;

struct Region {
  std::vector<Stmt> stmts;
  llvm::SmallVector<ValueId, 1> yields;
};

struct Kernel {
  std::string name;
  std::vector<Buffer> buffers;
  std::vector<ElementType> value_types;  // by ValueId
  int32_t loop_count = 0;
  Region body;

  ValueId NewValue(ElementType type) {
    value_types.push_back(type);
    return static_cast<ValueId>(value_types.size()) - 1;
  }
  [[nodiscard]] ElementType TypeOf(ValueId value) const { return value_types[static_cast<size_t>(value)]; }
};

Kernel Clone(const Kernel& kernel);

/// The single operation of a combiner `op(accumulator, element)`, if it is one whose operands commute and
/// that has a neutral element, and it may fold in any order: add, multiply, maximum, minimum, and, or, xor.
std::optional<OpKind> ReductionOp(const ReduceStmt& reduce);

/// Whether the elements of a reduce are all made before any is folded.
bool FoldsPairwise(const ReduceStmt& reduce);

/// Whether the last one of several loops is written out: elements are folded in order all the same.
bool IsWrittenInOrder(const ReduceStmt& reduce);

/// Whether it is one of those that ReductionOp() knows.
bool IsReductionOp(OpKind kind);

/// The one loop of the kernel's outermost region; null if there is none or several.
const LoopStmt* OutermostLoop(const Kernel& kernel);
/// The loops of the outermost region.
llvm::SmallVector<const LoopStmt*, 2> OutermostLoops(const Kernel& kernel);
/// Iterations of the outermost loops together if they are parallel (all or none are), else 1: what a launch
/// may divide. Those of a loop follow those of the loop before.
int64_t ParallelExtent(const Kernel& kernel);

/// The text of a kernel: one statement per line. Equal kernels but for the name have equal texts without
/// name.
void Print(llvm::raw_ostream& os, const Kernel& kernel, bool with_name = true);
std::string ToString(const Kernel& kernel);

}  // namespace hlo::kernel
