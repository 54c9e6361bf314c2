// Modules as protocol buffers of XLA: HloModuleProto, HloProto.
#pragma once
#include <string>

#include "ir/module.h"
#include "ir/support/result.h"

namespace hlo {

/// The bytes of an HloModuleProto. What it has no fields for is left out: counts of replicas and
/// partitions, which XLA keeps beside the module, and attributes this version does not know. Error
/// unavailable-feature for what cannot be left out.
Result<std::string> ModuleProtoBytes(const Module& module);

/// The bytes of an HloProto that holds the module, as in XLA's `.hlo.pb` dumps.
Result<std::string> HloProtoBytes(const Module& module);

}  // namespace hlo
