// kernel-sibling-fusion: kernels with the same loops that read a large array in the same way become one
// kernel of several results, so that memory is read once.
//
// Requires row-major. Preserves flat-calls, fusions, row-major. No value changes.
#include "backends/compile/kernel_config.h"
#include "backends/compile/kernel_readings.h"
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
/// many instructions.
constexpr size_t kMaxSearch = 2000;

/// Bytes of an operand from which reading it once instead of twice is worth a kernel of several results: the
/// nearest cache does not hold it.
int64_t LeastShared(const Machine& machine) { return machine.caches.first; }
/// Bytes of it that may pass by between two loops of the joined kernel that read it, which then are still in
/// the second cache, beside as many others.
int64_t MostBetween(const Machine& machine) { return machine.caches.second / 2; }
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
      if (NestOf(*user, options_.max_instructions, machine_)) readers.push_back(user);
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

  /// Rows of single results are loops of their own.
  static bool Folds(const Instruction& fusion) {
    return llvm::any_of(fusion.callee()->instructions(), [](const Instruction* inst) {
      return inst->kind() == OpKind::Reduce || inst->kind() == OpKind::Dot;
    });
  }

  const std::optional<KernelFacts>& FactsOf(const Instruction& fusion) {
    const auto [it, added] = facts_.try_emplace(&fusion);
    if (added)
      if (const std::optional<Dims> nest = NestOf(fusion, options_.max_instructions, machine_);
          nest && (!nest->empty() || !Folds(fusion)))
        it->second = FactsOfKernel(fusion, *nest, machine_);
    return it->second;
  }

  bool MayJoin(const Instruction& a, const Instruction& b, const Instruction& value) {
    if (!FitsTogether(a, b)) return false;
    const auto nest_a = NestOf(a, options_.max_instructions, machine_);
    const auto nest_b = NestOf(b, options_.max_instructions, machine_);
    if (!nest_a || !nest_b || *nest_a != *nest_b || !FactsOf(a) || !FactsOf(b)) return false;
    const KernelFacts &x = *FactsOf(a), &y = *FactsOf(b);
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
  std::map<const Instruction*, std::optional<KernelFacts>> facts_;
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
