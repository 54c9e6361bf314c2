// What a machine of blocks and threads (backends/kernel/threads.h) runs kernels with.
#pragma once
#include <array>

#include "backends/kernel/threads.h"
#include "llvm/IR/IRBuilder.h"

namespace hlo::codegen {

class ThreadTarget {
 public:
  using Value = llvm::Value;
  using Builder = llvm::IRBuilderBase;

  struct Facts {
    unsigned global_space = 0, shared_space = 0;     // LLVM's address spaces
    int64_t most_lanes = 1;                          // of a group
    std::array<int64_t, 3> most_blocks = {1, 1, 1};  // x, y, z
    std::array<int64_t, 3> most_threads = {1, 1, 1};
    int64_t alignment = 1;  // bytes, of which each array begins at a multiple
    int64_t access = 1;     // bytes that one instruction moves
  };

  virtual ~ThreadTarget() = default;
  [[nodiscard]] const Facts& facts() const { return facts_; }

  /// The number of the block in a direction (0 is x), or of the thread in its block, as i32; it is less than
  /// `count`.
  virtual Value* Block(Builder& b, unsigned direction, int64_t count) const = 0;
  virtual Value* Thread(Builder& b, unsigned direction, int64_t count) const = 0;
  virtual void Barrier(Builder& b) const = 0;
  /// What another lane of the group has of `value`, i32: the group is `lanes` neighbours that all come here,
  /// the distance or number `by`, i32, one that leads to a lane of the group, or `value` stays what it is.
  virtual Value* Shuffle(Builder& b, kernel::ShuffleMode mode, Value* value, Value* by,
                         unsigned lanes) const = 0;
  using Words = llvm::SmallVector<Value*, 4>;
  /// Of matrices of 8 rows of 16 bytes in shared memory, each row where a lane says (the first eight those of
  /// the first, and so on): the four bytes that each lane has, lanes 4 * row + part; `across`: as two
  /// elements of 16 bits, of rows 2 * part and the next, lanes 4 * column + part.
  virtual Words LoadMatrices(Builder& b, Value* row, unsigned count, bool across) const = 0;
  /// The sums after a product of 32 lanes (kernel::MatrixUnit), which is none of lanes alone.
  virtual Words MultiplyMatrix(Builder& b, const kernel::MatrixUnit& unit, llvm::ArrayRef<Value*> sums,
                               llvm::ArrayRef<Value*> left, llvm::ArrayRef<Value*> right) const = 0;
  /// Begins to copy 4, 8 or 16 bytes from global to shared memory; zeros where `exists`, i1 or null, is not.
  virtual void Copy(Builder& b, Value* to, Value* from, unsigned bytes, Value* exists) const = 0;
  virtual void CommitCopies(Builder& b) const = 0;
  virtual void WaitForCopies(Builder& b, unsigned pending) const = 0;
  /// Makes `function` a kernel whose blocks have so many threads in each direction.
  virtual void SetKernel(llvm::Function& function, std::array<int64_t, 3> threads) const = 0;

 protected:
  explicit ThreadTarget(const Facts& facts) : facts_(facts) {}

 private:
  Facts facts_;
};

}  // namespace hlo::codegen
