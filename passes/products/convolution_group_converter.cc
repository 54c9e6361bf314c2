// convolution-group-converter: grouped convolutions become ungrouped ones (passes.md §4.10).
//
// Requires nothing. Preserves flat-calls, fusions.
// Changes: the groups become one more spatial dimension of size G, made by reshapes: with base dilation G and
// stride G − 1 each result position of it reads one input group with one kernel group, and holes elsewhere.
// Feature groups split input features, batch groups input batches; both split kernel output features. Left
// alone: convolutions with one group, dynamic shapes.
#include "passes/pass.h"
#include "passes/rewrite/convolutions.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

/// x with dimension d split into `groups` and the rest, which is dimension d + 1.
Instruction* Split(Maker& make, Instruction* x, int64_t d, int64_t groups) {
  Dims sizes(x->shape().dims());
  sizes[static_cast<size_t>(d)] /= groups;
  sizes.insert(sizes.begin() + d, groups);
  return make.Reshape(x, sizes);
}

/// Dimensions from `at` on move up by one.
void MakeRoom(int64_t at, std::initializer_list<int64_t*> dims, Dims& spatial) {
  for (int64_t* d : dims) *d += *d >= at;
  for (int64_t& d : spatial) d += d >= at;
  spatial.push_back(at);
}

Instruction* GroupsToSpatial(const Instruction& conv, Maker make) {
  ConvolutionAttrs attrs = conv.attr<ConvolutionAttrs>();
  ConvDimLabels& l = *attrs.dim_labels;
  const int64_t groups = std::max(attrs.feature_group_count, attrs.batch_group_count);
  const int64_t in = attrs.feature_group_count > 1 ? l.input_feature : l.input_batch;
  const int64_t kernel = l.kernel_output_feature, out = l.output_feature;
  MakeRoom(in, {&l.input_batch, &l.input_feature}, l.input_spatial);
  MakeRoom(kernel, {&l.kernel_input_feature, &l.kernel_output_feature}, l.kernel_spatial);
  MakeRoom(out, {&l.output_batch, &l.output_feature}, l.output_spatial);
  ++l.input_rank;
  ++l.kernel_rank;
  ++l.output_rank;
  attrs.feature_group_count = attrs.batch_group_count = 1;
  WindowDim window;
  window.size = groups;
  window.stride = groups - 1;
  window.base_dilation = groups;
  attrs.window.dims.push_back(window);
  Instruction* made = MakeConvolutionLike(make, conv, Split(make, conv.operand(0), in, groups),
                                          Split(make, conv.operand(1), kernel, groups), std::move(attrs));
  return make.Reshape(made, conv.shape().dims());
}

Result<bool> RunConvolutionGroupConverter(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(
      module, context,
      [](const Instruction& inst) {
        return IsPlainConvolution(inst) && !IsUngrouped(inst.attr<ConvolutionAttrs>());
      },
      [](Instruction* inst) -> Result<Instruction*> { return GroupsToSpatial(*inst, Maker(inst)); });
}

}  // namespace

HLO_DEFINE_PASS(ConvolutionGroupConverter, NoPassOptions);

}  // namespace hlo
