// Making convolutions like others.
#pragma once
#include "passes/rewrite/maker.h"

namespace hlo {

/// A convolution with other operands, window and labels; result type and what `attrs` does not say (backend
/// config, frontend attributes) are those of `like`.
Instruction* MakeConvolutionLike(Maker& make, const Instruction& like, Instruction* lhs, Instruction* rhs,
                                 ConvolutionAttrs attrs);
/// One group of features and batches, dense.
[[nodiscard]] bool IsUngrouped(const ConvolutionAttrs& attrs);
/// Static arrays, dimension labels present, no structured sparsity.
[[nodiscard]] bool IsPlainConvolution(const Instruction& inst);
/// Neither strides, padding nor dilations.
[[nodiscard]] bool IsPlainWindowDim(const WindowDim& dim);

/// A plain convolution with its kernel as input and its input as kernel. Null where the windows, dilation
/// included, would not become smaller, or there are groups.
Instruction* ConvolutionWithSwappedOperands(Maker& make, const Instruction& convolution);

}  // namespace hlo
