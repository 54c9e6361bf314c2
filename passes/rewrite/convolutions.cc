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

}  // namespace hlo
