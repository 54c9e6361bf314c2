#include "backends/products/conv/direct_few_outputs.h"

#include "backends/products/common/factors.h"
#include "backends/products/common/scratch.h"
#include "backends/products/common/subnormals.h"
#include "backends/products/conv/row_taps.h"
#include "ir/support/buffer.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo::gemm {
namespace {

constexpr int64_t kPieceWork = 1 << 16;  // products worth waking a thread for
constexpr int64_t kMostTaps = 512, kFewestRows = 64;
constexpr int64_t kFewestSteps = 16;  // vectors of a sum, worth adding up its lanes

/// T is the type of sums, W how both factors are stored.
template <class T, class W>
class ColumnRun {
 public:
  ColumnRun(const Problem& problem, const KernelSet& kernels, const FactorKernels<T, W>& factors,
            const void* lhs, const void* rhs, void* out)
      : problem_(problem),
        kernels_(kernels),
        factors_(factors),
        taps_(problem, lhs, problem.channels),
        rhs_(static_cast<const W*>(rhs) + problem.rhs.base),
        out_(out),
        columns_(problem.columns()),
        padded_((problem.channels + factors.lanes - 1) / factors.lanes * factors.lanes) {}

  void Run() {
    const int64_t size = columns_ * problem_.taps() * padded_, batches = problem_.batches(),
                  chunks = (problem_.rows() + kRows - 1) / kRows;
    weights_ = MakeBuffer<T>(static_cast<size_t>(batches * size));
    ParallelFor(0, batches, kPieceWork / size + 1, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) PackWeights(b, weights_.get() + b * size);
    });
    const int64_t work = kRows * columns_ * problem_.depth();
    ParallelFor(0, batches * chunks, kPieceWork / work + 1, [&](int64_t begin, int64_t end) {
      const FlushSubnormals flush;
      auto tables = taps_.MakeTables();
      const Buffer<T> sums = MakeBuffer<T>(static_cast<size_t>((kRows + kFeatureRows) * columns_));
      for (int64_t i = begin; i < end && !Interrupted(); ++i) {
        const int64_t batch = i / chunks, row = i % chunks * kRows;
        RunRows(batch, row, std::min(kRows, problem_.rows() - row), weights_.get() + batch * size, tables,
                sums.get());
      }
    });
  }

 private:
  static constexpr int64_t kRows = RowTaps<W>::kRowsAtOnce;

  /// By column and tap, channels side by side and zeros after them.
  void PackWeights(int64_t batch, T* to) const {
    const Operand& rhs = problem_.rhs;
    const int64_t channels = problem_.channels;
    W* line = ScratchFor<W>(ScratchUse::Raw, channels);
    for (int64_t column = 0; column < columns_; ++column)
      for (int64_t t = 0; t < problem_.taps(); ++t, to += padded_) {
        const W* from = rhs_ + rhs.batch.At(batch) + rhs.rows.At(column) + rhs.taps.At(t);
        for (int64_t c = 0; c < channels; ++c) line[c] = from[c * rhs.channel_stride];
        if constexpr (std::is_same_v<T, W>)
          std::copy_n(line, channels, to);
        else
          ToNumbers(problem_, rhs, kernels_, line, channels, to);
        std::fill(to + channels, to + padded_, T(0));
      }
  }

  void RunRows(int64_t batch, int64_t row, int64_t count, const T* weights,
               typename RowTaps<W>::Tables& tables, T* sums) const {
    taps_.Find(row, count, tables);
    for (int64_t i = 0; i < count; i += kFeatureRows) {
      const int64_t rows = std::min<int64_t>(kFeatureRows, count - i);
      factors_.dots({problem_.taps(), taps_.Block(i, rows, problem_.lhs.batch.At(batch), tables),
                     problem_.channels, weights, static_cast<int>(columns_), sums + i * columns_});
    }
    StoreNumbers(problem_, kernels_, {batch, row, count, 0, columns_}, sums, columns_, out_);
  }

  const Problem& problem_;
  const KernelSet& kernels_;
  const FactorKernels<T, W>& factors_;
  RowTaps<W> taps_;
  const W* rhs_;
  void* out_;
  int64_t columns_, padded_;  // padded_: channels
  Buffer<T> weights_;
};

}  // namespace

Fit FitFewColumns(const Problem& problem, const Target& target) {
  Fit fit;
  int64_t lanes = 0;
  VisitWideFactors(problem, KernelsFor(target.isa), [&](const auto& factors) { lanes = factors.lanes; });
  const int64_t columns = problem.columns(), parts = IsComplex(problem.type) ? 2 : 1;
  if (!fit.Needs(lanes > 0, "no kernels for these types")) return fit;
  fit.Needs(problem.windows.has_value(), "no windows");
  constexpr int64_t kFewOfGroup = 8;  // groups of fewer are slow as tiles (FitTiles)
  fit.Needs(columns > 0 && (2 * columns <= lanes || (problem.batches() > 1 && columns * parts < kFewOfGroup)),
            "features of the result fill vectors");
  fit.Needs(problem.taps() <= kMostTaps && problem.rhs.bounds.empty(), "too many taps, or padded weights");
  fit.Needs(problem.channels >= lanes && problem.lhs.channel_stride == 1,
            "features of the input are few or no neighbours");
  // Single taps of plain elements are read as they lie by what is for few rows.
  const bool single = problem.taps() == 1 && (IsComplex(problem.type) || !IsPlain(problem, problem.lhs)) &&
                      problem.lhs.type != ElementType::BF16;
  fit.Suits(problem.taps() > 1 || single, "one tap");
  fit.Suits(problem.rows() >= kFewestRows && problem.depth() >= kFewestSteps * lanes,
            "few rows or short sums");
  return fit;
}

void RunFewColumns(const Problem& problem, const KernelSet& kernels, const void* lhs, const void* rhs,
                   void* out) {
  VisitFactors(problem, kernels, [&]<class T, class W>(const FactorKernels<T, W>& factors) {
    ColumnRun<T, W>(problem, kernels, factors, lhs, rhs, out).Run();
  });
}

}  // namespace hlo::gemm
