// What passes and analyses of compiling backends know of the machine that code is made for: all its figures
// are here and in kernel::Target, and each backend fills in its own. Where a unit is called operations it is
// that of kernel::OpCost::operations.
#pragma once
#include <climits>
#include <optional>

#include "backends/kernel/target.h"
#include "ir/instruction.h"
#include "ir/types.h"

namespace hlo {
class PassContext;
}

namespace hlo::compile {

struct Machine {
  /// Caches of one core (on a GPU: of one block of threads, and of all of them), in bytes; 0: there is none.
  struct Caches {
    int64_t line = 0;
    int64_t first = 0, second = 0, third = 0;
  };
  /// A level of memory as grouping sees it.
  struct Level {
    int64_t bytes = 0;                // arrays of at most so many bytes are here
    int64_t operations_per_byte = 0;  // that fit into the time of moving a byte: what bandwidth there is
  };
  struct Vectors {
    int64_t bytes = 0;       // of one register: lanes by the width of elements
    int64_t multiplied = 0;  // registers of floats that a core multiplies and adds in a cycle
  };
  /// A unit that multiplies tiles; of one row where an instruction takes several steps of sums.
  struct MatrixUnit {
    ElementType type{};
    int64_t rows = 0, columns = 0, depth = 0;  // of the tiles of one instruction
    double cycles = 1;                         // that it keeps the unit busy
  };
  /// In operations, of what is no operation on elements.
  struct Costs {
    int64_t launch = 0;   // calling a kernel
    int64_t keep = 0;     // keeping a value for another loop over the same row (kernel::ShareBetweenLoops)
    int64_t read = 0;     // an element that is not the next one
    int64_t indexed = 0;  // an element at a place that is data
    int64_t called = 0;   // calling a computation for an element
    int64_t padded = 0;   // an element of an array with padding between elements
  };
  struct Threads {
    int64_t worthwhile = 0;       // operations, or elements, that are worth several
    int64_t piece = 0;            // bytes moved and instructions that are worth waking one
    int64_t parts = 0;            // of a reduction of a whole array, at most
    int64_t least_parts = 0;      // that the next dimension is cut for as well, …
    int64_t least_part = 0;       // … if each has so many elements
    int64_t row_parts = 0;        // of the rows of a sum across memory, at most, …
    int64_t least_row_parts = 0;  // … and at least: fewer are not worth another kernel
    int64_t least_rows = 0;       // of each
  };
  /// Products and folds that kernels take, as what else there is costs more to start. In products.
  struct Products {
    int64_t all = 0;          // of all results together
    int64_t in_loops = 0;     // the same for a matrix and a vector that a loop multiplies
    int64_t contracted = 0;   // of one result where narrow weights are widened
    int64_t short_row = 0;    // of one result where it reads like a short row, …
    int64_t small_left = 0;   // … and elements of the left factor, if that is the small one, …
    int64_t small_right = 0;  // … or of the right one
    /// Kernels sum up larger products, too, and compute what is made of the results: nothing else does.
    bool with_results = false;
  };
  /// Of kernels that bring another dimension into lanes.
  struct Transposes {
    int64_t line = 0;        // elements of the shortest line worth it
    int64_t elements = 0;    // of the smallest array
    int64_t operations = 0;  // for each element that the same kernel may have besides
  };
  struct Folds {
    int64_t own_lanes = 0;  // elements of a reduction that is worth having its kind of lanes
    int64_t in_order = 0;   // elements of a sum that several kernels may repeat: its order stays the same
    /// Elements of a reduction that a kernel may make again for each of many elements, as each thread waits
    /// for one after the other; 0: as many as are cheaper than memory.
    int64_t repeated = 0;
    int64_t nested = 0;  // and of one that it makes within another fold, which single threads do
  };
  /// Nanoseconds of all executions of kernels that are interpreted, as code takes longer to make or to load.
  struct Interpreting {
    double program = 0;  // of all kernels: a program without code
    double kernel = 0;   // of one, where others are compiled, …
    double kernels = 0;  // … and of these together
  };
  /// Unset where there are none: of processors that bind loops to blocks of threads.
  struct Gpu {
    int64_t warp = 0;              // threads that run together
    int64_t block = 0;             // threads of a block, at most
    int64_t shared_memory = 0;     // bytes of a block
    int64_t registers = 0;         // of 32 bits, of a thread, at most
    int64_t access_alignment = 0;  // bytes that neighbouring threads read best together
  };

  kernel::Target kernels;  // what Kernel IR asks
  Caches caches;
  llvm::SmallVector<Level, 4> memory;  // nearest first; the last has all
  double cycles_per_ns = 0;
  Vectors vectors;
  llvm::SmallVector<MatrixUnit, 2> matrix_units;
  Costs costs;
  Threads threads;
  Products products;
  Transposes transposes;
  Folds folds;
  Interpreting interpreting;
  Gpu gpu;
  int64_t scalar_bytes = 0;  // arrays up to this size may come to lie in registers, element by element
  /// Whether the backend has loops of its own for the scatter if `operand` is an array; null: it has none.
  bool (*has_own_scatter)(const Instruction& scatter, int64_t operand) = nullptr;
  /// A kernel in a fusion that runs it row by row, and the elements of a row.
  struct KernelOfRows {
    Instruction* fusion = nullptr;
    int64_t row = 0;
  };
  /// That of a fusion of the backend's own, nothing for others; null: there are none.
  std::optional<KernelOfRows> (*kernel_of_rows)(const Instruction& fusion) = nullptr;

  [[nodiscard]] int64_t LanesOf(ElementType type) const { return vectors.bytes * CHAR_BIT / Info(type).bits; }
  /// Operations that fit into the time of moving a byte of an array of `bytes`.
  [[nodiscard]] int64_t OperationsPerByte(int64_t bytes) const;
};

/// Tells passes of the machine of a backend; a constant of that.
struct MachineRegistration {
  explicit MachineRegistration(const Machine& (*machine)());
};
/// The machine that a pass works for: that of RewriteControls::machine, or that of the backend.
const Machine& MachineOf(const PassContext& context);

}  // namespace hlo::compile
