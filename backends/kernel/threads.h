// Kernels of blocks and threads: what loops are bound to, and what only threads do.
//
// A kernel is run by a grid of blocks, a block by threads. A loop that is bound to blocks has an iteration
// for each block in one direction of the grid, one that is bound to threads for each thread in one direction
// of the block, lanes being the innermost: thread number = ((z * Y + y) * X + x) * L + lane. Every thread
// runs what stands outside of the thread loops, which therefore has no effects. A block may have several
// nests of thread loops, one after the other; the block is as large as the largest in each direction, and a
// nest that is smaller is run by the threads whose numbers are in it, which are the same threads in all
// nests. Threads of a block know what others of it wrote only after a barrier; blocks know nothing of each
// other, but for atomics.
//
// A loop with a condition that stands in the block loops and has thread loops in it is a section. Threads of
// a section have a shape of their own: they are the first ones of the block, as many as there are in the
// largest nest in each direction, and the others end. A kernel of sections has no thread loops elsewhere, and
// a block runs one of them at most. The block has as many threads as the largest section, all in direction x.
#pragma once
#include "backends/kernel/kernel.h"

namespace hlo::kernel {

/// `block.x`, …, `thread.z`, `lane`; empty for none.
llvm::StringRef ToString(Binding binding);
std::optional<Binding> ParseBinding(llvm::StringRef text);
constexpr bool IsBlock(Binding binding) { return binding >= Binding::BlockX && binding <= Binding::BlockZ; }
/// Of a block, its lanes included.
constexpr bool IsThread(Binding binding) { return binding >= Binding::ThreadX; }

llvm::StringRef ToString(AtomicOp op);
std::optional<AtomicOp> ParseAtomicOp(llvm::StringRef text);
/// What the operation computes; nothing of those that exchange.
std::optional<OpKind> OperationOf(AtomicOp op);
/// Numbers of 32 or 64 bits; bits of integers only; sums and extremes of f16 and bf16 as well.
bool MayBeAtomic(AtomicOp op, ElementType type);

llvm::StringRef ToString(ShuffleMode mode);
std::optional<ShuffleMode> ParseShuffleMode(llvm::StringRef text);

/// More threads than any machine has in a block.
constexpr int64_t kMaxThreads = 1024;

/// The threads of a block by direction, 1 where no loop is bound to it: lanes, x, y, z.
struct BlockShape {
  std::array<int64_t, 4> extents = {1, 1, 1, 1};
  [[nodiscard]] int64_t count() const { return extents[0] * extents[1] * extents[2] * extents[3]; }
};
/// The number among the extents.
constexpr size_t DirectionOf(Binding thread) {
  return thread == Binding::Lane ? 0
                                 : static_cast<size_t>(thread) - static_cast<size_t>(Binding::ThreadX) + 1;
}
/// Whether the loop, which does not stand in thread loops, is a section.
bool IsSection(const LoopStmt& loop);
/// The threads of the nests in a region.
BlockShape ShapeOfThreads(const Region& region);
/// Of a kernel that is verified; with too many threads, some number of them that is too large as well.
BlockShape ShapeOfBlocks(const Kernel& kernel);

/// The blocks of the grid by direction, 1 where no loop is bound to it: x, y, z.
std::array<int64_t, 3> ShapeOfGrid(const Kernel& kernel);

/// A loop that is bound, a shared array, a statement of threads.
bool UsesThreads(const Kernel& kernel);
/// Declines, naming what of these it is that a machine without blocks and threads cannot run.
Status CheckWithoutThreads(const Kernel& kernel);

/// What holds of kernels with blocks and threads beyond what VerifyKernel() says of all; `lines`: as there.
/// Errors: kernel-invalid.
Status VerifyThreads(const Kernel& kernel, llvm::ArrayRef<int> lines);

}  // namespace hlo::kernel
