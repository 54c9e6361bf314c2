#include "ir/eval/contraction.h"

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
      const int64_t base = p.batch_rhs[static_cast<size_t>(row / depth)] + p.rhs_k[static_cast<size_t>(row % depth)];
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

template <class T>
void ContractTyped(GemmProblem p, const ComputeBuffer& lhs, const ComputeBuffer& rhs, ComputeType compute, Literal& result) {
  const ElementType type = result.shape().element_type();
  const void* rhs_data = rhs.data;
  std::shared_ptr<T> expanded;
  if (IsComplex(type)) {
    expanded = ExpandComplex(p, static_cast<const T*>(rhs.data));
    rhs_data = expanded.get();
  }
  const GemmSource left{lhs.data, lhs.bf16}, right{rhs_data, rhs.bf16};
  if (IsStoredAs(type, compute)) return Gemm<T>(p, left, right, reinterpret_cast<T*>(result.MutableData()));
  const int64_t count = result.shape().ElementCount(), size = Info(type).host_bytes(), parts = IsComplex(type) ? 2 : 1;
  auto sums = AllocateAligned<T>(count * parts);
  Gemm<T>(p, left, right, sums.get());
  uint8_t* out = result.MutableData();
  ParallelFor(0, count, kChunk, [&](int64_t begin, int64_t end) {
    ConvertFromCompute(sums.get() + begin * parts, type, end - begin, out + begin * size);
  });
}

}  // namespace

void ContractInto(GemmProblem problem, const Literal& lhs, const Literal& rhs, Literal& result) {
  const ElementType type = result.shape().element_type();
  const ComputeType compute = ComputeTypeFor(type, lhs.shape().element_type(), rhs.shape().element_type());
  const ComputeBuffer left = ToCompute(lhs, type, compute, true), right = ToCompute(rhs, type, compute, true);
  VisitComputeType(compute, [&](auto tag) {
    ContractTyped<decltype(tag)>(std::move(problem), left, right, compute, result);
  });
}

}  // namespace hlo
