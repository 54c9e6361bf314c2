// Steps that run the loops of backends/structured.
#pragma once
#include "backends/cpu/frame.h"
#include "backends/products/common/isa.h"

namespace hlo::cpu {

/// Makes a step ready whose op has loops of its own; null: there are none for it, `why` (empty: its kind has
/// none at all).
std::unique_ptr<StepRunner> LoadStructured(const Step& step, PointerList& pointers, gemm::Isa isa,
                                           std::string& why);

}  // namespace hlo::cpu
