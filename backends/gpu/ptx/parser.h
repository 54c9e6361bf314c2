// From PTX text to a checked module.
#pragma once
#include <memory>

#include "backends/gpu/ptx/module.h"
#include "ir/support/result.h"

namespace hlo::ptx {

/// Parses and checks a module as ptxas does (ptx.md §1, §2, §8.1). The first mistake is the error, with its
/// place.
Result<std::shared_ptr<const Module>> ParseModule(const SourcePtr& source);

}  // namespace hlo::ptx
