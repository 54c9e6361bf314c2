// kernel-sibling-fusion: kernels with the same loops that read a large array in the same way become one
// kernel of several results, so that memory is read once.
//
// Requires row-major. Preserves flat-calls, fusions, row-major. No value changes.
#include "backends/compile/index_maps.h"
#include "backends/compile/kernel_config.h"
#include "backends/compile/kernel_ops.h"
#include "llvm/ADT/DenseSet.h"
#include "passes/analysis/fusion_facts.h"
#include "passes/pass.h"
#include "passes/rewrite/fuse.h"

namespace hlo::compile {
namespace {

struct KernelSiblingFusionOptions {
  int64_t max_arrays = 12;
  int64_t max_instructions = 200;
  int64_t max_reductions = 6;
  static llvm::ArrayRef<PassOptionRow> Rows() {
    static constexpr PassOptionRow kRows[] = {
        PassOption<&KernelSiblingFusionOptions::max_arrays>("max_arrays",
                                                            "that a joined kernel reads and writes"),
        PassOption<&KernelSiblingFusionOptions::max_instructions>("max_instructions", "of a joined kernel"),
        PassOption<&KernelSiblingFusionOptions::max_reductions>("max_reductions", "of a joined kernel"),
    };
    return kRows;
  }
};

/// So that compiling takes no longer than the module is large: a search for a dependency gives up beyond this
/// many instructions, a kernel is not looked at with more ways in which an instruction is computed.
constexpr size_t kMaxSearch = 2000, kMaxMaps = 8;

/// Bytes of an operand from which reading it once instead of twice is worth a kernel of several results: the
/// nearest cache does not hold it.
int64_t LeastShared(const Machine& machine) { return machine.caches.first; }
/// Bytes of it that may pass by between two loops of the joined kernel that read it, which then are still in
/// the second cache, beside as many others.
int64_t MostBetween(const Machine& machine) { return machine.caches.second / 2; }
/// Bytes of a column's line that is read together, at most.
int64_t StripBytes(const Machine& machine) { return machine.kernels.vectors.strip * machine.vectors.bytes; }

/// How an operand is read, comparable between kernels of the same nest: loops of the nest by their number,
/// others by how often they run.
using Reading = std::vector<int64_t>;

/// What joining asks about a kernel.
struct Facts {
  Dims nest;
  int64_t reductions = 0;
  std::vector<std::vector<Reading>> readings;  // by operand
  std::vector<int64_t> between;                // by operand: bytes of it that one element of the nest takes
};

llvm::ArrayRef<Instruction*> OutputsOf(const Instruction& fusion, llvm::SmallVector<Instruction*, 1>& one) {
  Instruction* root = fusion.callee()->root();
  if (root->kind() == OpKind::Tuple) return root->operands();
  one = {root};
  return one;
}

/// The kernel's loops; nothing if it is none that others may join.
std::optional<Dims> NestOf(const Instruction& fusion, const KernelSiblingFusionOptions& options,
                           const Machine& machine) {
  if (fusion.kind() != OpKind::Fusion || fusion.attr<FusionAttrs>().kind != FusionKind::Loop) return {};
  if (fusion.callee()->instruction_count() > options.max_instructions) return {};
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

/// Follows from the results how operands are read.
class Reader {
 public:
  Reader(const Instruction& fusion, const Dims& nest, const Machine& machine)
      : fusion_(fusion), loops_(nest, machine), strip_bytes_(StripBytes(machine)) {
    facts_.nest = nest;
  }

  std::optional<Facts> Read() {
    llvm::SmallVector<Instruction*, 1> one;
    for (const Instruction* output : OutputsOf(fusion_, one)) maps_[output] = {loops_.nest()};
    const std::vector<Instruction*> order = fusion_.callee()->PostOrder();
    for (const Instruction* inst : llvm::reverse(order)) {
      if (inst->kind() == OpKind::Tuple) continue;
      const auto mine = maps_[inst];
      if (mine.size() > kMaxMaps || (IsFold(*inst) && !CountFold(mine))) return {};
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

  /// False if one thread would make it before the nest.
  bool CountFold(const Maps& maps) {
    facts_.reductions += static_cast<int64_t>(maps.size());
    return llvm::all_of(maps, [&](const IndexMap& map) { return loops_.IsInNest(map); });
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
  Facts facts_;
  llvm::DenseMap<const Instruction*, Maps> maps_;
};

class Joiner {
 public:
  Joiner(Computation& computation, const KernelSiblingFusionOptions& options, PassContext& context)
      : computation_(computation), options_(options), machine_(MachineOf(context)), context_(context) {}

  /// True if kernels were joined.
  bool Run() {
    std::vector<Instruction*> values;
    for (Instruction* inst : computation_.PostOrder())
      if (inst->shape().IsArray() && ByteSize(inst->shape()) >= LeastShared(machine_) &&
          inst->users().size() > 1)
        values.push_back(inst);
    for (const Instruction* value : values)
      if (!gone_.contains(value)) JoinReaders(*value);
    return !gone_.empty();
  }

 private:
  void JoinReaders(const Instruction& value) {
    if (!value.shape().IsArray()) return;  // it has several results by now
    llvm::SmallVector<Instruction*, 8> readers;
    for (Instruction* user : value.users())
      if (NestOf(*user, options_, machine_)) readers.push_back(user);
    if (readers.size() < 2) return;
    if (places_.empty())
      for (Instruction* inst : computation_.PostOrder()) places_[inst] = places_.size();
    llvm::sort(readers, [&](const Instruction* a, const Instruction* b) {
      return places_.lookup(a) < places_.lookup(b);
    });
    for (size_t i = 0; i < readers.size(); ++i)
      for (size_t j = i + 1; readers[i] != nullptr && j < readers.size(); ++j)
        if (readers[j] != nullptr && MayJoin(*readers[i], *readers[j], value) && context_.TakeRewrite()) {
          facts_.erase(readers[i]);
          facts_.erase(readers[j]);
          gone_.insert(readers[j]);
          FuseSibling(readers[i], readers[j]);
          ForgetSchedule(readers[i]);
          readers[j] = nullptr;
        }
  }

  const std::optional<Facts>& FactsOf(const Instruction& fusion) {
    const auto [it, added] = facts_.try_emplace(&fusion);
    if (added)
      if (const std::optional<Dims> nest = NestOf(fusion, options_, machine_))
        it->second = Reader(fusion, *nest, machine_).Read();
    return it->second;
  }

  bool MayJoin(const Instruction& a, const Instruction& b, const Instruction& value) {
    if (!FitsTogether(a, b)) return false;
    const auto nest_a = NestOf(a, options_, machine_), nest_b = NestOf(b, options_, machine_);
    if (!nest_a || !nest_b || *nest_a != *nest_b || !FactsOf(a) || !FactsOf(b)) return false;
    const Facts &x = *FactsOf(a), &y = *FactsOf(b);
    if ((x.reductions > 0) != (y.reductions > 0) || x.reductions + y.reductions > options_.max_reductions)
      return false;
    const auto at_a = static_cast<size_t>(llvm::find(a.operands(), &value) - a.operands().begin());
    const auto at_b = static_cast<size_t>(llvm::find(b.operands(), &value) - b.operands().begin());
    const bool same = llvm::any_of(x.readings[at_a],
                                   [&](const Reading& r) { return llvm::is_contained(y.readings[at_b], r); });
    return same && x.between[at_a] <= MostBetween(machine_) && !KeepsFromPlace(a, b, x, y) && !Leads(a, b) &&
           !Leads(b, a);
  }

  /// The value is a good part of what each reads, and the sum of both no larger than kernels should be.
  [[nodiscard]] bool FitsTogether(const Instruction& a, const Instruction& b) const {
    llvm::SmallVector<Instruction*, 1> one;
    int64_t arrays = 0, instructions = 0;
    llvm::DenseSet<const Instruction*> read;
    for (const Instruction* fusion : {&a, &b}) {
      instructions += fusion->callee()->instruction_count();
      arrays += static_cast<int64_t>(OutputsOf(*fusion, one).size());
      for (const Instruction* operand : fusion->operands())
        if (ByteSize(operand->shape()) >= LeastShared(machine_)) read.insert(operand);
    }
    return instructions <= options_.max_instructions &&
           arrays + static_cast<int64_t>(read.size()) <= options_.max_arrays;
  }

  /// Whether one could write its result over an operand that the other reads elsewhere than there.
  static bool KeepsFromPlace(const Instruction& a, const Instruction& b, const Facts& x, const Facts& y) {
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
  static bool IsInPlace(const std::vector<Reading>& readings) {
    return readings.size() == 1 && llvm::all_of(readings[0], [](int64_t loop) { return loop <= 0; });
  }

  /// Whether something that is made of `from` is read by `to`.
  static bool Leads(const Instruction& from, const Instruction& to) {
    llvm::DenseSet<const Instruction*> seen = {&from};
    llvm::SmallVector<const Instruction*, 16> todo = {&from};
    while (!todo.empty()) {
      for (const Instruction* user : todo.pop_back_val()->users()) {
        if (user == &to || seen.size() > kMaxSearch) return true;
        if (seen.insert(user).second) todo.push_back(user);
      }
    }
    return false;
  }

  Computation& computation_;
  const KernelSiblingFusionOptions& options_;
  const Machine& machine_;
  PassContext& context_;
  llvm::DenseMap<const Instruction*, size_t> places_;
  llvm::DenseSet<const Instruction*> gone_;
  std::map<const Instruction*, std::optional<Facts>> facts_;
};

Result<bool> RunKernelSiblingFusion(Module& module, const KernelSiblingFusionOptions& options,
                                    PassContext& context) {
  bool changed = false;
  for (Computation* computation : context.Computations(module))
    if (RunsOnWholeValues(*computation)) changed |= Joiner(*computation, options, context).Run();
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(KernelSiblingFusion, KernelSiblingFusionOptions);

}  // namespace hlo::compile
