// fft-by-sums: Fourier transforms as loops: sums of a few products, and what is left of the length by the
// same.
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: fft of all kinds, dimension by dimension. A length n = a b becomes b sums of a products each for
// every element, factors of unity, and transforms of the length b (Cooley, Tukey). Left alone: f64, whose
// results are meant to be exact to their last places, dynamic shapes, lengths with a prime factor above
// `max_factor`, longer ones than `max_length`.
#include <complex>
#include <numbers>

#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/expr.h"

namespace hlo::gpu {
namespace {

struct FftBySumsOptions {
  int64_t max_factor = 1024;
  int64_t max_length = 1 << 20;
  static llvm::ArrayRef<PassOptionRow> Rows() {
    static const PassOptionRow rows[] = {
        PassOption<&FftBySumsOptions::max_factor>("max_factor", "products of a sum at most"),
        PassOption<&FftBySumsOptions::max_length>("max_length", "elements of a row at most")};
    return rows;
  }
};

/// Products of a sum: as many as a thread has registers for, or the smallest factor there is.
int64_t FactorOf(int64_t n) {
  constexpr int64_t kMost = 16;
  for (int64_t f = std::min(n, kMost); f > 1; --f)
    if (n % f == 0) return f;
  for (int64_t f = kMost + 1; f * f <= n; ++f)
    if (n % f == 0) return f;
  return n;
}

bool Fits(int64_t n, const FftBySumsOptions& options) {
  if (n < 1 || n > options.max_length) return false;
  for (; n > 1; n /= FactorOf(n))
    if (FactorOf(n) > options.max_factor) return false;
  return true;
}

bool Matches(const Instruction& inst, const FftBySumsOptions& options) {
  if (inst.kind() != OpKind::Fft || !HasStaticShapes(inst) || inst.shape().ElementCount() == 0 ||
      inst.operand(0)->shape().ElementCount() == 0)
    return false;
  const ElementType type = inst.operand(0)->shape().element_type();
  if (type != ElementType::F32 && type != ElementType::C64) return false;
  return llvm::all_of(inst.attr<FftAttrs>().fft_length, [&](int64_t n) { return Fits(n, options); });
}

/// Transforms of the last dimension of arrays [rows, n] of c64.
class Transformer {
 public:
  Transformer(Maker& make, bool inverse) : make_(make), inverse_(inverse) {}

  /// Without the factor 1/n of inverse ones.
  Expr Rows(const Expr& x) {
    const int64_t rows = x.dim(0), n = x.dim(1), a = FactorOf(n), b = n / a;
    if (n == 1) return x;
    const Expr products = x.Reshape({rows, a, b}).Broadcast({rows, a, a, b}, {0, 2, 3}) *
                          Unity(a, a, a).Broadcast({rows, a, a, b}, {1, 2});
    const Expr sums = products.Reduce(OpKind::Add, 0, {2});
    if (b == 1) return sums.Reshape({rows, n});
    const Expr turned = sums * Unity(a, b, n).Broadcast({rows, a, b}, {1, 2});
    const Expr parts = Rows(turned.Reshape({rows * a, b}));
    return parts.Reshape({rows, a, b}).Transpose({0, 2, 1}).Reshape({rows, n});
  }

 private:
  /// exp(-2 pi i j k / n) for j, k below `first` and `second`; conjugate for inverse transforms.
  Expr Unity(int64_t first, int64_t second, int64_t n) {
    Literal table = Literal::Make(Shape::ArrayWithDefaultLayout(ElementType::C64, {first, second}));
    const auto elements = table.MutableSpan<std::complex<float>>();
    for (int64_t j = 0; j < first; ++j)
      for (int64_t k = 0; k < second; ++k) {
        const double turn = static_cast<double>(j * k % n) / static_cast<double>(n);
        const double angle = (inverse_ ? 2 : -2) * std::numbers::pi * turn;
        elements[static_cast<size_t>(j * second + k)] = {static_cast<float>(std::cos(angle)),
                                                         static_cast<float>(std::sin(angle))};
      }
    return {make_, make_.Constant(std::move(table))};
  }

  Maker& make_;
  bool inverse_;
};

/// The dimension last, or the last one there.
Expr Moved(const Expr& x, int64_t from, int64_t to) {
  if (from == to) return x;
  llvm::SmallVector<int64_t, 4> order;
  for (int64_t d = 0; d < x.shape().rank(); ++d) order.push_back(d);
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  return x.Transpose(order);
}

Expr Along(const Expr& x, int64_t dimension, bool inverse) {
  const int64_t last = x.shape().rank() - 1, n = x.dim(dimension);
  const Expr moved = Moved(x, dimension, last);
  Transformer transformer(x.make(), inverse);
  const Expr rows = transformer.Rows(moved.Reshape({x.shape().ElementCount() / n, n}));
  return Moved(rows.Reshape(moved.shape().dims()), last, dimension);
}

Expr Scaled(const Expr& x, int64_t n) {
  Maker& make = x.make();
  const double factor = 1.0 / static_cast<double>(n);
  if (!IsComplex(x.type())) return x * factor;
  return {make, make.Binary(OpKind::Complex, x.Unary(OpKind::Real) * factor, x.Unary(OpKind::Imag) * factor)};
}

/// What the first half says of all n elements of a spectrum of real numbers.
Expr WholeSpectrum(const Expr& half, int64_t n) {
  const int64_t last = half.shape().rank() - 1, others = (n - 1) / 2;
  if (others == 0) return half;
  DimensionsAttrs reverse;
  reverse.dimensions = {last};
  Maker& make = half.make();
  const Expr turned(make, make.Add(OpKind::Reverse, {half.Slice(last, 1, 1 + others)}, std::move(reverse)));
  return Concat({half, Conj(turned)}, last);
}

Instruction* BySums(Instruction* inst) {
  Maker make(inst);
  const auto& attrs = inst->attr<FftAttrs>();
  Expr x(make, inst->operand(0));
  const int64_t last = x.shape().rank() - 1, n = attrs.fft_length.back();
  const int64_t first = x.shape().rank() - static_cast<int64_t>(attrs.fft_length.size());
  const bool inverse = attrs.fft_type == FftType::IFFT || attrs.fft_type == FftType::IRFFT;
  int64_t elements = 1;
  for (const int64_t length : attrs.fft_length) elements *= length;
  if (attrs.fft_type == FftType::RFFT) {
    const Expr zero = FullOf(make, x.type(), x.shape().dims(), 0);
    x = Along({make, make.Binary(OpKind::Complex, x, zero)}, last, inverse).Slice(last, 0, n / 2 + 1);
  } else if (attrs.fft_type != FftType::IRFFT) {
    x = Along(x, last, inverse);
  }
  for (int64_t d = last - 1; d >= first; --d) x = Along(x, d, inverse);
  if (attrs.fft_type == FftType::IRFFT) x = Along(WholeSpectrum(x, n), last, inverse).Unary(OpKind::Real);
  return inverse ? Scaled(x, elements) : x;
}

Result<bool> RunFftBySums(Module& module, const FftBySumsOptions& options, PassContext& context) {
  return ExpandMatches(
      module, context, [&](const Instruction& inst) { return Matches(inst, options); },
      [](Instruction* inst) -> Result<Instruction*> { return BySums(inst); });
}

}  // namespace

HLO_DEFINE_PASS(FftBySums, FftBySumsOptions);

}  // namespace hlo::gpu
