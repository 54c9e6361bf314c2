// What random arguments must respect so that a module is well defined and its numbers reach results (tools.md
// §3.2).
#pragma once
#include <vector>

#include "ir/module.h"
#include "tools/arrays/fake_values.h"

namespace hlo {

class OperandPositions;

/// What random data of the leaves of a value must respect, from what uses it.
std::vector<ValueRule> TraceConstraints(const Instruction& value, const ValueRule& base,
                                        OperandPositions& positions);
/// What random data of each parameter's leaves must respect so that the module is well defined
/// (in-bounds indices, identity initial values, distinct keys); `base` where nothing applies.
std::vector<std::vector<ValueRule>> TraceConstraints(const Module& module, const ValueRule& base);

/// Numbers that are random so far, made such that they reach results: weights scaled by fan-in, positive
/// where roots, logarithms and quotients are taken, counters small.
void RefineNumbers(const Instruction* parameter, const ShapeIndex& index, const Shape& leaf,
                   OperandPositions& positions, ValueRule& rule);

}  // namespace hlo
