// root-instruction-sinker, instruction-hoister, constant-deferring: small moves within schedules.
//
// Require a schedule. Preserve everything.
// Change:
//  - root-instruction-sinker: every scheduled computation ends with its root. A tuple instruction moves; any
//    other root stays where it runs and gets a bitcast, or a tuple of its elements, as new root at the end.
//  - instruction-hoister: parameters and constants stand first, bitcasts and get-tuple-elements right behind
//    what they read.
//  - constant-deferring: constants stand right before their first user.
#pragma once
#include "passes/pass.h"

namespace hlo {

struct InstructionHoisterOptions {
  bool hoist_parameters = true;
  bool hoist_constants = true;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

Result<bool> RunRootInstructionSinker(Module& module, const NoPassOptions& options, PassContext& context);
Result<bool> RunInstructionHoister(Module& module, const InstructionHoisterOptions& options,
                                   PassContext& context);
Result<bool> RunConstantDeferring(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
