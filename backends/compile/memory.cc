#include "backends/compile/memory.h"

namespace hlo::compile {
namespace {

/// `last`: the end of the program.
const char* KindText(const Allocation& allocation, const AssignedValue& value, int64_t last) {
  // It lies where a result will.
  if (allocation.kind == AllocationKind::LiveOut && value.live.end < last) return "temp";
  switch (allocation.kind) {
    case AllocationKind::Parameter: return "argument";
    case AllocationKind::Constant: return "constant";
    case AllocationKind::LiveOut: return "result";
    default: return "temp";
  }
}

}  // namespace

MemoryPlan PlanMemory(const Module& module, const BufferOptions& options) {
  const auto assignment = BufferAssignment::Compute(module, options);
  assert(assignment && "the program was built with it");
  MemoryPlan plan;
  plan.arguments = assignment->Total(AllocationKind::Parameter);
  plan.constants = assignment->Total(AllocationKind::Constant);
  plan.temporaries = assignment->Total(AllocationKind::Temp);
  plan.results = assignment->Total(AllocationKind::LiveOut);
  plan.live_temporaries = assignment->peak().bytes;
  plan.peak_at = assignment->peak().instruction;
  plan.peak_time = assignment->peak().time;
  plan.length = assignment->timeline().length();
  const int64_t last = assignment->timeline().length() - 1;
  for (const Allocation& allocation : assignment->allocations()) {
    if (allocation.kind == AllocationKind::ThreadLocal || allocation.kind == AllocationKind::TupleTable)
      continue;
    if (allocation.kind == AllocationKind::Parameter && allocation.live_out) plan.aliased += allocation.size;
    for (const AssignedValue& value : allocation.values)
      plan.values.push_back({value.instruction, assignment->IndexOf(value), KindText(allocation, value, last),
                             value.size, value.live.start, value.live.end});
  }
  plan.results += plan.aliased;
  llvm::sort(plan.values, [](const auto& a, const auto& b) {
    return std::tuple(-a.bytes, a.begin, a.instruction->name(), a.index.size()) <
           std::tuple(-b.bytes, b.begin, b.instruction->name(), b.index.size());
  });
  return plan;
}

}  // namespace hlo::compile
