#include "passes/rules/options.h"

namespace hlo {
namespace {

using O = AlgsimpOptions;

constexpr PassOptionRow kRows[] = {
    PassOption<&O::is_layout_sensitive>("is_layout_sensitive", "layouts are part of a value"),
    PassOption<&O::enable_dot_strength_reduction>("enable_dot_strength_reduction",
                                                  "products with vectors become multiply and reduce"),
    PassOption<&O::supports_non_canonical_dots>("supports_non_canonical_dots",
                                                "dots may have any order of dimensions"),
    PassOption<&O::enable_dot_to_multiply_rewrite>(
        "enable_dot_to_multiply_rewrite", "dots without contracting dimensions become multiplications"),
    PassOption<&O::enable_move_dot_param_to_rhs>("enable_move_dot_param_to_rhs",
                                                 "parameters go to the right of dots"),
    PassOption<&O::enable_conv_simplification>("enable_conv_simplification", "rules on convolutions"),
    PassOption<&O::enable_conv_operand_swap>("enable_conv_operand_swap",
                                             "convolutions may swap input and kernel"),
    PassOption<&O::enable_conv_add_multiply_reorder>(
        "enable_conv_add_multiply_reorder",
        "a multiplication after convolution and addition moves into both"),
    PassOption<&O::enable_scalar_multiply_reduction>(
        "enable_scalar_multiply_reduction",
        "scalar factors of convolutions go to the smallest of input, kernel, result"),
    PassOption<&O::enable_floats_are_real>("enable_floats_are_real",
                                           "sums of products of floats may be factored"),
    PassOption<&O::enable_window_reduce_to_reduce_replacement>(
        "enable_window_reduce_to_reduce_replacement", "windows over whole dimensions become reductions"),
    PassOption<&O::enable_reduce_of_reshape>("enable_reduce_of_reshape", "reductions look through reshapes"),
    PassOption<&O::enable_negative_padding_replacement>("enable_negative_padding_replacement",
                                                        "negative padding becomes a slice"),
    PassOption<&O::enable_sink_broadcast>("enable_sink_broadcast", "broadcasts move below elementwise ops"),
    PassOption<&O::unconditionally_simplify_reduce_of_transpose_or_reshape>(
        "unconditionally_simplify_reduce_of_transpose_or_reshape",
        "also where the rearrangement has other users"),
    PassOption<&O::very_small_gather_size>("very_small_gather_size",
                                           "gathers from so few elements become selects"),
    PassOption<&O::minmax_propagate_nan>("minmax_propagate_nan", "minimum and maximum of a NaN are NaN"),
    PassOption<&O::enable_unconditional_reduce_of_concat_replacement>(
        "enable_unconditional_reduce_of_concat_replacement",
        "reductions of concatenations are split whatever they cost"),
    PassOption<&O::executing_on_cpu>("executing_on_cpu", "rules for CPUs"),
    PassOption<&O::use_associative_reordering>("use_associative_reordering",
                                               "chains of dots may be regrouped"),
    PassOption<&O::associative_reordering_threshold>("associative_reordering_threshold",
                                                     "by how much regrouping must reduce the operations"),
    PassOption<&O::raise_slice_and_reduce_through_dot>("raise_slice_and_reduce_through_dot",
                                                       "slices and reductions move above dots"),
    PassOption<&O::raise_slice_and_reduce_through_dot_threshold>(
        "raise_slice_and_reduce_through_dot_threshold", "by how much that must reduce the operations"),
    PassOption<&O::use_convert_constant_folding>("use_convert_constant_folding",
                                                 "converts of constants become constants"),
    PassOption<&O::disable_dynamic_slice_to_slice_conversion>("disable_dynamic_slice_to_slice_conversion",
                                                              "dynamic-slices with constant indices stay"),
    PassOption<&O::enable_fast_math>("enable_fast_math", "rules that need fast math may run"),
    PassOption<&O::enable_broadcast_degenerate_dimension>("enable_broadcast_degenerate_dimension",
                                                          "broadcasts drop dimensions of size 1"),
    PassOption<&O::enable_remove_no_op_reduce_precision>("enable_remove_no_op_reduce_precision",
                                                         "reduce-precision to the type itself goes"),
    PassOption<&O::rewrite_reshape_transpose_as_slice_concatenate>(
        "rewrite_reshape_transpose_as_slice_concatenate",
        "space-to-depth becomes slices and a concatenation"),
    PassOption<&O::run_to_fixed_point>("run_to_fixed_point", "visit again what changed, until nothing does"),
    PassOption<&O::rewrite_no_op_bitcast_convert_to_bitcast>(
        "rewrite_no_op_bitcast_convert_to_bitcast", "bitcast-convert that moves nothing becomes bitcast"),
    PassOption<&O::enable_conditional_simplification>("enable_conditional_simplification",
                                                      "rules on conditionals"),
    PassOption<&O::enable_hoist_transpose_of_reshape>("enable_hoist_transpose_of_reshape",
                                                      "transposes move below reshapes"),
    PassOption<&O::enable_fold_transpose_into_scatter>("enable_fold_transpose_into_scatter",
                                                       "transposes move into scatters"),
    PassOption<&O::enable_folding_pad_into_convolution>(
        "enable_folding_pad_into_convolution", "padding of convolutions' operands moves into their windows"),
};

}  // namespace

llvm::ArrayRef<PassOptionRow> AlgsimpOptions::Rows() { return kRows; }

}  // namespace hlo
