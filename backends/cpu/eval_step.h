// Steps that the reference evaluator computes.
#pragma once
#include "backends/cpu/program.h"

namespace hlo::cpu {

/// Computes `inst` with its rule of ir/eval, reading and writing in place. `operands` in order, `result` with
/// the leaves it defines marked as written. `why` says what keeps it from having a kernel, if that is known.
std::unique_ptr<Step> MakeEvalStep(const Instruction& inst, std::vector<Value> operands, Value result,
                                   std::string why = {});

/// The value in a frame as a literal that borrows its bytes. With `writable` the literal counts as unique, so
/// that evaluation may write into it.
Literal BorrowValue(Frame& frame, const Value& value, bool writable = false);
/// Writes a literal's leaves to their places (those marked as written).
void StoreValue(Frame& frame, const Value& value, const Literal& literal);

}  // namespace hlo::cpu
