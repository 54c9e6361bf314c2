// fft (ops-structured §6.1) over the trailing axes of arrays.
#include "backends/structured/lane_fft.h"
#include "backends/structured/plan.h"
#include "ir/support/buffer.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo::structured {
namespace {

/// Points that are worth waking a thread for.
constexpr int64_t kPiece = 1 << 13;
/// Signals longer than this do not fit a cache side by side.
constexpr int64_t kLongest = 2048;
/// Transforms in double precision of so few points are expected to be those of FFTPACK nearly bit by bit.
constexpr int64_t kInOrder = 4096;
/// A single signal at least this long is cut into a matrix.
constexpr int64_t kCut = 256;

/// Transforms along one axis of complex arrays.
template <class T>
class AxisFft {
 public:
  AxisFft(int64_t n, int64_t rows, const FftKernels<T>& kernels, bool in_order = false)
      : n_(n), kernels_(kernels) {
    if (in_order)
      lanes_ = std::make_unique<LaneFft<T>>(n, kernels, true);
    else if (n > kLongest || (n >= kCut && rows < kLanes / 2))
      row_ = std::make_unique<RowFft<T>>(n, kernels);
    else
      lanes_ = std::make_unique<LaneFft<T>>(n, kernels);
  }

  /// Consecutive signals; steps from row to row in pairs.
  void Rows(const T* in, int64_t in_step, T* out, int64_t out_step, int64_t count, bool inverse,
            T scale) const {
    if (row_) {
      ParallelFor(0, count, count >= ThreadCount() ? 1 : count, [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end && !Interrupted(); ++r)
          row_->Run(in + 2 * r * in_step, out + 2 * r * out_step, inverse, scale);
      });
      return;
    }
    const int64_t blocks = (count + kLanes - 1) / kLanes;
    ParallelFor(0, blocks, std::max<int64_t>(1, kPiece / (n_ * kLanes)), [&](int64_t begin, int64_t end) {
      const Scratch scratch(*lanes_);
      for (int64_t b = begin; b < end && !Interrupted(); ++b) {
        const auto lanes = static_cast<int>(std::min(kLanes, count - b * kLanes));
        const int64_t row = b * kLanes;
        kernels_.load_rows(in + 2 * row * in_step, in_step, n_, lanes, inverse, scratch.x.get());
        const T* at = lanes_->Run(scratch.x.get(), scratch.y.get());
        kernels_.store_rows(at, out + 2 * row * out_step, out_step, n_, lanes, inverse, scale);
      }
    });
  }

  /// The middle axis of [outer, n, inner]; `in` and `out` may be the same.
  void Columns(const T* in, T* out, int64_t outer, int64_t inner, bool inverse, T scale) const {
    if (row_) return LongColumns(in, out, outer, inner, inverse, scale);
    const int64_t blocks = (inner + kLanes - 1) / kLanes;
    ParallelFor(0, outer * blocks, std::max<int64_t>(1, kPiece / (n_ * kLanes)),
                [&](int64_t begin, int64_t end) {
                  const Scratch scratch(*lanes_);
                  for (int64_t task = begin; task < end && !Interrupted(); ++task) {
                    const int64_t column = task % blocks * kLanes;
                    const auto lanes = static_cast<int>(std::min(kLanes, inner - column));
                    const int64_t offset = 2 * (task / blocks * n_ * inner + column);
                    kernels_.load_columns(in + offset, inner, n_, lanes, inverse, scratch.x.get());
                    const T* at = lanes_->Run(scratch.x.get(), scratch.y.get());
                    kernels_.store_columns(at, out + offset, inner, n_, lanes, inverse, scale);
                  }
                });
  }
  [[nodiscard]] std::string Describe() const { return row_ ? row_->Describe() : lanes_->Describe(); }

 private:
  static constexpr int64_t kLanes = LaneFft<T>::kLanes;
  struct Scratch {
    explicit Scratch(const LaneFft<T>& fft)
        : x(MakeBuffer<T>(static_cast<size_t>(fft.room() * LaneFft<T>::kStep))),
          y(MakeBuffer<T>(static_cast<size_t>(fft.room() * LaneFft<T>::kStep))) {}
    Buffer<T> x, y;
  };

  /// One after the other.
  void LongColumns(const T* in, T* out, int64_t outer, int64_t inner, bool inverse, T scale) const {
    ParallelFor(0, outer * inner, outer * inner >= ThreadCount() ? 1 : outer * inner,
                [&](int64_t begin, int64_t end) {
                  const auto line = MakeBuffer<T>(static_cast<size_t>(2 * n_));
                  for (int64_t task = begin; task < end && !Interrupted(); ++task) {
                    const int64_t offset = 2 * (task / inner * n_ * inner + task % inner);
                    for (int64_t k = 0; k < n_; ++k)
                      std::copy_n(in + offset + 2 * k * inner, 2, line.get() + 2 * k);
                    row_->Run(line.get(), line.get(), inverse, scale);
                    for (int64_t k = 0; k < n_; ++k)
                      std::copy_n(line.get() + 2 * k, 2, out + offset + 2 * k * inner);
                  }
                });
  }

  int64_t n_;
  const FftKernels<T>& kernels_;
  std::unique_ptr<LaneFft<T>> lanes_;
  std::unique_ptr<RowFft<T>> row_;
};

/// Real signals of one length along the last axis. Those of even length are taken as complex ones of half the
/// length, with even elements as real and odd ones as imaginary parts.
template <class T>
class RealFft {
 public:
  RealFft(int64_t n, int64_t rows, const FftKernels<T>& kernels)
      : n_(n), rows_(rows), half_(n % 2 == 0), axis_(half_ ? n / 2 : n, rows, kernels) {
    if (!half_) return;
    const UnitRoots roots(n);
    for (int64_t k = 0; k <= n / 4; ++k) roots.Append(k, roots_);
  }

  /// n reals each to n/2+1 pairs.
  void Forward(const T* in, T* out) const {
    const int64_t bins = n_ / 2 + 1;
    if (half_) {
      axis_.Rows(in, n_ / 2, out, bins, rows_, false, 1);
      return ForEachRow([&](int64_t r) { Untangle(out + 2 * r * bins); });
    }
    const auto line = MakeBuffer<T>(static_cast<size_t>(2 * rows_ * n_));
    ForEachRow([&](int64_t r) {
      for (int64_t k = 0; k < n_; ++k) {
        line[static_cast<size_t>(2 * (r * n_ + k))] = in[r * n_ + k];
        line[static_cast<size_t>(2 * (r * n_ + k) + 1)] = 0;
      }
    });
    axis_.Rows(line.get(), n_, line.get(), n_, rows_, false, 1);
    ForEachRow([&](int64_t r) {
      std::copy_n(line.get() + 2 * r * n_, 2 * bins, out + 2 * r * bins);
      out[2 * r * bins + 1] = 0;
    });
  }

  /// n/2+1 pairs each to n reals.
  void Inverse(const T* in, T* out, T scale) const {
    const int64_t bins = n_ / 2 + 1, length = half_ ? n_ / 2 : n_;
    const auto line = MakeBuffer<T>(static_cast<size_t>(2 * rows_ * length));
    if (half_) {
      ForEachRow([&](int64_t r) { Tangle(in + 2 * r * bins, line.get() + 2 * r * length); });
      return axis_.Rows(line.get(), length, out, length, rows_, true, scale);
    }
    ForEachRow([&](int64_t r) {
      const T* from = in + 2 * r * bins;
      T* to = line.get() + 2 * r * n_;
      to[0] = from[0];
      to[1] = 0;
      for (int64_t k = 1; k < bins; ++k) {
        to[2 * k] = to[2 * (n_ - k)] = from[2 * k];
        to[2 * k + 1] = from[2 * k + 1];
        to[2 * (n_ - k) + 1] = -from[2 * k + 1];
      }
    });
    axis_.Rows(line.get(), n_, line.get(), n_, rows_, true, scale);
    ForEachRow([&](int64_t r) {
      for (int64_t k = 0; k < n_; ++k) out[r * n_ + k] = line[static_cast<size_t>(2 * (r * n_ + k))];
    });
  }
  [[nodiscard]] std::string Describe() const { return (half_ ? "half of " : "real ") + axis_.Describe(); }

 private:
  template <class F>
  void ForEachRow(F f) const {
    ParallelFor(0, rows_, std::max<int64_t>(1, kPiece / n_), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end && !Interrupted(); ++r) f(r);
    });
  }

  /// The spectrum of the real signal from that of the complex one, whose n/2 bins stand in `z`.
  void Untangle(T* z) const {
    const int64_t h = n_ / 2;
    const T re = z[0], im = z[1];
    z[0] = re + im;
    z[2 * h] = re - im;
    z[1] = z[2 * h + 1] = 0;
    for (int64_t k = 1; 2 * k <= h; ++k) {
      T *a = z + 2 * k, *b = z + 2 * (h - k);
      const T c = roots_[static_cast<size_t>(2 * k)], s = roots_[static_cast<size_t>(2 * k + 1)];
      const T even_re = (a[0] + b[0]) / 2, even_im = (a[1] - b[1]) / 2;
      const T odd_re = (a[1] + b[1]) / 2, odd_im = (b[0] - a[0]) / 2;
      const T turned_re = odd_re * c - odd_im * s, turned_im = odd_re * s + odd_im * c;
      a[0] = even_re + turned_re;
      a[1] = even_im + turned_im;
      b[0] = even_re - turned_re;
      b[1] = turned_im - even_im;
    }
  }

  /// Twice the spectrum of the complex signal; imaginary parts of the first and last bin do not count.
  void Tangle(const T* x, T* z) const {
    const int64_t h = n_ / 2;
    z[0] = x[0] + x[2 * h];
    z[1] = x[0] - x[2 * h];
    for (int64_t k = 1; 2 * k <= h; ++k) {
      const T *a = x + 2 * k, *b = x + 2 * (h - k);
      const T c = roots_[static_cast<size_t>(2 * k)], s = -roots_[static_cast<size_t>(2 * k + 1)];
      const T even_re = a[0] + b[0], even_im = a[1] - b[1];
      const T difference_re = a[0] - b[0], difference_im = a[1] + b[1];
      const T odd_re = difference_re * c - difference_im * s, odd_im = difference_re * s + difference_im * c;
      T *to = z + 2 * k, *mirror = z + 2 * (h - k);
      mirror[0] = even_re + odd_im;
      mirror[1] = odd_re - even_im;
      to[0] = even_re - odd_im;
      to[1] = even_im + odd_re;
    }
  }

  int64_t n_, rows_;
  bool half_;
  AxisFft<T> axis_;
  std::vector<T> roots_;
};

/// A whole instruction.
template <class T>
class Transform {
 public:
  Transform(FftType type, llvm::ArrayRef<int64_t> lengths, int64_t batch, const FftKernels<T>& kernels,
            bool in_order)
      : type_(type), lengths_(lengths), batch_(batch) {
    stored_ = lengths_;
    if (type == FftType::RFFT || type == FftType::IRFFT) stored_.back() = lengths.back() / 2 + 1;
    int64_t rows = batch;
    for (const int64_t n : lengths.drop_back()) rows *= n;
    for (const int64_t n : lengths) points_ *= n;
    for (size_t d = 0; d + 1 < lengths.size(); ++d)
      axes_.emplace_back(lengths[d], INT64_MAX, kernels, in_order);
    if (stored_ == lengths_ && type != FftType::RFFT && type != FftType::IRFFT)
      last_ = std::make_unique<AxisFft<T>>(lengths.back(), rows, kernels, in_order);
    else
      real_ = std::make_unique<RealFft<T>>(lengths.back(), rows, kernels);
    rows_ = rows;
  }

  void Run(void* const* arrays) const {
    const T* in = static_cast<const T*>(arrays[0]);
    T* out = static_cast<T*>(arrays[1]);
    const T scale = static_cast<T>(1 / static_cast<double>(points_));
    if (type_ == FftType::IRFFT) {
      if (axes_.empty()) return real_->Inverse(in, out, scale);
      const auto middle = MakeBuffer<T>(static_cast<size_t>(2 * rows_ * stored_.back()));
      OuterAxes(in, middle.get(), true);
      return real_->Inverse(middle.get(), out, scale);
    }
    if (type_ == FftType::RFFT)
      real_->Forward(in, out);
    else
      last_->Rows(in, lengths_.back(), out, lengths_.back(), rows_, type_ == FftType::IFFT,
                  type_ == FftType::IFFT ? scale : T(1));
    OuterAxes(out, out, type_ == FftType::IFFT);
  }

  [[nodiscard]] std::string Describe() const {
    std::string text;
    for (const AxisFft<T>& axis : axes_) text += axis.Describe() + " by ";
    return text + (last_ ? last_->Describe() : real_->Describe());
  }

 private:
  /// All but the last one, from `in` to `out`.
  void OuterAxes(const T* in, T* out, bool inverse) const {
    int64_t inner = stored_.back(), outer = rows_;
    for (size_t d = axes_.size(); d-- > 0; in = out) {
      outer /= lengths_[d];
      axes_[d].Columns(in, out, outer, inner, inverse, 1);
      inner *= lengths_[d];
    }
  }

  FftType type_;
  Dims lengths_, stored_;
  int64_t batch_, points_ = 1, rows_ = 1;
  std::vector<AxisFft<T>> axes_;
  std::unique_ptr<AxisFft<T>> last_;
  std::unique_ptr<RealFft<T>> real_;
};

template <class T>
Plan MakePlan(const Instruction& inst, int64_t batch, gemm::Isa isa, bool in_order = false) {
  const auto& [type, lengths] = inst.attr<FftAttrs>();
  const auto transform =
      std::make_shared<const Transform<T>>(type, lengths, batch, KernelsFor(isa).fft<T>(), in_order);
  return {"Fourier transforms in lanes: " + transform->Describe(),
          [transform](void* const* arrays) { transform->Run(arrays); }};
}

/// Whether complex transforms of these lengths can be those of the evaluator, with enough signals for lanes.
bool FillsLanesInOrder(const FftAttrs& attrs, int64_t signals) {
  if (attrs.fft_type != FftType::FFT && attrs.fft_type != FftType::IFFT) return false;
  return llvm::all_of(attrs.fft_length, [&](int64_t n) {
    return signals / n >= LaneFft<double>::kLanes / 2 && LaneFft<double>::HasPassesInOrder(n);
  });
}

}  // namespace

Result<Plan> PlanFft(const Instruction& inst, gemm::Isa isa) {
  const Shape &in = inst.operand(0)->shape(), &out = inst.shape();
  if (in.ElementCount() == 0 || out.ElementCount() == 0) return Unsupported(inst, "empty arrays");
  int64_t batch = 1;
  for (const int64_t d : in.dims().drop_back(inst.attr<FftAttrs>().fft_length.size())) batch *= d;
  if (RealPartType(out.element_type()) == ElementType::F64) {
    int64_t points = 1;
    for (const int64_t n : inst.attr<FftAttrs>().fft_length) points *= n;
    if (points <= kInOrder && FillsLanesInOrder(inst.attr<FftAttrs>(), batch * points))
      return MakePlan<double>(inst, batch, isa, /*in_order=*/true);
    if (points <= kInOrder)
      return Unsupported(inst, "short transforms in double precision keep the classical order");
    return MakePlan<double>(inst, batch, isa);
  }
  return MakePlan<float>(inst, batch, isa);
}

}  // namespace hlo::structured
