// What Kernel IR has to know of a machine to make kernels that suit it: all figures of machines are here,
// none are in what reads them, and each backend fills in its own.
#pragma once
#include "backends/kernel/matrix_units.h"
#include "ir/op.h"
#include "llvm/ADT/SmallVector.h"

namespace hlo::kernel {

/// An operation on one element.
struct OpCost {
  int64_t operations = 0;    // time in vectors; a multiply-add of f32 takes two
  int64_t instructions = 0;  // of its code, about: what unrolling it is worth
};

struct Target {
  /// Lanes count elements, whatever their type; loops count iterations.
  struct Vectors {
    int64_t lanes = 0;          // of a vector
    int64_t interleaved = 0;    // vectors side by side in cheap bodies
    int64_t shortest_loop = 0;  // shorter ones stay scalar
    int64_t full_row = 0;       // lanes of the shortest vector worth having: shorter rows fill none
    int64_t few = 0;  // vectors of a loop over short rows that are so few that what is left over counts
    int64_t least_part = 0;   // of a loop that is cut: shorter parts stay one loop with masks
    int64_t strip = 0;        // vectors side by side in which columns are folded
    int64_t tile = 0;         // edge of tiles in which transposes go through registers, of four-byte elements
    int64_t near_tiles = 0;   // that are next to each other in both directions
    int64_t large_tiles = 0;  // loops of transposes from which tiles are as wide as lines of memory
    int64_t most_waiting = 0;  // lanes of a sum beyond which it waits for nothing
  };
  /// In bytes.
  struct Caches {
    int64_t line = 0;         // in which memory is written
    int64_t streamed = 0;     // smaller arrays are still in a cache when they are read: others go past them
    int64_t stream_run = 0;   // at least so much of them in one go
    int64_t large_tiles = 0;  // arrays that no cache holds: see Vectors::large_tiles
    int64_t local = 0;        // local buffers of a kernel together
    int64_t row_sums = 0;     // sums across memory that are added to row by row
    int64_t rows = 0;         // of the array of such rows: smaller ones are near enough in any order
    int64_t cut_rows = 0;     // the same where rows are cut into blocks of columns
    int64_t least_row = 0;    // of its sums: shorter rows fill no vectors
  };
  /// What is worth several threads, in iterations.
  struct Threads {
    int64_t shared_nest = 0;  // of a nest that threads may share
    int64_t most_repeated =
        0;  // of a reduction before the outermost loops that every piece of these may repeat
    int64_t small_kernel = 0;  // of a kernel that is not cut, and whose short loops are no vectors
    int64_t pieces = 0;        // at least, of what is folded row by row
  };
  /// What hides that an operation waits for the one before.
  struct Latency {
    int64_t sum_parts = 0;     // partial results of a sum: cycles of an addition over those between two
    int64_t shortest_sum = 0;  // shorter ones are not worth folding their parts
    int64_t rows = 0;          // that are folded side by side
    int64_t longest_row = 0;   // elements of those: longer ones wait for memory
    int64_t least_rows = 0;    // elements of all rows together that are worth the longer code
  };
  /// How long code may get, for its registers and its instructions: in OpCost::instructions of a body, or in
  /// statements of Kernel IR where said.
  struct Code {
    int64_t one_vector = 0;       // more: vectors are not interleaved
    int64_t two_vectors = 0;      // more: two of them
    int64_t tiled = 0;            // at most, of a transpose through registers
    int64_t strip = 0;            // at most, of Vectors::strip
    int64_t short_loop = 0;       // iterations of a loop …
    int64_t short_ops = 0;        // … and its instructions, that are no vector in a small kernel
    int64_t side_by_side = 0;     // at most, of rows that are folded side by side
    int64_t pairwise = 0;         // elements of a reduction that is written out, …
    int64_t pairwise_stmts = 0;   // … and statements of all of them
    int64_t short_row_stmts = 0;  // statements of all iterations of a short row that is written out
    int64_t sum_stmts = 0;        // statements of the parts of a sum
    int64_t fewest_rows = 0;      // that are folded at once into sums of rows, …
    int64_t most_rows = 0;        // … at most, …
    int64_t row_stmts = 0;        // … and statements of each: more work hides what memory takes
    int64_t without_loop = 0;     // elements of a reduction over several arrays that may do without a loop
    int64_t masked_nest = 0;      // iterations of nests too small for vectors: cut rather than masked
    int64_t taps = 0;             // positions of windows that are taken one by one
  };
  /// Of machines that bind loops to blocks and threads; 0: there are none.
  struct Blocks {
    int64_t threads = 0;       // of a block whose threads have nothing to do with each other
    int64_t most_threads = 0;  // of any block
    int64_t lanes = 0;         // that run together and hand each other values
    int64_t access = 0;        // bytes that a thread moves at once
    int64_t full = 0;          // threads that keep the machine busy: fewer elements have one each
    int64_t shared = 0;        // bytes of shared arrays of a block
    llvm::SmallVector<MatrixUnit, 5> units;  // tiles that lanes multiply together
  };
  struct Ops {
    OpCost plain, function;  // function: what is transcendental
    struct Row {
      OpKind kind;
      OpCost cost;
    };
    llvm::SmallVector<Row, 8> others;
  };

  Vectors vectors;
  Caches caches;
  Threads threads;
  Latency latency;
  Code code;
  Blocks blocks;
  Ops ops;

  [[nodiscard]] const OpCost& CostOf(OpKind kind) const {
    for (const Ops::Row& row : ops.others)
      if (row.kind == kind) return row.cost;
    return Info(kind).category == OpCategory::Transcendental ? ops.function : ops.plain;
  }
  /// Whether it is worth storing and loading.
  [[nodiscard]] bool IsExpensive(OpKind kind) const { return CostOf(kind).operations > ops.plain.operations; }
};

}  // namespace hlo::kernel
