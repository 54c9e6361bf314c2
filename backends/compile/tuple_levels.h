// How deep tuples may be.
#pragma once
#include "ir/module.h"
#include "ir/support/result.h"

namespace hlo::compile {

/// Tuples are no deeper than what knows where values lie has memory for. Errors: limit-nesting.
Status CheckTupleLevels(const Module& module);

}  // namespace hlo::compile
