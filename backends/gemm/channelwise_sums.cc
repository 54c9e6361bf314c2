#include "backends/gemm/channelwise_sums.h"

#include <algorithm>

#include "backends/gemm/factors.h"
#include "backends/gemm/subnormals.h"
#include "ir/support/buffer.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo::gemm {
namespace {

constexpr int64_t kManySteps = 512, kFewRows = 64, kMostSteps = 4096;
constexpr int64_t kMostColumns = 8, kFewestChannels = 16;
constexpr int64_t kPartSteps = 512, kMostParts = 16;
constexpr int64_t kMostSums = 1 << 20;  // of all parts
constexpr int64_t kMostTapsAtOnce = 128, kFewestTapsAtOnce = 16;
constexpr int64_t kRowsAtOnce = 16;         // what those read stays in the second cache,
constexpr int64_t kBytesAtOnce = 16 << 10;  // and of each factor in the first what one of them reads

template <class T, class W>
class SumRun {
 public:
  SumRun(const Problem& problem, const KernelSet& kernels, const FactorKernels<T, W>& factors,
         const void* lhs, const void* rhs, void* out)
      : problem_(problem),
        kernels_(kernels),
        factors_(factors),
        lhs_(static_cast<const W*>(lhs) + problem.lhs.base),
        rhs_(static_cast<const W*>(rhs) + problem.rhs.base + problem.rhs.rows.At(0)),
        out_(static_cast<uint8_t*>(out)),
        group_(problem.columns()),
        shifts_(2 * group_ - 1),
        width_(problem.batches() * group_),
        taps_at_once_(std::clamp<int64_t>(kBytesAtOnce / (width_ * static_cast<int64_t>(sizeof(W))),
                                          kFewestTapsAtOnce, kMostTapsAtOnce)),
        rows_(problem.rows() / group_),
        size_(rows_ * shifts_ * width_),
        parts_(std::clamp<int64_t>(std::min(problem.depth() / kPartSteps, kMostSums / size_), 1,
                                   std::min(kMostParts, problem.taps()))),
        sums_(MakeBuffer<T>(static_cast<size_t>(parts_ * size_))) {}

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
    int64_t count, lhs[kMostTapsAtOnce], rhs[kMostTapsAtOnce];
  };

  /// One part of the taps for the rows from `row` on.
  void Piece(int64_t part, int64_t row) const {
    const int64_t taps = problem_.taps(), first = taps * part / parts_, last = taps * (part + 1) / parts_;
    const int64_t rows = std::min(kRowsAtOnce, rows_ - row);
    T* sums = sums_.get() + part * size_ + row * shifts_ * width_;
    std::fill_n(sums, rows * shifts_ * width_, T(0));
    int64_t from[kRowsAtOnce];
    FillRows(problem_.lhs.rows, row, rows, from);
    Steps steps[kRowsAtOnce];
    for (int64_t tap = first; tap < last; tap += taps_at_once_) {
      FillSteps(tap, std::min(taps_at_once_, last - tap), row, rows, steps);
      for (int64_t c = 0; c < problem_.channels; ++c)
        for (int64_t i = 0; i < rows; ++i)
          AddShifts(lhs_ + from[i] + c * problem_.lhs.channel_stride, rhs_ + c * problem_.rhs.channel_stride,
                    steps[i], sums + i * shifts_ * width_);
    }
  }

  /// Channel j of one side meets channels j - group_ + 1 … j + group_ - 1 of the other.
  void AddShifts(const W* lhs, const W* rhs, const Steps& steps, T* sums) const {
    for (int64_t s = 0; s < shifts_; ++s) {
      const int64_t lhs_ahead = std::max<int64_t>(group_ - 1 - s, 0),
                    rhs_ahead = std::max<int64_t>(s - group_ + 1, 0);
      factors_.products(lhs + lhs_ahead, steps.lhs, rhs + rhs_ahead, steps.rhs, steps.count,
                        width_ - lhs_ahead - rhs_ahead, sums + s * width_);
    }
  }

  /// Of the first image of a group.
  void FillRows(const Index& index, int64_t row, int64_t rows, int64_t* out) const {
    for (int64_t i = 0; i < rows; ++i) out[i] = index.At((row + i) * group_);
  }

  void FillSteps(int64_t tap, int64_t taps, int64_t row, int64_t rows, Steps* steps) const {
    const Operand& lhs = problem_.lhs;
    int64_t lhs_taps[kMostTapsAtOnce], rhs_taps[kMostTapsAtOnce], positions[kMostTapsAtOnce], at[kRowsAtOnce];
    lhs.taps.Fill(tap, taps, lhs_taps);
    problem_.rhs.taps.Fill(tap, taps, rhs_taps);
    bool inside[kRowsAtOnce][kMostTapsAtOnce];
    std::fill_n(&inside[0][0], kRowsAtOnce * kMostTapsAtOnce, true);
    for (const Bound& bound : lhs.bounds) {
      bound.tap.Fill(tap, taps, positions);
      FillRows(bound.row, row, rows, at);
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
    T* sums = sums_.get() + row * shifts_ * width_;
    for (int64_t part = 1; part < parts_; ++part) {
      const T* more = sums + part * size_;
      for (int64_t i = 0; i < shifts_ * width_; ++i) sums[i] += more[i];
    }
    if (group_ == 1) return StoreRow(row, sums);
    const Buffer<T> line = MakeBuffer<T>(static_cast<size_t>(width_));
    for (int64_t image = 0; image < group_; ++image) {
      for (int64_t j = 0; j < width_; ++j) {
        const int64_t column = j % group_;
        line[static_cast<size_t>(j)] =
            sums[(column - image + group_ - 1) * width_ + j - column + std::min(image, column)];
      }
      StoreRow(row * group_ + image, line.get());
    }
  }

  void StoreRow(int64_t row, const T* sums) const {
    const int64_t to = problem_.out_base + problem_.out_columns.At(0) + problem_.out_rows.At(row);
    FromNumbers(problem_.type, kernels_, sums, width_, out_ + to * Info(problem_.type).host_bytes());
  }

  const Problem& problem_;
  const KernelSet& kernels_;
  const FactorKernels<T, W>& factors_;
  const W *lhs_, *rhs_;
  uint8_t* out_;
  int64_t group_, shifts_, width_, taps_at_once_, rows_;  // rows of one image of a group
  int64_t size_, parts_;                                  // sums of a part
  Buffer<T> sums_;                                        // by part, row, shift and channel
};

}  // namespace

bool IsSumOfNeighbours(const Problem& problem) {
  const int64_t group = problem.columns(), batches = problem.batches();
  const auto strides = [](const Index& index, int64_t stride) {
    return index.IsUniform() && index.stride() == stride;
  };
  if (!problem.windows || problem.windows->images != group || group < 2 || group > kMostColumns ||
      batches < 2 || batches * group < kFewestChannels || problem.depth() < kManySteps)
    return false;
  const int64_t positions = problem.rows() / group;
  return positions > 0 && positions <= kFewRows && problem.rhs.bounds.empty() &&
         problem.windows->lhs_image == 1 && problem.lhs.rows.At(1) == 1 &&
         problem.out_rows.At(1) == problem.windows->out_image && strides(problem.lhs.batch, group) &&
         strides(problem.rhs.batch, group) && strides(problem.rhs.rows, 1) &&
         strides(problem.out_batch, group) && strides(problem.out_columns, 1);
}

bool HasLongSums(const Problem& problem) {
  if (problem.columns() > 1) return true;
  return problem.depth() > kMostSteps || (problem.depth() >= kManySteps && problem.rows() <= kFewRows);
}

void RunChannelwiseSums(const Problem& problem, const KernelSet& kernels, const void* lhs, const void* rhs,
                        void* out) {
  VisitFactors(problem, kernels, [&]<class T, class W>(const FactorKernels<T, W>& factors) {
    SumRun<T, W>(problem, kernels, factors, lhs, rhs, out).Run();
  });
}

}  // namespace hlo::gemm
