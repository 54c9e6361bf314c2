#include "passes/rewrite/convolutions.h"

#include "passes/rewrite/dots.h"

namespace hlo {

Instruction* MakeConvolutionLike(Maker& make, const Instruction& like, Instruction* lhs, Instruction* rhs,
                                 ConvolutionAttrs attrs) {
  Instruction* made = make.Add(OpKind::Convolution, {lhs, rhs}, std::move(attrs));
  made->set_shape(made->shape().WithElementType(like.shape().element_type()));
  if (like.has_extras()) {
    if (!like.extras().backend_config.empty())
      made->MutableExtras().backend_config = like.extras().backend_config;
    if (!like.extras().frontend_attributes.empty())
      made->MutableExtras().frontend_attributes = like.extras().frontend_attributes;
  }
  return made;
}

bool IsUngrouped(const ConvolutionAttrs& attrs) {
  return attrs.feature_group_count == 1 && attrs.batch_group_count == 1;
}

bool IsPlainConvolution(const Instruction& inst) {
  if (inst.kind() != OpKind::Convolution || !HasStaticArrays(inst)) return false;
  const auto& attrs = inst.attr<ConvolutionAttrs>();
  return attrs.dim_labels && !attrs.sparsity_config.lhs && !attrs.sparsity_config.rhs;
}

bool IsPlainWindowDim(const WindowDim& dim) {
  return dim.stride == 1 && dim.pad_low == 0 && dim.pad_high == 0 && dim.base_dilation == 1 &&
         dim.window_dilation == 1;
}

Instruction* ConvolutionWithSwappedOperands(Maker& make, const Instruction& convolution) {
  Instruction *x = convolution.operand(0), *w = convolution.operand(1);
  auto attrs = convolution.attr<ConvolutionAttrs>();
  if (!IsUngrouped(attrs) || attrs.convolution_kind != ConvolutionKind::Unset) return nullptr;
  const ConvDimLabels old = *attrs.dim_labels;
  double before = 1, after = 1;
  Dims reversed;
  for (size_t i = 0; i < attrs.window.dims.size(); ++i) {
    WindowDim& d = attrs.window.dims[i];
    const int64_t size = x->shape().dim(old.input_spatial[i]);
    const int64_t base = DilatedSize(size, d.base_dilation), window = DilatedSize(d.size, d.window_dilation);
    before *= static_cast<double>(window);
    after *= static_cast<double>(base);
    if (!d.reversal && d.size != 1) reversed.push_back(old.kernel_spatial[i]);
    const int64_t low = d.pad_low + base - window, high = d.pad_high + base - window;
    // No windows fit, and cut off is more than there is of the kernel; or there is nothing to make a kernel
    // of.
    if (window + low + high < 0 || size == 0) return nullptr;
    d = {size, d.stride, low, high, d.window_dilation, d.base_dilation, true};
    if (size == 1) d.reversal = false;
  }
  if (after >= before) return nullptr;
  ConvDimLabels& labels = *attrs.dim_labels;
  labels = {old.kernel_output_feature, old.kernel_input_feature, old.input_feature,  old.input_batch,
            old.output_feature,        old.output_batch,         old.kernel_spatial, old.input_spatial,
            old.output_spatial,        old.kernel_rank,          old.input_rank,     old.output_rank};
  std::reverse(attrs.operand_precision.begin(), attrs.operand_precision.end());
  return MakeConvolutionLike(make, convolution, reversed.empty() ? w : make.Reverse(w, reversed), x,
                             std::move(attrs));
}

}  // namespace hlo
