// Which instructions of a computation may be computed at the same time.
#pragma once
#include "ir/computation.h"
#include "llvm/ADT/DenseMap.h"

namespace hlo::compile {

/// How many steps lead to an instruction, or from it: between two of as many there is no way. What costs
/// nothing is no step.
using Levels = llvm::DenseMap<const Instruction*, int64_t>;

/// `order`: all of a computation, operands first.
Levels LevelsFromStart(llvm::ArrayRef<Instruction*> order);
/// Counted from the end: operands have higher ones.
Levels LevelsFromEnd(llvm::ArrayRef<Instruction*> order);

}  // namespace hlo::compile
