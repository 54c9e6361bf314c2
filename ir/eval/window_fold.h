// Windowed folds by one associative op, one dimension after the other.
#pragma once
#include "ir/eval/fold_kernels.h"
#include "ir/literal.h"
#include "ir/window.h"

namespace hlo {

/// result[o] = op(init, op over the in-bounds positions of the window at o), for an op with fold kernels
/// of the input's type. Cost is the sum, not the product, of the window's sizes, and independent of them
/// where windows are large. The order of positions is free: kernels must not be for rounding products.
void WindowFold(const FoldKernels& kernels, const Window& window, const Literal& input, const Literal& init,
                Literal& result);

}  // namespace hlo
