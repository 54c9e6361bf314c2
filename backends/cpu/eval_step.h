// Steps that the reference evaluator computes.
#pragma once
#include "backends/cpu/frame.h"

namespace hlo::cpu {

/// Computes the step's instruction with its rule of ir/eval, reading and writing in place.
std::unique_ptr<StepRunner> LoadEvaluation(const Step& step);

/// The value in a frame as a literal that borrows its bytes. With `writable` the literal counts as unique, so
/// that evaluation may write into it.
Literal BorrowValue(Frame& frame, const Value& value, bool writable = false);
/// Writes a literal's leaves to their places (those marked as written).
void StoreValue(Frame& frame, const Value& value, const Literal& literal);

}  // namespace hlo::cpu
