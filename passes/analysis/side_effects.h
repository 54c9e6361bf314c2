// What may be removed, duplicated, merged.
#pragma once
#include "ir/module.h"

namespace hlo {

/// The instruction, or one in a computation it calls, does more than compute its value (passes.md §4.3).
bool HasSideEffect(const Instruction& inst);
/// The computation, or one that it calls, sends to or receives from elsewhere.
bool HasTransfers(const Computation& computation);
/// The instruction is a loop or calls one.
bool MayNotEnd(const Instruction& inst);
/// Element `i` of the instruction `tuple` has begun and not ended, so that it may have no second reader, and
/// others read the tuple or wait for it, too: it cannot take the place of a get-tuple-element.
bool IsSharedStart(const Instruction& tuple, int64_t i);
/// The same of a get-tuple-element of a `tuple`, whose own readers count.
bool IsSharedStart(const Instruction& element);
/// Others wait for it, or it for others, without reading values.
inline bool HasControlEdges(const Instruction& inst) {
  return inst.has_extras() &&
         (!inst.extras().control_predecessors.empty() || !inst.extras().control_successors.empty());
}
/// Nobody needs the instruction: no users, not the root, no parameter, no control edges, no side effect.
bool IsDead(const Instruction& inst);

}  // namespace hlo
