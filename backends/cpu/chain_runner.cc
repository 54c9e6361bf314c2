#include "backends/cpu/chain_runner.h"

#include <numeric>

#include "backends/cpu/product_problem.h"
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

int64_t RowBytes(const Instruction& inst, int64_t row) {
  return row * Info(inst.shape().element_type()).host_bytes();
}

}  // namespace

Slice OutsideSlice(const Instruction* inst, llvm::ArrayRef<Value> operands) {
  while (inst->kind() == OpKind::Bitcast) inst = inst->operand(0);
  if (inst->kind() != OpKind::Parameter) return {};
  return operands[static_cast<size_t>(inst->attr<ParameterAttrs>().number)].leaves[0].slice;
}

gemm::Product RowProduct(const Instruction& dot, const gemm::Target& target, const gemm::Way* way) {
  const gemm::Problem problem = DotProblem(dot);
  if (way != nullptr)
    if (gemm::Product product(problem, target, way); product.RunsByRows()) return product;
  gemm::Product product(problem, target, gemm::RowWay(problem, target));
  if (!product.RunsByRows()) llvm::report_fatal_error("a product of a chain without rows of its own");
  return product;
}

ChainRunner::ChainRunner(const Step& step, ChainParts parts, PointerList& pointers)
    : inst_(*step.instruction),
      call_(step.call),
      parts_(std::move(parts)),
      first_rows_(DotProblem(*parts_.chain.first).rows()),
      scores_row_(RowBytes(*parts_.chain.first, parts_.chain.rows.input_row)),
      weights_row_(RowBytes(*parts_.chain.middle, parts_.chain.rows.result_row)),
      slabs_(step.KernelRuns()),
      pointers_(pointers.AddPointers(
          {OutsideSlice(parts_.chain.first->operand(0), step.operands),
           OutsideSlice(parts_.chain.first->operand(1), step.operands),
           parts_.last ? OutsideSlice(parts_.chain.last->operand(1), step.operands) : Slice(),
           step.result.leaves[0].slice})),
      buffers_(pointers.AddPointers(step.call.buffers)) {
  if (parts_.last) last_rows_ = DotProblem(*parts_.chain.last).rows();
  slab_rows_ = parts_.chain.rows.count / slabs_;
  // No block lies in two slabs, or in two batches of a product.
  unit_ = std::gcd(slab_rows_, parts_.chain.rows.unit);
}

Status ChainRunner::Run(Frame& frame) const {
  frame.Observe(inst_);
  const int64_t block = BlockRows(), blocks = (unit_ + block - 1) / block,
                units = parts_.chain.rows.count / unit_;
  ParallelFor(0, units * blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end && !Interrupted(); ++i) {
      const int64_t row = i % blocks * block;
      RunBlock(frame, i / blocks * unit_ + row, std::min(block, unit_ - row), block);
    }
  });
  return frame.CheckInterrupt();
}

std::string ChainRunner::Describe(llvm::StringRef kernel) const {
  return "chain, " + std::to_string(parts_.block) +
         " rows at a time: matrix product: " + parts_.first.Describe() + "; " + kernel.str() +
         (parts_.last ? "; matrix product: " + parts_.last->Describe() : "");
}

/// Rows of a block; what is computed does not depend on it.
int64_t ChainRunner::BlockRows() const {
  int64_t rows = std::min(parts_.block, unit_);
  const int64_t units = parts_.chain.rows.count / unit_,
                wanted = ThreadCount() > 1 ? kBlocksPerThread * ThreadCount() : 1;
  while (rows >= 2 * kLeastRows && units * ((unit_ + rows - 1) / rows) < wanted) rows /= 2;
  const int64_t blocks = (unit_ + rows - 1) / rows, iterations = call_.extent / slab_rows_;
  // Kernels begin at whole vectors, tiles are eight rows high.
  const int64_t grain = std::lcm(kTileRows, call_.grain / std::gcd(call_.grain, iterations));
  return ((unit_ + blocks - 1) / blocks + grain - 1) / grain * grain;
}

/// Of at most `most` rows.
void ChainRunner::RunBlock(Frame& frame, int64_t row, int64_t count, int64_t most) const {
  void* const* arrays = frame.Pointers(pointers_);
  uint8_t* scores = gemm::Scratch(gemm::ScratchUse::ChainFirst, most * scores_row_);
  uint8_t* weights = parts_.last ? gemm::Scratch(gemm::ScratchUse::ChainLast, most * weights_row_)
                                 : static_cast<uint8_t*>(arrays[3]) + row * weights_row_;
  const auto rows_of = [&](int64_t in_batch) {
    return gemm::Rows{row / in_batch, row % in_batch, row % in_batch + count};
  };
  parts_.first.RunRows(rows_of(first_rows_), arrays[0], arrays[1], Before(scores, row * scores_row_));
  RunMiddle(frame, row, count, scores, weights);
  if (parts_.last)
    parts_.last->RunRows(rows_of(last_rows_), Before(weights, row * weights_row_), arrays[2], arrays[3]);
}

void ChainRunner::RunMiddle(Frame& frame, int64_t row, int64_t count, uint8_t* scores,
                            uint8_t* weights) const {
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
  buffers[static_cast<size_t>(parts_.chain.rows.input)] = Before(scores, in_slab * scores_row_);
  buffers[call_.first_result] = Before(weights, in_slab * weights_row_);
  RunKernel(buffers.data(), in_slab * iterations, (in_slab + count) * iterations);
}

}  // namespace hlo::cpu
