// For tests: what a computation prints and evaluates to.
#pragma once
#include <string>
#include <vector>

#include "hlo/ops.h"

namespace hlo_toolkit {

/// The instructions of the entry, a line each, without what every line has: percent signs, metadata.
std::string Text(const XlaComputation& computation);
/// The same of what the builder makes; its error otherwise, without the place.
std::string Text(XlaBuilder& builder);
/// The value on these arguments by the reference evaluator, as text without its shape, or what went wrong. On
/// several replicas the values of all, a line each.
std::string Value(const XlaComputation& computation, const std::vector<Literal>& arguments = {},
                  int64_t replicas = 1);
std::string Value(XlaBuilder& builder, const std::vector<Literal>& arguments = {}, int64_t replicas = 1);
/// A message without the place in front.
std::string Message(const Status& status);

}  // namespace hlo_toolkit
