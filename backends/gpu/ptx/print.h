// A module as text again: one statement a line, blocks without their braces, names made unique where they
// were not.
#pragma once
#include <string>

#include "backends/gpu/ptx/module.h"

namespace hlo::ptx {

/// Reading what is printed and printing that gives the same text.
std::string ToString(const Module& module);
/// One instruction as it is written, without its guard.
std::string ToString(const Instruction& inst);

}  // namespace hlo::ptx
