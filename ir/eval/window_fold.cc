#include "ir/eval/window_fold.h"

#include "ir/support/buffer.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo {
namespace {

/// One dimension's window over rows of `inner` accumulators: n rows in, `outputs` rows out.
class DimensionFold {
 public:
  DimensionFold(const FoldKernels& kernels, const WindowDim& w, int64_t n, int64_t outputs, int64_t inner)
      : kernels_(kernels),
        w_(w),
        n_(n),
        outputs_(outputs),
        inner_(inner),
        width_(Info(kernels.accumulator).host_bytes()) {
    span_ = (outputs - 1) * w.stride + w.size;
    const double direct = static_cast<double>(w.size) * static_cast<double>(outputs);
    blocked_ = w.window_dilation == 1 && w.size >= 8 && direct > 6.0 * static_cast<double>(span_);
  }

  /// Columns [begin, end) of all rows.
  void Run(const uint8_t* in, uint8_t* out, int64_t begin, int64_t end) const {
    if (blocked_) return Blocked(in, out, begin, end);
    if (inner_ < 8 && begin == 0 && end == inner_ && w_.base_dilation == 1) return AlongOutputs(in, out);
    for (int64_t o = 0; o < outputs_; ++o) {
      uint8_t* to = At(out, o, begin);
      kernels_.clear(to, end - begin);
      for (int64_t k = 0; k < w_.size; ++k)
        if (const int64_t p = WindowBaseIndex(w_, n_, o, k); p >= 0)
          kernels_.merge(to, At(in, p, begin), end - begin);
    }
  }

 private:
  template <class P>
  [[nodiscard]] P At(P base, int64_t row, int64_t column) const {
    return base + (row * inner_ + column) * width_;
  }

  /// Rows of few columns: each window position is folded into all outputs at once.
  void AlongOutputs(const uint8_t* in, uint8_t* out) const {
    kernels_.clear(out, outputs_ * inner_);
    Buffer<uint8_t> strided;
    if (w_.stride > 1) strided = MakeBuffer<uint8_t>(static_cast<size_t>(outputs_ * inner_ * width_));
    for (int64_t k = 0; k < w_.size; ++k) {
      const int64_t shift = k * w_.window_dilation - w_.pad_low;  // output o reads row o * stride + shift
      const int64_t first = shift >= 0 ? 0 : (-shift + w_.stride - 1) / w_.stride;
      const int64_t last = shift >= n_ ? 0 : std::min(outputs_, (n_ - 1 - shift) / w_.stride + 1);
      if (first >= last) continue;
      const uint8_t* from = At(in, first * w_.stride + shift, 0);
      if (w_.stride > 1) {
        const auto bytes = static_cast<size_t>(inner_ * width_);
        for (int64_t o = first; o < last; ++o)
          std::memcpy(At(strided.get(), o - first, 0), At(in, o * w_.stride + shift, 0), bytes);
        from = strided.get();
      }
      kernels_.merge(At(out, first, 0), from, (last - first) * inner_);
    }
  }

  /// Large windows: in blocks of the window's size, each window is a suffix of one block and a prefix of
  /// the next.
  void Blocked(const uint8_t* in, uint8_t* out, int64_t begin, int64_t end) const {
    const int64_t columns = end - begin, row = columns * width_;
    const auto bytes = static_cast<size_t>(row);
    auto prefix = MakeBuffer<uint8_t>(static_cast<size_t>(span_ * row)),
         suffix = MakeBuffer<uint8_t>(static_cast<size_t>(span_ * row));
    for (int64_t i = 0; i < span_; ++i) {
      const int64_t p = PositionAt(i);
      if (p >= 0)
        std::memcpy(prefix.get() + i * row, At(in, p, begin), bytes);
      else
        kernels_.clear(prefix.get() + i * row, columns);
    }
    std::memcpy(suffix.get(), prefix.get(), static_cast<size_t>(span_ * row));
    for (int64_t i = 1; i < span_; ++i)
      if (i % w_.size != 0) Combine(prefix.get() + (i - 1) * row, prefix.get() + i * row, columns);
    for (int64_t i = span_ - 1; i-- > 0;)
      if ((i + 1) % w_.size != 0)
        kernels_.merge(suffix.get() + i * row, suffix.get() + (i + 1) * row, columns);
    for (int64_t o = 0; o < outputs_; ++o) {
      const int64_t first = o * w_.stride, last = first + w_.size - 1;
      std::memcpy(At(out, o, begin), suffix.get() + first * row, bytes);
      if (first % w_.size != 0) kernels_.merge(At(out, o, begin), prefix.get() + last * row, columns);
    }
  }

  /// next = op(previous, next): all these ops commute.
  void Combine(const uint8_t* previous, uint8_t* next, int64_t columns) const {
    kernels_.merge(next, previous, columns);
  }

  /// Base index at place i of the padded row, or -1.
  [[nodiscard]] int64_t PositionAt(int64_t i) const {
    int64_t p = i - w_.pad_low;
    if (w_.base_dilation > 1) {
      if (p < 0 || p % w_.base_dilation != 0) return -1;
      p /= w_.base_dilation;
    }
    return p >= 0 && p < n_ ? p : -1;
  }

  const FoldKernels& kernels_;
  const WindowDim& w_;
  int64_t n_, outputs_, inner_, width_;
  int64_t span_ = 0;  // places of the padded row that windows cover
  bool blocked_ = false;
};

bool IsTrivial(const WindowDim& w) { return w == WindowDim{}; }

/// The windowed dimensions of a slab: what lies below the leading dimensions without a window.
class SlabFold {
 public:
  SlabFold(const FoldKernels& kernels, const Window& window, const Literal& input, const Literal& init,
           Literal& result)
      : kernels_(kernels),
        window_(window),
        type_(RealPartType(input.shape().element_type())),
        sizes_(input.shape().dims()),
        outputs_(result.shape().dims()),
        init_(init),
        input_(input.data()),
        out_(result.MutableData()),
        element_(Info(type_).host_bytes()),
        width_(Info(kernels.accumulator).host_bytes()) {
    const size_t rank = sizes_.size();
    while (first_ < rank && IsTrivial(window.dims[first_])) ++first_;
    parts_ = IsComplex(input.shape().element_type()) ? 2 : 1;
    in_size_ = out_size_ = parts_;
    for (size_t d = 0; d < rank; ++d) {
      if (d < first_) {
        slabs_ *= sizes_[d];
      } else {
        in_size_ *= sizes_[d];
        out_size_ *= outputs_[d];
      }
    }
  }

  void Run() {
    if (out_size_ == 0 || slabs_ == 0) return;
    if (slabs_ >= 8)
      ParallelFor(0, slabs_, std::max<int64_t>(1, (1 << 14) / (in_size_ + out_size_)),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t s = begin; s < end && !Interrupted(); ++s) RunSlab(s);
                  });
    else
      for (int64_t s = 0; s < slabs_ && !Interrupted(); ++s) RunSlab(s);
  }

 private:
  static constexpr int64_t kChunk = 1 << 14;

  void RunSlab(int64_t s) const {
    auto values = MakeBuffer<uint8_t>(static_cast<size_t>(in_size_ * width_));
    const uint8_t* in = input_ + s * in_size_ * element_;
    ParallelFor(0, in_size_, kChunk, [&](int64_t begin, int64_t end) {
      LoadAccumulators(kernels_, type_, in + begin * element_, end - begin, values.get() + begin * width_);
    });
    int64_t outer = 1;
    for (size_t d = first_; d < sizes_.size(); ++d) {
      if (!IsTrivial(window_.dims[d])) values = FoldDimension(d, outer, values.get());
      outer *= outputs_[d];
    }
    ParallelFor(0, out_size_, kChunk, [&](int64_t begin, int64_t end) {
      auto acc = MakeBuffer<uint8_t>(static_cast<size_t>((end - begin) * width_));
      LoadAccumulators(kernels_, type_, init_.data(), parts_, acc.get());
      for (int64_t i = parts_; i < end - begin; ++i)
        std::memcpy(acc.get() + i * width_, acc.get() + (i - parts_) * width_, static_cast<size_t>(width_));
      kernels_.merge(acc.get(), values.get() + begin * width_, end - begin);
      StoreFolded(kernels_, acc.get(), type_, end - begin, out_ + (s * out_size_ + begin) * element_);
    });
  }

  /// [outer, n, inner] -> [outer, outputs, inner].
  [[nodiscard]] Buffer<uint8_t> FoldDimension(size_t d, int64_t outer, const uint8_t* in) const {
    int64_t inner = parts_;
    for (size_t i = d + 1; i < sizes_.size(); ++i) inner *= sizes_[i];
    const int64_t n = sizes_[d], outputs = outputs_[d];
    auto out = MakeBuffer<uint8_t>(static_cast<size_t>(outer * outputs * inner * width_));
    const DimensionFold fold(kernels_, window_.dims[d], n, outputs, inner);
    constexpr int64_t kColumns = 256;
    const int64_t blocks = (inner + kColumns - 1) / kColumns;
    ParallelFor(0, outer * blocks,
                std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, n * std::min(inner, kColumns))),
                [&](int64_t begin, int64_t end) {
                  for (int64_t task = begin; task < end && !Interrupted(); ++task) {
                    const int64_t o = task / blocks, column = task % blocks * kColumns;
                    fold.Run(in + o * n * inner * width_, out.get() + o * outputs * inner * width_, column,
                             std::min(inner, column + kColumns));
                  }
                });
    return out;
  }

  const FoldKernels& kernels_;
  const Window& window_;
  ElementType type_;
  llvm::ArrayRef<int64_t> sizes_, outputs_;
  const Literal& init_;
  const uint8_t* input_;
  uint8_t* out_;
  int64_t element_, width_;
  size_t first_ = 0;  // first dimension with a window
  int64_t parts_ = 1, slabs_ = 1, in_size_ = 1, out_size_ = 1;
};

}  // namespace

void WindowFold(const FoldKernels& kernels, const Window& window, const Literal& input, const Literal& init,
                Literal& result) {
  SlabFold(kernels, window, input, init, result).Run();
}

}  // namespace hlo
