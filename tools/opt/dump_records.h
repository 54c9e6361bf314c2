// What XLA's dumps say about a module besides its text, in the text form of protocol buffers.
#pragma once
#include "ir/module.h"

namespace hlo {

/// HloModuleConfigProto: entry layout, replicas, partitions, propagation of shardings.
std::string ConfigText(const Module& module);

/// A quoted string of that form.
std::string ProtoQuoted(llvm::StringRef text);

}  // namespace hlo
