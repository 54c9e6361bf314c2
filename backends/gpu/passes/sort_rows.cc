#include "backends/gpu/passes/sort_rows.h"

#include "llvm/Support/MathExtras.h"
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

int64_t ElementsRead(const Instruction& sort, const SortRows& rows) {
  if (sort.IsRoot()) return rows.length;
  int64_t read = 1;
  llvm::SmallVector<const Instruction*, 8> readers(sort.users().begin(), sort.users().end());
  while (!readers.empty()) {
    const Instruction* reader = readers.pop_back_val();
    if (reader->kind() == OpKind::GetTupleElement && !reader->IsRoot()) {
      readers.append(reader->users().begin(), reader->users().end());
      continue;
    }
    if (reader->kind() != OpKind::Slice) return rows.length;
    read = std::max(read, reader->attr<SliceAttrs>().slice[static_cast<size_t>(rows.dimension)].limit);
  }
  return read;
}

Expr Filled(const Expr& x, int64_t length) {
  if (x.dim(1) == length) return x;
  Maker& make = x.make();
  const PaddingDim padding[] = {{}, {.high = length - x.dim(1)}};
  return {make, make.Pad(x, make.Scalar(x.type(), 0), padding)};
}

int64_t BitsOfPlaces(int64_t length) { return llvm::Log2_64_Ceil(static_cast<uint64_t>(length)); }

Expr TakeFromRows(const Expr& x, const Expr& places) {
  const int64_t rows = x.dim(0), length = x.dim(1), count = places.dim(1);
  GatherAttrs attrs;
  attrs.collapsed_slice_dims = {0};
  attrs.start_index_map = {0};
  attrs.index_vector_dim = 1;
  attrs.slice_sizes = {1};
  Maker& make = x.make();
  const Expr at = rows == 1 ? places : IotaOf(make, kSortIndex, {rows, count}, 0) * length + places;
  const Expr taken(make, make.Add(OpKind::Gather, {x.Reshape({rows * length}), at.Reshape({rows * count, 1})},
                                  std::move(attrs)));
  return taken.Reshape({rows, count});
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
