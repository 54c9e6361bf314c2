#include "backends/products/conv/direct_spatial.h"

#include <algorithm>

#include "backends/products/common/factors.h"
#include "backends/products/common/scratch.h"
#include "backends/products/common/subnormals.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo::gemm {
namespace {

constexpr int64_t kMostColumns = 8, kMostChannels = 16;
constexpr int64_t kMostPlanes = 512;      // channels in planes, for as few columns as of one group
constexpr int64_t kMostStaged = 1 << 21;  // elements of a band of an image with all that windows reach
constexpr int64_t kBandStaged = 1 << 15;  // of a band of outputs
constexpr int64_t kMostOfOne = 4;         // channels and columns where there is but one group
constexpr int64_t kPieceWork = 1 << 16;   // products worth waking a thread for
constexpr int64_t kFewestTurned = 4, kPositionsTurned = 64;  // channels, neighbours; positions at a time

/// One spatial dimension of the staged copy of an image. Lanes run over outputs or over taps, the others are
/// shifts. Positions are sorted by their remainder modulo the step of lanes, so that lanes are neighbours.
struct StagedDim {
  int64_t lanes, step, others, other_step;
  int64_t length = 0;  // positions of one remainder
  int64_t pitch = 0, phase_pitch = 0;
};

class Staging {
 public:
  Staging(const Windows& windows, bool over_taps) : windows_(windows) {
    for (const WindowDimension& d : windows.dims) {
      StagedDim s = over_taps ? StagedDim{d.taps, d.per_tap, d.outputs, d.per_output}
                              : StagedDim{d.outputs, d.per_output, d.taps, d.per_tap};
      if (s.lanes == 1) s.step = std::max<int64_t>(s.step, 1);
      s.length = s.lanes + (s.others - 1) * s.other_step / s.step;
      dims_.push_back(s);
    }
    for (size_t t = dims_.size(); t-- > 0;) {
      dims_[t].pitch = map_;
      map_ *= dims_[t].length;
    }
    size_ = map_;
    for (size_t t = dims_.size(); t-- > 0;) {
      dims_[t].phase_pitch = size_;
      size_ *= dims_[t].step;
    }
  }

  /// Elements of a staged image, and how far its lanes reach.
  [[nodiscard]] int64_t size() const { return size_; }
  [[nodiscard]] int64_t reach() const {
    int64_t last = 1;
    for (const StagedDim& d : dims_) last += (d.lanes - 1) * d.pitch;
    return last;
  }
  [[nodiscard]] llvm::ArrayRef<StagedDim> dims() const { return dims_; }

  /// Where the lanes of each shift begin, the last dimension fastest.
  [[nodiscard]] llvm::SmallVector<int64_t, 16> Shifts() const {
    llvm::SmallVector<int64_t, 16> shifts = {0};
    for (const StagedDim& d : dims_) {
      llvm::SmallVector<int64_t, 16> next;
      for (const int64_t base : shifts)
        for (int64_t k = 0; k < d.others; ++k) {
          const int64_t at = k * d.other_step;
          next.push_back(base + at % d.step * d.phase_pitch + at / d.step * d.pitch);
        }
      shifts = std::move(next);
    }
    return shifts;
  }

  struct How {
    const KernelSet& kernels;
    int64_t bytes;  // of an element
    /// Channels that are neighbours at each position are copied together, to places `plane` elements apart.
    int64_t channels = 1, plane = 0;
  };
  /// Copies an image, whose position 0 is at `image`, with zeros around: what windows reach from `ahead`
  /// positions of the first dimension on.
  void Stage(const How& how, const uint8_t* image, int64_t ahead, uint8_t* out) const {
    StageDim(how, image, ahead, out, 0);
  }

 private:
  /// Positions begin <= j < end of `length` for which base + j * step is one of `size`.
  struct Inside {
    int64_t begin = 0, end = 0;
    Inside(int64_t base, int64_t step, int64_t length, int64_t size) {
      if (base < 0) begin = std::min(length, (-base + step - 1) / step);
      end = base >= size ? begin : std::clamp((size - base + step - 1) / step, begin, length);
    }
  };

  void StageDim(const How& how, const uint8_t* image, int64_t ahead, uint8_t* out, size_t t) const {
    const StagedDim& d = dims_[t];
    const WindowDimension& w = windows_.dims[t];
    if (t + 1 == dims_.size()) return StageLines(how, image, 1, 0, 0, ahead, out);
    for (int64_t phase = 0; phase < d.step; ++phase) {
      uint8_t* to = out + phase * d.phase_pitch * how.bytes;
      const int64_t base = w.base + ahead + phase;
      Inside inside(base, d.step, d.length, w.size);
      if (image == nullptr) inside.end = inside.begin;
      const auto line = [&](int64_t j) { return image + (base + j * d.step) * w.lhs_stride * how.bytes; };
      if (t + 2 == dims_.size()) {
        const auto zeros = [&](int64_t begin, int64_t end) {
          StageLines(how, nullptr, end - begin, 0, d.pitch, 0, to + begin * d.pitch * how.bytes);
        };
        zeros(0, inside.begin);
        if (inside.begin < inside.end)
          StageLines(how, line(inside.begin), inside.end - inside.begin, d.step * w.lhs_stride, d.pitch, 0,
                     to + inside.begin * d.pitch * how.bytes);
        zeros(inside.end, d.length);
        continue;
      }
      for (int64_t j = 0; j < d.length; ++j)
        StageDim(how, j >= inside.begin && j < inside.end ? line(j) : nullptr, 0,
                 to + j * d.pitch * how.bytes, t + 1);
    }
  }

  /// Lines of the last dimension, `stride` and `pitch` elements apart.
  void StageLines(const How& how, const uint8_t* image, int64_t lines, int64_t stride, int64_t pitch,
                  int64_t ahead, uint8_t* out) const {
    const StagedDim& d = dims_.back();
    const WindowDimension& w = windows_.dims.back();
    for (int64_t phase = 0; phase < d.step; ++phase) {
      const int64_t base = w.base + ahead + phase;
      Inside inside(base, d.step, d.length, w.size);
      if (image == nullptr) inside.begin = inside.end = d.length;
      const int64_t first = inside.begin < inside.end ? base + inside.begin * d.step : 0;
      if (how.channels > 1) {
        for (int64_t l = 0; l < lines; ++l)
          TurnLine(how, image == nullptr ? nullptr : image + (first * w.lhs_stride + l * stride) * how.bytes,
                   inside, out + (phase * d.phase_pitch + l * pitch) * how.bytes);
        continue;
      }
      how.kernels.take_lines({image == nullptr ? nullptr : image + first * w.lhs_stride * how.bytes, stride,
                              d.step * w.lhs_stride, lines, inside.begin, inside.end - inside.begin,
                              d.length - inside.end, out + phase * d.phase_pitch * how.bytes, pitch},
                             how.bytes);
    }
  }

  /// A line of the last dimension, all channels of each position of which are neighbours; `first` is that of
  /// the first position inside.
  void TurnLine(const How& how, const uint8_t* first, const Inside& inside, uint8_t* out) const {
    static constexpr uint64_t kZeros[kMostChannels] = {};
    const StagedDim& d = dims_.back();
    const int64_t step = d.step * windows_.dims.back().lhs_stride;
    VisitSize(how.bytes, [&](auto tag) {
      using E = decltype(tag);
      E* const to = reinterpret_cast<E*>(out);
      const E* at[kPositionsTurned];
      for (int64_t j = 0; j < d.length; j += kPositionsTurned) {
        const int64_t count = std::min(kPositionsTurned, d.length - j), whole = count / 4 * 4;
        const int64_t begin = std::clamp<int64_t>(inside.begin - j, 0, count),
                      end = std::clamp<int64_t>(inside.end - j, begin, count);
        std::fill(at, at + begin, reinterpret_cast<const E*>(kZeros));
        for (int64_t i = begin; i < end; ++i)
          at[i] = reinterpret_cast<const E*>(first) + (j + i - inside.begin) * step;
        std::fill(at + end, at + count, reinterpret_cast<const E*>(kZeros));
        TransposeOf<E>(how.kernels)(at, how.channels, whole, to + j, how.plane);
        for (int64_t i = whole; i < count; ++i)
          for (int64_t c = 0; c < how.channels; ++c) to[c * how.plane + j + i] = at[i][c];
      }
    });
  }

  const Windows& windows_;
  llvm::SmallVector<StagedDim, 2> dims_;
  int64_t map_ = 1, size_ = 1;
};

bool IsOverTaps(const Problem& problem) {
  int64_t outputs = 1, taps = 1;
  for (const WindowDimension& d : problem.windows->dims) {
    outputs *= d.outputs;
    taps *= d.taps;
  }
  return taps > outputs;
}

/// Images that lie side by side at each position of a line make that as many times as long, and the taps in
/// it lie as many times as far apart.
Windows WindowsOf(const Problem& problem, bool over_taps) {
  Windows windows = *problem.windows;
  WindowDimension& d = windows.dims.back();
  const int64_t images = windows.images;
  if (over_taps || images == 1 || windows.lhs_image != 1 || windows.out_image != 1 ||
      d.lhs_stride != images || d.out_stride != images || d.per_output != 1)
    return windows;
  d = {d.outputs * images, d.taps, d.base * images, 1, d.per_tap * images,
       d.size * images,    1,      d.rhs_stride,    1};
  windows.images = 1;
  return windows;
}

/// Outputs in the first dimension that are made at a time, from a copy that stays in the second cache.
int64_t BandOf(const Windows& windows, int64_t channels) {
  const WindowDimension& d = windows.dims[0];
  const int64_t size = Staging(windows, false).size() * channels;
  int64_t bands = std::min((size + kBandStaged - 1) / kBandStaged, d.outputs);
  // Bands that begin with what the one before ended with are a few times as high as that.
  if (d.taps * d.per_tap > 1)
    bands = std::min(bands, d.outputs * d.per_output / (2 * d.taps * d.per_tap) + 1);
  return (d.outputs + bands - 1) / bands;
}
/// The same windows with fewer outputs in the first dimension.
Windows CutBand(const Problem& problem, bool over_taps) {
  Windows windows = WindowsOf(problem, over_taps);
  if (!over_taps) windows.dims[0].outputs = BandOf(windows, problem.channels);
  return windows;
}

/// T is the type of sums.
template <class T>
class WindowRun {
 public:
  WindowRun(const Problem& problem, const KernelSet& kernels, const void* lhs, const void* rhs, void* out)
      : problem_(problem),
        kernels_(kernels),
        shift_(kernels.shift<T>()),
        lhs_(static_cast<const uint8_t*>(lhs)),
        rhs_(static_cast<const uint8_t*>(rhs)),
        out_(static_cast<uint8_t*>(out)),
        over_taps_(IsOverTaps(problem)),
        windows_(CutBand(problem, over_taps_)),
        staging_(windows_, over_taps_),
        shifts_(staging_.Shifts()),
        image_size_((staging_.size() + kShiftPadding - 1) / kShiftPadding * kShiftPadding) {
    lhs_origin_ = problem.lhs.base;
    for (const WindowDimension& d : windows_.dims) lhs_origin_ -= d.base * d.lhs_stride;
    const int64_t band = windows_.dims[0].outputs;
    outputs_ = WindowsOf(problem, over_taps_).dims[0].outputs;
    bands_ = (outputs_ + band - 1) / band;
  }

  void Run() const {
    const int64_t pieces = problem_.batches() * windows_.images * bands_;
    const int64_t work =
        problem_.rows() / windows_.images / bands_ * problem_.depth() * problem_.columns() + 1;
    ParallelFor(0, pieces, std::max<int64_t>(kPieceWork / work, 1), [&](int64_t begin, int64_t end) {
      const FlushSubnormals flush;
      for (int64_t i = begin; i < end && !Interrupted(); ++i) {
        if (over_taps_)
          OverTaps(i / windows_.images, i % windows_.images);
        else
          OverOutputs(i / bands_ / windows_.images, i / bands_ % windows_.images, i % bands_);
      }
    });
  }

 private:
  /// The channels of an image of a group with all that windows reach, converted.
  const T* StageImage(int64_t group, int64_t image, int64_t ahead, int64_t channel_begin,
                      int64_t channel_end) const {
    const Operand& lhs = problem_.lhs;
    const int bytes = Info(lhs.type).host_bytes();
    const int64_t channels = channel_end - channel_begin;
    const bool plain = IsPlain(problem_, lhs);
    T* staged = ScratchFor<T>(ScratchUse::Left, channels * image_size_ + 2 * kShiftPadding);
    uint8_t* raw =
        plain ? reinterpret_cast<uint8_t*>(staged) : Scratch(ScratchUse::Raw, channels * image_size_ * bytes);
    const int64_t origin = lhs_origin_ + lhs.batch.At(group) + image * windows_.lhs_image;
    const bool together = channels >= kFewestTurned && channels <= kMostChannels && lhs.channel_stride == 1 &&
                          bytes <= static_cast<int>(sizeof(uint64_t));
    for (int64_t c = 0; c < channels; c += together ? channels : 1)
      staging_.Stage({kernels_, bytes, together ? channels : 1, image_size_},
                     lhs_ + (origin + (channel_begin + c) * lhs.channel_stride) * bytes, ahead,
                     raw + c * image_size_ * bytes);
    if (!plain)
      for (int64_t c = 0; c < channels; ++c)
        ToNumbers(problem_, lhs, kernels_, raw + c * image_size_ * bytes, staging_.size(),
                  staged + c * image_size_);
    return staged;
  }

  /// The weights of one column and channel, the last spatial dimension fastest: where they lie, or in `out`.
  const T* TakeWeights(int64_t group, int64_t column, int64_t channel, T* out) const {
    const Operand& rhs = problem_.rhs;
    const int64_t bytes = Info(rhs.type).host_bytes(), taps = problem_.taps();
    const int64_t origin =
        rhs.base + rhs.batch.At(group) + rhs.rows.At(column) + channel * rhs.channel_stride;
    llvm::SmallVector<Axis, 3> axes;
    for (const WindowDimension& d : windows_.dims) axes.push_back({d.taps, d.rhs_stride});
    const Index index(axes);
    const uint8_t* from = rhs_ + origin * bytes;
    const bool plain = IsPlain(problem_, rhs);
    if (plain && index.IsUniform() && index.stride() == 1) return reinterpret_cast<const T*>(from);
    uint8_t* raw = plain ? reinterpret_cast<uint8_t*>(out) : Scratch(ScratchUse::Expanded, taps * bytes);
    VisitSize(bytes, [&](auto tag) {
      using E = decltype(tag);
      E* to = reinterpret_cast<E*>(raw);
      for (int64_t k = 0; k < taps; k += index.run()) {
        const E* line = reinterpret_cast<const E*>(from) + index.At(k);
        for (int64_t i = 0; i < index.run(); ++i) *to++ = line[i * index.stride()];
      }
    });
    if (!plain) ToNumbers(problem_, rhs, kernels_, raw, taps, out);
    return out;
  }

  [[nodiscard]] uint8_t* Target(int64_t group, int64_t image, int64_t column) const {
    const int64_t bytes = Info(problem_.type).host_bytes();
    return out_ + (problem_.out_base + problem_.out_batch.At(group) + image * windows_.out_image +
                   problem_.out_columns.At(column)) *
                      bytes;
  }

  /// The number of a step in the order of the sum.
  [[nodiscard]] size_t Step(int64_t tap, int64_t channel) const {
    return static_cast<size_t>(problem_.channels_outer ? channel * problem_.taps() + tap
                                                       : tap * problem_.channels + channel);
  }

  void OverOutputs(int64_t group, int64_t image, int64_t band) const {
    const int64_t first = band * windows_.dims[0].outputs,
                  outputs = std::min(windows_.dims[0].outputs, outputs_ - first);
    const int64_t channels = problem_.channels, taps = problem_.taps(), depth = channels * taps;
    const T* staged = StageImage(group, image, first * windows_.dims[0].per_output, 0, channels);
    llvm::SmallVector<int64_t, 64> offsets(static_cast<size_t>(depth));
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t t = 0; t < taps; ++t)
        offsets[Step(t, c)] = c * image_size_ + shifts_[static_cast<size_t>(t)];
    llvm::SmallVector<T, 64> weights(static_cast<size_t>(depth)), line(static_cast<size_t>(taps));
    const int64_t count = staging_.reach(), size = Info(problem_.type).host_bytes();
    T* sums = ScratchFor<T>(ScratchUse::Sums, count + kShiftPadding);
    for (int64_t column = 0; column < problem_.columns(); ++column) {
      const T* taken = nullptr;
      for (int64_t c = 0; c < channels; ++c) {
        taken = TakeWeights(group, column, c, line.data());
        for (int64_t t = 0; t < taps && channels > 1; ++t) weights[Step(t, c)] = taken[t];
      }
      shift_.weigh(staged, offsets.data(), channels > 1 ? weights.data() : taken, depth, count, sums);
      StoreLines(Elements(sums, count),
                 Target(group, image, column) + first * windows_.dims[0].out_stride * size, 0, outputs);
    }
  }

  /// Sums as the result stores them: where they are, or converted.
  const uint8_t* Elements(const T* sums, int64_t count) const {
    if (IsStoredAs(problem_.type, problem_.compute)) return reinterpret_cast<const uint8_t*>(sums);
    uint8_t* elements = Scratch(ScratchUse::Right, count * Info(problem_.type).host_bytes());
    FromNumbers(problem_.type, kernels_, sums, count, elements);
    return elements;
  }

  /// Takes `outputs` outputs of dimension t, and all of those after it, out of the staged order.
  void StoreLines(const uint8_t* elements, uint8_t* target, size_t t, int64_t outputs) const {
    const int64_t bytes = Info(problem_.type).host_bytes(), pitch = staging_.dims()[t].pitch;
    const WindowDimension& d = windows_.dims[t];
    const bool last = t + 1 == windows_.dims.size();
    if (last && d.out_stride != 1)
      return VisitSize(bytes, [&](auto tag) {
        using E = decltype(tag);
        E* to = reinterpret_cast<E*>(target);
        for (int64_t i = 0; i < outputs; ++i) to[i * d.out_stride] = reinterpret_cast<const E*>(elements)[i];
      });
    if (last) return kernels_.take_lines({elements, 0, 1, 1, 0, outputs, 0, target, 0}, bytes);
    const WindowDimension& next = windows_.dims[t + 1];
    if (t + 2 == windows_.dims.size() && next.out_stride == 1)
      return kernels_.take_lines({elements, pitch, 1, outputs, 0, next.outputs, 0, target, d.out_stride},
                                 bytes);
    for (int64_t o = 0; o < outputs; ++o)
      StoreLines(elements + o * pitch * bytes, target + o * d.out_stride * bytes, t + 1, next.outputs);
  }

  void OverTaps(int64_t group, int64_t image) const {
    const int64_t taps = problem_.taps(), columns = problem_.columns(),
                  outputs = static_cast<int64_t>(shifts_.size());
    llvm::SmallVector<int64_t, 64> lines = {0};
    for (size_t t = 0; t + 1 < staging_.dims().size(); ++t) {
      llvm::SmallVector<int64_t, 64> next;
      for (const int64_t base : lines)
        for (int64_t k = 0; k < staging_.dims()[t].lanes; ++k)
          next.push_back(base + k * staging_.dims()[t].pitch);
      lines = std::move(next);
    }
    const auto line_count = static_cast<int64_t>(lines.size());
    llvm::SmallVector<T, 64> sums(static_cast<size_t>(columns * outputs), T(0));
    T* weights = ScratchFor<T>(ScratchUse::Sums, taps);
    for (int64_t c = 0; c < problem_.channels; ++c) {
      const T* staged = StageImage(group, image, 0, c, c + 1);
      for (int64_t column = 0; column < columns; ++column) {
        shift_.correlate(TakeWeights(group, column, c, weights), line_count, taps / line_count, staged,
                         lines.data(), shifts_.data(), outputs, sums.data() + column * outputs);
      }
    }
    llvm::SmallVector<Axis, 3> axes;
    for (const WindowDimension& d : windows_.dims) axes.push_back({d.outputs, d.out_stride});
    const Index index(axes);
    const int64_t bytes = Info(problem_.type).host_bytes();
    for (int64_t column = 0; column < columns; ++column)
      for (int64_t o = 0; o < outputs; ++o)
        FromNumbers(problem_.type, kernels_, sums.data() + column * outputs + o, 1,
                    Target(group, image, column) + index.At(o) * bytes);
  }

  const Problem& problem_;
  const KernelSet& kernels_;
  const ShiftKernels<T>& shift_;
  const uint8_t *lhs_, *rhs_;
  uint8_t* out_;
  bool over_taps_;
  Windows windows_;                  // of a band
  int64_t outputs_ = 1, bands_ = 1;  // outputs_: of the first dimension
  Staging staging_;
  llvm::SmallVector<int64_t, 16> shifts_;
  int64_t image_size_;      // of the staged copy of one channel
  int64_t lhs_origin_ = 0;  // of position 0 in all dimensions
};

}  // namespace

Fit FitWindowed(const Problem& problem, const Target&) {
  Fit fit;
  if (!fit.Needs(problem.windows && !problem.windows->dims.empty(), "no windows")) return fit;
  fit.Needs(problem.depth() > 0 && problem.taps() > 1, "one tap");
  fit.Needs(problem.columns() <= kMostColumns, "many features of the result in a group");
  for (const WindowDimension& d : problem.windows->dims)
    fit.Needs(d.outputs > 0 && (d.per_output != 0 || d.outputs == 1) && (d.per_tap != 0 || d.taps == 1),
              "windows that do not move");
  if (!fit.can()) return fit;
  const bool over_taps = IsOverTaps(problem);
  // Planes of features are staged by lines.
  const Windows windows = WindowsOf(problem, over_taps);
  const WindowDimension& last = windows.dims.back();
  const bool planes = !over_taps && last.lhs_stride == 1 && last.out_stride == 1 &&
                      problem.columns() <= kMostOfOne && problem.channels <= kMostPlanes;
  fit.Suits(problem.batches() > 1 ||
                (!over_taps && problem.columns() <= kMostOfOne && (problem.channels <= kMostOfOne || planes)),
            "one group with enough features for tiles");
  // All channels of a band are staged at once, unless each is used up before the next.
  fit.Needs(over_taps || problem.channels <= kMostChannels || planes,
            "many features of the input in a group");
  fit.Needs(Staging(CutBand(problem, over_taps), over_taps).size() * (over_taps ? 1 : problem.channels) <=
                kMostStaged,
            "windows reach too much of an image");
  return fit;
}

void RunWindowed(const Problem& problem, const KernelSet& kernels, const void* lhs, const void* rhs,
                 void* out) {
  VisitNumber(problem, kernels,
              [&](auto tag) { WindowRun<decltype(tag)>(problem, kernels, lhs, rhs, out).Run(); });
}

}  // namespace hlo::gemm
