#include "backends/products/conv/depthwise_nchw_weight_gradient_vnni.h"

#include <algorithm>

#include "backends/products/conv/depthwise_nchw_kernels.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo::gemm {
namespace {

constexpr int64_t kFewestTaps = 64, kShortLine = 16, kMostRows = 16;
constexpr int64_t kPieceWork = 1 << 16;  // products worth waking a thread for

/// Whose results wrap, so that signs do not matter.
bool IsOfBytes(const Problem& problem) {
  const auto is_byte = [](ElementType t) { return t == ElementType::S8 || t == ElementType::U8; };
  return problem.compute == ComputeType::U32 && is_byte(problem.lhs.type) && is_byte(problem.rhs.type) &&
         Info(problem.type).host_bytes() == 1 && !IsPred(problem.type);
}

class GradientRun {
 public:
  GradientRun(const Problem& problem, const void* lhs, const void* rhs, void* out)
      : problem_(problem),
        last_(problem.windows->dims.back()),
        outer_(llvm::ArrayRef(problem.windows->dims).drop_back()),
        lhs_(static_cast<const uint8_t*>(lhs)),
        rhs_(static_cast<const uint8_t*>(rhs) + problem.rhs.base + problem.rhs.rows.At(0)),
        out_(static_cast<uint8_t*>(out)) {
    origin_ = problem.lhs.base;
    for (const WindowDimension& d : problem.windows->dims) origin_ -= d.base * d.lhs_stride;
    for (const WindowDimension& d : outer_) {
      lines_ *= d.taps;
      rows_ *= d.outputs;
    }
    for (int64_t row = 0; row < rows_; ++row) FindLines(row);
    FindMasks();
  }

  void Run() const {
    const int64_t work = problem_.depth() * rows_ * last_.outputs;
    ParallelFor(0, problem_.batches(), kPieceWork / work + 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end && !Interrupted(); ++i)
        for (int64_t row = 0; row < rows_; ++row) Row(i, row);
    });
  }

 private:
  /// Where lines on the left, beyond the ends of the image none, meet those on the right for a row of
  /// results.
  void FindLines(int64_t row) {
    for (int64_t line = 0; line < lines_; ++line) {
      int64_t left = 0, right = 0, at_row = row, at_line = line;
      bool inside = true;
      for (const WindowDimension& d : llvm::reverse(outer_)) {
        const int64_t at = d.base + at_row % d.outputs * d.per_output + at_line % d.taps * d.per_tap;
        inside &= at >= 0 && at < d.size;
        left += at * d.lhs_stride;
        right += at_line % d.taps * d.rhs_stride;
        at_row /= d.outputs;
        at_line /= d.taps;
      }
      if (!inside) continue;
      lines_at_.push_back({left, right});
    }
    row_ends_.push_back(lines_at_.size());
  }

  /// Which elements vectors find in lines: by vector, those of all shifts, then those on the right.
  void FindMasks() {
    const auto between = [](int64_t begin, int64_t end) {
      const auto below = [](int64_t n) {
        return (uint64_t{1} << std::clamp<int64_t>(n, 0, kGradientLanes)) - 1;
      };
      return static_cast<uint32_t>(below(end) & ~below(begin));
    };
    for (int64_t at = 0; at < last_.taps; at += kGradientLanes) {
      for (int64_t s = 0; s < kPlaneShifts; ++s) {
        const int64_t first = last_.base + at + s;
        masks_.push_back(between(-first, last_.size - first));
      }
      masks_.push_back(between(0, last_.taps - at));
    }
  }

  /// The results of a row for all shifts.
  void Row(int64_t group, int64_t row) const {
    uint32_t sums[kPlaneShifts * kGradientSums] = {};
    const size_t first = row == 0 ? 0 : row_ends_[static_cast<size_t>(row) - 1];
    for (int64_t c = 0; c < problem_.channels; ++c)
      AddGradientLines({lhs_ + origin_ + problem_.lhs.batch.At(group) + c * problem_.lhs.channel_stride,
                        rhs_ + problem_.rhs.batch.At(group) + c * problem_.rhs.channel_stride,
                        lines_at_.data() + first, row_ends_[static_cast<size_t>(row)] - first, last_.base,
                        (last_.taps + kGradientLanes - 1) / kGradientLanes, masks_.data(), sums});
    int64_t to = problem_.out_base + problem_.out_batch.At(group) + problem_.out_columns.At(0), rest = row;
    for (const WindowDimension& d : llvm::reverse(outer_)) {
      to += rest % d.outputs * d.out_stride;
      rest /= d.outputs;
    }
    for (int64_t s = 0; s < last_.outputs; ++s) {
      uint32_t sum = 0;
      for (int64_t i = 0; i < kGradientSums; ++i) sum += sums[s * kGradientSums + i];
      out_[to + s * last_.out_stride] = static_cast<uint8_t>(sum);
    }
  }

  const Problem& problem_;
  const WindowDimension& last_;
  llvm::ArrayRef<WindowDimension> outer_;
  const uint8_t *lhs_, *rhs_;
  uint8_t* out_;
  int64_t origin_ = 0;            // of position 0 in all dimensions
  int64_t lines_ = 1, rows_ = 1;  // of a plane on the right, and of results
  std::vector<PlaneLines> lines_at_;
  std::vector<size_t> row_ends_;  // in lines_at_
  std::vector<uint32_t> masks_;
};

}  // namespace

Fit FitPlaneGradient(const Problem& problem, const Target& target) {
  Fit fit;
  if (!fit.Needs(problem.windows && !problem.windows->dims.empty(), "no windows")) return fit;
  fit.Needs(target.isa == Isa::Avx512 && target.fours, "no AVX512-VNNI");
  fit.Needs(IsOfBytes(problem), "not of bytes with results of a byte");
  fit.Needs(problem.rhs.bounds.empty() && problem.windows->images == 1 && problem.columns() == 1,
            "several features of a group");
  const WindowDimension& last = problem.windows->dims.back();
  const bool forward = llvm::all_of(problem.windows->dims,
                                    [](const WindowDimension& d) { return d.outputs > 0 && d.taps > 0; });
  fit.Needs(forward && last.lhs_stride == 1 && last.rhs_stride == 1 && last.per_tap == 1,
            "lines of planes are no neighbours");
  fit.Needs(last.outputs <= kPlaneShifts && (last.outputs == 1 || last.per_output == 1),
            "more than three shifts of a line");
  fit.Suits(last.taps >= kShortLine && problem.taps() >= kFewestTaps, "short sums");
  fit.Suits(problem.rows() <= kMostRows * last.outputs, "many results");
  return fit;
}

void RunPlaneGradient(const Problem& problem, const void* lhs, const void* rhs, void* out) {
  GradientRun(problem, lhs, rhs, out).Run();
}

}  // namespace hlo::gemm
