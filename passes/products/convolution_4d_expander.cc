// convolution_4d_expander: convolutions of four spatial dimensions lose trivial ones (passes.md §4.10).
//
// Requires nothing. Preserves flat-calls, fusions.
// Changes: spatial dimensions of size 1 in input, kernel and result, without padding, are removed by reshapes
// from convolutions with four spatial dimensions. Left alone: other convolutions, dynamic shapes.
#include "passes/pass.h"
#include "passes/rewrite/convolutions.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

constexpr size_t kSpatialDims = 4;

bool IsTrivial(const Instruction& conv, size_t i) {
  const auto& attrs = conv.attr<ConvolutionAttrs>();
  const WindowDim& d = attrs.window.dims[i];
  return d.size == 1 && d.pad_low == 0 && d.pad_high == 0 &&
         conv.operand(0)->shape().dim(attrs.dim_labels->input_spatial[i]) == 1;
}

bool HasTrivialDims(const Instruction& inst) {
  if (!IsPlainConvolution(inst) || inst.attr<ConvolutionAttrs>().window.dims.size() != kSpatialDims)
    return false;
  return llvm::any_of(Range(0, kSpatialDims),
                      [&](int64_t i) { return IsTrivial(inst, static_cast<size_t>(i)); });
}

Instruction* WithoutDims(Maker& make, Instruction* x, const Dims& gone) {
  Dims sizes;
  for (int64_t d = 0; d < x->shape().rank(); ++d)
    if (!llvm::is_contained(gone, d)) sizes.push_back(x->shape().dim(d));
  return make.Reshape(x, sizes);
}

Instruction* DropTrivialDims(const Instruction& conv, Maker make) {
  ConvolutionAttrs attrs = conv.attr<ConvolutionAttrs>();
  ConvDimLabels& labels = *attrs.dim_labels;
  const ConvDimLabels old = labels;
  labels.input_spatial.clear();
  labels.kernel_spatial.clear();
  labels.output_spatial.clear();
  attrs.window.dims.clear();
  Dims gone[3];
  for (size_t i = 0; i < kSpatialDims; ++i) {
    const bool trivial = IsTrivial(conv, i);
    (trivial ? gone[0] : labels.input_spatial).push_back(old.input_spatial[i]);
    (trivial ? gone[1] : labels.kernel_spatial).push_back(old.kernel_spatial[i]);
    (trivial ? gone[2] : labels.output_spatial).push_back(old.output_spatial[i]);
    if (!trivial) attrs.window.dims.push_back(conv.attr<ConvolutionAttrs>().window.dims[i]);
  }
  auto lower = [](const Dims& without, std::initializer_list<int64_t*> dims) {
    for (int64_t* d : dims) *d -= llvm::count_if(without, [&](int64_t g) { return g < *d; });
  };
  lower(gone[0], {&labels.input_batch, &labels.input_feature});
  lower(gone[1], {&labels.kernel_input_feature, &labels.kernel_output_feature});
  lower(gone[2], {&labels.output_batch, &labels.output_feature});
  for (int64_t& d : labels.input_spatial) lower(gone[0], {&d});
  for (int64_t& d : labels.kernel_spatial) lower(gone[1], {&d});
  for (int64_t& d : labels.output_spatial) lower(gone[2], {&d});
  const auto count = static_cast<int64_t>(gone[0].size());
  labels.input_rank -= count;
  labels.kernel_rank -= count;
  labels.output_rank -= count;
  Instruction* made = MakeConvolutionLike(make, conv, WithoutDims(make, conv.operand(0), gone[0]),
                                          WithoutDims(make, conv.operand(1), gone[1]), std::move(attrs));
  return make.Reshape(made, conv.shape().dims());
}

Result<bool> RunConvolution4dExpander(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(
      module, context, [](const Instruction& inst) { return HasTrivialDims(inst); },
      [](Instruction* inst) -> Result<Instruction*> { return DropTrivialDims(*inst, Maker(inst)); });
}

}  // namespace

HLO_DEFINE_PASS(Convolution4dExpander, NoPassOptions);

}  // namespace hlo
