// Shape rules of gather and scatter (ops-elementwise §10.6, §10.7).
#include "ir/infer/reducer.h"

namespace hlo {
namespace {

/// What gather and scatter share: how index vectors address the operand. Names are those of the
/// attributes, for messages.
struct Indexing {
  llvm::StringRef index_map_name, operand_batch_name, indices_batch_name;
  llvm::ArrayRef<int64_t> index_map, operand_batch, indices_batch;
  int64_t index_vector_dim;
};

/// Checks indices (operand i) and the lists over `operand`; returns the sizes of the batch points:
/// the dimensions of the indices without the index vector.
Result<Dims> CheckIndexing(const Instruction& inst, const Indexing& x, const Shape& operand, int64_t i) {
  const Shape& indices = inst.operand(i)->shape();
  if (!indices.IsArray() || !IsIntegral(indices.element_type()))
    return OperandError("verify-operand-type", inst, i, "indices of {0} are {1}, but must be integers",
                        Name(inst), indices);
  if (x.index_vector_dim < 0 || x.index_vector_dim > indices.rank())
    return OperandError("verify-attribute", inst, i,
                        "'index_vector_dim' of {0} is {1}, but the rank of its indices {2} is {3}",
                        Name(inst), x.index_vector_dim, indices, indices.rank());
  const bool implicit = x.index_vector_dim == indices.rank();
  const int64_t vector_size = implicit ? 1 : indices.dim(x.index_vector_dim);
  if (!SizesAgree(vector_size, static_cast<int64_t>(x.index_map.size())))
    return OperandError("verify-attribute", inst, i,
                        "'{0}' of {1} is {2}, but its indices {3} have vectors of size {4}", x.index_map_name,
                        Name(inst), List(x.index_map), indices, vector_size);
  HLO_CHECK_OK(CheckDimList(inst, x.index_map_name, x.index_map, operand.rank(), "the rank of the operand"));
  HLO_CHECK_OK(CheckDimList(inst, x.operand_batch_name, x.operand_batch, operand.rank(),
                            "the rank of the operand", /*sorted=*/true));
  HLO_CHECK_OK(
      CheckDimList(inst, x.indices_batch_name, x.indices_batch, indices.rank(), "the rank of the indices"));
  if (x.operand_batch.size() != x.indices_batch.size())
    return RuleError("verify-attribute", inst, "'{0}' {1} and '{2}' {3} of {4} differ in length",
                     x.operand_batch_name, List(x.operand_batch), x.indices_batch_name, List(x.indices_batch),
                     Name(inst));
  for (size_t k = 0; k < x.operand_batch.size(); ++k) {
    const int64_t a = x.operand_batch[k], b = x.indices_batch[k];
    if (b == x.index_vector_dim)
      return RuleError("verify-attribute", inst,
                       "'{0}' of {1} is {2}, which holds the index vector dimension {3}",
                       x.indices_batch_name, Name(inst), List(x.indices_batch), b);
    if (llvm::is_contained(x.index_map, a))
      return RuleError("verify-attribute", inst,
                       "dimension {0} stands in both '{1}' {2} and '{3}' {4} of {5}", a, x.index_map_name,
                       List(x.index_map), x.operand_batch_name, List(x.operand_batch), Name(inst));
    if (!SizesAgree(operand.dim(a), indices.dim(b)))
      return OperandError("verify-operand-shape", inst, i,
                          "batch dimension {0} of {1} and batch dimension {2} of {3} differ in size", a,
                          operand, b, indices);
  }
  Dims batch;
  for (int64_t d = 0; d < indices.rank(); ++d)
    if (d != x.index_vector_dim) batch.push_back(indices.dim(d));
  return batch;
}

/// Neither list holds a dimension of the other.
Status CheckDisjoint(const Instruction& inst, llvm::StringRef a_name, llvm::ArrayRef<int64_t> a,
                     llvm::StringRef b_name, llvm::ArrayRef<int64_t> b) {
  for (int64_t d : a)
    if (llvm::is_contained(b, d))
      return RuleError("verify-attribute", inst,
                       "dimension {0} stands in both '{1}' {2} and '{3}' {4} of {5}", d, a_name, List(a),
                       b_name, List(b), Name(inst));
  return {};
}

/// Inputs, indices and updates of a scatter.
struct ScatterOperands {
  llvm::ArrayRef<Instruction*> inputs, updates;
  int64_t indices = 0;
};
Result<ScatterOperands> SplitScatter(const Instruction& inst) {
  const auto operands = inst.operands();
  if (operands.size() < 3 || operands.size() % 2 == 0)
    return RuleError("verify-operand-count", inst,
                     "{0} has {1} operands, but scatter takes N inputs, indices and N updates", Name(inst),
                     operands.size());
  HLO_CHECK_OK(CheckArrays(inst));
  const size_t n = operands.size() / 2;
  for (size_t i = 1; i < n; ++i) {
    HLO_CHECK_OK(CheckSameDims(inst, 0, static_cast<int64_t>(i)));
    HLO_CHECK_OK(CheckSameDims(inst, static_cast<int64_t>(n + 1), static_cast<int64_t>(n + 1 + i)));
  }
  return ScatterOperands{operands.take_front(n), operands.drop_front(n + 1), static_cast<int64_t>(n)};
}

/// The updates have the batch points' sizes, and windows that fit the operand.
Status CheckUpdates(const Instruction& inst, const ScatterAttrs& a, llvm::ArrayRef<int64_t> batch,
                    int64_t updates_operand) {
  const Shape& x = inst.operand(0)->shape();
  const Shape& updates = inst.operand(updates_operand)->shape();
  const auto wanted = static_cast<int64_t>(batch.size() + a.update_window_dims.size());
  if (updates.rank() != wanted)
    return OperandError("verify-operand-shape", inst, updates_operand,
                        "updates of {0} are {1}, but {2} batch and {3} window dimensions are needed",
                        Name(inst), updates, batch.size(), a.update_window_dims.size());
  HLO_CHECK_OK(CheckDimList(inst, "update_window_dims", a.update_window_dims, updates.rank(),
                            "the rank of the updates", /*sorted=*/true));
  Dims window_of;
  for (int64_t d = 0; d < x.rank(); ++d)
    if (!llvm::is_contained(a.inserted_window_dims, d) && !llvm::is_contained(a.input_batching_dims, d))
      window_of.push_back(d);
  size_t window = 0, point = 0;
  for (int64_t d = 0; d < updates.rank(); ++d) {
    const int64_t size = updates.dim(d);
    if (llvm::is_contained(a.update_window_dims, d)) {
      const int64_t to = window_of[window++];
      if (size != kUnboundedSize && !x.is_unbounded(to) && size > x.dim(to))
        return OperandError("verify-operand-shape", inst, updates_operand,
                            "dimension {0} of updates {1} exceeds dimension {2} of {3}", d, updates, to, x);
    } else if (const int64_t wanted_size = batch[point++]; !SizesAgree(size, wanted_size)) {
      return OperandError(
          "verify-operand-shape", inst, updates_operand,
          "dimension {0} of updates {1} should have size {2}, that of indices {3}", d, updates, wanted_size,
          inst.operand(updates_operand - static_cast<int64_t>(inst.operand_count() / 2))->shape());
    }
  }
  return {};
}

}  // namespace

Result<Shape> InferGather(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckArrays(inst));
  const auto& a = inst.attr<GatherAttrs>();
  const Shape& x = inst.operand(0)->shape();
  HLO_TRY(const Dims batch,
          CheckIndexing(
              inst,
              {"start_index_map", "operand_batching_dims", "start_indices_batching_dims", a.start_index_map,
               a.operand_batching_dims, a.start_indices_batching_dims, a.index_vector_dim},
              x, 1));
  const auto rank = static_cast<int64_t>(batch.size() + a.offset_dims.size());
  HLO_CHECK_OK(
      CheckDimList(inst, "offset_dims", a.offset_dims, rank, "the rank of the result", /*sorted=*/true));
  HLO_CHECK_OK(CheckDimList(inst, "collapsed_slice_dims", a.collapsed_slice_dims, x.rank(),
                            "the rank of operand 0", /*sorted=*/true));
  HLO_CHECK_OK(CheckDisjoint(inst, "collapsed_slice_dims", a.collapsed_slice_dims, "operand_batching_dims",
                             a.operand_batching_dims));
  if (static_cast<int64_t>(a.slice_sizes.size()) != x.rank())
    return OperandError("verify-attribute", inst, 0,
                        "'slice_sizes' of {0} is {1}, but its operand {2} has rank {3}", Name(inst),
                        List(a.slice_sizes), x, x.rank());
  if (a.offset_dims.size() + a.collapsed_slice_dims.size() + a.operand_batching_dims.size() !=
      a.slice_sizes.size())
    return OperandError(
        "verify-attribute", inst, 0,
        "{0} has {1} offset, {2} collapsed and {3} batching dimensions, but its operand {4} has rank {5}",
        Name(inst), a.offset_dims.size(), a.collapsed_slice_dims.size(), a.operand_batching_dims.size(), x,
        x.rank());
  Dims offset_sizes;
  llvm::SmallVector<bool, 8> offset_dynamic;
  for (int64_t d = 0; d < x.rank(); ++d) {
    const int64_t size = a.slice_sizes[static_cast<size_t>(d)];
    const bool dropped =
        llvm::is_contained(a.collapsed_slice_dims, d) || llvm::is_contained(a.operand_batching_dims, d);
    if (size < 0 || (!x.is_unbounded(d) && size > x.dim(d)) || (dropped && size > 1))
      return OperandError(
          "verify-attribute", inst, 0,
          "'slice_sizes' of {0} is {1}, which does not fit dimension {2} of its operand {3}{4}", Name(inst),
          List(a.slice_sizes), d, x, dropped ? ", as the slice is dropped there" : "");
    if (dropped) continue;
    offset_sizes.push_back(size);
    offset_dynamic.push_back(x.is_dynamic(d) && size == x.dim(d));
  }
  const Shape& indices = inst.operand(1)->shape();
  Dims dims;
  llvm::SmallVector<bool, 8> dynamic;
  for (int64_t d = 0, offset = 0, point = 0; d < rank; ++d) {
    if (llvm::is_contained(a.offset_dims, d)) {
      dims.push_back(offset_sizes[static_cast<size_t>(offset)]);
      dynamic.push_back(offset_dynamic[static_cast<size_t>(offset++)]);
      continue;
    }
    dims.push_back(batch[static_cast<size_t>(point)]);
    dynamic.push_back(indices.is_dynamic(point < a.index_vector_dim ? point : point + 1));
    ++point;
  }
  return ArrayResult(inst, x.element_type(), dims, dynamic);
}

Result<Shape> InferScatter(const Instruction& inst, const InferOptions&) {
  HLO_TRY(const ScatterOperands operands, SplitScatter(inst));
  const auto& a = inst.attr<ScatterAttrs>();
  const Shape& x = inst.operand(0)->shape();
  // The combiner takes current values, then updates; floating types may differ from the operands'.
  HLO_TRY([[maybe_unused]] const Shape combined,
          CheckReducer(inst, 0, operands.updates, operands.inputs, /*ignore_precision=*/true));
  HLO_TRY(const Dims batch,
          CheckIndexing(inst,
                        {"scatter_dims_to_operand_dims", "input_batching_dims",
                         "scatter_indices_batching_dims", a.scatter_dims_to_operand_dims,
                         a.input_batching_dims, a.scatter_indices_batching_dims, a.index_vector_dim},
                        x, operands.indices));
  HLO_CHECK_OK(CheckDimList(inst, "inserted_window_dims", a.inserted_window_dims, x.rank(),
                            "the rank of operand 0", /*sorted=*/true));
  HLO_CHECK_OK(CheckDisjoint(inst, "inserted_window_dims", a.inserted_window_dims, "input_batching_dims",
                             a.input_batching_dims));
  if (static_cast<int64_t>(a.update_window_dims.size() + a.inserted_window_dims.size() +
                           a.input_batching_dims.size()) != x.rank())
    return OperandError(
        "verify-attribute", inst, 0,
        "{0} has {1} window, {2} inserted and {3} batching dimensions, but its operand {4} has rank {5}",
        Name(inst), a.update_window_dims.size(), a.inserted_window_dims.size(), a.input_batching_dims.size(),
        x, x.rank());
  HLO_CHECK_OK(CheckUpdates(inst, a, batch, operands.indices + 1));
  if (operands.inputs.size() == 1) return x;
  llvm::SmallVector<Shape, 4> shapes;
  for (const Instruction* input : operands.inputs) shapes.push_back(input->shape());
  return TupleResult(inst, shapes);
}

}  // namespace hlo
