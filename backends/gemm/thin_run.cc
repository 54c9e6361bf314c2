#include "backends/gemm/thin_run.h"

#include <algorithm>

#include "backends/gemm/pack.h"
#include "backends/gemm/subnormals.h"
#include "backends/gemm/sums.h"
#include "ir/support/buffer.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo::gemm {
namespace {

constexpr int64_t kMostRows = 16;
constexpr int64_t kRowsAtOnce = 4;          // of the kernels
constexpr int64_t kLeastBytes = 32 << 10;   // of the right factor; tiles are as good for less
constexpr int64_t kPieceBytes = 128 << 10;  // of the right factor, worth waking a thread for
constexpr int64_t kLeastColumns = 64;       // where the right factor is read by rows
constexpr int64_t kColumns = 1024, kFewColumns = 512, kSteps = 64;

bool IsBf16(const Problem& problem, const Operand& operand) {
  return problem.compute == ComputeType::F32 && operand.type == ElementType::BF16 && !IsComplex(problem.type);
}

/// T is the compute type, W how the right factor is stored.
template <class T, class W>
class ThinRun {
 public:
  ThinRun(const Problem& problem, const KernelSet& kernels, const ThinKernels<T, W>& thin, const void* lhs,
          const void* rhs, void* out)
      : problem_(problem),
        kernels_(kernels),
        thin_(thin),
        lhs_(static_cast<const uint8_t*>(lhs)),
        rhs_(static_cast<const W*>(rhs) + problem.rhs.base),
        out_(out),
        rows_(problem.rows()),
        depth_(problem.depth()) {}

  void Run() {
    const int64_t columns = problem_.columns(), batches = problem_.batches();
    const bool by_dots = problem_.rhs.channel_stride == 1;
    const int64_t row_bytes = depth_ * static_cast<int64_t>(sizeof(W));
    const int64_t width = columns * batches > kColumns ? kColumns : kFewColumns;
    const int64_t piece = by_dots ? std::max<int64_t>(kPieceBytes / row_bytes, 1) : EvenWidth(width),
                  pieces = (columns + piece - 1) / piece;
    const int64_t grain = std::max<int64_t>(kPieceBytes / (std::min(piece, columns) * row_bytes), 1);
    MakeLeft();
    ParallelFor(0, batches * pieces, grain, [&](int64_t begin, int64_t end) {
      const FlushSubnormals flush;
      auto sums = MakeBuffer<T>(static_cast<size_t>(rows_ * piece));
      for (int64_t i = begin; i < end && !Interrupted(); ++i) {
        const int64_t batch = i / pieces, first = i % pieces * piece,
                      count = std::min(piece, columns - first);
        if (by_dots)
          Dots(batch, first, count, sums.get());
        else
          Add(batch, first, count, sums.get());
        StoreSums(problem_, kernels_, {batch, 0, rows_, first, count}, sums.get(), count, out_);
      }
    });
  }

 private:
  /// Columns of pieces that are as many for each thread; sums do not depend on them.
  [[nodiscard]] int64_t EvenWidth(int64_t most) const {
    const int64_t columns = problem_.columns(), threads = ThreadCount();
    int64_t pieces = (columns + most - 1) / most;
    if (pieces > 1 && problem_.batches() == 1) pieces = (pieces + threads - 1) / threads * threads;
    const int64_t share = (columns + pieces - 1) / pieces;
    return (share + kLeastColumns - 1) / kLeastColumns * kLeastColumns;
  }

  /// The rows of all batches, converted, each in one piece.
  void MakeLeft() {
    const Operand& operand = problem_.lhs;
    const int64_t batches = problem_.batches(), size = rows_ * depth_;
    const int bytes = Info(operand.type).host_bytes();
    const bool plain = IsPlain(problem_, operand);
    left_ = MakeBuffer<T>(static_cast<size_t>(batches * size));
    auto raw = MakeBuffer<uint8_t>(plain ? 0 : static_cast<size_t>(size * bytes));
    const BlockSteps steps(operand, {0, 1, 0, depth_}, problem_.channels_outer);
    for (int64_t b = 0; b < batches; ++b) {
      T* to = left_.get() + b * size;
      Packer(kernels_, bytes)
          .Rows(steps, lhs_ + operand.batch.At(b) * bytes, 0, rows_, depth_,
                plain ? static_cast<void*>(to) : raw.get());
      if (!plain) ToCompute(problem_, operand, kernels_, raw.get(), size, to);
    }
  }

  void Dots(int64_t batch, int64_t first, int64_t count, T* sums) const {
    const T* x = left_.get() + batch * rows_ * depth_;
    const W* base = rhs_ + problem_.rhs.batch.At(batch);
    for (int64_t j = 0; j < count; ++j) {
      const W* w = base + problem_.rhs.rows.At(first + j);
      for (int64_t p = 0; p < rows_; p += kRowsAtOnce) {
        T results[kRowsAtOnce];
        const int rows = static_cast<int>(std::min(kRowsAtOnce, rows_ - p));
        thin_.dot(w, depth_, x + p * depth_, depth_, rows, results);
        for (int i = 0; i < rows; ++i) sums[(p + i) * count + j] = results[i];
      }
    }
  }

  void Add(int64_t batch, int64_t first, int64_t count, T* sums) const {
    const T* x = left_.get() + batch * rows_ * depth_;
    const W* w = rhs_ + problem_.rhs.batch.At(batch) + problem_.rhs.rows.At(first);
    const int64_t stride = problem_.rhs.channel_stride;
    std::fill_n(sums, rows_ * count, T(0));
    for (int64_t k = 0; k < depth_; k += kSteps)
      for (int64_t p = 0; p < rows_; p += kRowsAtOnce)
        thin_.add(w + k * stride, stride, std::min(kSteps, depth_ - k), count, x + p * depth_ + k, depth_,
                  static_cast<int>(std::min(kRowsAtOnce, rows_ - p)), sums + p * count, count);
  }

  const Problem& problem_;
  const KernelSet& kernels_;
  const ThinKernels<T, W>& thin_;
  const uint8_t* lhs_;
  const W* rhs_;
  void* out_;
  int64_t rows_, depth_;
  Buffer<T> left_;
};

}  // namespace

bool IsThin(const Problem& problem) {
  const Operand& right = problem.rhs;
  if (problem.rows() > kMostRows || problem.taps() != 1 || problem.depth() == 0 || IsComplex(problem.type) ||
      !right.bounds.empty() || !problem.lhs.bounds.empty())
    return false;
  if (problem.columns() * problem.depth() * Info(right.type).host_bytes() < kLeastBytes) return false;
  if (!IsPlain(problem, right) && !IsBf16(problem, right)) return false;
  // Few columns do not pay for turning the left factor round.
  if (right.channel_stride == 1 && problem.columns() < kLeastColumns && problem.rows() >= kRowsAtOnce &&
      problem.lhs.channel_stride != 1)
    return false;
  // Rows shorter than some vectors are added one element at a time; tiles take them whole.
  return right.channel_stride == 1 ||
         (right.rows.IsUniform() && right.rows.stride() == 1 && problem.columns() >= kLeastColumns);
}

void RunThin(const Problem& problem, const KernelSet& kernels, const void* lhs, const void* rhs, void* out) {
  if (IsBf16(problem, problem.rhs))
    return ThinRun<float, uint16_t>(problem, kernels, kernels.thin_bf16, lhs, rhs, out).Run();
  VisitComputeType(problem.compute, [&](auto tag) {
    using T = decltype(tag);
    ThinRun<T, T>(problem, kernels, kernels.thin<T>(), lhs, rhs, out).Run();
  });
}

}  // namespace hlo::gemm
