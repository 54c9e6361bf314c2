// Steps that run other steps.
#pragma once
#include "backends/cpu/program.h"

namespace hlo::cpu {

/// Runs `body` as long as `condition` leaves true in `predicate`. `constants`: where constants lie, and where
/// they were copied to as a part of what the loop begins with.
std::unique_ptr<Step> MakeWhileStep(const Instruction& inst, Sequence condition, Slice predicate,
                                    Sequence body, const Value& result,
                                    llvm::ArrayRef<std::pair<Slice, Slice>> constants);
/// Runs the branch that the value at `selector` chooses; as ops-structured says for selectors out of range.
std::unique_ptr<Step> MakeConditionalStep(const Instruction& inst, Slice selector,
                                          std::vector<Sequence> branches);

}  // namespace hlo::cpu
