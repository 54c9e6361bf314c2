#include "backends/products/conv/weight_gradient_vnni.h"

#include <algorithm>
#include <tuple>

#include "backends/products/common/scratch.h"
#include "backends/products/common/subnormals.h"
#include "backends/products/common/sums.h"
#include "backends/products/dot/packed_gemm_vnni.h"
#include "ir/support/buffer.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo::gemm {
namespace {

constexpr int64_t kFewestSteps = 512, kFewestTaps = 64, kMostRows = 64, kMostFeatures = 32;
constexpr int64_t kFewFeatures = 4, kMostOfOther = 256;  // of the two sides of one group
constexpr int64_t kFewestLanes = 8;                      // of a vector
constexpr int64_t kPartSteps = 512, kMostParts = 16;
constexpr int64_t kMostSums = 1 << 20;       // of all parts
constexpr int64_t kStagedBytes = 128 << 10;  // stay in the second cache,
constexpr int64_t kBytesAtOnce = 16 << 10;   // and in the first what a row reads at a time
constexpr int64_t kMostStaged = 4 << 20;     // of the shortest band
constexpr int64_t kSegmentPositions = 64;    // of images that have but lines
constexpr int64_t kSlack = kWordVectorBytes;

using Dims = llvm::SmallVector<WindowDimension, 3>;

/// As they lie in the left image, outermost first.
Dims SortedDims(const Windows& windows) {
  Dims dims(windows.dims.begin(), windows.dims.end());
  llvm::sort(dims, [](const auto& a, const auto& b) { return a.lhs_stride > b.lhs_stride; });
  return dims;
}

/// Words of positions are along the last dimension; `units` of the first one, or segments of the only one,
/// are what bands are made of.
class PositionRun {
 public:
  PositionRun(const Problem& problem, const WordWay& way, const KernelSet& kernels, const void* lhs,
              const void* rhs, void* out)
      : problem_(problem),
        kernels_(kernels),
        groups_(*way.kernels),
        is_float_(way.kind == GroupKind::Bf16),
        bytes_(Info(problem.lhs.type).host_bytes()),
        elements_(kWordBytes / bytes_),
        lhs_(static_cast<const uint8_t*>(lhs)),
        rhs_(static_cast<const uint8_t*>(rhs) + (problem.rhs.base + problem.rhs.rows.At(0)) * bytes_),
        out_(static_cast<uint8_t*>(out)),
        dims_(SortedDims(*problem.windows)),
        features_(problem.windows->images),
        left_width_(problem.batches() * features_),
        right_width_(problem.batches() * problem.columns()) {
    origin_ = problem.lhs.base;
    for (const WindowDimension& d : dims_) origin_ -= d.base * d.lhs_stride;
    const PositionForm form = PositionFormOf(features_, problem.columns(), problem.batches());
    if (form == PositionForm::Same) fold_ = std::max<int64_t>(kWordLanes / right_width_, 1);
    shifted_ = elements_ > 2 && form != PositionForm::Single && last().per_tap == 1;
    FindPitches();
    rows_ = problem.rows() / features_;
    size_ = rows_ * features_ * right_width_ * fold_;
    all_units_ = units_ * problem.channels;
    parts_ = std::clamp<int64_t>(std::min(problem.depth() / kPartSteps, kMostSums / size_), 1,
                                 std::min(kMostParts, all_units_));
    FindRows();
    FindSteps();
  }

  /// Of the least band.
  [[nodiscard]] int64_t StagedBytes() const { return LeftBytes(1) + right_unit_; }

  void Run() {
    sums_ = MakeBuffer<int32_t>(static_cast<size_t>(parts_ * size_));
    ParallelFor(0, parts_, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end && !Interrupted(); ++i) Part(i);
    });
    const FlushSubnormals flush;
    for (int64_t row = 0; row < rows_; ++row) Store(row);
  }

 private:
  [[nodiscard]] bool IsLine() const { return dims_.size() == 1; }
  [[nodiscard]] const WindowDimension& last() const { return dims_.back(); }

  /// By dimension how far apart neighbours are staged on the left. There are lines of words for all shifts of
  /// a line, or for all that kernels do not shift themselves.
  void FindPitches() {
    const WindowDimension& line = last();
    words_ = ((IsLine() ? std::min(line.taps, kSegmentPositions) : line.taps) + elements_ - 1) / elements_;
    words_ = (words_ + fold_ - 1) / fold_ * fold_;
    int64_t reach = 0;  // words beyond those
    for (int64_t s = 0; s < line.outputs; ++s) {
      const int64_t at = s * line.per_output, first = shifted_ ? at % line.per_tap : at,
                    elements = (at - first) / std::max<int64_t>(line.per_tap, 1);
      const auto* known = llvm::find(lines_staged_, first);
      shifts_.push_back({known - lines_staged_.begin(), elements});
      if (known == lines_staged_.end()) lines_staged_.push_back(first);
      if (shifted_) reach = std::max(reach, elements / elements_ + 1);
    }
    left_line_ = (words_ + reach) * left_width_ * kWordBytes;
    right_line_ = words_ * right_width_ * kWordBytes;
    pitches_.resize(dims_.size());
    pitches_.back() = left_line_;
    int64_t pitch = left_line_ * static_cast<int64_t>(lines_staged_.size());
    for (size_t t = dims_.size() - 1; t-- > 0;) {
      const WindowDimension& d = dims_[t];
      pitches_[t] = pitch;
      pitch *= Length(d, d.taps);
      if (t > 0) lines_ *= d.taps;
    }
    units_ = IsLine() ? (line.taps + words_ * elements_ - 1) / (words_ * elements_) : dims_[0].taps;
    right_unit_ = lines_ * right_line_;
    while (!IsLine() && band_ < units_ && LeftBytes(band_ + 1) + (band_ + 1) * right_unit_ <= kStagedBytes)
      ++band_;
  }

  /// Positions that windows reach for some taps.
  static int64_t Length(const WindowDimension& d, int64_t taps) {
    return (taps - 1) * d.per_tap + (d.outputs - 1) * d.per_output + 1;
  }
  /// Of a band of so many units.
  [[nodiscard]] int64_t LeftBytes(int64_t units) const {
    if (IsLine()) return left_line_ * static_cast<int64_t>(lines_staged_.size());
    return Length(dims_[0], units) * pitches_[0];
  }

  /// Rows in the order of the words that they read.
  void FindRows() {
    struct Row {
      int64_t offset, out;
      int32_t shift;
    };
    const WindowDimension& line = last();
    llvm::SmallVector<Axis, 4> staged, out;
    for (const WindowDimension& d : llvm::ArrayRef(dims_).drop_back()) {
      staged.push_back({d.outputs, d.per_output * pitches_[staged.size()]});
      out.push_back({d.outputs, d.out_stride});
    }
    const Index offsets(staged), places(out);
    std::vector<Row> rows;
    for (int64_t row = 0; row < rows_; ++row) {
      const int64_t s = row % line.outputs;
      const Shift& shift = shifts_[static_cast<size_t>(s)];
      rows.push_back({offsets.At(row / line.outputs) + shift.line * left_line_ +
                          shift.elements / elements_ * left_width_ * kWordBytes,
                      places.At(row / line.outputs) + s * line.out_stride,
                      static_cast<int32_t>(shift.elements % elements_ * bytes_ * 8)});
    }
    llvm::sort(rows, [](const Row& a, const Row& b) {
      return std::tuple(a.offset, a.shift, a.out) < std::tuple(b.offset, b.shift, b.out);
    });
    for (const Row& row : rows) {
      row_offsets_.push_back(row.offset);
      row_shifts_.push_back(row.shift);
      rows_out_.push_back(row.out);
    }
  }

  /// Of as many units as are multiplied at once.
  void FindSteps() {
    const int64_t unit_bytes = lines_ * words_ * (left_width_ + right_width_) * kWordBytes;
    at_once_ = IsLine() ? 1 : std::clamp<int64_t>(kBytesAtOnce / unit_bytes, 1, band_);
    unit_steps_ = lines_ * words_ / fold_;
    llvm::SmallVector<Axis, 4> left;
    if (!IsLine()) left.push_back({at_once_, dims_[0].per_tap * pitches_[0]});
    for (size_t t = 1; t + 1 < dims_.size(); ++t)
      left.push_back({dims_[t].taps, dims_[t].per_tap * pitches_[t]});
    left.push_back({words_ / fold_, fold_ * left_width_ * kWordBytes});
    const int64_t steps = at_once_ * unit_steps_;
    left_offsets_.resize(static_cast<size_t>(steps));
    Index(left).Fill(0, steps, left_offsets_.data());
    for (int64_t k = 0; k < steps; ++k) right_offsets_.push_back(k * fold_ * right_width_ * kWordBytes);
  }

  void Part(int64_t part) const {
    int32_t* sums = sums_.get() + part * size_;
    std::fill_n(sums, size_, 0);
    uint8_t* left = Scratch(ScratchUse::Left, LeftBytes(band_) + kSlack);
    uint8_t* right = Scratch(ScratchUse::Right, band_ * right_unit_ + kSlack);
    const int64_t end = all_units_ * (part + 1) / parts_;
    for (int64_t unit = all_units_ * part / parts_; unit < end;) {
      const int64_t channel = unit / units_, first = unit % units_,
                    count = std::min({band_, units_ - first, end - unit});
      StageLeft(channel, first, count, left);
      StageRight(channel, first, count, right);
      for (int64_t u = 0; u < count; u += at_once_)
        groups_.positions({left + (IsLine() ? 0 : u * dims_[0].per_tap * pitches_[0]),
                           right + u * right_unit_, std::min(at_once_, count - u) * unit_steps_,
                           left_offsets_.data(), right_offsets_.data(), rows_, row_offsets_.data(),
                           shifted_ ? row_shifts_.data() : nullptr, left_width_ * kWordBytes, features_,
                           problem_.columns(), problem_.batches() * fold_, sums});
      unit += count;
    }
  }

  /// All that windows of `count` units from `first` on read of a channel.
  void StageLeft(int64_t channel, int64_t first, int64_t count, uint8_t* to) const {
    const uint8_t* in = lhs_ + (origin_ + channel * problem_.lhs.channel_stride) * bytes_;
    if (IsLine()) return StageShifts(in, first * words_ * elements_, to);
    StagePositions(in, 0, dims_[0].base + first * dims_[0].per_tap, Length(dims_[0], count), to);
  }
  void StagePositions(const uint8_t* in, size_t t, int64_t base, int64_t length, uint8_t* to) const {
    const WindowDimension& d = dims_[t];
    for (int64_t j = 0; j < length; ++j, to += pitches_[t]) {
      const bool inside = in != nullptr && base + j >= 0 && base + j < d.size;
      const uint8_t* from = inside ? in + (base + j) * d.lhs_stride * bytes_ : nullptr;
      const WindowDimension& next = dims_[t + 1];
      if (t + 2 == dims_.size())
        StageShifts(from, 0, to);
      else
        StagePositions(from, t + 1, next.base, Length(next, next.taps), to);
    }
  }
  /// Of taps of the line from `tap` on.
  void StageShifts(const uint8_t* line, int64_t tap, uint8_t* to) const {
    const WindowDimension& d = last();
    const int64_t step = std::max<int64_t>(d.per_tap, 1), words = left_line_ / (left_width_ * kWordBytes),
                  most = shifted_ ? words * elements_ : std::min(words * elements_, d.taps - tap);
    for (const int64_t first : lines_staged_) {
      const int64_t base = d.base + first + tap * d.per_tap;
      int64_t begin = 0, end = 0;
      if (line != nullptr) {
        if (base < 0) begin = std::min(most, (-base + step - 1) / step);
        end = base >= d.size ? begin : std::clamp((d.size - base + step - 1) / step, begin, most);
      }
      Weave(line, {base * d.lhs_stride, step * d.lhs_stride, begin, end}, words, left_width_, to);
      to += left_line_;
    }
  }

  void StageRight(int64_t channel, int64_t first, int64_t count, uint8_t* to) const {
    const uint8_t* in = rhs_ + channel * problem_.rhs.channel_stride * bytes_;
    if (IsLine()) {
      const int64_t tap = first * words_ * elements_;
      return Weave(
          in,
          {tap * last().rhs_stride, last().rhs_stride, 0, std::min(words_ * elements_, last().taps - tap)},
          words_, right_width_, to);
    }
    llvm::SmallVector<Axis, 4> lines;
    for (size_t t = 1; t + 1 < dims_.size(); ++t) lines.push_back({dims_[t].taps, dims_[t].rhs_stride});
    const Index index(lines);
    for (int64_t u = 0; u < count; ++u)
      for (int64_t l = 0; l < lines_; ++l, to += right_line_)
        Weave(in, {(first + u) * dims_[0].rhs_stride + index.At(l), last().rhs_stride, 0, last().taps},
              words_, right_width_, to);
  }

  /// Positions `step` elements apart, of which those in [begin, end) are there; position 0 is `at` elements
  /// on.
  struct Line {
    int64_t at, step, begin, end;
  };
  void Weave(const uint8_t* in, const Line& line, int64_t words, int64_t width, uint8_t* to) const {
    if (line.begin >= line.end)
      return static_cast<void>(std::fill_n(to, words * width * kWordBytes, uint8_t{0}));
    groups_.weave({in + line.at * bytes_, line.step * bytes_, line.begin, line.end, words, width, to});
  }

  /// Adds the parts of a row in their order.
  void Store(int64_t row) const {
    if (is_float_) return StoreAs<float>(row);
    StoreAs<uint32_t>(row);
  }
  template <class T>
  void StoreAs(int64_t row) const {
    const int64_t count = features_ * right_width_ * fold_;
    T* sums = reinterpret_cast<T*>(sums_.get()) + row * count;
    for (int64_t part = 1; part < parts_; ++part)
      for (int64_t i = 0; i < count; ++i) sums[i] += sums[part * size_ + i];
    for (int64_t i = right_width_; fold_ > 1 && i < count; ++i) sums[i % right_width_] += sums[i];
    for (int64_t f = 0; f < features_; ++f) {
      const int64_t to = problem_.out_base + problem_.out_columns.At(0) +
                         rows_out_[static_cast<size_t>(row)] + f * problem_.windows->out_image;
      FromCompute(problem_.type, kernels_, sums + f * right_width_, right_width_,
                  out_ + to * Info(problem_.type).host_bytes());
    }
  }

  const Problem& problem_;
  const KernelSet& kernels_;
  const GroupKernels& groups_;
  bool is_float_;
  int64_t bytes_, elements_;  // of an element; of a word
  const uint8_t *lhs_, *rhs_;
  uint8_t* out_;
  Dims dims_;
  int64_t features_;                            // of a group on the left
  int64_t left_width_, right_width_;            // features of all groups
  int64_t fold_ = 1;                            // words of a vector, of few features
  bool shifted_ = false;                        // by kernels
  int64_t origin_ = 0;                          // of position 0 in all dimensions
  llvm::SmallVector<int64_t, 8> lines_staged_;  // their first positions
  /// By output of the last dimension.
  struct Shift {
    int64_t line, elements;
  };
  llvm::SmallVector<Shift, 8> shifts_;
  int64_t words_ = 0, left_line_ = 0, right_line_ = 0;   // of a line; bytes
  llvm::SmallVector<int64_t, 4> pitches_;                // bytes
  int64_t units_ = 0, all_units_ = 0;                    // of a channel; of all
  int64_t lines_ = 1, right_unit_ = 0, unit_steps_ = 0;  // of a unit; bytes
  int64_t band_ = 1, at_once_ = 1;                       // units staged, and multiplied, at a time
  int64_t rows_ = 0, size_ = 0, parts_ = 1;              // size_: sums of a part
  std::vector<int64_t> row_offsets_, rows_out_, left_offsets_, right_offsets_;
  std::vector<int32_t> row_shifts_;
  Buffer<int32_t> sums_;  // or floats
};

/// Of the result's features in vectors.
bool FillsLanes(int64_t features, int64_t columns, int64_t groups) {
  const int64_t together = std::clamp<int64_t>(kWordLanes / std::max(features, columns), 1, groups),
                lanes = together * columns;
  return lanes >= kFewestLanes && lanes >= (lanes + kWordLanes - 1) / kWordLanes * kWordLanes / 2;
}

}  // namespace

Fit FitPositions(const Problem& problem, const Target& target) {
  Fit fit;
  if (!fit.Needs(problem.windows && !problem.windows->dims.empty() && problem.rows() > 0, "no windows"))
    return fit;
  const auto kind = GroupKindOf(problem);
  const bool floats = kind == GroupKind::Bf16;
  // The signs of bytes do not matter where the result wraps.
  if (!fit.Needs(kind && (floats || Info(problem.type).host_bytes() == 1),
                 "neither BF16 nor bytes with results of a byte"))
    return fit;
  const std::optional<WordWay> way = WordWayOf(problem, target);
  if (!fit.Needs(way && way->kernels->positions != nullptr,
                 "no instructions for pairs or fours of such numbers"))
    return fit;
  const Windows& windows = *problem.windows;
  const int64_t features = windows.images, columns = problem.columns(), groups = problem.batches(),
                most = std::max(features, columns), least = std::min(features, columns);
  const auto strides = [](const Index& index, int64_t stride) {
    return index.count() == 1 || (index.IsUniform() && index.stride() == stride);
  };
  const bool forward = llvm::all_of(windows.dims, [](const WindowDimension& d) {
    return d.outputs > 0 && d.taps > 0 && (d.per_output > 0 || d.outputs == 1) &&
           (d.per_tap > 0 || d.taps == 1);
  });
  fit.Needs(forward && problem.rhs.bounds.empty(), "windows that step backwards, or padded weights");
  fit.Needs(problem.rows() / features <= kMostRows && problem.rows() * columns * groups <= kMostSums,
            "too many results for a gradient by weights");
  fit.Needs(most <= (groups == 1 && least <= kFewFeatures ? kMostOfOther : kMostFeatures),
            "too many features of a group");
  fit.Needs((features == 1 || windows.lhs_image == 1) && strides(problem.lhs.batch, features) &&
                strides(problem.rhs.batch, columns) && strides(problem.rhs.rows, 1) &&
                strides(problem.out_batch, columns) && strides(problem.out_columns, 1),
            "features are no neighbours");
  if (!fit.can()) return fit;
  fit.Suits(problem.depth() >= kFewestSteps && problem.taps() >= kFewestTaps, "short sums");
  fit.Suits(FillsLanes(features, columns, groups), "features do not fill vectors");
  // Others are no better than what reads each line for all its shifts.
  const bool shifted = !floats && SortedDims(windows).back().per_tap == 1;
  fit.Suits(shifted || PositionFormOf(features, columns, groups) != PositionForm::Same,
            "one feature on both sides");
  fit.Needs(PositionRun(problem, *way, KernelsFor(target.isa), nullptr, nullptr, nullptr).StagedBytes() <=
                kMostStaged,
            "windows reach too much of an image");
  return fit;
}

void RunByPositions(const Problem& problem, const WordWay& way, const KernelSet& kernels, const void* lhs,
                    const void* rhs, void* out) {
  PositionRun(problem, way, kernels, lhs, rhs, out).Run();
}

}  // namespace hlo::gemm
