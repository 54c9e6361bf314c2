#include "backends/cpu/chain_step.h"

#include <numeric>

#include "backends/cpu/product_problem.h"
#include "backends/cpu/product_ways.h"
#include "backends/products/common/scratch.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo::cpu {
namespace {

/// So many blocks for each thread let all end at about the same time.
constexpr int64_t kBlocksPerThread = 3, kLeastRows = 32;
constexpr int64_t kTileRows = 8;

/// Where an array would begin whose part from byte `offset` on is at `data`.
uint8_t* Before(void* data, int64_t offset) { return static_cast<uint8_t*>(data) - offset; }

/// The slice of what a chain's instruction reads from outside: of a parameter, perhaps reshaped.
Slice OutsideSlice(const Instruction* inst, llvm::ArrayRef<Value> operands) {
  while (inst->kind() == OpKind::Bitcast) inst = inst->operand(0);
  if (inst->kind() != OpKind::Parameter) return {};
  return operands[static_cast<size_t>(inst->attr<ParameterAttrs>().number)].leaves[0].slice;
}

/// A product of a chain, by the way that is forced if that has rows, or that stands there.
gemm::Product RowProduct(const Instruction& dot, ProductChoice& choice) {
  const gemm::Problem problem = DotProblem(dot);
  if (choice.forced != nullptr) {
    gemm::Product product(problem, choice.target, choice.forced);
    if (product.is_forced() && product.RunsByRows()) return ++choice.applied, std::move(product);
    if (choice.refusal.empty()) {
      choice.refusal = "%" + dot.name().str() + ": part of a chain, which computes some rows at a time";
      choice.refused = dot.loc();
    }
  }
  const auto written = WrittenWays(dot);  // what is wrong was refused before (CheckWays)
  const bool says = written && !written->empty();
  gemm::Product product(problem, choice.target,
                        says ? written->front() : gemm::RowWay(problem, choice.target));
  if (!product.RunsByRows()) llvm::report_fatal_error("a product of a chain without rows of its own");
  return product;
}

class ChainRunner final : public StepRunner {
 public:
  ChainRunner(const Step& step, const Chain& chain, Program& program, ProductChoice& choice)
      : inst_(*step.instruction),
        rows_(chain.rows),
        entry_(program.kernels.At(step.call.kernel)),
        first_(RowProduct(*chain.first, choice)),
        first_rows_(DotProblem(*chain.first).rows()),
        scores_row_(rows_.input_row * Info(chain.first->shape().element_type()).host_bytes()),
        weights_row_(rows_.result_row * Info(chain.middle->shape().element_type()).host_bytes()),
        slabs_(step.KernelRuns()),
        block_(RowsOfBlock(chain)),
        pointers_(program.AddPointers(
            {OutsideSlice(chain.first->operand(0), step.operands),
             OutsideSlice(chain.first->operand(1), step.operands),
             chain.last != nullptr ? OutsideSlice(chain.last->operand(1), step.operands) : Slice(),
             step.result.leaves[0].slice})),
        buffers_(program.AddPointers(step.call.buffers)),
        call_(step.call) {
    if (chain.last != nullptr) {
      last_rows_ = DotProblem(*chain.last).rows();
      last_.emplace(RowProduct(*chain.last, choice));
    }
    slab_rows_ = rows_.count / slabs_;
    // No block lies in two slabs, or in two batches of a product.
    unit_ = std::gcd(slab_rows_, rows_.unit);
  }

  Status Run(Frame& frame) const override {
    frame.Observe(inst_);
    const int64_t block = BlockRows(), blocks = (unit_ + block - 1) / block, units = rows_.count / unit_;
    ParallelFor(0, units * blocks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end && !Interrupted(); ++i) {
        const int64_t row = i % blocks * block;
        RunBlock(frame, i / blocks * unit_ + row, std::min(block, unit_ - row));
      }
    });
    return frame.CheckInterrupt();
  }
  [[nodiscard]] int32_t code() const override { return entry_.compiled; }
  [[nodiscard]] std::string Explain() const override {
    return "chain, " + std::to_string(block_) + " rows at a time: matrix product: " + first_.Describe() +
           "; " + (entry_.interpreted ? "interpreted kernel" : "kernel k" + std::to_string(entry_.compiled)) +
           (last_ ? "; matrix product: " + last_->Describe() : "");
  }

 private:
  /// Rows of a block; what is computed does not depend on it.
  [[nodiscard]] int64_t BlockRows() const {
    int64_t rows = std::min(block_, unit_);
    const int64_t units = rows_.count / unit_,
                  wanted = ThreadCount() > 1 ? kBlocksPerThread * ThreadCount() : 1;
    while (rows >= 2 * kLeastRows && units * ((unit_ + rows - 1) / rows) < wanted) rows /= 2;
    const int64_t blocks = (unit_ + rows - 1) / rows, iterations = call_.extent / slab_rows_;
    // Kernels begin at whole vectors, tiles are eight rows high.
    const int64_t grain = std::lcm(kTileRows, call_.grain / std::gcd(call_.grain, iterations));
    return ((unit_ + blocks - 1) / blocks + grain - 1) / grain * grain;
  }

  void RunBlock(Frame& frame, int64_t row, int64_t count) const {
    void* const* arrays = frame.Pointers(pointers_);
    uint8_t* scores = gemm::Scratch(gemm::ScratchUse::ChainFirst, count * scores_row_);
    uint8_t* weights = last_ ? gemm::Scratch(gemm::ScratchUse::ChainLast, count * weights_row_)
                             : static_cast<uint8_t*>(arrays[3]) + row * weights_row_;
    const auto rows_of = [&](int64_t in_batch) {
      return gemm::Rows{row / in_batch, row % in_batch, row % in_batch + count};
    };
    first_.RunRows(rows_of(first_rows_), arrays[0], arrays[1], Before(scores, row * scores_row_));
    RunKernel(frame, row, count, scores, weights);
    if (last_) last_->RunRows(rows_of(last_rows_), Before(weights, row * weights_row_), arrays[2], arrays[3]);
  }

  void RunKernel(Frame& frame, int64_t row, int64_t count, uint8_t* scores, uint8_t* weights) const {
    const size_t size = call_.buffers.size();
    void* const* arrays = frame.Pointers(buffers_);
    llvm::SmallVector<void*, 16> buffers(arrays, arrays + size);
    int64_t slab = row / slab_rows_;
    for (const kernel::OuterLoop& loop : llvm::reverse(call_.outer)) {
      const int64_t at = slab % loop.extent;
      slab /= loop.extent;
      for (size_t i = 0; i < size; ++i) buffers[i] = Before(buffers[i], -at * loop.strides[i]);
    }
    const int64_t in_slab = row % slab_rows_, iterations = call_.extent / slab_rows_;
    buffers[static_cast<size_t>(rows_.input)] = Before(scores, in_slab * scores_row_);
    buffers[call_.first_result] = Before(weights, in_slab * weights_row_);
    entry_.Run(buffers.data(), in_slab * iterations, (in_slab + count) * iterations);
  }

  const Instruction& inst_;
  compile::FusedRows rows_;
  const KernelEntry& entry_;
  gemm::Product first_;
  std::optional<gemm::Product> last_;
  int64_t first_rows_, last_rows_ = 0;  // of a batch
  int64_t scores_row_, weights_row_;    // bytes of a row between the products
  int64_t slabs_, slab_rows_ = 1, unit_ = 1;
  int64_t block_;
  size_t pointers_;  // left and right factor, right factor, result, in Program::pointers
  size_t buffers_;   // of the kernel, likewise
  const KernelCall& call_;
};

}  // namespace

llvm::SmallVector<Slice, 8> KernelSlices(const Chain& chain, llvm::ArrayRef<Value> operands) {
  llvm::SmallVector<Slice, 8> slices;
  for (const Instruction* operand : chain.middle->operands())
    slices.push_back(OutsideSlice(operand, operands));
  return slices;
}

std::unique_ptr<StepRunner> LoadChain(const Step& step, const Chain& chain, Program& program,
                                      ProductChoice& choice) {
  return std::make_unique<ChainRunner>(step, chain, program, choice);
}

}  // namespace hlo::cpu
