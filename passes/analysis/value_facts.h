// What can be said about values without running anything.
#pragma once
#include "ir/instruction.h"

namespace hlo {

/// Every element equals `value`: a constant with that value everywhere, or broadcasts (reshapes) around one.
/// Elided constants are unknown. −0.0 is not 0.
bool IsAll(const Instruction& inst, double value);
/// A constant all of whose elements have the same bits, or broadcasts (reshapes) around one: that constant.
const Instruction* SplatConstant(const Instruction& inst);
/// A scalar, or a broadcast (reshape) of one: the scalar. Null otherwise.
Instruction* ScalarOrSplat(Instruction& inst);
/// The value of a scalar integer constant (sign- or zero-extended); nothing for others.
std::optional<int64_t> ScalarIntValue(const Instruction& inst);
/// The element of a literal as a double (real part of complex ones).
double LiteralValue(const Literal& literal, int64_t linear);
/// Provably non-negative and, for floats, no −0 and no NaN unless from NaN operands (passes.md §3, NN).
bool IsNonNegative(const Instruction& inst);

}  // namespace hlo
