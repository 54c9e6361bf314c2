// Programs as bytes and back.
#pragma once
#include "backends/compile/program.h"
#include "ir/support/binary.h"

namespace hlo {
template <>
inline constexpr uint64_t kEnumerators<compile::StepKind> = std::size(compile::kStepKinds);
}  // namespace hlo

namespace hlo::kernel {
HLO_BINARY_MEMBERS(OuterLoop, v.extent, v.strides)
}  // namespace hlo::kernel

namespace hlo::compile {

HLO_BINARY_MEMBERS(Slice, v.buffer, v.sizes, v.offset, v.size)
HLO_BINARY_MEMBERS(KernelCall, v.kernel, v.buffers, v.first_result, v.defined, v.copies, v.extent, v.grain,
                   v.outer)

/// Everything but the module, the values of constants and what backends made of steps.
void Write(BinaryWriter& writer, const Program& program);
/// The same for a program that has an equal module; constants are taken from it. The reader has failed if the
/// bytes are those of no program of this module. Whether its steps keep to their buffers is not looked at.
void Read(BinaryReader& reader, Program& program);

}  // namespace hlo::compile
