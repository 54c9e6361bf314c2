// What programs say about single instructions.
#pragma once
#include "ir/instruction.h"

namespace hlo {

/// The value of a frontend attribute; empty if the instruction has none of that key.
inline llvm::StringRef FrontendValue(const Instruction& inst, llvm::StringRef key) {
  if (!inst.has_extras()) return "";
  for (const FrontendAttribute& attribute : inst.extras().frontend_attributes)
    if (attribute.key == key) return attribute.value;
  return "";
}

}  // namespace hlo
