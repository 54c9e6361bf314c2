// Where the threads of a block go in a tile: iterations of several loops counted as one, chunks of lines.
#pragma once
#include "backends/kernel/thread_stmts.h"

namespace hlo::kernel {

class TilePlaces : protected ThreadStmts {
 protected:
  TilePlaces(Kernel& kernel, int64_t threads) : ThreadStmts(kernel), threads_(threads) {}

  /// What stands for a loop.
  struct By {
    LoopId loop;
    Address place;
  };
  using Bys = llvm::SmallVector<By, 6>;

  ValueId Divided(ValueId x, int64_t by);
  ValueId Rest(ValueId x, int64_t by);
  static Address Times(ValueId value, int64_t factor);
  static Address Sum(Address x, const Address& y);
  /// What stands for loops whose iterations are the `index`-th of all, `lane` of the last one more.
  void Unflatten(llvm::ArrayRef<Dimension> loops, const Address& index, LoopId lane, Bys& bys);
  /// Whether the place is one of `extent`, which are gone through by `tile`; -1: all are.
  ValueId Exists(const Address& place, int64_t extent, int64_t tile);

  BufferId Local(ElementType type, int64_t count);
  /// Loops around what `body` makes.
  void ForEach(llvm::ArrayRef<int64_t> extents, llvm::function_ref<void(llvm::ArrayRef<LoopId> loops)> body);
  /// The region in lanes of `lane`, or as it is without one.
  static Region InLanes(LoopId lane, int64_t width, Region region);
  /// `run` elements of each of the lines, by thread chunks of `width` neighbours: `body` is told of the line,
  /// the first neighbour, and whether the tile has them. All are powers of two but for the lines.
  void ForChunks(int64_t lines, int64_t run, int64_t width,
                 llvm::function_ref<Region(const Address& line, const Address& first, ValueId exists)> body);

  /// A copy of the one reduction of a body, and what it needs; its result.
  ValueId AppendSum(std::vector<Stmt>& to, const Region& body);

  int64_t threads_;
  ValueId thread_ = -1;  // its number in the block
};

/// The statements of `region` behind those of `to`.
void Append(std::vector<Stmt>& to, Region region);

/// Those of the statements that make the values `wanted`; with none of these, all stores and what they need.
Region Needed(std::vector<Stmt> all, llvm::ArrayRef<ValueId> wanted);

}  // namespace hlo::kernel
