// Programs as bytes and back.
#pragma once
#include "backends/compile/program.h"
#include "ir/support/binary.h"

namespace hlo::compile {

/// Everything but the module, the values of constants and what backends made of steps.
void Write(BinaryWriter& writer, const Program& program);
/// The same for a program that has an equal module; constants are taken from it. The reader has failed if the
/// bytes are those of no program of this module. Whether its steps keep to their buffers is not looked at.
void Read(BinaryReader& reader, Program& program);

}  // namespace hlo::compile
