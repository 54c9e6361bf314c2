#include "backends/compile/kernel_readings.h"

#include "backends/compile/index_maps.h"
#include "backends/compile/kernel_ops.h"
#include "passes/analysis/fusion_facts.h"

namespace hlo::compile {
namespace {

/// A kernel is not looked at with more ways in which an instruction is computed.
constexpr size_t kMaxMaps = 8;

/// Bytes of a column's line that is read together, at most.
int64_t StripBytes(const Machine& machine) { return machine.kernels.vectors.strip * machine.vectors.bytes; }

/// Follows from the results how operands are read.
class Reader {
 public:
  Reader(const Instruction& fusion, const Dims& nest, const Machine& machine)
      : fusion_(fusion), loops_(nest, machine), strip_bytes_(StripBytes(machine)) {
    facts_.nest = nest;
  }

  std::optional<KernelFacts> Read() {
    llvm::SmallVector<Instruction*, 1> one;
    for (const Instruction* output : OutputsOf(fusion_, one)) maps_[output] = {loops_.nest()};
    const std::vector<Instruction*> order = fusion_.callee()->PostOrder();
    for (const Instruction* inst : llvm::reverse(order)) {
      if (inst->kind() == OpKind::Tuple) continue;
      const auto mine = maps_[inst];
      if (mine.size() > kMaxMaps || (IsFold(*inst) && !CountFold(*inst, mine))) return {};
      for (int64_t k = 0; k < inst->operand_count(); ++k) Follow(*inst, k, mine);
    }
    for (const Instruction* parameter : fusion_.callee()->parameters()) Finish(*parameter);
    return std::move(facts_);
  }

 private:
  using Maps = llvm::SmallVector<IndexMap, 2>;
  static bool IsFold(const Instruction& inst) {
    return inst.kind() == OpKind::Reduce || inst.kind() == OpKind::Dot;
  }

  /// Whose nest has one iteration, before which there is nothing.
  [[nodiscard]] bool IsOneElement() const { return loops_.TimesOf(loops_.nest()) == 1; }

  /// False if one thread would make it before the nest.
  bool CountFold(const Instruction& inst, const Maps& maps) {
    facts_.reductions += static_cast<int64_t>(maps.size());
    for (const IndexMap& map : maps)
      facts_.folded += loops_.TimesOf(loops_.OperandMap(inst, 0, map)) / loops_.TimesOf(loops_.nest());
    return IsOneElement() || llvm::all_of(maps, [&](const IndexMap& map) { return loops_.IsInNest(map); });
  }

  void Follow(const Instruction& user, int64_t k, const Maps& maps) {
    Maps& known = maps_[user.operand(k)];
    for (const IndexMap& map : maps) {
      const IndexMap& read = loops_.OperandMap(user, k, map);
      if (!llvm::is_contained(known, read)) known.push_back(read);
    }
  }

  void Finish(const Instruction& parameter) {
    std::vector<Reading>& readings = facts_.readings.emplace_back();
    int64_t& between = facts_.between.emplace_back(0);
    const int64_t elements = loops_.TimesOf(loops_.nest());
    for (const IndexMap& map : maps_[&parameter]) {
      readings.push_back(loops_.RowOf(map));
      for (size_t d = 0; d < map.size(); ++d)
        if (const auto at = llvm::find(loops_.nest(), map[d]); IsLoop(map[d]) && at != loops_.nest().end())
          readings.back()[d] = loops_.nest().begin() - at - 1;
      const int64_t folded = loops_.TimesOf(map) / elements;
      const bool columns = !map.empty() && folded > 1 && llvm::is_contained(loops_.nest(), map.back());
      between = std::max(
          between, folded * (columns ? strip_bytes_ : Info(parameter.shape().element_type()).host_bytes()));
    }
  }

  const Instruction& fusion_;
  LoopTable loops_;
  int64_t strip_bytes_;
  KernelFacts facts_;
  llvm::DenseMap<const Instruction*, Maps> maps_;
};

bool IsInPlace(const std::vector<Reading>& readings) {
  return readings.size() == 1 && llvm::all_of(readings[0], [](int64_t loop) { return loop <= 0; });
}

}  // namespace

llvm::ArrayRef<Instruction*> OutputsOf(const Instruction& fusion, llvm::SmallVector<Instruction*, 1>& one) {
  Instruction* root = fusion.callee()->root();
  if (root->kind() == OpKind::Tuple) return root->operands();
  one = {root};
  return one;
}

std::optional<Dims> NestOf(const Instruction& fusion, int64_t max_instructions, const Machine& machine) {
  if (fusion.kind() != OpKind::Fusion || fusion.attr<FusionAttrs>().kind != FusionKind::Loop) return {};
  if (fusion.callee()->instruction_count() > max_instructions) return {};
  if (!fusion.extras().control_predecessors.empty() || !fusion.extras().control_successors.empty()) return {};
  llvm::SmallVector<Instruction*, 1> one;
  const auto outputs = OutputsOf(fusion, one);
  for (const Instruction* output : outputs)
    if (HasOwnNest(*output) || output->shape().HasDynamicDimension() ||
        !SameDims(output->shape(), outputs[0]->shape()))
      return {};
  for (const Instruction* inst : fusion.callee()->instructions())
    if (MovesMinorDimension(*inst, machine) || IsLargeProduct(*inst, machine)) return {};
  const auto dims = outputs[0]->shape().dims();
  return Dims(dims.begin(), dims.end());
}

std::optional<KernelFacts> FactsOfKernel(const Instruction& fusion, const Dims& nest,
                                         const Machine& machine) {
  return Reader(fusion, nest, machine).Read();
}

bool KeepsFromPlace(const Instruction& a, const Instruction& b, const KernelFacts& x, const KernelFacts& y) {
  for (int64_t i = 0; i < a.operand_count(); ++i) {
    const Instruction* operand = a.operand(i);
    const auto at = llvm::find(b.operands(), operand);
    if (at == b.operands().end() || operand->users().size() > 2) continue;
    const auto& mine = x.readings[static_cast<size_t>(i)];
    const auto& its = y.readings[static_cast<size_t>(at - b.operands().begin())];
    if (IsInPlace(mine) != IsInPlace(its)) return true;
  }
  return false;
}

}  // namespace hlo::compile
