// Buffer assignments as text and JSON.
#include <map>

#include "ir/support/json.h"
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

ShapeIndex PartOf(const Allocation& parameter, const BufferAssignment& assignment) {
  return assignment.flow().IndexOf(parameter.part);
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
    if (a.parameter >= 0) {
      const ShapeIndex index = PartOf(a, assignment);
      os << ' ' << a.parameter << (index.empty() ? "" : ToString(index));
    }
    if (a.computation) os << " of %" << a.computation->name();
    if (a.memory_space != 0) os << ", memory space " << a.memory_space;
    if (a.live_out && a.kind != AllocationKind::LiveOut) os << ", live-out";
    if (IsHeap(a, assignment)) os << ", " << ToString(a.heap_order) << ", at least " << a.lower_bound;
    os << '\n';
    for (const AssignedValue& v : a.values) {
      os << "  [" << v.offset << ", " << v.offset + v.size << ") "
         << Name(*v.instruction, assignment.IndexOf(v));
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

namespace {

void Write(JsonWriter& json, llvm::StringRef key, const Instruction& inst) {
  json.Object(key, [&] {
    json.Member("computation", inst.parent()->name());
    json.Member("name", inst.name());
  });
}

void Write(JsonWriter& json, const AssignedValue& v, const BufferAssignment& assignment) {
  json.Object([&] {
    json.List("index", assignment.IndexOf(v));
    Write(json, "instruction", *v.instruction);
    json.List("live", {v.live.start, v.live.end});
    json.Member("offset_bytes", v.offset);
    json.Member("size_bytes", v.size);
  });
}

void Write(JsonWriter& json, const Allocation& a, const BufferAssignment& assignment) {
  const bool heap = IsHeap(a, assignment);
  json.Object([&] {
    if (a.computation) json.Member("computation", a.computation->name());
    if (heap) json.Member("heap_order", ToString(a.heap_order));
    if (a.parameter >= 0) json.List("index", PartOf(a, assignment));
    json.Member("kind", ToString(a.kind));
    if (a.live_out) json.Member("live_out", true);
    if (heap) json.Member("lower_bound_bytes", a.lower_bound);
    if (a.memory_space != 0) json.Member("memory_space", a.memory_space);
    if (a.parameter >= 0) json.Member("parameter", a.parameter);
    json.Member("size_bytes", a.size);
    json.Array("values", [&] {
      for (const AssignedValue& v : a.values) Write(json, v, assignment);
    });
  });
}

void WriteTotals(JsonWriter& json, const BufferAssignment& assignment) {
  std::map<std::string, int64_t> totals = {{"all_bytes", assignment.Total()}};
  for (const AllocationKind kind : kKinds) {
    std::string key = ToString(kind).str() + "_bytes";
    std::replace(key.begin(), key.end(), '-', '_');
    totals[key] = assignment.Total(kind);
  }
  json.Object("totals", [&] {
    for (const auto& [key, bytes] : totals) json.Member(key, bytes);
  });
}

}  // namespace

void WriteJson(llvm::raw_ostream& os, const BufferAssignment& assignment, unsigned indent) {
  JsonWriter json(os, indent);
  json.Object([&] {
    json.Array("allocations", [&] {
      for (const Allocation& a : assignment.allocations()) Write(json, a, assignment);
    });
    json.Member("fragmentation_bytes", assignment.Fragmentation());
    json.Member("module", assignment.module().name());
    json.Member("order", OrderName(assignment));
    json.Object("peak", [&] {
      json.Member("bytes", assignment.peak().bytes);
      if (const Instruction* at = assignment.peak().instruction) Write(json, "instruction", *at);
      json.Member("time", assignment.peak().time);
    });
    json.Member("schema", "hlo.buffers/1");
    json.Member("tool", "hlo-opt");
    WriteTotals(json, assignment);
    json.Member("version", HLO_VERSION);
  });
  os << '\n';
}

}  // namespace hlo
