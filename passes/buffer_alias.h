// optimize_input_output_buffer_alias, alias_passthrough_params: which results take the buffers of parameters.
//
// Require nothing. Preserve everything but the copies that new aliases need: run copy-insertion after them.
// Change the module's input_output_alias only:
//  - optimize_input_output_buffer_alias gives each donated parameter buffer (buffer_donor) to a result of the
//    same size and memory space that has none, biggest first; it is no longer listed as donor then. With
//    registered_buffer_donor_only=false every parameter counts as donated.
//  - alias_passthrough_params aliases each result that is a parameter to that parameter, once per parameter.
// All aliases made are may-alias. Entries that stand already are left alone.
#pragma once
#include "passes/pass.h"

namespace hlo {

struct BufferAliasOptions {
  bool registered_buffer_donor_only = true;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

Result<bool> RunOptimizeBufferAlias(Module& module, const BufferAliasOptions& options, PassContext& context);
Result<bool> RunAliasPassthroughParams(Module& module, const NoPassOptions& options, PassContext& context);

}  // namespace hlo
