// What runs chains block by block of rows, wherever code is made or only run.
#pragma once
#include "backends/cpu/chains.h"
#include "backends/cpu/frame.h"

namespace hlo::cpu {

/// The slice of what a chain's instruction reads from outside: of a parameter of its fusion, perhaps
/// reshaped; empty for what the chain computes. `operands`: of the fusion.
Slice OutsideSlice(const Instruction* inst, llvm::ArrayRef<Value> operands);

/// A product of a chain made ready: by `way`, or, where that is null or has no rows of its own, by the best
/// of those that have.
gemm::Product RowProduct(const Instruction& dot, const gemm::Target& target, const gemm::Way* way);

/// What a chain is besides its step.
struct ChainParts {
  Chain chain;
  int64_t block;  // rows that go through it together, by preference
  gemm::Product first;
  std::optional<gemm::Product> last;
};

/// Runs a chain: rows of the first product, the kernel over them, rows of the second product. How the kernel
/// is called is left to those who have its code.
class ChainRunner : public StepRunner {
 public:
  /// `step` has the call that PlanRowKernel() made, and outlives the runner, with the chain's instructions.
  ChainRunner(const Step& step, ChainParts parts, PointerList& pointers);
  Status Run(Frame& frame) const override;

 protected:
  /// Iterations [begin, end) of the kernel, in the calling thread.
  virtual void RunKernel(void* const* buffers, int64_t begin, int64_t end) const = 0;
  /// For Explain(); `kernel`: what the kernel is called.
  [[nodiscard]] std::string Describe(llvm::StringRef kernel) const;

 private:
  [[nodiscard]] int64_t BlockRows() const;
  void RunBlock(Frame& frame, int64_t row, int64_t count, int64_t most) const;
  void RunMiddle(Frame& frame, int64_t row, int64_t count, uint8_t* scores, uint8_t* weights) const;

  const Instruction& inst_;
  const KernelCall& call_;
  ChainParts parts_;
  int64_t first_rows_, last_rows_ = 0;  // of a batch
  int64_t scores_row_, weights_row_;    // bytes of a row between the products
  int64_t slabs_, slab_rows_ = 1, unit_ = 1;
  size_t pointers_;  // left and right factor, right factor, result, in the PointerList
  size_t buffers_;   // of the kernel, likewise
};

}  // namespace hlo::cpu
