#include "backends/gemm/channelwise_sums.h"

#include <algorithm>

#include "backends/gemm/subnormals.h"
#include "backends/gemm/sums.h"
#include "ir/support/buffer.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo::gemm {
namespace {

constexpr int64_t kManySteps = 512, kFewRows = 64, kMostSteps = 4096;
constexpr int64_t kPartSteps = 512, kMostParts = 16;
constexpr int64_t kMostSums = 1 << 20;                  // of all parts
constexpr int64_t kTapsAtOnce = 128, kRowsAtOnce = 16;  // what those read stays in the second cache

template <class T, class W>
class SumRun {
 public:
  SumRun(const Problem& problem, const KernelSet& kernels, const ThinKernels<T, W>& thin, const void* lhs,
         const void* rhs, void* out)
      : problem_(problem),
        kernels_(kernels),
        thin_(thin),
        lhs_(static_cast<const W*>(lhs) + problem.lhs.base),
        rhs_(static_cast<const W*>(rhs) + problem.rhs.base + problem.rhs.rows.At(0)),
        out_(static_cast<uint8_t*>(out)),
        width_(problem.batches()),
        rows_(problem.rows()),
        parts_(std::clamp<int64_t>(std::min(problem.depth() / kPartSteps, kMostSums / (rows_ * width_)), 1,
                                   std::min(kMostParts, problem.taps()))),
        sums_(MakeBuffer<T>(static_cast<size_t>(parts_ * rows_ * width_))) {}

  void Run() const {
    const int64_t groups = (rows_ + kRowsAtOnce - 1) / kRowsAtOnce;
    ParallelFor(0, parts_ * groups, 1, [&](int64_t begin, int64_t end) {
      const FlushSubnormals flush;
      for (int64_t i = begin; i < end && !Interrupted(); ++i) Piece(i / groups, i % groups * kRowsAtOnce);
    });
    const FlushSubnormals flush;
    for (int64_t row = 0; row < rows_; ++row) Store(row);
  }

 private:
  /// Offsets of the steps of one row that lie inside the input.
  struct Steps {
    int64_t count, lhs[kTapsAtOnce], rhs[kTapsAtOnce];
  };

  /// One part of the taps for the rows from `row` on.
  void Piece(int64_t part, int64_t row) const {
    const int64_t taps = problem_.taps(), first = taps * part / parts_, last = taps * (part + 1) / parts_;
    const int64_t rows = std::min(kRowsAtOnce, rows_ - row);
    T* sums = sums_.get() + (part * rows_ + row) * width_;
    std::fill_n(sums, rows * width_, T(0));
    int64_t from[kRowsAtOnce];
    problem_.lhs.rows.Fill(row, rows, from);
    Steps steps[kRowsAtOnce];
    for (int64_t tap = first; tap < last; tap += kTapsAtOnce) {
      FillSteps(tap, std::min(kTapsAtOnce, last - tap), row, rows, steps);
      for (int64_t c = 0; c < problem_.channels; ++c)
        for (int64_t i = 0; i < rows; ++i)
          thin_.products(lhs_ + from[i] + c * problem_.lhs.channel_stride, steps[i].lhs,
                         rhs_ + c * problem_.rhs.channel_stride, steps[i].rhs, steps[i].count, width_,
                         sums + i * width_);
    }
  }

  void FillSteps(int64_t tap, int64_t taps, int64_t row, int64_t rows, Steps* steps) const {
    const Operand& lhs = problem_.lhs;
    int64_t lhs_taps[kTapsAtOnce], rhs_taps[kTapsAtOnce], positions[kTapsAtOnce], at[kRowsAtOnce];
    lhs.taps.Fill(tap, taps, lhs_taps);
    problem_.rhs.taps.Fill(tap, taps, rhs_taps);
    bool inside[kRowsAtOnce][kTapsAtOnce];
    std::fill_n(&inside[0][0], kRowsAtOnce * kTapsAtOnce, true);
    for (const Bound& bound : lhs.bounds) {
      bound.tap.Fill(tap, taps, positions);
      bound.row.Fill(row, rows, at);
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t t = 0; t < taps; ++t)
          inside[i][t] &=
              static_cast<uint64_t>(bound.base + at[i] + positions[t]) < static_cast<uint64_t>(bound.size);
    }
    for (int64_t i = 0; i < rows; ++i) {
      int64_t count = 0;
      for (int64_t t = 0; t < taps; ++t) {
        steps[i].lhs[count] = lhs_taps[t];
        steps[i].rhs[count] = rhs_taps[t];
        count += inside[i][t] ? 1 : 0;
      }
      steps[i].count = count;
    }
  }

  /// Adds the parts of a row in their order.
  void Store(int64_t row) const {
    T* sums = sums_.get() + row * width_;
    for (int64_t part = 1; part < parts_; ++part) {
      const T* more = sums + part * rows_ * width_;
      for (int64_t i = 0; i < width_; ++i) sums[i] += more[i];
    }
    const int64_t to = problem_.out_base + problem_.out_columns.At(0) + problem_.out_rows.At(row);
    FromCompute(problem_.type, kernels_, sums, width_, out_ + to * Info(problem_.type).host_bytes());
  }

  const Problem& problem_;
  const KernelSet& kernels_;
  const ThinKernels<T, W>& thin_;
  const W *lhs_, *rhs_;
  uint8_t* out_;
  int64_t width_, rows_, parts_;
  Buffer<T> sums_;  // by part, row and channel
};

}  // namespace

bool HasLongSums(const Problem& problem) {
  return problem.depth() > kMostSteps || (problem.depth() >= kManySteps && problem.rows() <= kFewRows);
}

template <class T, class W>
void RunChannelwiseSums(const Problem& problem, const KernelSet& kernels, const ThinKernels<T, W>& thin,
                        const void* lhs, const void* rhs, void* out) {
  SumRun<T, W>(problem, kernels, thin, lhs, rhs, out).Run();
}

#define HLO_INSTANTIATE(T, W)                                                                        \
  template void RunChannelwiseSums<T, W>(const Problem&, const KernelSet&, const ThinKernels<T, W>&, \
                                         const void*, const void*, void*);
HLO_INSTANTIATE(float, float)
HLO_INSTANTIATE(float, uint16_t)
HLO_INSTANTIATE(double, double)
HLO_INSTANTIATE(uint32_t, uint32_t)
HLO_INSTANTIATE(uint64_t, uint64_t)
#undef HLO_INSTANTIATE

}  // namespace hlo::gemm
