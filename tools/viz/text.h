// Answers of hlo-viz in text: --list, --info.
#pragma once
#include "tools/viz/options.h"

namespace hlo {

/// Computations with their kinds, sizes and callers, or instructions that match. Error usage-option.
Status PrintList(llvm::raw_ostream& os, const Module& module, const VizOptions& options);

/// An instruction with its operands, users, callers, cost and stack. Error usage-name.
Status PrintInfo(llvm::raw_ostream& os, const Module& module, llvm::StringRef name);

}  // namespace hlo
