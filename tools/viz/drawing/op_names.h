// The names that programs give their parts (`op_name`), as paths and as titles.
#pragma once
#include <string>
#include <vector>

#include "ir/module.h"

namespace hlo {

/// Names deeper than this are cut.
constexpr size_t kDeepestOpName = 16;

/// The parts of an instruction's op_name but for the last, which names the operation; of a fusion without one
/// those of its result. Empty for parameters, which are named after the arguments of the program.
std::vector<std::string> OpNamePath(const Instruction& inst);

/// A part of an op_name in words: JAX's transformations, `transpose(jvp(layer))`, become `layer, backward`.
/// `layer/transpose(jvp(dense))` is one part of the program as well.
std::string OpNameTitle(llvm::StringRef path);

/// The longest path that most of the others begin with, by `/`; empty if there is none.
std::string CommonOpName(llvm::ArrayRef<std::vector<std::string>> paths);

}  // namespace hlo
