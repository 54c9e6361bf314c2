// What fusion passes ask about instructions (passes.md §5.1, §5.2).
#pragma once
#include "ir/module.h"

namespace hlo {

/// The value can be computed element by element within a loop over its consumer's elements.
bool IsLoopFusible(const Instruction& inst);
/// Computing an element again costs more than loading it: divisions, roots, transcendental functions,
/// f32→bf16 converts, and everything that is neither cheap arithmetic nor data movement.
bool IsExpensive(const Instruction& inst);
/// The instruction reads an element of operand `i` for more than one element of its result.
bool ReusesOperand(const Instruction& inst, int64_t i);

/// The computation runs on whole values: the entry, bodies of loops, branches, callees of calls.
bool RunsOnWholeValues(const Computation& computation);

}  // namespace hlo
