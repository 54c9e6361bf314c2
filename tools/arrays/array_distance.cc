#include "tools/arrays/array_distance.h"

#include <cmath>

#include "ir/numeric/narrow_float.h"
#include "ir/support/parallel.h"

namespace hlo {
namespace {

constexpr int64_t kGrain = 1 << 14;

/// Numbers of floating arrays, both parts of complex ones.
class Numbers {
 public:
  explicit Numbers(const Literal& array)
      : array_(array.ToStatic().Unpack()),
        real_(RealPartType(array.shape().element_type())),
        parts_(IsComplex(array.shape().element_type()) ? 2 : 1),
        width_(static_cast<size_t>(Info(real_).host_bytes())) {}
  [[nodiscard]] int64_t count() const { return array_.shape().ElementCount() * parts_; }
  [[nodiscard]] bool floating() const { return IsFloat(real_); }
  [[nodiscard]] uint64_t Bits(int64_t i) const {
    uint64_t bits = 0;
    std::memcpy(&bits, array_.data() + static_cast<size_t>(i) * width_, width_);
    return bits;
  }
  [[nodiscard]] double At(int64_t i) const { return ToDouble(real_, Bits(i)); }

 private:
  Literal array_;
  ElementType real_;
  int parts_;
  size_t width_;
};

/// Sums of squares and largest magnitudes in pieces, put together in their order whatever the threads. The
/// squares of f64 numbers need more range than these have.
struct Piece {
  long double squares = 0;
  double largest = 0;
  int64_t numbers = 0, others = 0;
  void Add(double value) {
    squares += static_cast<long double>(value) * value;
    largest = std::max(largest, std::fabs(value));
    ++numbers;
  }
};
Piece InPieces(int64_t count, llvm::function_ref<void(int64_t i, Piece& piece)> add) {
  std::vector<Piece> pieces(static_cast<size_t>((count + kGrain - 1) / kGrain));
  ParallelFor(0, static_cast<int64_t>(pieces.size()), 1, [&](int64_t from, int64_t to) {
    for (int64_t p = from; p < to; ++p)
      for (int64_t i = p * kGrain; i < std::min(count, (p + 1) * kGrain); ++i)
        add(i, pieces[static_cast<size_t>(p)]);
  });
  Piece whole;
  for (const Piece& piece : pieces) {
    whole.squares += piece.squares;
    whole.largest = std::max(whole.largest, piece.largest);
    whole.numbers += piece.numbers;
    whole.others += piece.others;
  }
  return whole;
}
Extent ExtentOf(const Piece& piece) {
  const auto numbers = static_cast<long double>(std::max<int64_t>(piece.numbers, 1));
  return {static_cast<double>(std::sqrt(piece.squares / numbers)), piece.largest};
}

Piece Differences(const Literal& actual, const Literal& expected) {
  const Numbers a(actual), b(expected);
  return InPieces(std::min(a.count(), b.count()), [&](int64_t i, Piece& piece) {
    if (!a.floating()) {
      piece.others += a.Bits(i) != b.Bits(i);
      return;
    }
    const double x = a.At(i), y = b.At(i);
    if (std::isfinite(x) && std::isfinite(y)) return piece.Add(x - y);
    piece.others += !(x == y || (std::isnan(x) && std::isnan(y)));
  });
}

}  // namespace

Extent ExtentOf(const Literal& array) {
  const Numbers numbers(array);
  if (!numbers.floating()) return {};
  return ExtentOf(InPieces(numbers.count(), [&](int64_t i, Piece& piece) {
    if (const double x = numbers.At(i); std::isfinite(x)) piece.Add(x);
  }));
}

Distance DistanceOf(const Literal& actual, const Literal& expected) {
  const Piece piece = Differences(actual, expected);
  return {ExtentOf(piece), piece.others};
}

void RaiseToDistances(const Literal& actual, const Literal& expected, std::vector<double>& most) {
  const Numbers a(actual), b(expected);
  most.resize(static_cast<size_t>(std::min(a.count(), b.count())));
  ParallelFor(0, static_cast<int64_t>(most.size()), kGrain, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) {
      if (a.Bits(i) == b.Bits(i)) continue;
      double& far = most[static_cast<size_t>(i)];
      if (!a.floating()) {
        far = HUGE_VAL;
        continue;
      }
      const double x = a.At(i), y = b.At(i);
      const bool same = x == y || (std::isnan(x) && std::isnan(y));
      if (!same) far = std::max(far, std::isfinite(x) && std::isfinite(y) ? std::fabs(x - y) : HUGE_VAL);
    }
  });
}

bool IsAllNan(const Literal& array) {
  const Numbers numbers(array);
  if (!numbers.floating() || numbers.count() == 0) return false;
  const int64_t parts = numbers.count() / array.ToStatic().shape().ElementCount();
  for (int64_t i = 0; i < numbers.count(); i += parts)
    if (!std::isnan(numbers.At(i)) && !(parts == 2 && std::isnan(numbers.At(i + 1)))) return false;
  return true;
}

}  // namespace hlo
