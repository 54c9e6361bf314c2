#include "backends/gpu/passes/sort_rows.h"

#include "passes/rewrite/expander.h"

namespace hlo::gpu {
namespace {

/// Dimension `from` becomes dimension `to`; the others keep their order.
llvm::SmallVector<int64_t, 4> Moved(int64_t rank, int64_t from, int64_t to) {
  llvm::SmallVector<int64_t, 4> order;
  for (int64_t d = 0; d < rank; ++d) order.push_back(d);
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  return order;
}

Expr Move(const Expr& x, int64_t from, int64_t to) {
  return from == to ? x : x.Transpose(Moved(x.shape().rank(), from, to));
}

}  // namespace

std::optional<SortRows> RowsOfSort(const Instruction& inst) {
  if (inst.kind() != OpKind::Sort || !HasStaticShapes(inst)) return {};
  const Shape& shape = inst.operand(0)->shape();
  const int64_t dimension = inst.attr<SortAttrs>().dimensions[0], elements = shape.ElementCount();
  if (elements == 0 || elements > INT32_MAX) return {};
  return SortRows{dimension, elements / shape.dim(dimension), shape.dim(dimension)};
}

Expr AsRows(const Expr& operand, const SortRows& rows) {
  return Move(operand, rows.dimension, operand.shape().rank() - 1).Reshape({rows.count, rows.length});
}

Expr FromRows(const Expr& sorted, const Shape& operand, const SortRows& rows) {
  llvm::SmallVector<int64_t, 4> dims;
  for (const int64_t d : Moved(operand.rank(), rows.dimension, operand.rank() - 1))
    dims.push_back(operand.dim(d));
  return Move(sorted.Reshape(dims), operand.rank() - 1, rows.dimension);
}

}  // namespace hlo::gpu
