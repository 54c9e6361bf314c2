#include "backends/cpu/product_problem.h"
#include "ir/eval/strided_copy.h"

namespace hlo::cpu {
namespace {

using gemm::Axis;
using gemm::Index;

/// A loop over two arrays.
struct PairAxis {
  int64_t size, lhs, rhs;
};

/// The summed loops, merged where both arrays allow it. The sum may run in any order: it follows the memory
/// of the larger operand.
llvm::SmallVector<PairAxis> SummedAxes(const Instruction& dot) {
  const auto& attrs = dot.attr<DotAttrs>();
  const Shape &lhs = dot.operand(0)->shape(), &rhs = dot.operand(1)->shape();
  const auto lhs_strides = RowMajorStrides(lhs.dims()), rhs_strides = RowMajorStrides(rhs.dims());
  llvm::SmallVector<PairAxis> axes;
  for (size_t i = 0; i < attrs.lhs_contracting_dims.size(); ++i) {
    const int64_t l = attrs.lhs_contracting_dims[i], r = attrs.rhs_contracting_dims[i];
    axes.push_back({lhs.dim(l), lhs_strides[static_cast<size_t>(l)], rhs_strides[static_cast<size_t>(r)]});
  }
  const bool by_lhs = lhs.ElementCount() >= rhs.ElementCount();
  llvm::sort(axes, [&](const PairAxis& a, const PairAxis& b) {
    return by_lhs ? std::tie(a.lhs, a.rhs) > std::tie(b.lhs, b.rhs)
                  : std::tie(a.rhs, a.lhs) > std::tie(b.rhs, b.lhs);
  });
  llvm::SmallVector<PairAxis> merged;
  for (const PairAxis& axis : axes) {
    if (axis.size == 1) continue;
    if (!merged.empty() && merged.back().lhs == axis.size * axis.lhs &&
        merged.back().rhs == axis.size * axis.rhs)
      merged.back() = {merged.back().size * axis.size, axis.lhs, axis.rhs};
    else
      merged.push_back(axis);
  }
  return merged;
}

/// The dimensions that are neither batch nor summed.
Index FreeIndex(const Shape& shape, llvm::ArrayRef<int64_t> batch, llvm::ArrayRef<int64_t> summed) {
  const auto strides = RowMajorStrides(shape.dims());
  llvm::SmallVector<Axis> axes;
  for (int64_t d = 0; d < shape.rank(); ++d)
    if (!llvm::is_contained(batch, d) && !llvm::is_contained(summed, d))
      axes.push_back({shape.dim(d), strides[static_cast<size_t>(d)]});
  return Index(axes);
}

Index BatchIndex(const Shape& shape, llvm::ArrayRef<int64_t> batch) {
  const auto strides = RowMajorStrides(shape.dims());
  llvm::SmallVector<Axis> axes;
  for (const int64_t d : batch) axes.push_back({shape.dim(d), strides[static_cast<size_t>(d)]});
  return Index(axes);
}

}  // namespace

gemm::Problem DotProblem(const Instruction& dot) {
  const auto& attrs = dot.attr<DotAttrs>();
  const Shape &lhs = dot.operand(0)->shape(), &rhs = dot.operand(1)->shape();
  gemm::Problem p;
  p.type = dot.shape().element_type();
  p.lhs.type = lhs.element_type();
  p.rhs.type = rhs.element_type();
  p.compute = ComputeTypeFor(p.type, p.lhs.type, p.rhs.type);
  p.lhs.batch = BatchIndex(lhs, attrs.lhs_batch_dims);
  p.rhs.batch = BatchIndex(rhs, attrs.rhs_batch_dims);
  p.lhs.rows = FreeIndex(lhs, attrs.lhs_batch_dims, attrs.lhs_contracting_dims);
  p.rhs.rows = FreeIndex(rhs, attrs.rhs_batch_dims, attrs.rhs_contracting_dims);
  llvm::SmallVector<PairAxis> summed = SummedAxes(dot);
  if (!summed.empty()) {
    const PairAxis inner = summed.pop_back_val();
    p.channels = inner.size;
    p.lhs.channel_stride = inner.lhs;
    p.rhs.channel_stride = inner.rhs;
  }
  llvm::SmallVector<Axis> lhs_taps, rhs_taps;
  for (const PairAxis& axis : summed) {
    lhs_taps.push_back({axis.size, axis.lhs});
    rhs_taps.push_back({axis.size, axis.rhs});
  }
  p.lhs.taps = Index(lhs_taps);
  p.rhs.taps = Index(rhs_taps);
  const int64_t rows = p.rows(), columns = p.columns();
  p.out_batch = Index({Axis{p.lhs.batch.count(), rows * columns}});
  p.out_rows = Index({Axis{rows, columns}});
  p.out_columns = Index({Axis{columns, 1}});
  return p;
}

}  // namespace hlo::cpu
