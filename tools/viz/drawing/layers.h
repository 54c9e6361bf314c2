// Layers of programs whose instructions have no names that tell: parts that repeat.
#pragma once
#include <string>
#include <vector>

#include "ir/module.h"
#include "llvm/ADT/DenseMap.h"

namespace hlo {

struct Layers {
  std::vector<std::string> labels;                       // `layer 3 of 32`, `before the layers`; each once
  llvm::DenseMap<const Instruction*, int32_t> label_of;  // not of parameters and what users' texts hold
};

/// Finds runs of instructions that are repeated, up to small differences, in the order of a computation. No
/// labels if there are none. Takes time in proportion to the instructions, but for sorting.
Layers FindLayers(const Computation& computation);

/// True if most instructions have an op_name with parts.
bool NamesTell(const Computation& computation);

}  // namespace hlo
