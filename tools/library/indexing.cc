// Gather and scatter.
#include "hlo/ops.h"
#include "tools/library/builder_state.h"

namespace hlo_toolkit::ops {

using internal::Emission;
using internal::Emit;
using internal::ToDims;
using InstructionOr = hlo::Result<hlo::Instruction*>;

XlaOp Gather(XlaBuilder* builder, XlaOp operand, XlaOp start_indices,
             const GatherDimensionNumbers& dimension_numbers, Span<const int64_t> slice_sizes,
             bool indices_are_sorted, Location location) {
  return Emit(builder, {operand, start_indices}, location, [&](Emission& e) {
    hlo::GatherAttrs attrs;
    attrs.offset_dims = ToDims(dimension_numbers.offset_dims());
    attrs.collapsed_slice_dims = ToDims(dimension_numbers.collapsed_slice_dims());
    attrs.start_index_map = ToDims(dimension_numbers.start_index_map());
    attrs.operand_batching_dims = ToDims(dimension_numbers.operand_batching_dims());
    attrs.start_indices_batching_dims = ToDims(dimension_numbers.start_indices_batching_dims());
    attrs.index_vector_dim = dimension_numbers.index_vector_dim();
    attrs.slice_sizes = ToDims(slice_sizes);
    attrs.indices_are_sorted = indices_are_sorted;
    return e.Add(hlo::OpKind::Gather, e.operands(), std::move(attrs));
  });
}

XlaOp Scatter(XlaBuilder* builder, XlaOp operand, XlaOp scatter_indices, XlaOp updates,
              const XlaComputation& update_computation, const ScatterDimensionNumbers& dimension_numbers,
              bool indices_are_sorted, bool unique_indices, Location location) {
  return ops::Scatter(builder, Span<const XlaOp>(&operand, 1), scatter_indices,
                      Span<const XlaOp>(&updates, 1), update_computation, dimension_numbers,
                      indices_are_sorted, unique_indices, location);
}

XlaOp Scatter(XlaBuilder* builder, Span<const XlaOp> operands, XlaOp scatter_indices,
              Span<const XlaOp> updates, const XlaComputation& update_computation,
              const ScatterDimensionNumbers& dimension_numbers, bool indices_are_sorted, bool unique_indices,
              Location location) {
  std::vector<XlaOp> all = operands.ToVector();
  all.push_back(scatter_indices);
  all.insert(all.end(), updates.begin(), updates.end());
  return Emit(builder, all, location, [&](Emission& e) -> InstructionOr {
    HLO_TRY(hlo::Computation * callee, e.state().Import(update_computation));
    hlo::ScatterAttrs attrs;
    attrs.update_window_dims = ToDims(dimension_numbers.update_window_dims());
    attrs.inserted_window_dims = ToDims(dimension_numbers.inserted_window_dims());
    attrs.scatter_dims_to_operand_dims = ToDims(dimension_numbers.scatter_dims_to_operand_dims());
    attrs.input_batching_dims = ToDims(dimension_numbers.input_batching_dims());
    attrs.scatter_indices_batching_dims = ToDims(dimension_numbers.scatter_indices_batching_dims());
    attrs.index_vector_dim = dimension_numbers.index_vector_dim();
    attrs.indices_are_sorted = indices_are_sorted;
    attrs.unique_indices = unique_indices;
    return e.Add(hlo::OpKind::Scatter, e.operands(), std::move(attrs), {callee});
  });
}

}  // namespace hlo_toolkit::ops
