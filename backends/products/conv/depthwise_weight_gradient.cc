#include "backends/products/conv/depthwise_weight_gradient.h"

#include <algorithm>

#include "backends/products/common/factors.h"
#include "backends/products/common/subnormals.h"
#include "backends/products/conv/depthwise_nhwc.h"
#include "backends/products/conv/grouped_weight_gradient.h"
#include "ir/support/buffer.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo::gemm {
namespace {

constexpr int64_t kShifts = 3;  // of a line, as ShiftedArgs has them
constexpr int64_t kPartSteps = 512, kMostParts = 16;
constexpr int64_t kMostRows = 64, kFewestSteps = 512;
constexpr int64_t kShortLine = 4;

/// The dimensions but the last one, as loops over windows or over taps.
llvm::SmallVector<Axis, 3> Outer(const Windows& windows, bool taps, int64_t WindowDimension::* per,
                                 int64_t WindowDimension::* stride) {
  llvm::SmallVector<Axis, 3> axes;
  for (const WindowDimension& d : llvm::ArrayRef(windows.dims).drop_back())
    axes.push_back({taps ? d.taps : d.outputs, (per == nullptr ? 1 : d.*per) * d.*stride});
  return axes;
}

/// T is the type of sums, W how both factors are stored.
template <class T, class W>
class LineRun {
 public:
  LineRun(const Problem& problem, const KernelSet& kernels, const FactorKernels<T, W>& factors,
          const void* lhs, const void* rhs, void* out)
      : problem_(problem),
        kernels_(kernels),
        factors_(factors),
        windows_(*problem.windows),
        last_(windows_.dims.back()),
        lhs_(static_cast<const W*>(lhs) + problem.lhs.base),
        rhs_(static_cast<const W*>(rhs) + problem.rhs.base + problem.rhs.rows.At(0)),
        out_(static_cast<uint8_t*>(out)),
        columns_(problem.columns()),
        width_(problem.batches() * columns_),
        row_lhs_(Outer(windows_, false, &WindowDimension::per_output, &WindowDimension::lhs_stride)),
        row_out_(Outer(windows_, false, nullptr, &WindowDimension::out_stride)),
        tap_lhs_(Outer(windows_, true, &WindowDimension::per_tap, &WindowDimension::lhs_stride)),
        tap_rhs_(Outer(windows_, true, nullptr, &WindowDimension::rhs_stride)),
        lines_(tap_lhs_.count() * problem.channels),
        parts_(std::clamp<int64_t>(problem.depth() / kPartSteps, 1, std::min(kMostParts, lines_))),
        size_(row_lhs_.count() * kShifts * width_),
        sums_(MakeBuffer<T>(static_cast<size_t>(parts_ * size_))) {
    // Steps of a line that lie inside for all shifts.
    const int64_t skip = last_.per_tap, inside = last_.size - last_.base - (kShifts - 1);
    begin_ = std::clamp<int64_t>((-last_.base + skip - 1) / skip, 0, last_.taps);
    end_ = std::clamp<int64_t>(inside <= 0 ? 0 : (inside + skip - 1) / skip, begin_, last_.taps);
  }

  void Run() const {
    const int64_t rows = row_lhs_.count();
    ParallelFor(0, parts_ * rows, 1, [&](int64_t begin, int64_t end) {
      const FlushSubnormals flush;
      for (int64_t i = begin; i < end && !Interrupted(); ++i) Part(i / rows, i % rows);
    });
    const FlushSubnormals flush;
    for (int64_t row = 0; row < rows * kShifts; ++row) Store(row);
  }

 private:
  /// The sums of one part of the lines for all shifts of row `row` of the other dimensions.
  void Part(int64_t part, int64_t row) const {
    T* sums = sums_.get() + part * size_ + row * kShifts * width_;
    std::fill_n(sums, kShifts * width_, T(0));
    const int64_t outer = tap_lhs_.count(), step = last_.lhs_stride;
    llvm::SmallVector<int64_t, 64> lhs, rhs;  // where lines begin
    for (int64_t line = lines_ * part / parts_; line < lines_ * (part + 1) / parts_; ++line) {
      const int64_t channel = line / outer, tap = line % outer;
      if (!IsInside(row, tap)) continue;
      lhs.push_back(row_lhs_.At(row) + tap_lhs_.At(tap) + channel * problem_.lhs.channel_stride);
      rhs.push_back(tap_rhs_.At(tap) + channel * problem_.rhs.channel_stride);
      if (begin_ < end_)
        factors_.shifted({lhs_ + lhs.back() + begin_ * last_.per_tap * step, step,
                          rhs_ + rhs.back() + begin_ * last_.rhs_stride, last_.rhs_stride, end_ - begin_,
                          width_, last_.per_tap, columns_, sums, width_});
    }
    // Steps that lie inside for some shifts, of all lines at once.
    const auto add = [&](int64_t k) {
      const auto count = static_cast<int64_t>(lhs.size());
      for (int64_t s = 0; s < kShifts; ++s) {
        const int64_t at = k * last_.per_tap + s;
        if (last_.base + at < 0 || last_.base + at >= last_.size) continue;
        const W *left = lhs_ + at * step, *right = rhs_ + k * last_.rhs_stride;
        if (columns_ == 1)
          factors_.products(left, lhs.data(), right, rhs.data(), count, width_, sums + s * width_);
        else
          factors_.outer({left, right, lhs.data(), rhs.data(), count, 1, columns_, problem_.batches(),
                          sums + s * width_});
      }
    };
    for (int64_t k = 0; k < begin_; ++k) add(k);
    for (int64_t k = end_; k < last_.taps; ++k) add(k);
  }

  /// In all dimensions but the last.
  [[nodiscard]] bool IsInside(int64_t row, int64_t tap) const {
    for (size_t d = windows_.dims.size() - 1; d-- > 0;) {
      const WindowDimension& w = windows_.dims[d];
      const int64_t at = w.base + row % w.outputs * w.per_output + tap % w.taps * w.per_tap;
      if (at < 0 || at >= w.size) return false;
      row /= w.outputs;
      tap /= w.taps;
    }
    return true;
  }

  /// Adds the parts of a row in their order.
  void Store(int64_t row) const {
    T* sums = sums_.get() + row * width_;
    for (int64_t part = 1; part < parts_; ++part)
      for (int64_t i = 0; i < width_; ++i) sums[i] += sums[part * size_ + i];
    const int64_t to = problem_.out_base + problem_.out_columns.At(0) + row_out_.At(row / kShifts) +
                       row % kShifts * last_.out_stride;
    FromNumbers(problem_.type, kernels_, sums, width_, out_ + to * Info(problem_.type).host_bytes());
  }

  const Problem& problem_;
  const KernelSet& kernels_;
  const FactorKernels<T, W>& factors_;
  const Windows& windows_;
  const WindowDimension& last_;
  const W *lhs_, *rhs_;
  uint8_t* out_;
  int64_t columns_, width_;                      // of a group, and of all
  Index row_lhs_, row_out_, tap_lhs_, tap_rhs_;  // of all dimensions but the last
  int64_t lines_, parts_, size_;                 // size_: sums of a part
  Buffer<T> sums_;                               // by part, row, shift and channel
  int64_t begin_, end_;
};

}  // namespace

Fit FitSumOfLines(const Problem& problem, const Target& target) {
  Fit fit;
  const KernelSet& kernels = KernelsFor(target.isa);
  if (!fit.Needs(problem.windows && !problem.windows->dims.empty(), "no windows")) return fit;
  fit.Needs(HasChannelwiseKernels(problem, kernels), "no kernels for these types");
  fit.Needs(problem.windows->images == 1 && (IsSumOfGroups(problem) || AreBatchesSideBySide(problem)),
            "no groups of few features that lie side by side");
  if (!fit.can()) return fit;
  bool whole = false;  // groups in vectors
  VisitFactors(problem, kernels,
               [&](const auto& factors) { whole = factors.lanes % problem.columns() == 0; });
  fit.Needs(whole && problem.rhs.bounds.empty(), "groups do not fill vectors");
  const WindowDimension& last = problem.windows->dims.back();
  fit.Needs(last.outputs == kShifts && last.per_output == 1, "not three shifts of a line");
  fit.Needs(last.per_tap == 1 || last.per_tap == 2, "windows step by more than two");
  fit.Needs(last.taps >= kShortLine && problem.rows() <= kMostRows, "short lines, or many results");
  fit.Suits(problem.depth() >= kFewestSteps, "short sums");
  return fit;
}

void RunSumOfLines(const Problem& problem, const KernelSet& kernels, const void* lhs, const void* rhs,
                   void* out) {
  VisitFactors(problem, kernels, [&]<class T, class W>(const FactorKernels<T, W>& factors) {
    LineRun<T, W>(problem, kernels, factors, lhs, rhs, out).Run();
  });
}

}  // namespace hlo::gemm
