// dot: batched contraction of two arrays (ops-structured §3.1).
#include "ir/eval/contraction.h"
#include "ir/eval/eval.h"
#include "ir/eval/strided_copy.h"

namespace hlo {
namespace {

struct DotAxes {
  llvm::SmallVector<Axis> batch_lhs, batch_rhs, lhs_m, lhs_k, rhs_k, rhs_n;
};

Axis AxisOf(const Literal& literal, llvm::ArrayRef<int64_t> strides, int64_t d) {
  return {literal.shape().dim(d), strides[static_cast<size_t>(d)]};
}

DotAxes CollectAxes(const DotDims& dims, const Literal& lhs, const Literal& rhs) {
  DotAxes axes;
  const auto lhs_strides = RowMajorStrides(lhs.shape().dims()),
             rhs_strides = RowMajorStrides(rhs.shape().dims());
  for (const int64_t d : dims.lhs_batch) axes.batch_lhs.push_back(AxisOf(lhs, lhs_strides, d));
  for (const int64_t d : dims.rhs_batch) axes.batch_rhs.push_back(AxisOf(rhs, rhs_strides, d));
  // The sum may run in any order: follow the memory of the larger operand.
  llvm::SmallVector<size_t> order(dims.lhs_contracting.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const bool by_lhs = lhs.shape().ElementCount() >= rhs.shape().ElementCount();
  llvm::sort(order, [&](size_t a, size_t b) {
    return by_lhs ? dims.lhs_contracting[a] < dims.lhs_contracting[b]
                  : dims.rhs_contracting[a] < dims.rhs_contracting[b];
  });
  for (const size_t i : order) {
    const int64_t l = dims.lhs_contracting[i], r = dims.rhs_contracting[i];
    // Positions beyond a run-time size count as 0 (ops-structured §13).
    const int64_t size = std::min(lhs.DynamicSize(l), rhs.DynamicSize(r));
    axes.lhs_k.push_back({size, lhs_strides[static_cast<size_t>(l)]});
    axes.rhs_k.push_back({size, rhs_strides[static_cast<size_t>(r)]});
  }
  for (int64_t d = 0; d < lhs.shape().rank(); ++d)
    if (!llvm::is_contained(dims.lhs_batch, d) && !llvm::is_contained(dims.lhs_contracting, d))
      axes.lhs_m.push_back(AxisOf(lhs, lhs_strides, d));
  for (int64_t d = 0; d < rhs.shape().rank(); ++d)
    if (!llvm::is_contained(dims.rhs_batch, d) && !llvm::is_contained(dims.rhs_contracting, d))
      axes.rhs_n.push_back(AxisOf(rhs, rhs_strides, d));
  return axes;
}

Offsets Multiples(size_t count, int64_t unit) {
  Offsets offsets(count);
  for (size_t i = 0; i < count; ++i) offsets[i] = static_cast<int64_t>(i) * unit;
  return offsets;
}

/// Carries run-time sizes of batch and free dimensions over to the result.
void SetResultSizes(const DotDims& dims, const Literal& lhs, const Literal& rhs, Literal& result) {
  if (!lhs.HasDynamicSizes() && !rhs.HasDynamicSizes()) return;
  int64_t out = 0;
  const auto set = [&](int64_t size) {
    if (result.shape().is_dynamic(out)) result.SetDynamicSize(out, size);
    ++out;
  };
  for (size_t i = 0; i < dims.lhs_batch.size(); ++i)
    set(std::min(lhs.DynamicSize(dims.lhs_batch[i]), rhs.DynamicSize(dims.rhs_batch[i])));
  for (int64_t d = 0; d < lhs.shape().rank(); ++d)
    if (!llvm::is_contained(dims.lhs_batch, d) && !llvm::is_contained(dims.lhs_contracting, d))
      set(lhs.DynamicSize(d));
  for (int64_t d = 0; d < rhs.shape().rank(); ++d)
    if (!llvm::is_contained(dims.rhs_batch, d) && !llvm::is_contained(dims.rhs_contracting, d))
      set(rhs.DynamicSize(d));
}

}  // namespace

Literal Contract(const DotDims& dims, const Literal& lhs, const Literal& rhs, const Shape& shape) {
  const DotAxes axes = CollectAxes(dims, lhs, rhs);
  GemmProblem p;
  p.batch_lhs = FlattenAxes(axes.batch_lhs);
  p.batch_rhs = FlattenAxes(axes.batch_rhs);
  p.lhs_m = FlattenAxes(axes.lhs_m);
  p.lhs_k = FlattenAxes(axes.lhs_k);
  p.rhs_k = FlattenAxes(axes.rhs_k);
  p.rhs_n = FlattenAxes(axes.rhs_n);
  p.out_n = Multiples(p.rhs_n.size(), 1);
  p.out_m = Multiples(p.lhs_m.size(), static_cast<int64_t>(p.rhs_n.size()));
  p.batch_out = Multiples(p.batch_lhs.size(), static_cast<int64_t>(p.lhs_m.size() * p.rhs_n.size()));
  Literal result = Literal::Make(shape);
  Contraction contraction(lhs, rhs, result);
  contraction.Run(std::move(p));
  contraction.Finish();
  SetResultSizes(dims, lhs, rhs, result);
  return result;
}

Result<Literal> EvalDot(EvalContext& context, const Instruction& inst,
                        llvm::MutableArrayRef<Literal> operands) {
  const auto& a = inst.attr<DotAttrs>();
  const DotDims dims{a.lhs_batch_dims, a.lhs_contracting_dims, a.rhs_batch_dims, a.rhs_contracting_dims};
  Literal result = Contract(dims, operands[0], operands[1], inst.shape());
  HLO_CHECK_OK(context.CheckInterrupt());
  return result;
}

}  // namespace hlo
