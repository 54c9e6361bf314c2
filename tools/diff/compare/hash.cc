#include "tools/diff/compare/hash.h"

#include "ir/print.h"
#include "llvm/ADT/SmallString.h"
#include "tools/diff/compare/properties.h"

namespace hlo {
namespace {

uint64_t HashLayout(const Shape& shape, bool with_memory_space) {
  uint64_t h = 0;
  if (shape.IsTuple()) {
    for (const Shape& element : shape.tuple_shapes())
      h = CombineHashes(h, HashLayout(element, with_memory_space));
  } else if (shape.has_layout()) {
    const Layout& layout = shape.layout();
    h = llvm::hash_combine_range(layout.minor_to_major.begin(), layout.minor_to_major.end());
    if (with_memory_space) h = CombineHashes(h, static_cast<uint64_t>(layout.memory_space));
    h = CombineHashes(h, layout.tiles.size());
  }
  return h;
}

}  // namespace

bool DiffHasher::Commutes(const Instruction& inst) const {
  return !options.strict_order && inst.info().Is(kCommutative);
}

uint64_t DiffHasher::Position(DiffId user, int32_t position) const {
  const Instruction& inst = graph[user];
  return Commutes(inst) && position < 2 ? 0 : static_cast<uint64_t>(position) + 1;
}

uint64_t DiffHasher::Annotations(const Instruction& inst) const {
  uint64_t h = 0;
  if (!options.Ignores(DiffProperty::Shape) && !options.Ignores(DiffProperty::Layout))
    h = HashLayout(inst.shape(), !options.Ignores(DiffProperty::MemorySpace));
  if (!inst.has_extras()) return h;
  const InstructionExtras& extras = inst.extras();
  if (extras.sharding && !options.Ignores(DiffProperty::Sharding)) {
    llvm::SmallString<128> text;
    llvm::raw_svector_ostream os(text);
    PrintSharding(os, *extras.sharding, /*with_metadata=*/false);
    h = CombineHashes(h, HashText(text));
  }
  if (!options.Ignores(DiffProperty::FrontendAttributes))
    for (const FrontendAttribute& a : extras.frontend_attributes)
      h = CombineHashes(CombineHashes(h, HashText(a.key)), HashText(a.value));
  if (!options.Ignores(DiffProperty::BackendConfig)) h = CombineHashes(h, HashText(extras.backend_config));
  return h;
}

uint64_t DiffHasher::Own(const Instruction& inst) const {
  uint64_t h = CombineHashes(17, static_cast<uint64_t>(inst.kind()));
  const bool all = level != DiffLevel::Opcode;
  if (all && !options.Ignores(DiffProperty::Shape)) h = CombineHashes(h, hash_value(inst.shape()));
  const Attrs& attrs = inst.attrs();
  const bool tuple_index = inst.kind() == OpKind::GetTupleElement;
  for (const FieldInfo& field : attrs.info().fields) {
    if (!all && !tuple_index) break;
    if (!field.access || IsIgnored(field, options) || (level != DiffLevel::Exact && IsAnnotation(field)))
      continue;
    if (FieldIsDefault(attrs.info(), field, attrs.data())) continue;
    // Shapes among attributes may differ in what is ignored.
    const bool shape = field.kind == FieldKind::Shape || field.kind == FieldKind::OptShapeList;
    const uint64_t value = shape ? 0 : static_cast<uint64_t>(FieldHash(field, attrs.data()));
    h = CombineHashes(CombineHashes(h, HashText(field.name)), value);
  }
  return level == DiffLevel::Exact ? CombineHashes(h, Annotations(inst)) : h;
}

template <class F>
uint64_t DiffHasher::CombineOperands(DiffId id, uint64_t seed, F&& hash_of) const {
  const llvm::ArrayRef<DiffId> operands = graph.Operands(id);
  uint64_t h = seed;
  size_t k = 0;
  if (operands.size() >= 2 && Commutes(graph[id])) {
    const uint64_t a = hash_of(operands[0]), b = hash_of(operands[1]);
    h = CombineHashes(CombineHashes(h, std::min(a, b)), std::max(a, b));
    k = 2;
  }
  for (; k < operands.size(); ++k) h = CombineHashes(h, hash_of(operands[k]));
  return h;
}

DiffHashes DiffHasher::Local(std::vector<uint64_t>& computations) const {
  DiffHashes hashes;
  const auto size = Index(graph.size());
  hashes.own.resize(size);
  hashes.up.resize(size);
  hashes.down.resize(size);
  for (DiffId id = 0; id < graph.size(); ++id) hashes.own[Index(id)] = Own(graph[id]);
  computations.assign(Index(graph.computation_count()), 0);
  for (DiffId c = graph.computation_count() - 1; c >= 0; --c) {
    const llvm::ArrayRef<DiffId> in_order = graph.TopologicalOrder(c);
    for (const DiffId id : in_order) {
      uint64_t h = hashes.own[Index(id)];
      for (const Computation* callee : graph[id].callees())
        h = CombineHashes(h, computations[Index(graph.IdOf(callee))]);
      hashes.up[Index(id)] =
          CombineOperands(id, h, [&](DiffId operand) { return hashes.up[Index(operand)]; });
    }
    uint64_t sum = 0;
    for (const DiffId id : llvm::reverse(in_order)) {
      uint64_t uses = graph.IsRoot(id) ? 1 : 0;
      for (const DiffUse& use : graph.Uses(id))
        uses += CombineHashes(hashes.down[Index(use.user)], Position(use.user, use.position));
      hashes.down[Index(id)] = CombineHashes(hashes.own[Index(id)], uses);
      sum += CombineHashes(hashes.up[Index(id)], hashes.down[Index(id)]);
    }
    computations[Index(c)] = CombineHashes(sum, HashText(graph.computation(c).execution_thread()));
  }
  return hashes;
}

DiffHashes DiffHasher::Through(const DiffHashes& local, llvm::ArrayRef<uint64_t> computations,
                               llvm::ArrayRef<uint64_t> tags) const {
  DiffHashes hashes;
  hashes.own = local.own;
  const size_t size = local.own.size();
  hashes.up.resize(size);
  hashes.down.resize(size);
  // Uses as if everything inline had been inlined; tuples that are only taken apart again use nothing.
  std::vector<bool> used(size, false);
  for (DiffId id = 0; id < graph.size(); ++id) {
    if (graph.Source(id) != id) continue;
    for (const DiffId operand : graph.Operands(id)) used[Index(graph.Source(operand))] = true;
  }
  const auto vanishes = [&](DiffId id) {
    if (graph.Source(id) != id) return true;
    const DiffId c = graph.ComputationOf(id);
    return graph[id].kind() == OpKind::Tuple && !used[Index(id)] && !(graph.IsRoot(id) && !graph.IsInline(c));
  };
  for (const DiffId id : graph.TopologicalOrder()) {
    const Instruction& inst = graph[id];
    uint64_t h = local.own[Index(id)];
    const DiffId source = graph.Source(id);
    if (source != id) {
      hashes.up[Index(id)] = CombineHashes(h, hashes.up[Index(source)]);
      continue;
    }
    if (inst.kind() == OpKind::Parameter) h = CombineHashes(h, tags[Index(graph.ComputationOf(id))]);
    for (const Computation* callee : inst.callees())
      h = CombineHashes(h, computations[Index(graph.IdOf(callee))]);
    hashes.up[Index(id)] =
        CombineOperands(id, h, [&](DiffId operand) { return hashes.up[Index(graph.Source(operand))]; });
  }
  std::vector<uint64_t>& uses = hashes.down;  // sums until the instruction's turn comes
  for (const DiffId id : llvm::reverse(graph.TopologicalOrder())) {
    const DiffId source = graph.Source(id);
    const DiffId c = graph.ComputationOf(id);
    if (graph.IsRoot(id) && !graph.IsInline(c)) uses[Index(source)] += 1;
    if (source != id) continue;
    const uint64_t down = CombineHashes(local.own[Index(id)], uses[Index(id)]);
    uses[Index(id)] = down;
    if (vanishes(id)) continue;
    int32_t position = 0;
    for (const DiffId operand : graph.Operands(id))
      uses[Index(graph.Source(operand))] += CombineHashes(down, Position(id, position++));
  }
  for (DiffId id = 0; id < graph.size(); ++id) {
    const DiffId source = graph.Source(id);
    if (source != id)
      hashes.down[Index(id)] = CombineHashes(local.own[Index(id)], hashes.down[Index(source)]);
  }
  return hashes;
}

}  // namespace hlo
