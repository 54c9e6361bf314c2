#include "backends/products/conv/grouped_weight_gradient.h"

#include <algorithm>

#include "backends/products/common/factors.h"
#include "backends/products/common/subnormals.h"
#include "backends/products/conv/depthwise_nhwc.h"
#include "ir/support/buffer.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo::gemm {
namespace {

constexpr int64_t kManySteps = 512, kFewRows = 64, kMostSteps = 4096;
constexpr int64_t kMostFeatures = 32, kFewestChannels = 16;
constexpr int64_t kFewFeatures = 4, kMostOfOther = 256;  // of the two sides of one group,
constexpr int64_t kFewestTaps = 64;                      // which is worth it for so many positions
constexpr int64_t kPartSteps = 512, kMostParts = 16;
constexpr int64_t kMostSums = 1 << 20;  // of all parts
constexpr int64_t kMostTapsAtOnce = 128, kFewestTapsAtOnce = 16;
constexpr int64_t kMostLanes = 32;
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
        of_groups_(IsSumOfGroups(problem)),
        images_(of_groups_ ? problem.windows->images : 1),
        columns_(of_groups_ ? problem.columns() : 1),
        features_(std::min(images_, columns_)),
        width_(problem.batches() * std::max(images_, columns_)),
        taps_at_once_(std::clamp<int64_t>(kBytesAtOnce / (width_ * static_cast<int64_t>(sizeof(W))),
                                          kFewestTapsAtOnce, kMostTapsAtOnce)),
        run_(images_ * columns_ == 1
                 ? std::max<int64_t>(std::min<int64_t>(factors.lanes, kMostLanes) / width_, 1)
                 : 1),
        rows_(problem.rows() / images_),
        size_(rows_ * features_ * width_),
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
    int64_t runs, run_lhs[kMostTapsAtOnce], run_rhs[kMostTapsAtOnce];  // of `run_` steps side by side
  };

  /// One part of the taps for the rows from `row` on.
  void Piece(int64_t part, int64_t row) const {
    const int64_t taps = problem_.taps(), first = taps * part / parts_, last = taps * (part + 1) / parts_;
    const int64_t rows = std::min(kRowsAtOnce, rows_ - row);
    T* sums = sums_.get() + part * size_ + row * features_ * width_;
    std::fill_n(sums, rows * features_ * width_, T(0));
    int64_t from[kRowsAtOnce];
    FillRows(problem_.lhs.rows, row, rows, from);
    Steps steps[kRowsAtOnce];
    for (int64_t tap = first; tap < last; tap += taps_at_once_) {
      FillSteps(tap, std::min(taps_at_once_, last - tap), row, rows, steps);
      for (int64_t c = 0; c < problem_.channels; ++c)
        for (int64_t i = 0; i < rows; ++i)
          Add(lhs_ + from[i] + c * problem_.lhs.channel_stride, rhs_ + c * problem_.rhs.channel_stride,
              steps[i], sums + i * features_ * width_);
    }
  }

  /// Lanes are the features of the side that has more in each group.
  void Add(const W* lhs, const W* rhs, const Steps& steps, T* sums) const {
    if (run_ > 1) {
      T parts[kMostLanes] = {};
      factors_.products(lhs, steps.run_lhs, rhs, steps.run_rhs, steps.runs, run_ * width_, parts);
      for (int64_t i = 0; i < run_ * width_; ++i) sums[i % width_] += parts[i];
    }
    if (images_ * columns_ == 1)
      return factors_.products(lhs, steps.lhs, rhs, steps.rhs, steps.count, width_, sums);
    const int64_t groups = problem_.batches();
    if (images_ <= columns_)
      factors_.outer({lhs, rhs, steps.lhs, steps.rhs, steps.count, images_, columns_, groups, sums});
    else
      factors_.outer({rhs, lhs, steps.rhs, steps.lhs, steps.count, columns_, images_, groups, sums});
  }

  /// Of the first image of a group.
  void FillRows(const Index& index, int64_t row, int64_t rows, int64_t* out) const {
    for (int64_t i = 0; i < rows; ++i) out[i] = index.At((row + i) * images_);
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
      if (run_ > 1) TakeRuns(steps[i]);
    }
  }

  /// Steps that are neighbours in both arrays fill vectors together.
  void TakeRuns(Steps& steps) const {
    int64_t rest = 0;
    steps.runs = 0;
    for (int64_t k = 0; k < steps.count;) {
      int64_t next = k + 1;
      while (next < std::min(k + run_, steps.count) && steps.lhs[next] == steps.lhs[next - 1] + width_ &&
             steps.rhs[next] == steps.rhs[next - 1] + width_)
        ++next;
      if (next == k + run_) {
        steps.run_lhs[steps.runs] = steps.lhs[k];
        steps.run_rhs[steps.runs++] = steps.rhs[k];
        k = next;
        continue;
      }
      for (; k < next; ++k, ++rest) {
        steps.lhs[rest] = steps.lhs[k];
        steps.rhs[rest] = steps.rhs[k];
      }
    }
    steps.count = rest;
  }

  /// Adds the parts of a row in their order.
  void Store(int64_t row) const {
    T* sums = sums_.get() + row * features_ * width_;
    for (int64_t part = 1; part < parts_; ++part) {
      const T* more = sums + part * size_;
      for (int64_t i = 0; i < features_ * width_; ++i) sums[i] += more[i];
    }
    const int64_t line = problem_.batches() * columns_;
    if (images_ <= columns_) {
      for (int64_t image = 0; image < images_; ++image) StoreRow(row * images_ + image, sums + image * line);
      return;
    }
    const Buffer<T> results = MakeBuffer<T>(static_cast<size_t>(line));
    for (int64_t image = 0; image < images_; ++image) {
      for (int64_t j = 0; j < line; ++j)
        results[static_cast<size_t>(j)] = sums[j % columns_ * width_ + j / columns_ * images_ + image];
      StoreRow(row * images_ + image, results.get());
    }
  }

  void StoreRow(int64_t row, const T* results) const {
    const int64_t to = problem_.out_base + problem_.out_columns.At(0) + problem_.out_rows.At(row);
    FromNumbers(problem_.type, kernels_, results, problem_.batches() * columns_,
                out_ + to * Info(problem_.type).host_bytes());
  }

  const Problem& problem_;
  const KernelSet& kernels_;
  const FactorKernels<T, W>& factors_;
  const W *lhs_, *rhs_;
  uint8_t* out_;
  bool of_groups_;
  int64_t images_, columns_;  // features of a group on both sides
  int64_t features_, width_;  // of the side that has fewer; all of the other
  int64_t taps_at_once_, run_;
  int64_t rows_;          // of one image of a group
  int64_t size_, parts_;  // sums of a part
  Buffer<T> sums_;        // by part, row, feature and channel
};

}  // namespace

bool IsSumOfGroups(const Problem& problem) {
  if (!problem.windows || problem.rows() == 0) return false;
  const int64_t images = problem.windows->images, columns = problem.columns(), batches = problem.batches(),
                most = std::max(images, columns), least = std::min(images, columns);
  const auto strides = [](const Index& index, int64_t stride) {
    return index.count() == 1 || (index.IsUniform() && index.stride() == stride);
  };
  if (most < 2 || most > (batches == 1 && least <= kFewFeatures ? kMostOfOther : kMostFeatures) ||
      batches * most < kFewestChannels || problem.depth() < kManySteps ||
      problem.rows() / images > kFewRows || problem.rows() * columns * batches > kMostSums)
    return false;
  if (batches == 1 && (least == 1 || problem.taps() < kFewestTaps)) return false;
  const bool images_inside = images == 1 || (problem.windows->lhs_image == 1 && problem.lhs.rows.At(1) == 1 &&
                                             problem.out_rows.At(1) == problem.windows->out_image);
  return images_inside && problem.rhs.bounds.empty() && strides(problem.lhs.batch, images) &&
         strides(problem.rhs.batch, columns) && strides(problem.rhs.rows, 1) &&
         strides(problem.out_batch, columns) && strides(problem.out_columns, 1);
}

Fit FitChannelwiseSums(const Problem& problem, const Target& target) {
  Fit fit;
  fit.Needs(HasChannelwiseKernels(problem, KernelsFor(target.isa)), "no kernels for these types");
  const bool groups = IsSumOfGroups(problem);
  fit.Needs(groups || AreBatchesSideBySide(problem),
            "no batches or groups of few features that lie side by side");
  fit.Suits(
      groups || problem.depth() > kMostSteps || (problem.depth() >= kManySteps && problem.rows() <= kFewRows),
      "short sums");
  return fit;
}

void RunChannelwiseSums(const Problem& problem, const KernelSet& kernels, const void* lhs, const void* rhs,
                        void* out) {
  VisitFactors(problem, kernels, [&]<class T, class W>(const FactorKernels<T, W>& factors) {
    SumRun<T, W>(problem, kernels, factors, lhs, rhs, out).Run();
  });
}

}  // namespace hlo::gemm
