#include "backends/products/conv/depthwise_nhwc_staged.h"

#include <algorithm>
#include <tuple>

#include "backends/products/common/scratch.h"
#include "backends/products/common/subnormals.h"
#include "backends/products/conv/depthwise_nhwc_staged_kernels.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo::gemm {
namespace {

constexpr int64_t kMostTaps = 128;
/// Products for each staged element of types that other ways read at once, worth staging them.
constexpr int64_t kLeastReuse = 5;
constexpr int64_t kPieceWork = 1 << 15;    // products worth waking a thread for
constexpr int64_t kMostStaged = 2048;      // positions of a band, by preference
constexpr int64_t kMostPositions = 8192;   // at all
constexpr int64_t kLeastInside = 8;        // outputs of a line that are worth reading where they lie
constexpr int64_t kLongLine = 24;          // outputs of a line, one position apart: as fast as a library
constexpr int64_t kBandBytes = 384 << 10;  // of an image that is read where it lies, for all features

/// Positions that windows of so many outputs reach.
int64_t LengthOf(const WindowDimension& d, int64_t outputs) {
  return (outputs - 1) * d.per_output + (d.taps - 1) * d.per_tap + 1;
}

/// Outputs of the first dimension whose windows fit a band.
int64_t OutputsOfBand(const Windows& windows) {
  const WindowDimension& first = windows.dims[0];
  int64_t line = 1;
  for (const WindowDimension& d : llvm::drop_begin(windows.dims)) line *= LengthOf(d, d.outputs);
  const int64_t most = kMostStaged / line - LengthOf(first, 1);
  return std::clamp<int64_t>(1 + most / std::max<int64_t>(first.per_output, 1), 1, first.outputs);
}

/// The outputs [begin, end) whose windows are inside.
std::pair<int64_t, int64_t> InsideOf(const WindowDimension& d) {
  const int64_t reach = d.base + (d.taps - 1) * d.per_tap;  // of output 0
  if (d.per_output == 0) return {0, d.base >= 0 && reach < d.size ? d.outputs : 0};
  const int64_t begin = d.base < 0 ? (-d.base + d.per_output - 1) / d.per_output : 0,
                end = reach < d.size ? (d.size - 1 - reach) / d.per_output + 1 : 0;
  return {std::min(begin, d.outputs), std::max(std::min(begin, d.outputs), std::min(end, d.outputs))};
}

/// Vectors of the image are those of the result, floats, in two dimensions with most of a line inside.
bool IsReadInPlace(const Problem& problem) {
  if (problem.lhs.type != ElementType::F32 || problem.type != ElementType::F32 || problem.columns() != 1 ||
      problem.batches() % kFeatureLanes != 0 || problem.windows->dims.size() != 2)
    return false;
  const WindowDimension& last = problem.windows->dims.back();
  const auto [begin, end] = InsideOf(last);
  return end - begin >= kLeastInside && end - begin >= last.outputs / 2;
}

class LaneRun {
 public:
  LaneRun(const Problem& problem, const void* lhs, const void* rhs, void* out)
      : problem_(problem),
        windows_(*problem.windows),
        outer_(llvm::ArrayRef(windows_.dims).drop_back()),
        last_(windows_.dims.back()),
        lhs_codes_(LaneCodesFor(*LaneTypeOf(problem.lhs.type))),
        rhs_codes_(LaneCodesFor(*LaneTypeOf(problem.rhs.type))),
        out_codes_(LaneCodesFor(*LaneTypeOf(problem.type))),
        lhs_(static_cast<const uint8_t*>(lhs)),
        rhs_(static_cast<const uint8_t*>(rhs)),
        out_(static_cast<uint8_t*>(out)),
        lhs_bytes_(Info(problem.lhs.type).host_bytes()),
        rhs_bytes_(Info(problem.rhs.type).host_bytes()),
        out_bytes_(Info(problem.type).host_bytes()),
        features_(problem.batches() * problem.columns()),
        vectors_((features_ + kFeatureLanes - 1) / kFeatureLanes),
        band_(OutputsOfBand(windows_)),
        bands_((windows_.dims[0].outputs + band_ - 1) / band_),
        origin_(problem.lhs.base + problem.lhs.batch.At(0)) {
    int64_t pitch = kFeatureLanes;
    for (const WindowDimension& d : llvm::reverse(windows_.dims)) {
      pitches_.push_back(pitch);
      pitch *= LengthOf(d, &d == windows_.dims.data() ? band_ : d.outputs);
      origin_ -= d.base * d.lhs_stride;
    }
    staged_ = pitch;
    std::reverse(pitches_.begin(), pitches_.end());
    llvm::SmallVector<Axis, 3> offsets, weights;
    for (size_t t = 0; t < pitches_.size(); ++t) {
      const WindowDimension& d = windows_.dims[t];
      offsets.push_back({d.taps, d.per_tap * pitches_[t]});
      weights.push_back({d.taps, d.rhs_stride});
    }
    offsets_.resize(static_cast<size_t>(problem.taps()));
    weights_at_.resize(offsets_.size());
    Index(offsets).Fill(0, problem.taps(), offsets_.data());
    Index(weights).Fill(0, problem.taps(), weights_at_.data());
    if (IsReadInPlace(problem)) ReadInPlace();
  }

  void Run() const {
    const int64_t work = problem_.rows() / windows_.images / bands_ * problem_.taps() * kFeatureLanes;
    ParallelFor(0, windows_.images * bands_ * vectors_, kPieceWork / std::max<int64_t>(work, 1) + 1,
                [&](int64_t begin, int64_t end) {
                  const FlushSubnormals flush;
                  for (int64_t i = begin; i < end && !Interrupted(); ++i)
                    Piece(i / vectors_ / bands_, i / vectors_ % bands_, i % vectors_);
                });
  }

 private:
  /// Lanes of a vector of the result.
  struct Features {
    int64_t first, used;           // of the result
    int64_t input;                 // the first of the image
    uint32_t inputs;               // mask of those that are read
    int32_t lanes[kFeatureLanes];  // which of them each lane reads
  };

  [[nodiscard]] Features FeaturesOf(int64_t vector) const {
    Features f;
    const int64_t each = problem_.columns();
    f.first = vector * kFeatureLanes;
    f.used = std::min(kFeatureLanes, features_ - f.first);
    f.input = f.first / each;
    f.inputs = (2U << static_cast<uint32_t>((f.first + f.used - 1) / each - f.input)) - 1;
    for (int64_t l = 0; l < kFeatureLanes; ++l)
      f.lanes[l] = static_cast<int32_t>((f.first + std::min(l, f.used - 1)) / each - f.input);
    return f;
  }

  void ReadInPlace() {
    const WindowDimension& first = windows_.dims[0];
    std::tie(inside_begin_, inside_end_) = InsideOf(last_);
    std::tie(lines_begin_, lines_end_) = InsideOf(first);
    const int64_t line_bytes =
        std::max<int64_t>(first.per_output * std::abs(first.lhs_stride) * lhs_bytes_, 1);
    band_ = std::clamp<int64_t>(kBandBytes / line_bytes, 1, first.outputs);
    bands_ = (first.outputs + band_ - 1) / band_;
    column_pitch_ = LengthOf(last_, 1) * kFeatureLanes;
    const int64_t line = pitches_[0] * LengthOf(first, 1), column = LengthOf(first, band_) * column_pitch_;
    staged_ = std::max(line, column);
    in_offsets_.resize(offsets_.size());
    column_offsets_.resize(offsets_.size());
    Index({Axis{first.taps, first.per_tap * first.lhs_stride},
           Axis{last_.taps, last_.per_tap * last_.lhs_stride}})
        .Fill(0, problem_.taps(), in_offsets_.data());
    Index({Axis{first.taps, first.per_tap * column_pitch_}, Axis{last_.taps, last_.per_tap * kFeatureLanes}})
        .Fill(0, problem_.taps(), column_offsets_.data());
  }

  /// A band of lines: those whose windows are inside are read where they lie but for their ends, and others
  /// are staged.
  void PieceInPlace(int64_t image, int64_t band, int64_t vector) const {
    const Features features = FeaturesOf(vector);
    const WindowDimension& first = windows_.dims[0];
    const int64_t begin = band * band_, end = std::min(begin + band_, first.outputs),
                  from = origin_ + image * windows_.lhs_image + features.input,
                  to = problem_.out_base + problem_.out_batch.At(0) + image * windows_.out_image +
                       features.first,
                  inside_from = std::clamp(lines_begin_, begin, end),
                  inside_to = std::clamp(lines_end_, inside_from, end);
    float* const weights = ScratchFor<float>(ScratchUse::Right, problem_.taps() * kFeatureLanes);
    TakeWeights(features, weights);
    const auto* in = reinterpret_cast<const float*>(lhs_) + from +
                     (last_.base + inside_begin_ * last_.per_output) * last_.lhs_stride;
    auto* out = reinterpret_cast<float*>(out_) + to;
    for (int64_t o = begin; o < end; ++o) {
      if (o < inside_from || o >= inside_to) {
        float* const staged = ScratchFor<float>(ScratchUse::Expanded, staged_);
        Stage(0, from, o * first.per_output, LengthOf(first, 1), features, staged);
        Line(features, staged, weights, last_.outputs, to + o * first.out_stride);
        continue;
      }
      AddLaneWindows({in + (first.base + o * first.per_output) * first.lhs_stride,
                      last_.per_output * last_.lhs_stride, in_offsets_.data(), problem_.taps(), LineTaps(),
                      weights, inside_end_ - inside_begin_,
                      out + o * first.out_stride + inside_begin_ * last_.out_stride, last_.out_stride});
    }
    if (inside_from == inside_to) return;
    for (int64_t o = 0; o < last_.outputs; ++o) {
      if (o == inside_begin_) o = inside_end_;
      if (o < last_.outputs)
        Column(from, inside_from, inside_to - inside_from, o, weights, out + o * last_.out_stride);
    }
  }

  /// Output `o` of lines whose windows reach beyond their ends alone; `out` is that of line 0.
  void Column(int64_t from, int64_t line, int64_t lines, int64_t o, const float* weights, float* out) const {
    const WindowDimension& first = windows_.dims[0];
    float* const staged = ScratchFor<float>(ScratchUse::Expanded, staged_);
    const int64_t at = o * last_.per_output + last_.base, width = LengthOf(last_, 1),
                  low = std::clamp<int64_t>(-at, 0, width),
                  high = std::clamp<int64_t>(last_.size - at, low, width);
    const float* in = reinterpret_cast<const float*>(lhs_) + from +
                      (first.base + line * first.per_output) * first.lhs_stride +
                      (at + low) * last_.lhs_stride;
    float* to = staged;
    for (int64_t l = 0; l < LengthOf(first, lines); ++l, in += first.lhs_stride, to += column_pitch_) {
      std::fill_n(to, low * kFeatureLanes, 0.0F);
      for (int64_t j = low; j < high; ++j)
        std::copy_n(in + (j - low) * last_.lhs_stride, kFeatureLanes, to + j * kFeatureLanes);
      std::fill_n(to + high * kFeatureLanes, (width - high) * kFeatureLanes, 0.0F);
    }
    AddLaneWindows({staged, first.per_output * column_pitch_, column_offsets_.data(), problem_.taps(), 1,
                    weights, lines, out + line * first.out_stride, first.out_stride});
  }

  void Piece(int64_t image, int64_t band, int64_t vector) const {
    if (!in_offsets_.empty()) return PieceInPlace(image, band, vector);
    const Features features = FeaturesOf(vector);
    const WindowDimension& first = windows_.dims[0];
    const int64_t begin = band * band_, outputs = std::min(band_, first.outputs - begin);
    float* const staged = ScratchFor<float>(ScratchUse::Expanded, staged_);
    Stage(0, origin_ + image * windows_.lhs_image + features.input, begin * first.per_output,
          LengthOf(first, outputs), features, staged);
    float* const weights = ScratchFor<float>(ScratchUse::Right, problem_.taps() * kFeatureLanes);
    TakeWeights(features, weights);
    const int64_t to = problem_.out_base + problem_.out_batch.At(0) + image * windows_.out_image +
                       begin * first.out_stride + features.first;
    if (outer_.empty()) return Line(features, staged, weights, outputs, to);
    Outputs(0, outputs, features, staged, weights, to);
  }

  /// Positions [begin, begin + count) of those that windows reach in dimension t; `from` is where position 0
  /// of the image lies.
  void Stage(size_t t, int64_t from, int64_t begin, int64_t count, const Features& features,
             float* to) const {
    const WindowDimension& d = windows_.dims[t];
    const int64_t pitch = pitches_[t], low = std::clamp<int64_t>(-d.base - begin, 0, count),
                  high = std::clamp<int64_t>(d.size - d.base - begin, low, count);
    std::fill_n(to, low * pitch, 0.0F);
    from += (d.base + begin + low) * d.lhs_stride;
    if (t + 1 == pitches_.size()) {
      lhs_codes_.load(lhs_ + from * lhs_bytes_, d.lhs_stride * lhs_bytes_, high - low, features.inputs,
                      features.lanes, to + low * pitch);
    } else {
      const WindowDimension& next = windows_.dims[t + 1];
      for (int64_t j = low; j < high; ++j, from += d.lhs_stride)
        Stage(t + 1, from, 0, LengthOf(next, next.outputs), features, to + j * pitch);
    }
    std::fill_n(to + high * pitch, (count - high) * pitch, 0.0F);
  }

  void TakeWeights(const Features& features, float* to) const {
    static constexpr int32_t kInOrder[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const int64_t base =
        problem_.rhs.base + problem_.rhs.batch.At(0) + problem_.rhs.rows.At(0) + features.first;
    for (const int64_t at : weights_at_) {
      rhs_codes_.load(rhs_ + (base + at) * rhs_bytes_, 0, 1, (1U << static_cast<uint32_t>(features.used)) - 1,
                      kInOrder, to);
      to += kFeatureLanes;
    }
  }

  /// `count` outputs of dimension t, and all of those after it.
  void Outputs(size_t t, int64_t count, const Features& features, const float* staged, const float* weights,
               int64_t to) const {
    const WindowDimension& d = windows_.dims[t];
    for (int64_t o = 0; o < count; ++o, staged += d.per_output * pitches_[t], to += d.out_stride) {
      if (t + 2 == pitches_.size())
        Line(features, staged, weights, last_.outputs, to);
      else
        Outputs(t + 1, windows_.dims[t + 1].outputs, features, staged, weights, to);
    }
  }

  void Line(const Features& features, const float* staged, const float* weights, int64_t count,
            int64_t to) const {
    const bool direct = problem_.type == ElementType::F32 && features.used == kFeatureLanes;
    float* const sums = direct ? reinterpret_cast<float*>(out_) + to
                               : ScratchFor<float>(ScratchUse::Sums, count * kFeatureLanes);
    AddLaneWindows({staged, last_.per_output * kFeatureLanes, offsets_.data(), problem_.taps(), LineTaps(),
                    weights, count, sums, direct ? last_.out_stride : kFeatureLanes});
    if (direct) return;
    out_codes_.store(sums, count, features.used, out_ + to * out_bytes_, last_.out_stride * out_bytes_);
  }

  [[nodiscard]] int64_t LineTaps() const { return last_.per_tap == last_.per_output ? last_.taps : 1; }

  const Problem& problem_;
  const Windows& windows_;
  llvm::ArrayRef<WindowDimension> outer_;
  const WindowDimension& last_;
  const LaneCodes &lhs_codes_, &rhs_codes_, &out_codes_;
  const uint8_t *lhs_, *rhs_;
  uint8_t* out_;
  int64_t lhs_bytes_, rhs_bytes_, out_bytes_;
  int64_t features_, vectors_;             // of the result
  int64_t band_, bands_;                   // outputs of the first dimension
  int64_t origin_;                         // of position 0 in all dimensions
  int64_t staged_ = 0;                     // floats of a band
  llvm::SmallVector<int64_t, 3> pitches_;  // of staged positions, by dimension
  std::vector<int64_t> offsets_, weights_at_;
  // Of images that are read where they lie: offsets of taps in the image, and in a column that is staged, …
  std::vector<int64_t> in_offsets_, column_offsets_;
  int64_t column_pitch_ = 0;                   // … whose lines are so many floats
  int64_t inside_begin_ = 0, inside_end_ = 0;  // outputs of a line whose windows are inside
  int64_t lines_begin_ = 0, lines_end_ = 0;    // of lines
};

/// Neighbours at a distance of `stride`, or nothing that has neighbours.
bool HasStride(const Index& index, int64_t stride) {
  return index.count() == 1 || (index.IsUniform() && index.stride() == stride);
}

}  // namespace

Fit FitLanes(const Problem& problem, const Target& target) {
  Fit fit;
  if (!fit.Needs(problem.windows && !problem.windows->dims.empty(), "no windows")) return fit;
  fit.Needs(target.isa == Isa::Avx512, "no AVX-512");
  fit.Needs(problem.channels == 1, "several features of the input in a group");
  fit.Needs(problem.compute == ComputeType::F32 && LaneTypeOf(problem.type) && LaneTypeOf(problem.lhs.type) &&
                LaneTypeOf(problem.rhs.type),
            "types that are not staged as floats");
  const Windows& windows = *problem.windows;
  const bool forward = llvm::all_of(windows.dims, [](const WindowDimension& d) {
    return d.outputs > 0 && d.taps > 0 && d.per_output >= 0 && d.per_tap >= 0 &&
           d.per_output <= LengthOf(d, 1);
  });
  fit.Needs(forward && problem.rhs.bounds.empty(), "windows that leave gaps or step backwards");
  fit.Needs(problem.taps() <= kMostTaps, "too many taps");
  const int64_t columns = problem.columns();
  fit.Needs(problem.batches() > 1 && columns <= kFeatureLanes, "one group, or many features of each");
  fit.Needs(HasStride(problem.lhs.batch, 1) && HasStride(problem.rhs.rows, 1) &&
                HasStride(problem.rhs.batch, columns) && HasStride(problem.out_columns, 1) &&
                HasStride(problem.out_batch, columns),
            "features are no neighbours");
  if (!fit.can()) return fit;
  int64_t line = 1;
  for (const WindowDimension& d : llvm::drop_begin(windows.dims)) line *= LengthOf(d, d.outputs);
  fit.Needs(line * LengthOf(windows.dims[0], 1) <= kMostPositions, "windows reach too much of an image");
  const ElementType type = problem.lhs.type;
  const bool soon_read = type == ElementType::F32 || type == ElementType::BF16;
  fit.Suits(!soon_read ||
                problem.rows() * problem.taps() >=
                    kLeastReuse * windows.images * line * LengthOf(windows.dims[0], windows.dims[0].outputs),
            "too few products for each element that would be staged");
  fit.Suits(problem.batches() * columns >= kFeatureLanes, "features do not fill vectors");
  return fit;
}

bool IsOfLanes(const Problem& problem, const Target& target) { return FitLanes(problem, target).suits(); }

bool IsOfLongLines(const Problem& problem, const Target& target) {
  if (!IsOfLanes(problem, target) || !IsReadInPlace(problem)) return false;
  const WindowDimension& last = problem.windows->dims.back();
  const auto [begin, end] = InsideOf(last);
  return last.per_output == 1 && end - begin >= kLongLine;
}

void RunOfLanes(const Problem& problem, const void* lhs, const void* rhs, void* out) {
  LaneRun(problem, lhs, rhs, out).Run();
}

}  // namespace hlo::gemm
