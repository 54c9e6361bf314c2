// Kernel IR: loop nests over arrays, independent of the machine that runs them.
//
// A kernel is a tree of regions. A region is a list of statements in static single assignment form: values
// are scalars, numbered over the whole kernel, and visible in the region that defines them and in those
// below. What a loop does to vectors and threads is a property of the loop, set by a schedule.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

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

/// An array of the caller, flat in row-major order, in the unpacked storage of ir/literal.h.
struct Buffer {
  ElementType type = ElementType::F32;
  int64_t count = 0;     // elements
  bool written = false;  // the kernel writes it, and may then read what it wrote
  bool local = false;    // the kernel has one of its own for each call: nobody else sees it
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
struct OpStmt {
  ValueId result;
  OpKind kind;
  ElementType type;
  llvm::SmallVector<ValueId, 3> operands;
  Attrs attrs;  // compare, reduce-precision
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
/// A loop variable, 0 <= i < extent. Iterations are independent of each other but for what a reduce folds and
/// where the loop is `ordered`. How they are run is for a schedule to set: `width` of them at once in the
/// lanes of a vector, `unroll` such groups interleaved, pieces on several threads (an outermost loop only). A
/// loop that a schedule cut in two runs below `limit`, counted over both: outer * extent + i < limit.
struct Dimension {
  LoopId id;
  int64_t extent;
  int32_t width = 1, unroll = 1;
  bool parallel = false;
  bool ordered = false;  // one iteration after the other: a scatter may write an element more than once
  LoopId outer = -1;     // the other half of a cut whose pieces are not all whole
  int64_t limit = 0;
};
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
using Stmt = std::variant<ConstantStmt, IndexStmt, OpStmt, LoadStmt, StoreStmt, LoopStmt, ReduceStmt>;

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

/// The single operation of a combiner `op(accumulator, element)`, if it is one whose operands commute and
/// that has a neutral element, and it may fold in any order: add, multiply, maximum, minimum, and, or, xor.
std::optional<OpKind> ReductionOp(const ReduceStmt& reduce);

/// Whether the elements of a reduce are all made before any is folded.
bool FoldsPairwise(const ReduceStmt& reduce);

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
