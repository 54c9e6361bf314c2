// Filters of convolutions in the order in which a library reads them.
#pragma once
#include "ir/instruction.h"

namespace hlo::gpu {

/// Whether a kernel's convolution is one of the library's whose filter lies as it is slow, or not taken at
/// all: images have their features last, the filter has not those that it reads, or it is gone through from
/// its end.
bool HasFilterOutOfOrder(const Instruction& fusion);
/// Has the convolution of such a kernel read its filter, or write it, in order. What is to become a kernel
/// before it: the filter, or the convolution.
Instruction* OrderFilter(const Instruction& fusion);

}  // namespace hlo::gpu
