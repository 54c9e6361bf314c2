// Small kernels that one block of threads runs in turns, with a barrier behind each: one launch instead of
// many.
#pragma once
#include <deque>

#include "backends/kernel/kernel.h"

namespace hlo::kernel {

/// The threads that run a kernel in directions x and y, if one block may run it: it has few blocks, which do
/// nothing together but what each thread does for itself.
struct TurnShape {
  int64_t x = 1, y = 1;
};
std::optional<TurnShape> ShapeInTurn(const Kernel& kernel);

/// Puts such a kernel together.
class TurnsBuilder {
 public:
  /// `arrays`: of the caller, all that kernels use.
  TurnsBuilder(llvm::StringRef name, llvm::ArrayRef<Buffer> arrays);
  /// The next is this one, which ShapeInTurn() likes, whose arrays lie at `arrays`.
  void Add(const Kernel& kernel, llvm::ArrayRef<BufferId> arrays);
  /// What is added until EndLoop() is run so many times.
  void BeginLoop(int64_t times);
  void EndLoop();
  Kernel Finish();

 private:
  Kernel whole_;
  struct Open {
    Dimension loop;
    Region body;
  };
  std::deque<Open> open_;  // the block, and loops in it
};

}  // namespace hlo::kernel
