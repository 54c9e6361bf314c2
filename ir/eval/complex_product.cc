#include "ir/eval/complex_product.h"

#include "ir/support/parallel.h"

namespace hlo {
namespace {

constexpr int64_t kBlock = 128;  // columns summed at a time
constexpr int64_t kRowsTogether = 4;

/// One factor's parts side by side: parts[k * width + n].
struct Parts {
  std::vector<double> re, im;
};

Parts Split(const GemmProblem& p, size_t batch, const double* rhs) {
  const size_t depth = p.rhs_k.size(), width = p.rhs_n.size();
  Parts parts{std::vector<double>(depth * width), std::vector<double>(depth * width)};
  for (size_t k = 0; k < depth; ++k)
    for (size_t n = 0; n < width; ++n) {
      const double* z = rhs + 2 * (p.batch_rhs[batch] + p.rhs_k[k] + p.rhs_n[n]);
      parts.re[k * width + n] = z[0];
      parts.im[k * width + n] = z[1];
    }
  return parts;
}

/// Sums of re*re, im*im, re*im, im*re of one row and a block of columns.
struct Sums {
  std::array<std::array<double, kBlock>, 4> s{};
  void Add(const double* z, const double* re, const double* im, int64_t count) {
    const double a = z[0], b = z[1];
    for (int64_t n = 0; n < count; ++n) {
      const auto i = static_cast<size_t>(n);
      s[0][i] += a * re[n];
      s[1][i] += b * im[n];
      s[2][i] += a * im[n];
      s[3][i] += b * re[n];
    }
  }
  void Merge(const Sums& other, int64_t count) {
    for (size_t part = 0; part < 4; ++part)
      for (size_t n = 0; n < static_cast<size_t>(count); ++n) s[part][n] += other.s[part][n];
  }
};

class Product {
 public:
  Product(const GemmProblem& p, size_t batch, const double* lhs, const Parts& rhs, double* out)
      : p_(p), batch_(batch), lhs_(lhs), rhs_(rhs), out_(out), width_(static_cast<int64_t>(p.rhs_n.size())) {}

  void Row(size_t m) const {
    const bool odd = width_ % 2 != 0;
    const auto rows = static_cast<int64_t>(p_.lhs_m.size());
    const bool by_pairs = odd && static_cast<int64_t>(m) < rows - rows % kRowsTogether;
    const int64_t plain = by_pairs ? width_ - 1 : width_;
    for (int64_t n = 0; n < plain; n += kBlock) {
      const int64_t count = std::min(kBlock, plain - n);
      Sums sums;
      for (size_t k = 0; k < p_.lhs_k.size(); ++k) AddTerm(sums, m, k, n, count);
      Store(sums, m, n, count);
    }
    if (by_pairs) LastColumn(m);
  }

 private:
  void AddTerm(Sums& sums, size_t m, size_t k, int64_t n, int64_t count) const {
    const auto offset = static_cast<int64_t>(k) * width_ + n;
    sums.Add(lhs_ + 2 * (p_.batch_lhs[batch_] + p_.lhs_m[m] + p_.lhs_k[k]), rhs_.re.data() + offset,
             rhs_.im.data() + offset, count);
  }

  void LastColumn(size_t m) const {
    const size_t depth = p_.lhs_k.size(), paired = depth / 2 * 2;
    Sums even, odd, rest;
    for (size_t k = 0; k < depth; ++k)
      AddTerm(k >= paired ? rest : k % 2 == 0 ? even : odd, m, k, width_ - 1, 1);
    even.Merge(odd, 1);
    even.Merge(rest, 1);
    Store(even, m, width_ - 1, 1);
  }

  void Store(const Sums& sums, size_t m, int64_t first, int64_t count) const {
    for (int64_t n = 0; n < count; ++n) {
      const auto i = static_cast<size_t>(n);
      double* z = out_ + 2 * (p_.batch_out[batch_] + p_.out_m[m] + p_.out_n[static_cast<size_t>(first + n)]);
      z[0] = sums.s[0][i] - sums.s[1][i];
      z[1] = sums.s[2][i] + sums.s[3][i];
    }
  }

  const GemmProblem& p_;
  size_t batch_;
  const double* lhs_;
  const Parts& rhs_;
  double* out_;
  int64_t width_;
};

}  // namespace

void ComplexProduct(const GemmProblem& p, const double* lhs, const double* rhs, double* out) {
  for (size_t batch = 0; batch < p.batch_out.size(); ++batch) {
    const Parts parts = Split(p, batch, rhs);
    const Product product(p, batch, lhs, parts, out);
    ParallelFor(0, static_cast<int64_t>(p.lhs_m.size()), 8, [&](int64_t begin, int64_t end) {
      for (int64_t m = begin; m < end; ++m) product.Row(static_cast<size_t>(m));
    });
  }
}

}  // namespace hlo
