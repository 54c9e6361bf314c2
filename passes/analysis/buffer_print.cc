// Buffer assignments as text and JSON.
#include "passes/analysis/buffer_assignment.h"

namespace hlo {
namespace {

constexpr AllocationKind kKinds[] = {AllocationKind::Parameter,  AllocationKind::Constant,
                                     AllocationKind::LiveOut,    AllocationKind::Temp,
                                     AllocationKind::TupleTable, AllocationKind::ThreadLocal};

std::string Name(const Instruction& inst, const ShapeIndex& index) {
  return "%" + inst.name().str() + (index.empty() ? "" : ToString(index));
}

bool IsHeap(const Allocation& a, const BufferAssignment& assignment) {
  return assignment.options().order == Ordering::Kind::Sequential &&
         (a.kind == AllocationKind::Temp || a.kind == AllocationKind::TupleTable);
}

llvm::StringRef OrderName(const BufferAssignment& assignment) {
  return assignment.options().order == Ordering::Kind::Sequential ? "sequential" : "dependency";
}

}  // namespace

llvm::StringRef ToString(AllocationKind kind) {
  constexpr llvm::StringLiteral kNames[] = {"parameter",    "constant",    "live-out",
                                            "thread-local", "tuple-table", "temp"};
  return kNames[static_cast<size_t>(kind)];
}

void Print(llvm::raw_ostream& os, const BufferAssignment& assignment) {
  os << "buffer assignment of " << assignment.module().name() << ", " << OrderName(assignment) << " order\n";
  int64_t number = 0;
  for (const Allocation& a : assignment.allocations()) {
    os << "allocation " << number++ << ": " << a.size << " bytes, " << ToString(a.kind);
    if (a.parameter >= 0) os << ' ' << a.parameter << (a.index.empty() ? "" : ToString(a.index));
    if (a.computation) os << " of %" << a.computation->name();
    if (a.memory_space != 0) os << ", memory space " << a.memory_space;
    if (a.live_out && a.kind != AllocationKind::LiveOut) os << ", live-out";
    if (IsHeap(a, assignment)) os << ", " << ToString(a.heap_order) << ", at least " << a.lower_bound;
    os << '\n';
    for (const AssignedValue& v : a.values) {
      os << "  [" << v.offset << ", " << v.offset + v.size << ") " << Name(*v.instruction, v.index);
      if (a.kind != AllocationKind::ThreadLocal) os << " live " << v.live.start << ".." << v.live.end;
      os << '\n';
    }
  }
  os << "total: " << assignment.Total() << " bytes\n";
  for (const AllocationKind kind : kKinds)
    if (const int64_t bytes = assignment.Total(kind)) os << "  " << ToString(kind) << ": " << bytes << '\n';
  const MemoryPeak& peak = assignment.peak();
  os << "peak of temporaries: " << peak.bytes << " bytes";
  if (peak.instruction && peak.bytes > 0) os << " at time " << peak.time << ", %" << peak.instruction->name();
  os << "\nfragmentation: " << assignment.Fragmentation() << " bytes\n";
}

llvm::json::Object ToJson(const BufferAssignment& assignment) {
  llvm::json::Array allocations;
  for (const Allocation& a : assignment.allocations()) {
    llvm::json::Object object{{"kind", ToString(a.kind)}, {"size_bytes", a.size}};
    if (a.parameter >= 0) {
      object["parameter"] = a.parameter;
      object["index"] = llvm::json::Array(a.index);
    }
    if (a.computation) object["computation"] = a.computation->name();
    if (a.memory_space != 0) object["memory_space"] = a.memory_space;
    if (a.live_out) object["live_out"] = true;
    if (IsHeap(a, assignment)) {
      object["heap_order"] = ToString(a.heap_order);
      object["lower_bound_bytes"] = a.lower_bound;
    }
    llvm::json::Array values;
    for (const AssignedValue& v : a.values)
      values.push_back(llvm::json::Object{
          {"instruction", llvm::json::Object{{"computation", v.instruction->parent()->name()},
                                             {"name", v.instruction->name()}}},
          {"index", llvm::json::Array(v.index)},
          {"offset_bytes", v.offset},
          {"size_bytes", v.size},
          {"live", llvm::json::Array{v.live.start, v.live.end}}});
    object["values"] = std::move(values);
    allocations.push_back(std::move(object));
  }
  llvm::json::Object totals{{"all_bytes", assignment.Total()}};
  for (const AllocationKind kind : kKinds) {
    std::string key = ToString(kind).str() + "_bytes";
    std::replace(key.begin(), key.end(), '-', '_');
    totals[key] = assignment.Total(kind);
  }
  llvm::json::Object peak{{"bytes", assignment.peak().bytes}, {"time", assignment.peak().time}};
  if (const Instruction* at = assignment.peak().instruction)
    peak["instruction"] = llvm::json::Object{{"computation", at->parent()->name()}, {"name", at->name()}};
  return llvm::json::Object{{"schema", "hlo.buffers/1"},
                            {"tool", "hlo-opt"},
                            {"version", HLO_VERSION},
                            {"module", assignment.module().name()},
                            {"order", OrderName(assignment)},
                            {"allocations", std::move(allocations)},
                            {"totals", std::move(totals)},
                            {"peak", std::move(peak)},
                            {"fragmentation_bytes", assignment.Fragmentation()}};
}

}  // namespace hlo
