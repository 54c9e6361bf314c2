// What ptxas refuses beyond grammar: types, widths, spaces, ranges, targets (ptx.md §1.3, §8.1).
#pragma once
#include "backends/gpu/ptx/module.h"
#include "ir/support/result.h"

namespace hlo::ptx {

/// Holds operands against the places of a form. On success there is one per place, None where an optional one
/// is missing; else they are as they were.
Status PlaceOperands(const Form& form, const Words& words, std::vector<Operand>& operands, Loc loc);

/// What depends on more than one operand, on values, or on the module's target.
Status CheckInstruction(const Module& module, const Instruction& inst);

/// The type that operand `i` of a checked instruction is read or written as.
Type TypeOfOperand(const Instruction& inst, size_t i);

/// Arguments and results against the parameters of the function called at `loc`.
Status CheckCall(const CallInfo& call, Loc loc);

}  // namespace hlo::ptx
