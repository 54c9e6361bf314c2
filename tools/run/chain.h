// Outputs fed back as arguments of the next repeat (tools.md §3.7).
#pragma once
#include "ir/module.h"
#include "ir/support/result.h"
#include "tools/run/arguments.h"

namespace hlo {

struct ChainLink {
  ShapeIndex output;  // in the root
  int64_t parameter = 0;
  ShapeIndex index;  // in the parameter
};
/// Links from items `OUT=ARG`, named as in archives: `0`, `out0_1` (an output), `0`, `arg0_1`, `name`,
/// `name_1` (a parameter or a part of it). Errors: usage-option, usage-name.
Result<std::vector<ChainLink>> ParseChain(llvm::ArrayRef<std::string> items, const Module& module);
/// Puts outputs, by device, in place of the arguments they are linked to.
void FeedBack(llvm::ArrayRef<ChainLink> links, llvm::ArrayRef<Literal> results, Arguments& arguments);

}  // namespace hlo
