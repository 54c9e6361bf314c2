// Steps that move bytes.
#pragma once
#include "backends/cpu/program.h"

namespace hlo::cpu {

/// Copies one slice to another of the same size; nothing if they are the same place.
std::unique_ptr<Step> MakeCopyStep(const Instruction& inst, Program& program, const Slice& from,
                                   const Slice& to);

}  // namespace hlo::cpu
