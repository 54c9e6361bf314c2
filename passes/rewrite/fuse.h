// Building fusions instruction by instruction.
#pragma once
#include "ir/attrs.h"
#include "ir/module.h"

namespace hlo {

/// A fusion of `inst` alone, in its place; returns it. Its computation has one parameter per distinct
/// operand.
Instruction* WrapInFusion(Instruction* inst, FusionKind kind);
/// Copies `producer`, an operand of `fusion`, into the fused computation, where the copy takes the place of
/// the parameter; what the producer reads becomes an operand of the fusion. The producer stays (perhaps
/// without users). Returns the copy.
Instruction* FuseProducer(Instruction* fusion, Instruction* producer);
/// The same for a producer with other users that will read the fusion: the fusion gets its value as one more
/// output, and all uses of the producer become reads of it; the producer is removed. `fusion` becomes a
/// multi-output fusion if it was none; users of its value read element 0 from then on.
void FuseProducerAsOutput(Instruction* fusion, Instruction* producer);
/// Moves the outputs of `sibling`, a fusion or plain instruction, into `fusion`; they must not depend on each
/// other. `sibling` is removed.
void FuseSibling(Instruction* fusion, Instruction* sibling);

}  // namespace hlo
