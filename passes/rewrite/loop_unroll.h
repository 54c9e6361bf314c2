// Copies of loop bodies, one iteration each.
#pragma once
#include "passes/analysis/loop_facts.h"

namespace hlo {

/// The elements of a loop's state before its first iteration, outside the loop.
llvm::SmallVector<Instruction*, 8> InitialState(const TupleLoop& loop);
/// Copies the body into `to` (the loop's computation, or a new body): `state` is its state before, the result
/// its state after. Reads of element `induction` become the constant given, if one is.
llvm::SmallVector<Instruction*, 8> CopyIteration(const TupleLoop& loop, Computation& to,
                                                 llvm::ArrayRef<Instruction*> state, int64_t induction = -1,
                                                 std::optional<int64_t> value = std::nullopt);
/// Replaces the loop by copies of all its iterations; `counted` has init and step. No control edges.
void UnrollLoop(const TupleLoop& loop, const LoopCount& counted);

/// The first `count` iterations move in front of the loop; `counted` has init and step.
void PeelIterations(const TupleLoop& loop, const LoopCount& counted, int64_t count);
/// The loop gets a body that does `factor` iterations, its name ending in `suffix`; the trip count must be a
/// multiple of `factor`. `counted` has init and step. With `in_one_step` the induction variable is the sum of
/// one step, so that the trip count stays known.
void MultiplyBody(const TupleLoop& loop, const LoopCount& counted, int64_t factor, llvm::StringRef suffix,
                  bool in_one_step = true);

}  // namespace hlo
