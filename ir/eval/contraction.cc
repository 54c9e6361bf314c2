#include "ir/eval/contraction.h"

#include "ir/eval/complex_product.h"
#include "ir/eval/compute_type.h"
#include "ir/support/parallel.h"

namespace hlo {
namespace {

constexpr int64_t kChunk = 1 << 15;

/// Each offset as the offsets of the two parts of a complex element.
Offsets Pairs(const Offsets& offsets) {
  Offsets pairs;
  pairs.reserve(2 * offsets.size());
  for (const int64_t o : offsets) pairs.insert(pairs.end(), {2 * o, 2 * o + 1});
  return pairs;
}

Offsets Doubled(Offsets offsets) {
  for (int64_t& o : offsets) o *= 2;
  return offsets;
}

/// A complex product as a real one of twice the depth and width: the rows (re, im) of the right
/// factor become [re im; -im re], written out densely.
template <class T>
std::shared_ptr<T> ExpandComplex(GemmProblem& p, const T* rhs) {
  const auto batches = static_cast<int64_t>(p.batch_rhs.size()), depth = static_cast<int64_t>(p.rhs_k.size()),
             width = static_cast<int64_t>(p.rhs_n.size());
  auto expanded = AllocateAligned<T>(batches * depth * width * 4);
  ParallelFor(0, batches * depth, 16, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t base =
          p.batch_rhs[static_cast<size_t>(row / depth)] + p.rhs_k[static_cast<size_t>(row % depth)];
      T* out = expanded.get() + row * width * 4;
      for (int64_t n = 0; n < width; ++n) {
        const T* z = rhs + 2 * (base + p.rhs_n[static_cast<size_t>(n)]);
        out[2 * n] = z[0];
        out[2 * n + 1] = z[1];
        out[2 * width + 2 * n] = -z[1];
        out[2 * width + 2 * n + 1] = z[0];
      }
    }
  });
  for (int64_t b = 0; b < batches; ++b) p.batch_rhs[static_cast<size_t>(b)] = b * depth * width * 4;
  p.rhs_k = FlattenAxes({Axis{2 * depth, 2 * width}});
  p.rhs_n = FlattenAxes({Axis{2 * width, 1}});
  p.batch_lhs = Doubled(std::move(p.batch_lhs));
  p.batch_out = Doubled(std::move(p.batch_out));
  p.lhs_m = Doubled(std::move(p.lhs_m));
  p.out_m = Doubled(std::move(p.out_m));
  p.lhs_k = Pairs(p.lhs_k);
  p.out_n = Pairs(p.out_n);
  return expanded;
}

/// Sums of more products than this are taken in halves.
constexpr size_t kLongestInOrder = 8;

/// Sums in halves of halves.
class PairwiseSums {
 public:
  using Product = llvm::function_ref<void(const GemmProblem&, double* out)>;
  /// `values`: of the output; `parts`: 2 for complex elements. `problem` is left without its steps.
  PairwiseSums(GemmProblem& problem, int64_t values, int64_t parts, Product product)
      : p_(problem),
        lhs_k_(std::move(problem.lhs_k)),
        rhs_k_(std::move(problem.rhs_k)),
        values_(values),
        parts_(parts),
        product_(product) {}

  void Run(double* out) { Run(0, lhs_k_.size(), out); }

 private:
  void Run(size_t begin, size_t end, double* out) {
    if (end - begin <= kLongestInOrder) {
      const auto at = [](Offsets& k, size_t i) { return k.begin() + static_cast<ptrdiff_t>(i); };
      p_.lhs_k.assign(at(lhs_k_, begin), at(lhs_k_, end));
      p_.rhs_k.assign(at(rhs_k_, begin), at(rhs_k_, end));
      return product_(p_, out);
    }
    const size_t middle = begin + (end - begin) / 2;
    Run(begin, middle, out);
    const std::shared_ptr<double> others = AllocateAligned<double>(values_);
    Run(middle, end, others.get());
    for (const int64_t b : p_.batch_out)
      for (const int64_t m : p_.out_m)
        for (const int64_t n : p_.out_n)
          for (int64_t part = 0; part < parts_; ++part)
            out[(b + m + n) * parts_ + part] += others.get()[(b + m + n) * parts_ + part];
  }

  GemmProblem& p_;
  Offsets lhs_k_, rhs_k_;
  int64_t values_, parts_;
  Product product_;
};

}  // namespace

Contraction::Contraction(const Literal& lhs, const Literal& rhs, Literal& result)
    : result_(result),
      type_(result.shape().element_type()),
      compute_(ComputeTypeFor(type_, lhs.shape().element_type(), rhs.shape().element_type())),
      lhs_(ToCompute(lhs, type_, compute_, true)),
      rhs_(ToCompute(rhs, type_, compute_, true)),
      out_(result.MutableData()) {
  if (IsStoredAs(type_, compute_)) return;
  const int64_t values = result.shape().ElementCount() * (IsComplex(type_) ? 2 : 1);
  sums_ = AllocateAligned<uint8_t>(
      values * VisitComputeType(compute_, [](auto tag) { return static_cast<int64_t>(sizeof tag); }));
  out_ = sums_.get();
}

template <class T>
void Contraction::RunTyped(GemmProblem p, const ComputeBuffer& left, const ComputeBuffer& right) {
  const void* right_data = right.data;
  std::shared_ptr<T> expanded;
  if constexpr (std::is_same_v<T, double>) {
    const auto product = [&](const GemmProblem& problem, double* out) {
      if (IsComplex(type_))
        ComplexProduct(problem, static_cast<const T*>(left.data), static_cast<const T*>(right.data), out);
      else
        Gemm<T>(problem, GemmSource{left.data, left.bf16}, GemmSource{right.data, right.bf16}, out);
    };
    const int64_t parts = IsComplex(type_) ? 2 : 1;
    auto* const out = static_cast<double*>(out_);
    if (!in_pairs_) return product(p, out);
    return PairwiseSums(p, result_.shape().ElementCount() * parts, parts, product).Run(out);
  }
  if (IsComplex(type_)) {
    expanded = ExpandComplex(p, static_cast<const T*>(right.data));
    right_data = expanded.get();
  }
  Gemm<T>(p, GemmSource{left.data, left.bf16}, GemmSource{right_data, right.bf16}, static_cast<T*>(out_));
}

void Contraction::Run(GemmProblem problem, bool exchanged) {
  VisitComputeType(compute_, [&](auto tag) {
    RunTyped<decltype(tag)>(std::move(problem), exchanged ? rhs_ : lhs_, exchanged ? lhs_ : rhs_);
  });
}

void Contraction::ClearSums() {
  const int64_t values = result_.shape().ElementCount() * (IsComplex(type_) ? 2 : 1);
  VisitComputeType(compute_,
                   [&](auto tag) { std::memset(out_, 0, static_cast<size_t>(values) * sizeof tag); });
}

void Contraction::Finish() {
  if (!sums_) return;
  const int64_t size = Info(type_).host_bytes(), parts = IsComplex(type_) ? 2 : 1;
  uint8_t* out = result_.MutableData();
  VisitComputeType(compute_, [&](auto tag) {
    using T = decltype(tag);
    ParallelFor(0, result_.shape().ElementCount(), kChunk, [&](int64_t begin, int64_t end) {
      ConvertFromCompute(static_cast<const T*>(out_) + begin * parts, type_, end - begin, out + begin * size);
    });
  });
}

}  // namespace hlo
