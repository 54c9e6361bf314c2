// fft (ops-structured §6.1) over the trailing axes of arrays.
#include "backends/structured/lane_fft.h"
#include "backends/structured/plan.h"
#include "backends/structured/real_passes.h"
#include "backends/structured/row_passes.h"
#include "ir/support/buffer.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo::structured {
namespace {

/// Signals longer than this do not fit a cache side by side.
constexpr int64_t kLongest = 2048;
/// Transforms in double precision of so few points are expected to be those of FFTPACK nearly bit by bit.
constexpr int64_t kInOrder = 4096;
/// A single signal at least this long is cut into a matrix.
constexpr int64_t kCut = 256;

/// Rows longer than this leave the second cache.
constexpr int64_t kLongestRow = 1 << 14;
/// A single one this long is worth two threads.
constexpr int64_t kLongestAlone = 1 << 13;

/// Where the signals of an axis lie: their elements side by side, or those of different signals.
enum class Along : uint8_t { Rows, Columns };

/// Transforms along one axis of complex arrays.
template <class T>
class AxisFft {
 public:
  AxisFft(int64_t n, Along along, int64_t rows, const FftKernels<T>& kernels, bool in_order = false)
      : n_(n), kernels_(kernels) {
    if (along == Along::Rows && n <= (rows == 1 ? kLongestAlone : kLongestRow) &&
        RowPassesFft<T>::Has(n, in_order))
      passes_ = std::make_unique<RowPassesFft<T>>(n, kernels, in_order);
    else if (in_order)
      lanes_ = std::make_unique<LaneFft<T>>(n, kernels, true);
    else if (n > kLongest || (n >= kCut && rows < kLanes / 2))
      row_ = std::make_unique<RowFft<T>>(n, kernels);
    else
      lanes_ = std::make_unique<LaneFft<T>>(n, kernels);
  }

  using EachRow = llvm::function_ref<void(int64_t row)>;
  static void Nothing(int64_t) {}
  /// Consecutive signals; steps from row to row in pairs. What comes before and after is called for each row.
  void Rows(const T* in, int64_t in_step, T* out, int64_t out_step, int64_t count, bool inverse, T scale,
            EachRow before = &Nothing, EachRow after = &Nothing) const {
    if (passes_) {
      ParallelFor(0, count, std::max<int64_t>(1, kFftPiece / n_), [&](int64_t begin, int64_t end) {
        const auto scratch = MakeBuffer<T>(static_cast<size_t>(passes_->scratch()));
        for (int64_t r = begin; r < end && !Interrupted(); ++r) {
          before(r);
          passes_->Run(in + 2 * r * in_step, out + 2 * r * out_step, inverse, scale, scratch.get());
          after(r);
        }
      });
      return;
    }
    if (row_) {
      ParallelFor(0, count, count >= ThreadCount() ? 1 : count, [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end && !Interrupted(); ++r) {
          before(r);
          row_->Run(in + 2 * r * in_step, out + 2 * r * out_step, inverse, scale);
          after(r);
        }
      });
      return;
    }
    const int64_t blocks = (count + kLanes - 1) / kLanes;
    ParallelFor(0, blocks, std::max<int64_t>(1, kFftPiece / (n_ * kLanes)), [&](int64_t begin, int64_t end) {
      const Scratch scratch(*lanes_);
      for (int64_t b = begin; b < end && !Interrupted(); ++b) {
        const auto lanes = static_cast<int>(std::min(kLanes, count - b * kLanes));
        const int64_t row = b * kLanes;
        for (int64_t r = row; r < row + lanes; ++r) before(r);
        kernels_.load_rows(in + 2 * row * in_step, in_step, n_, lanes, inverse, scratch.x.get());
        const T* at = lanes_->Run(scratch.x.get(), scratch.y.get());
        kernels_.store_rows(at, out + 2 * row * out_step, out_step, n_, lanes, inverse, scale);
        for (int64_t r = row; r < row + lanes; ++r) after(r);
      }
    });
  }

  /// The middle axis of [outer, n, inner]; `in` and `out` may be the same.
  void Columns(const T* in, T* out, int64_t outer, int64_t inner, bool inverse, T scale) const {
    if (row_) return LongColumns(in, out, outer, inner, inverse, scale);
    const int64_t blocks = (inner + kLanes - 1) / kLanes;
    const auto passes = lanes_->column_passes();
    ParallelFor(0, outer * blocks, std::max<int64_t>(1, kFftPiece / (n_ * kLanes)),
                [&](int64_t begin, int64_t end) {
                  const Scratch scratch(*lanes_);
                  for (int64_t task = begin; task < end && !Interrupted(); ++task) {
                    const int64_t column = task % blocks * kLanes;
                    const auto lanes = static_cast<int>(std::min(kLanes, inner - column));
                    const int64_t offset = 2 * (task / blocks * n_ * inner + column);
                    if (passes && lanes == kLanes) {
                      kernels_.columns(*passes, in + offset, out + offset, inner, inverse, scale,
                                       scratch.x.get(), scratch.y.get());
                      continue;
                    }
                    kernels_.load_columns(in + offset, inner, n_, lanes, inverse, scratch.x.get());
                    const T* at = lanes_->Run(scratch.x.get(), scratch.y.get());
                    kernels_.store_columns(at, out + offset, inner, n_, lanes, inverse, scale);
                  }
                });
  }
  [[nodiscard]] std::string Describe() const {
    return passes_ ? passes_->Describe() : row_ ? row_->Describe() : lanes_->Describe();
  }

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
  // One of these.
  std::unique_ptr<RowPassesFft<T>> passes_;
  std::unique_ptr<LaneFft<T>> lanes_;
  std::unique_ptr<RowFft<T>> row_;
};

/// Real signals of one length along the last axis. Those of even length are taken as complex ones of half the
/// length, with even elements as real and odd ones as imaginary parts.
template <class T>
class RealFft {
 public:
  RealFft(int64_t n, int64_t rows, const FftKernels<T>& kernels)
      : n_(n),
        rows_(rows),
        kernels_(kernels),
        half_(n % 2 == 0),
        axis_(half_ ? n / 2 : n, Along::Rows, rows, kernels) {
    if (!half_) return;
    const UnitRoots roots(n);
    for (int64_t k = 0; k <= n / 4; ++k) roots.Append(k, roots_);
  }

  /// n reals each to n/2+1 pairs.
  void Forward(const T* in, T* out) const {
    const int64_t bins = n_ / 2 + 1;
    if (half_) {
      return axis_.Rows(in, n_ / 2, out, bins, rows_, false, 1, &axis_.Nothing,
                        [&](int64_t r) { Untangle(out + 2 * r * bins); });
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
      return axis_.Rows(line.get(), length, out, length, rows_, true, scale,
                        [&](int64_t r) { Tangle(in + 2 * r * bins, line.get() + 2 * r * length); });
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
    ParallelFor(0, rows_, std::max<int64_t>(1, kFftPiece / n_), [&](int64_t begin, int64_t end) {
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
    kernels_.untangle(z, h, roots_.data());
  }

  /// Twice the spectrum of the complex signal; imaginary parts of the first and last bin do not count.
  void Tangle(const T* x, T* z) const {
    const int64_t h = n_ / 2;
    z[0] = x[0] + x[2 * h];
    z[1] = x[0] - x[2 * h];
    kernels_.tangle(x, z, h, roots_.data());
  }

  int64_t n_, rows_;
  const FftKernels<T>& kernels_;
  bool half_;
  AxisFft<T> axis_;
  std::vector<T> roots_;
};

bool IsReal(FftType type) { return type == FftType::RFFT || type == FftType::IRFFT; }

/// A whole instruction.
template <class T>
class Transform {
 public:
  /// With `in_order`, which PlanInOrder allows, results have the bits of the evaluator. `real` transforms the
  /// last axis, if it is one of real numbers; it is needed for that in order.
  Transform(FftType type, llvm::ArrayRef<int64_t> lengths, int64_t batch, const FftKernels<T>& kernels,
            bool in_order, std::optional<RealPassesFft<T>> real)
      : type_(type), lengths_(lengths), batch_(batch), real_passes_(std::move(real)) {
    stored_ = lengths_;
    if (IsReal(type)) stored_.back() = lengths.back() / 2 + 1;
    for (const int64_t n : lengths) points_ *= n;
    rows_ = batch * points_ / lengths.back();
    for (size_t d = 0; d + 1 < lengths.size(); ++d)
      axes_.emplace_back(lengths[d], Along::Columns, INT64_MAX, kernels, in_order);
    if (!IsReal(type))
      last_ = std::make_unique<AxisFft<T>>(lengths.back(), Along::Rows, rows_, kernels, in_order);
    else if (!real_passes_)
      real_ = std::make_unique<RealFft<T>>(lengths.back(), rows_, kernels);
  }

  void Run(void* const* arrays) const {
    const T* in = static_cast<const T*>(arrays[0]);
    T* out = static_cast<T*>(arrays[1]);
    const T scale = static_cast<T>(1 / static_cast<double>(points_));
    if (type_ == FftType::IRFFT) {
      if (axes_.empty()) return RealInverse(in, out, scale);
      const auto middle = MakeBuffer<T>(static_cast<size_t>(2 * rows_ * stored_.back()));
      OuterAxes(in, middle.get(), true);
      return RealInverse(middle.get(), out, scale);
    }
    if (type_ == FftType::RFFT)
      RealForward(in, out);
    else
      last_->Rows(in, lengths_.back(), out, lengths_.back(), rows_, type_ == FftType::IFFT,
                  type_ == FftType::IFFT ? scale : T(1));
    OuterAxes(out, out, type_ == FftType::IFFT);
  }

  [[nodiscard]] std::string Describe() const {
    std::string text;
    for (const AxisFft<T>& axis : axes_) text += axis.Describe() + " by ";
    return text + (last_ ? last_->Describe() : real_ ? real_->Describe() : real_passes_->Describe());
  }

 private:
  void RealForward(const T* in, T* out) const {
    if (real_passes_) return real_passes_->Forward(in, out);
    real_->Forward(in, out);
  }
  void RealInverse(const T* in, T* out, T scale) const {
    if (real_passes_) return real_passes_->Inverse(in, out, scale);
    real_->Inverse(in, out, scale);
  }

  /// All but the last one, from `in` to `out`; like the evaluator outermost first if the last one is real.
  void OuterAxes(const T* in, T* out, bool inverse) const {
    const size_t count = axes_.size();
    for (size_t k = 0; k < count; ++k, in = out) {
      const size_t d = IsReal(type_) ? k : count - 1 - k;
      int64_t inner = stored_.back(), outer = rows_;
      for (size_t e = count; e-- > d;) {
        outer /= lengths_[e];
        if (e > d) inner *= lengths_[e];
      }
      axes_[d].Columns(in, out, outer, inner, inverse, 1);
    }
  }

  FftType type_;
  Dims lengths_, stored_;
  int64_t batch_, points_ = 1, rows_ = 1;
  std::vector<AxisFft<T>> axes_;
  std::unique_ptr<AxisFft<T>> last_;
  std::unique_ptr<RealFft<T>> real_;
  std::optional<RealPassesFft<T>> real_passes_;
};

template <class T>
Plan MakePlan(const Instruction& inst, int64_t batch, gemm::Isa isa, bool in_order = false,
              std::optional<RealPassesFft<T>> real = {}) {
  const auto& [type, lengths] = inst.attr<FftAttrs>();
  const auto transform = std::make_shared<const Transform<T>>(type, lengths, batch, KernelsFor(isa).fft<T>(),
                                                              in_order, std::move(real));
  return {"Fourier transforms in lanes: " + transform->Describe(),
          [transform](void* const* arrays) { transform->Run(arrays); }};
}

int64_t SignalsOf(int64_t batch, llvm::ArrayRef<int64_t> lengths) {
  for (const int64_t n : lengths.drop_back()) batch *= n;
  return batch;
}

/// Whether real signals go through passes of their own if there are such: those of odd length are no complex
/// ones of half the length. Long ones one by one use all threads, side by side only where they are many.
template <class T>
bool PrefersRealPasses(int64_t n, int64_t signals) {
  return n % 2 != 0 &&
         (n <= kLongest || signals >= 2 * LaneFft<T>::kLanes || LargestPrime(n) > kLargestBesides);
}

template <class T>
Plan PlanAnyOrder(const Instruction& inst, int64_t batch, gemm::Isa isa) {
  const auto& [type, lengths] = inst.attr<FftAttrs>();
  const int64_t n = lengths.back(), rows = SignalsOf(batch, lengths);
  if (!IsReal(type) || !PrefersRealPasses<T>(n, rows)) return MakePlan<T>(inst, batch, isa);
  return MakePlan<T>(inst, batch, isa, false, RealPassesFft<T>::Make(n, rows, KernelsFor(isa).fft<T>()));
}

/// Short transforms with the bits of the evaluator, where there are such for all axes, with enough signals to
/// fill vectors.
std::optional<Plan> PlanInOrder(const Instruction& inst, int64_t batch, gemm::Isa isa) {
  const auto& [type, lengths] = inst.attr<FftAttrs>();
  const llvm::ArrayRef<int64_t> all = lengths;
  const int64_t stored = IsReal(type) ? all.back() / 2 + 1 : all.back(), rows = SignalsOf(batch, lengths);
  const auto fills = [](int64_t n, int64_t signals) {
    return signals >= LaneFft<double>::kLanes / 2 && LaneFft<double>::HasPassesInOrder(n);
  };
  for (const int64_t n : all.drop_back())
    if (!fills(n, rows / n * stored)) return std::nullopt;
  const int64_t n = all.back();
  if (!IsReal(type)) {
    if (!fills(n, rows) && !RowPassesFft<double>::Has(n, true)) return std::nullopt;
    return MakePlan<double>(inst, batch, isa, true);
  }
  std::optional<RealPassesFft<double>> real =
      RealPassesFft<double>::Make(n, rows, KernelsFor(isa).fft<double>());
  if (!real) return std::nullopt;
  return MakePlan<double>(inst, batch, isa, true, std::move(real));
}

}  // namespace

Result<Plan> PlanFft(const Instruction& inst, gemm::Isa isa) {
  const Shape &in = inst.operand(0)->shape(), &out = inst.shape();
  if (in.ElementCount() == 0 || out.ElementCount() == 0) return Unsupported(inst, "empty arrays");
  if (llvm::is_contained(inst.attr<FftAttrs>().fft_length, 0)) return Unsupported(inst, "a length of 0");
  int64_t batch = 1;
  for (const int64_t d : in.dims().drop_back(inst.attr<FftAttrs>().fft_length.size())) batch *= d;
  if (RealPartType(out.element_type()) == ElementType::F64) {
    int64_t points = 1;
    for (const int64_t n : inst.attr<FftAttrs>().fft_length) points *= n;
    if (points > kInOrder) return PlanAnyOrder<double>(inst, batch, isa);
    if (std::optional<Plan> plan = PlanInOrder(inst, batch, isa)) return *std::move(plan);
    return Unsupported(inst, "short transforms in double precision keep the classical order");
  }
  return PlanAnyOrder<float>(inst, batch, isa);
}

}  // namespace hlo::structured
