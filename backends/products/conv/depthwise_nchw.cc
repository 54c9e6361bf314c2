#include "backends/products/conv/depthwise_nchw.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "backends/products/common/scratch.h"
#include "backends/products/common/subnormals.h"
#include "backends/products/common/sums.h"
#include "backends/products/conv/depthwise_nchw_kernels.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo::gemm {
namespace {

constexpr int64_t kMostColumns = 8;
constexpr int64_t kFewestOutputs = 8;     // of a line
constexpr int64_t kPieceWork = 1 << 16;   // products worth waking a thread for
constexpr int64_t kMostSums = 256 << 10;  // of a plane
/// Planes that are shared among threads as they are, products of one if there are fewer.
constexpr int64_t kFewestPlanes = 8, kMostPlaneWork = 1 << 18;
/// Vectors of a line times taps, each of which has a mask that is made for every run.
constexpr int64_t kMostMasks = 2048, kLeastLanes = 16;

std::optional<PlaneKind> KindOf(const Problem& problem) {
  const ElementType type = problem.lhs.type;
  if (type != problem.rhs.type || IsComplex(problem.type) || IsPred(problem.type)) return std::nullopt;
  if (problem.compute == ComputeType::F32) {
    if (type == ElementType::F32) return PlaneKind::F32;
    if (type == ElementType::BF16) return problem.type == type ? PlaneKind::Bf16 : PlaneKind::Bf16ToF32;
    if (type == ElementType::F16) return PlaneKind::F16;
    return std::nullopt;
  }
  // Results wrap.
  if (problem.compute != ComputeType::U32 || !IsIntegral(type)) return std::nullopt;
  const int bits = Info(type).bits, result = Info(problem.type).host_bytes();
  if (bits == 8 && result == 1) return PlaneKind::Byte;
  if (bits == 16 && result == 2) return PlaneKind::Half;
  return std::nullopt;
}

bool IsOfWords(PlaneKind kind) { return kind == PlaneKind::Byte || kind == PlaneKind::Half; }

class PlaneRun {
 public:
  PlaneRun(const Problem& problem, const KernelSet& kernels, const void* lhs, const void* rhs, void* out)
      : problem_(problem),
        kernels_(kernels),
        kind_(*KindOf(problem)),
        windows_(*problem.windows),
        last_(windows_.dims.back()),
        outer_(llvm::ArrayRef(windows_.dims).drop_back()),
        kernel_(PlaneKernelFor(kind_, last_.outputs == 1 ? 1 : last_.per_output)),
        bytes_(Info(problem.lhs.type).host_bytes()),
        lhs_(static_cast<const uint8_t*>(lhs)),
        rhs_(static_cast<const uint8_t*>(rhs)),
        out_(static_cast<uint8_t*>(out)),
        direct_(IsOfWords(kind_) || kind_ == PlaneKind::Bf16 || problem.type == ElementType::F32) {
    llvm::SmallVector<Axis, 3> outputs, taps;
    origin_ = problem.lhs.base;
    for (const WindowDimension& d : outer_) {
      outputs.push_back({d.outputs, d.out_stride});
      lines_ *= d.outputs;
    }
    for (const WindowDimension& d : windows_.dims) {
      origin_ -= d.base * d.lhs_stride;
      taps.push_back({d.taps, d.rhs_stride});
    }
    weights_at_.resize(static_cast<size_t>(problem.taps()));
    Index(taps).Fill(0, problem.taps(), weights_at_.data());
    out_offsets_.resize(static_cast<size_t>(lines_));
    Index(outputs).Fill(0, lines_, out_offsets_.data());
    for (int64_t line = 0; line < lines_; ++line) {
      FindLines(line);
      sum_offsets_.push_back(line * last_.outputs);
    }
    zeros_.resize(static_cast<size_t>(last_.size * bytes_));
    lhs_at_ = All(problem.lhs.batch, problem.batches());
    rhs_at_ = All(problem.rhs.batch, problem.batches());
    out_at_ = All(problem.out_batch, problem.batches());
    rhs_columns_ = All(problem.rhs.rows, problem.columns());
    out_columns_ = All(problem.out_columns, problem.columns());
    FindMasks();
  }

  void Run() const {
    const int64_t images = windows_.images,
                  work = lines_ * last_.outputs * problem_.taps() * problem_.columns();
    ParallelFor(0, problem_.batches() * images, std::max<int64_t>(kPieceWork / work, 1),
                [&](int64_t begin, int64_t end) {
                  const FlushSubnormals flush;
                  for (int64_t i = begin; i < end && !Interrupted(); ++i)
                    Plane(static_cast<size_t>(i / images), i % images);
                });
  }

 private:
  static std::vector<int64_t> All(const Index& index, int64_t count) {
    std::vector<int64_t> offsets(static_cast<size_t>(count));
    index.Fill(0, count, offsets.data());
    return offsets;
  }

  /// Which elements vectors find in a line.
  void FindMasks() {
    const int64_t step = last_.outputs == 1 ? 1 : last_.per_output, lanes = kernel_.lanes,
                  reach = lanes * step;
    for (int64_t at = 0; at < last_.outputs; at += lanes)
      for (int64_t k = 0; k < last_.taps; ++k) {
        const int64_t first = last_.base + at * step + k * last_.per_tap,
                      begin = std::clamp<int64_t>(-first, 0, reach),
                      end = std::clamp<int64_t>(last_.size - first, begin, reach);
        const auto below = [](int64_t n) { return n >= 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1; };
        masks_.push_back(below(end) & ~below(begin));
      }
    const int64_t first = last_.base, last = first + (last_.taps - 1) * last_.per_tap,
                  vectors = (last_.outputs + lanes - 1) / lanes;
    inner_begin_ = std::clamp<int64_t>((reach - 1 - first) / reach, 0, vectors);
    inner_end_ = std::clamp<int64_t>((last_.size - last) / reach, inner_begin_, vectors);
  }

  /// Where the lines of windows of a line of results begin.
  void FindLines(int64_t line) {
    llvm::SmallVector<int64_t, 16> offsets = {0};
    int64_t rest = lines_;
    for (const WindowDimension& d : outer_) {
      rest /= d.outputs;
      const int64_t first = d.base + line / rest % d.outputs * d.per_output;
      llvm::SmallVector<int64_t, 16> next;
      for (const int64_t offset : offsets)
        for (int64_t k = 0; k < d.taps; ++k) {
          const int64_t at = first + k * d.per_tap;
          next.push_back(offset < 0 || at < 0 || at >= d.size ? -1 : offset + at * d.lhs_stride * bytes_);
        }
      offsets = std::move(next);
    }
    offsets_.insert(offsets_.end(), offsets.begin(), offsets.end());
  }

  /// All results of a plane.
  void Plane(size_t group, int64_t image) const {
    const int64_t window_lines = static_cast<int64_t>(offsets_.size()) / lines_,
                  size = Info(problem_.type).host_bytes(),
                  base = problem_.out_base + out_at_[group] + image * windows_.out_image;
    float* sums = direct_ ? nullptr : ScratchFor<float>(ScratchUse::Sums, lines_ * last_.outputs);
    llvm::SmallVector<float, 64> weights(static_cast<size_t>(problem_.taps()));
    for (size_t c = 0; c < out_columns_.size(); ++c) {
      TakeWeights(rhs_at_[group] + rhs_columns_[c], weights.data());
      uint8_t* to = out_ + (base + out_columns_[c]) * size;
      kernel_.run({lhs_ + (origin_ + lhs_at_[group] + image * windows_.lhs_image) * bytes_, offsets_.data(),
                   zeros_.data(), window_lines, last_.taps, last_.base, last_.per_tap, masks_.data(),
                   inner_begin_, inner_end_, weights.data(), lines_, last_.outputs,
                   direct_ ? static_cast<void*>(to) : sums,
                   direct_ ? out_offsets_.data() : sum_offsets_.data()});
      if (!direct_) StorePlane(sums, to);
    }
  }

  /// In the order of taps, the last dimension fastest.
  void TakeWeights(int64_t at, float* to) const {
    const Operand& rhs = problem_.rhs;
    const uint8_t* from = rhs_ + (rhs.base + at) * bytes_;
    for (int64_t k = 0; k < problem_.taps(); ++k) {
      const uint8_t* weight = from + weights_at_[static_cast<size_t>(k)] * bytes_;
      if (kind_ == PlaneKind::Byte)
        reinterpret_cast<uint16_t*>(to)[k] = *weight;
      else if (kind_ == PlaneKind::Half)
        std::memcpy(reinterpret_cast<uint16_t*>(to) + k, weight, sizeof(uint16_t));
      else if (kind_ == PlaneKind::F32)
        std::memcpy(to + k, weight, sizeof(float));
      else
        ToCompute(problem_, rhs, kernels_, weight, 1, to + k);
    }
  }

  /// Lines that are neighbours are converted at once.
  void StorePlane(const float* sums, uint8_t* out) const {
    const int64_t size = Info(problem_.type).host_bytes(), width = last_.outputs;
    const auto at = [&](int64_t line) { return out_offsets_[static_cast<size_t>(line)]; };
    for (int64_t line = 0, end = 0; line < lines_; line = end) {
      for (end = line + 1; end < lines_ && at(end) == at(end - 1) + width;) ++end;
      FromCompute(problem_.type, kernels_, sums + line * width, (end - line) * width, out + at(line) * size);
    }
  }

  const Problem& problem_;
  const KernelSet& kernels_;
  PlaneKind kind_;
  const Windows& windows_;
  const WindowDimension& last_;
  llvm::ArrayRef<WindowDimension> outer_;
  const PlaneKernel& kernel_;
  int64_t bytes_;  // of an element
  const uint8_t *lhs_, *rhs_;
  uint8_t* out_;
  bool direct_;                              // sums are what is stored
  int64_t origin_ = 0;                       // of position 0 in all dimensions
  int64_t lines_ = 1;                        // of a result
  int64_t inner_begin_ = 0, inner_end_ = 0;  // vectors of a line that find all elements
  std::vector<int64_t> weights_at_, offsets_, out_offsets_, sum_offsets_;
  std::vector<int64_t> lhs_at_, rhs_at_, out_at_;  // by batch
  std::vector<int64_t> rhs_columns_, out_columns_;
  std::vector<uint8_t> zeros_;
  std::vector<uint64_t> masks_;
};

}  // namespace

Fit FitPlanes(const Problem& problem, const Target& target) {
  Fit fit;
  if (!fit.Needs(problem.windows && !problem.windows->dims.empty(), "no windows")) return fit;
  fit.Needs(target.isa == Isa::Avx512, "no AVX-512");
  fit.Needs(problem.channels == 1, "several features of the input in a group");
  if (!fit.Needs(KindOf(problem).has_value(), "types that planes are not read as") || !fit.can()) return fit;
  const Windows& windows = *problem.windows;
  const WindowDimension& last = windows.dims.back();
  const bool forward = llvm::all_of(windows.dims, [](const WindowDimension& d) {
    return d.outputs > 0 && d.taps > 0 && (d.per_output > 0 || d.outputs == 1) &&
           (d.per_tap > 0 || d.taps == 1);
  });
  fit.Needs(forward && problem.rhs.bounds.empty(), "windows that step backwards, or padded weights");
  fit.Needs(last.lhs_stride == 1 && last.out_stride == 1, "lines of planes are no neighbours");
  fit.Needs(last.per_output <= 2, "windows step by more than two");
  fit.Needs(problem.taps() > 1 && problem.taps() <= kMostPlaneTaps, "one tap, or too many");
  if (!fit.can()) return fit;
  const int64_t outputs = problem.rows() / windows.images;
  fit.Suits(last.outputs >= kFewestOutputs && problem.taps() <= outputs, "few positions of the result");
  fit.Suits(problem.columns() <= kMostColumns, "many features of the result");
  fit.Suits(problem.columns() * outputs <= kMostSums && last.outputs * last.taps <= kMostMasks * kLeastLanes,
            "large planes");
  fit.Suits(problem.batches() * windows.images >= kFewestPlanes ||
                // Floats of few single lines are faster by shifts of them.
                ((outputs > last.outputs || IsOfWords(*KindOf(problem))) &&
                 outputs * problem.taps() * problem.columns() <= kMostPlaneWork),
            "few planes for threads");
  return fit;
}

void RunOfPlanes(const Problem& problem, const KernelSet& kernels, const void* lhs, const void* rhs,
                 void* out) {
  PlaneRun(problem, kernels, lhs, rhs, out).Run();
}

}  // namespace hlo::gemm
