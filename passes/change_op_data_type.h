// change-op-data-type: some operations run in another type (passes.md §2.3).
//
// Requires nothing. Preserves all facts but the schedule, which is repaired.
// Changes: operations in the list whose result and operands all have the one type are done in the other one,
// between conversions. Left alone: all others; operations that call computations cannot be listed.
#pragma once
#include "passes/pass.h"

namespace hlo {

struct ChangeOpDataTypeOptions {
  std::string from = "f16", to = "f32";
  std::vector<std::string> ops = {"dot", "convolution"};
  static llvm::ArrayRef<PassOptionRow> Rows();
};

Result<bool> RunChangeOpDataType(Module& module, const ChangeOpDataTypeOptions& options,
                                 PassContext& context);

}  // namespace hlo
