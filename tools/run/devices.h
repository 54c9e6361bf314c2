// How many devices a module is for (tools.md §3.7, ops-structured §12.4).
#pragma once
#include "ir/module.h"
#include "tools/run/arguments.h"

namespace hlo {

/// The counts: from the options, else the module's header, else inferred from the groups of its
/// collectives. A module whose values cannot depend on the device runs once. Errors: usage-devices.
Result<DeviceCount> CountDevices(const Module& module, const RunOptions& options);

/// The parameters whose buffers the caller gives away under --donate. Errors: usage-name.
Result<std::vector<bool>> DonatedParameters(const Module& module, llvm::StringRef donate);
/// What --alias has to say about aliased outputs whose argument is not donated: warnings, or with
/// `strict` an error (alias-not-donated).
Result<std::vector<Diagnostic>> CheckAliases(const Module& module, const std::vector<bool>& donated,
                                             AliasMode mode);

}  // namespace hlo
