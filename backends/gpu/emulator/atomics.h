// Atomic operations (ptx.md §3.3).
#pragma once
#include "backends/gpu/ptx/module.h"

namespace hlo::gpu {

/// Does what the instruction says to one element in memory; its old value. `global`: f32 sums have no
/// subnormals there.
uint64_t PerformAtomic(const ptx::Instruction& inst, uint8_t* memory, unsigned bytes, uint64_t x, uint64_t y,
                       bool global);

}  // namespace hlo::gpu
