// Operations on elements, with the bits that compiled code gives.
#pragma once
#include "ir/eval/kernel.h"

namespace hlo::tile {

struct Function {
  Kernel kernel;
  double nanoseconds = 0;  // of an element, about
};

/// What rounds once is the evaluator's; transcendental functions, and most of complex numbers, are compiled
/// ones, made when this program was built. Nothing where the operation is not known.
std::optional<Function> FindFunction(OpKind kind, llvm::ArrayRef<ElementType> operands, ElementType result,
                                     const Attrs& attrs);

}  // namespace hlo::tile
