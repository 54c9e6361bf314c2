#include "passes/rules/options.h"

namespace hlo {
namespace {

using O = AlgsimpOptions;

constexpr PassOptionRow kRows[] = {
    PassOption<&O::is_layout_sensitive>("is_layout_sensitive", "layouts are part of a value"),
    PassOption<&O::enable_dot_strength_reduction>("enable_dot_strength_reduction", ""),
    PassOption<&O::supports_non_canonical_dots>("supports_non_canonical_dots", ""),
    PassOption<&O::enable_dot_to_multiply_rewrite>("enable_dot_to_multiply_rewrite", ""),
    PassOption<&O::enable_move_dot_param_to_rhs>("enable_move_dot_param_to_rhs", ""),
    PassOption<&O::enable_conv_simplification>("enable_conv_simplification", ""),
    PassOption<&O::enable_conv_operand_swap>("enable_conv_operand_swap", ""),
    PassOption<&O::enable_conv_add_multiply_reorder>("enable_conv_add_multiply_reorder", ""),
    PassOption<&O::enable_scalar_multiply_reduction>("enable_scalar_multiply_reduction", ""),
    PassOption<&O::enable_floats_are_real>("enable_floats_are_real", ""),
    PassOption<&O::enable_window_reduce_to_reduce_replacement>("enable_window_reduce_to_reduce_replacement",
                                                               ""),
    PassOption<&O::enable_reduce_of_reshape>("enable_reduce_of_reshape", ""),
    PassOption<&O::enable_negative_padding_replacement>("enable_negative_padding_replacement", ""),
    PassOption<&O::enable_sink_broadcast>("enable_sink_broadcast", ""),
    PassOption<&O::unconditionally_simplify_reduce_of_transpose_or_reshape>(
        "unconditionally_simplify_reduce_of_transpose_or_reshape", ""),
    PassOption<&O::very_small_gather_size>("very_small_gather_size", ""),
    PassOption<&O::minmax_propagate_nan>("minmax_propagate_nan", ""),
    PassOption<&O::enable_unconditional_reduce_of_concat_replacement>(
        "enable_unconditional_reduce_of_concat_replacement", ""),
    PassOption<&O::executing_on_cpu>("executing_on_cpu", "rules for CPUs"),
    PassOption<&O::use_associative_reordering>("use_associative_reordering", ""),
    PassOption<&O::associative_reordering_threshold>("associative_reordering_threshold", ""),
    PassOption<&O::raise_slice_and_reduce_through_dot>("raise_slice_and_reduce_through_dot", ""),
    PassOption<&O::raise_slice_and_reduce_through_dot_threshold>(
        "raise_slice_and_reduce_through_dot_threshold", ""),
    PassOption<&O::use_convert_constant_folding>("use_convert_constant_folding", ""),
    PassOption<&O::disable_dynamic_slice_to_slice_conversion>("disable_dynamic_slice_to_slice_conversion",
                                                              ""),
    PassOption<&O::enable_fast_math>("enable_fast_math", "rules that need fast math may run"),
    PassOption<&O::enable_broadcast_degenerate_dimension>("enable_broadcast_degenerate_dimension", ""),
    PassOption<&O::enable_remove_no_op_reduce_precision>("enable_remove_no_op_reduce_precision", ""),
    PassOption<&O::enable_onednn_support>("enable_onednn_support", ""),
    PassOption<&O::rewrite_reshape_transpose_as_slice_concatenate>(
        "rewrite_reshape_transpose_as_slice_concatenate", ""),
    PassOption<&O::run_to_fixed_point>("run_to_fixed_point", "repeat until nothing changes"),
    PassOption<&O::rewrite_no_op_bitcast_convert_to_bitcast>("rewrite_no_op_bitcast_convert_to_bitcast", ""),
    PassOption<&O::enable_conditional_simplification>("enable_conditional_simplification", ""),
    PassOption<&O::enable_hoist_transpose_of_reshape>("enable_hoist_transpose_of_reshape", ""),
    PassOption<&O::enable_fold_transpose_into_scatter>("enable_fold_transpose_into_scatter", ""),
    PassOption<&O::enable_folding_pad_into_convolution>("enable_folding_pad_into_convolution", ""),
};

}  // namespace

llvm::ArrayRef<PassOptionRow> AlgsimpOptions::Rows() { return kRows; }

}  // namespace hlo
