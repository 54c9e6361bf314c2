#include "backends/products/conv/depthwise_nchw_weight_gradient.h"

#include <algorithm>

#include "backends/products/common/subnormals.h"
#include "backends/products/conv/depthwise_nchw_weight_gradient_kernels.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo::gemm {
namespace {

constexpr int64_t kFewestTaps = 64, kShortLine = 8;
constexpr int64_t kPieceWork = 1 << 16;  // products worth waking a thread for

class FloatGradientRun {
 public:
  FloatGradientRun(const Problem& problem, const void* lhs, const void* rhs, void* out)
      : problem_(problem),
        outer_(problem.windows->dims.front()),
        last_(problem.windows->dims.back()),
        lhs_(static_cast<const float*>(lhs) + problem.lhs.base - outer_.base * outer_.lhs_stride -
             last_.base * last_.lhs_stride),
        rhs_(static_cast<const float*>(rhs) + problem.rhs.base + problem.rhs.rows.At(0)),
        out_(static_cast<float*>(out)) {
    const auto between = [](int64_t begin, int64_t end) {
      const auto below = [](int64_t n) { return (1U << std::clamp<int64_t>(n, 0, kGradientFloats)) - 1; };
      return static_cast<uint16_t>(below(end) & ~below(begin));
    };
    for (int64_t at = 0; at < last_.taps; at += kGradientFloats) {
      for (int64_t s = 0; s <= kGradientShifts; ++s) {
        const int64_t first = s == kGradientShifts ? 0 : last_.base + at + s,
                      size = s == kGradientShifts ? last_.taps : last_.size;
        masks_.push_back(between(-first, std::min(size - first, last_.taps - at)));
      }
    }
  }

  void Run() const {
    const int64_t work = problem_.depth() * problem_.rows();
    ParallelFor(0, problem_.batches(), kPieceWork / work + 1, [&](int64_t begin, int64_t end) {
      const FlushSubnormals flush;
      for (int64_t group = begin; group < end && !Interrupted(); ++group) Group(group);
    });
  }

 private:
  /// All results of a group.
  void Group(int64_t group) const {
    float sums[kGradientShifts * kGradientShifts * kGradientFloats] = {};
    FloatGradientArgs args = {lhs_ + problem_.lhs.batch.At(group),
                              rhs_ + problem_.rhs.batch.At(group),
                              outer_.lhs_stride,
                              outer_.rhs_stride,
                              outer_.base,
                              outer_.taps,
                              outer_.size,
                              last_.base,
                              (last_.taps + kGradientFloats - 1) / kGradientFloats,
                              masks_.data(),
                              sums};
    for (int64_t c = 0; c < problem_.channels; ++c) {
      AddFloatGradient(outer_.outputs, args);
      args.left += problem_.lhs.channel_stride;
      args.right += problem_.rhs.channel_stride;
    }
    float* to = out_ + problem_.out_base + problem_.out_batch.At(group) + problem_.out_columns.At(0);
    for (int64_t r = 0; r < outer_.outputs; ++r)
      for (int64_t s = 0; s < last_.outputs; ++s) {
        const float* from = sums + (r * kGradientShifts + s) * kGradientFloats;
        float halves[kGradientFloats];
        std::copy_n(from, kGradientFloats, halves);
        for (int64_t n = kGradientFloats / 2; n > 0; n /= 2)
          for (int64_t i = 0; i < n; ++i) halves[i] += halves[i + n];
        to[r * outer_.out_stride + s * last_.out_stride] = halves[0];
      }
  }

  const Problem& problem_;
  const WindowDimension &outer_, &last_;
  const float *lhs_, *rhs_;  // where position 0 of images is, and the first line on the right
  float* out_;
  std::vector<uint16_t> masks_;
};

}  // namespace

Fit FitFloatGradient(const Problem& problem, const Target& target) {
  Fit fit;
  if (!fit.Needs(problem.windows && problem.windows->dims.size() == 2, "no windows of two dimensions"))
    return fit;
  fit.Needs(target.isa == Isa::Avx512, "no AVX-512");
  for (const ElementType type : {problem.lhs.type, problem.rhs.type, problem.type})
    fit.Needs(type == ElementType::F32, "not all of F32");
  fit.Needs(problem.rhs.bounds.empty() && problem.windows->images == 1 && problem.columns() == 1,
            "several features of a group");
  const WindowDimension& last = problem.windows->dims.back();
  fit.Needs(llvm::all_of(problem.windows->dims,
                         [](const WindowDimension& d) {
                           return d.outputs > 0 && d.outputs <= kGradientShifts && d.taps > 0 &&
                                  (d.taps == 1 || d.per_tap == 1) && (d.outputs == 1 || d.per_output == 1);
                         }),
            "more than three shifts of a line");
  fit.Needs(last.lhs_stride == 1 && last.rhs_stride == 1, "lines of planes are no neighbours");
  fit.Suits(last.taps >= kShortLine && problem.taps() >= kFewestTaps, "short sums");
  return fit;
}

void RunFloatGradient(const Problem& problem, const void* lhs, const void* rhs, void* out) {
  FloatGradientRun(problem, lhs, rhs, out).Run();
}

}  // namespace hlo::gemm
