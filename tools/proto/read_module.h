// Modules from protocol buffers of XLA: HloModuleProto, HloProto, HloSnapshot, HloUnoptimizedSnapshot.
#pragma once
#include <memory>

#include "ir/module.h"
#include "ir/support/result.h"

namespace hlo {

/// What a file holds.
struct ProtoFile {
  std::unique_ptr<Module> module;
  std::vector<Literal> arguments;  // of a snapshot
  Literal result;                  // of a snapshot; may be null
  std::vector<Diagnostic> remarks;
};

/// Reads the message that the source holds, of whichever of the four types. Texts of the module are parts of
/// the source, which it keeps. Lists of computations and instructions are in the order of their ids, as in
/// XLA. The module is to be verified: only what the IR itself demands has been. Errors (input-format,
/// limit-nesting) name the instruction where they can.
Result<ProtoFile> ReadModuleProto(const SourcePtr& source);

/// The value of a LiteralProto. Errors: input-format, limit-nesting.
Result<Literal> ReadLiteralProto(llvm::StringRef bytes);

}  // namespace hlo
