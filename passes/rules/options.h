// Options of algsimp under XLA's names (passes.md §3).
#pragma once
#include "passes/pass_option.h"

namespace hlo {

struct AlgsimpOptions {
  bool is_layout_sensitive = false;
  bool enable_dot_strength_reduction = true;
  bool supports_non_canonical_dots = true;
  bool enable_dot_to_multiply_rewrite = true;
  bool enable_move_dot_param_to_rhs = false;
  bool enable_conv_simplification = true;
  bool enable_conv_operand_swap = true;
  bool enable_conv_add_multiply_reorder = false;
  bool enable_scalar_multiply_reduction = false;
  bool enable_floats_are_real = false;
  bool enable_window_reduce_to_reduce_replacement = true;
  bool enable_reduce_of_reshape = true;
  bool enable_negative_padding_replacement = true;
  bool enable_sink_broadcast = true;
  bool unconditionally_simplify_reduce_of_transpose_or_reshape = false;
  int64_t very_small_gather_size = 4;
  bool minmax_propagate_nan = true;
  bool enable_unconditional_reduce_of_concat_replacement = true;
  bool executing_on_cpu = false;
  bool use_associative_reordering = false;
  double associative_reordering_threshold = 2.0;
  bool raise_slice_and_reduce_through_dot = false;
  double raise_slice_and_reduce_through_dot_threshold = 2.0;
  bool use_convert_constant_folding = false;
  bool disable_dynamic_slice_to_slice_conversion = false;
  bool enable_fast_math = false;
  bool enable_broadcast_degenerate_dimension = true;
  bool enable_remove_no_op_reduce_precision = false;
  bool rewrite_reshape_transpose_as_slice_concatenate = true;
  bool run_to_fixed_point = true;
  bool rewrite_no_op_bitcast_convert_to_bitcast = false;
  bool enable_conditional_simplification = false;
  bool enable_hoist_transpose_of_reshape = false;
  bool enable_fold_transpose_into_scatter = false;
  bool enable_folding_pad_into_convolution = true;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

}  // namespace hlo
