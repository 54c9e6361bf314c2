// convolution-canonicalization: dimensions of convolutions in the order of CPU libraries (passes.md §2.1).
//
// Requires nothing. Preserves flat-calls, fusions.
// Changes: transposes bring the input to batch, spatial…, feature, the kernel to spatial…, input feature,
// output feature, and the result back from batch, spatial…, feature. Left alone: convolutions in that order,
// dynamic shapes.
#include "passes/analysis/reshape_facts.h"
#include "passes/pass.h"
#include "passes/rewrite/convolutions.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

struct Orders {
  Dims input, kernel, output;
};
/// The dimensions in canonical order.
Orders CanonicalOrders(const ConvDimLabels& labels) {
  return {Joined({{labels.input_batch}, labels.input_spatial, {labels.input_feature}}),
          Joined({labels.kernel_spatial, {labels.kernel_input_feature}, {labels.kernel_output_feature}}),
          Joined({{labels.output_batch}, labels.output_spatial, {labels.output_feature}})};
}

bool IsCanonical(const ConvDimLabels& labels) {
  const Orders orders = CanonicalOrders(labels);
  return IsIdentityPermutation(orders.input) && IsIdentityPermutation(orders.kernel) &&
         IsIdentityPermutation(orders.output);
}

Instruction* Canonicalize(const Instruction& conv, Maker make) {
  ConvolutionAttrs attrs = conv.attr<ConvolutionAttrs>();
  ConvDimLabels& labels = *attrs.dim_labels;
  const Orders orders = CanonicalOrders(labels);
  const auto spatial = static_cast<int64_t>(attrs.window.dims.size());
  labels.input_batch = labels.output_batch = 0;
  labels.input_spatial = labels.output_spatial = Range(1, spatial);
  labels.kernel_spatial = Range(0, spatial);
  labels.input_feature = labels.output_feature = labels.kernel_output_feature = spatial + 1;
  labels.kernel_input_feature = spatial;
  Instruction* made =
      MakeConvolutionLike(make, conv, TransposeIfNeeded(make, conv.operand(0), orders.input),
                          TransposeIfNeeded(make, conv.operand(1), orders.kernel), std::move(attrs));
  return TransposeIfNeeded(make, made, InversePermutation(orders.output));
}

Result<bool> RunConvolutionCanonicalization(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(
      module, context,
      [](const Instruction& inst) {
        return IsPlainConvolution(inst) && !IsCanonical(*inst.attr<ConvolutionAttrs>().dim_labels);
      },
      [](Instruction* inst) -> Result<Instruction*> { return Canonicalize(*inst, Maker(inst)); });
}

}  // namespace

HLO_DEFINE_PASS(ConvolutionCanonicalization, NoPassOptions);

}  // namespace hlo
