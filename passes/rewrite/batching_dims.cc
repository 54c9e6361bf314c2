#include "passes/rewrite/batching_dims.h"

namespace hlo {
namespace {

constexpr ElementType kWide = ElementType::S64;

bool Holds(ElementType type, int64_t count) {
  const int bits = Info(type).bits - (IsSigned(type) ? 1 : 0);
  return bits >= 63 || count <= int64_t{1} << bits;
}

/// The indices with a column of numbers along each of `dims` before the others.
Instruction* WithColumns(Maker& make, Instruction* indices, int64_t vector_dim,
                         llvm::ArrayRef<int64_t> dims) {
  Dims sizes(indices->shape().dims());
  if (vector_dim == indices->shape().rank()) {
    sizes.push_back(1);
    indices = make.Reshape(indices, sizes);
  }
  for (const int64_t d : dims)
    if (!Holds(indices->shape().element_type(), indices->shape().dim(d)))
      indices = make.Convert(indices, kWide);
  sizes[static_cast<size_t>(vector_dim)] = 1;
  llvm::SmallVector<Instruction*, 4> columns;
  for (const int64_t d : dims)
    columns.push_back(make.Iota(Shape::ArrayWithDefaultLayout(indices->shape().element_type(), sizes), d));
  columns.push_back(indices);
  return make.Concatenate(columns, vector_dim);
}

Dims Joined(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b) {
  Dims all(a);
  all.append(b.begin(), b.end());
  return all;
}

Dims Sorted(Dims dims) {
  llvm::sort(dims);
  return dims;
}

}  // namespace

Instruction* WithoutBatchingDims(Maker& make, Instruction* inst) {
  if (const auto* old = inst->attrs().GetIf<GatherAttrs>()) {
    GatherAttrs a = *old;
    Instruction* indices =
        WithColumns(make, inst->operand(1), a.index_vector_dim, a.start_indices_batching_dims);
    a.start_index_map = Joined(a.operand_batching_dims, a.start_index_map);
    a.collapsed_slice_dims = Sorted(Joined(a.collapsed_slice_dims, a.operand_batching_dims));
    a.operand_batching_dims = a.start_indices_batching_dims = {};
    a.indices_are_sorted = false;
    return make.AddWithShape(OpKind::Gather, inst->shape(), {inst->operand(0), indices}, std::move(a));
  }
  ScatterAttrs a = inst->attr<ScatterAttrs>();
  llvm::SmallVector<Instruction*, 4> operands(inst->operands());
  Instruction*& indices = operands[operands.size() / 2];
  indices = WithColumns(make, indices, a.index_vector_dim, a.scatter_indices_batching_dims);
  a.scatter_dims_to_operand_dims = Joined(a.input_batching_dims, a.scatter_dims_to_operand_dims);
  a.inserted_window_dims = Sorted(Joined(a.inserted_window_dims, a.input_batching_dims));
  a.input_batching_dims = a.scatter_indices_batching_dims = {};
  a.indices_are_sorted = false;
  return make.AddWithShape(OpKind::Scatter, inst->shape(), operands, std::move(a), inst->callees());
}

bool HasBatchingDims(const Instruction& inst) {
  if (const auto* gather = inst.attrs().GetIf<GatherAttrs>()) return !gather->operand_batching_dims.empty();
  const auto* scatter = inst.attrs().GetIf<ScatterAttrs>();
  return scatter && !scatter->input_batching_dims.empty();
}

}  // namespace hlo
