// side-by-side-kernels: small kernels that do not need each other are run by one launch, each in blocks of
// its own, with its own loops.
//
// Requires row-major. Preserves flat-calls, fusions, row-major. No value changes.
#include "backends/compile/kernel_config.h"
#include "backends/compile/levels.h"
#include "backends/compile/side_by_side.h"
#include "backends/kernel/side_by_side.h"
#include "backends/kernel/threads.h"
#include "llvm/ADT/SmallBitVector.h"
#include "passes/analysis/cost.h"
#include "passes/analysis/fusion_facts.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/fuse.h"
#include "passes/rewrite/maker.h"

namespace hlo::compile {
namespace {

struct SideBySideKernelsOptions {
  int64_t max_arrays = 96;
  int64_t max_instructions = 1000;
  int64_t max_launches = 4;
  int64_t max_waiting = 1 << 20;
  static llvm::ArrayRef<PassOptionRow> Rows() {
    static constexpr PassOptionRow kRows[] = {
        PassOption<&SideBySideKernelsOptions::max_arrays>("max_arrays", "that a launch reads and writes"),
        PassOption<&SideBySideKernelsOptions::max_instructions>("max_instructions", "of a launch"),
        PassOption<&SideBySideKernelsOptions::max_launches>(
            "max_launches", "that would take as long to start as the largest kernel that is joined runs"),
        PassOption<&SideBySideKernelsOptions::max_waiting>(
            "max_waiting", "bytes of a result that is made before it is needed: it takes memory until then"),
    };
    return kRows;
  }
};

/// A kernel that may have others beside it, or several that have.
struct Small {
  Instruction* fusion = nullptr;
  int64_t instructions = 0, arrays = 0;
  int64_t threads = 0, shared = 0;  // of a block
};

class Joiner {
 public:
  Joiner(Computation& computation, const SideBySideKernelsOptions& options, const CostAnalysis& costs,
         PassContext& context)
      : computation_(computation),
        options_(options),
        costs_(costs),
        machine_(MachineOf(context)),
        context_(context) {}

  /// True if kernels were joined. What is needed at the same time comes first: it is there as long as before.
  bool Run() {
    FindSmall();
    const bool late = JoinOfOneLevel(LevelsFromEnd, INT64_MAX);
    const bool early = JoinOfOneLevel(LevelsFromStart, options_.max_waiting);
    return late || early;
  }

 private:
  void FindSmall() {
    const std::vector<Instruction*> order = computation_.PostOrder();
    // Those alone on their levels need no plan.
    const Levels late = LevelsFromEnd(order), early = LevelsFromStart(order);
    llvm::DenseMap<int64_t, int64_t> on_late, on_early;
    std::vector<Instruction*> candidates;
    for (Instruction* inst : order) {
      if (!MayTakePart(*inst)) continue;
      candidates.push_back(inst);
      ++on_late[late.lookup(inst)];
      ++on_early[early.lookup(inst)];
    }
    for (Instruction* inst : candidates)
      if (on_late.lookup(late.lookup(inst)) > 1 || on_early.lookup(early.lookup(inst)) > 1) AddSmall(inst);
  }

  [[nodiscard]] bool MayTakePart(const Instruction& inst) const {
    const auto config = KernelConfigOf(inst);
    if (!config || config->path != KernelPath::Loops || !IsShort(inst) || HasProduct(inst)) return false;
    if (!inst.extras().control_predecessors.empty() || !inst.extras().control_successors.empty())
      return false;
    return inst.shape().IsArray() || (UsesAll(inst) && !inst.IsRoot());
  }

  /// All elements of a tuple are read, one by one: results that nobody reads would go later.
  static bool UsesAll(const Instruction& inst) {
    llvm::SmallBitVector read(static_cast<unsigned>(ArraysOf(inst.shape())));
    for (const Instruction* user : inst.users()) {
      if (user->kind() != OpKind::GetTupleElement) return false;
      if (!user->users().empty() || user->IsRoot())
        read.set(static_cast<unsigned>(user->attr<GetTupleElementAttrs>().index));
    }
    return read.all();
  }

  /// Which a library may do.
  static bool HasProduct(const Instruction& inst) {
    return llvm::any_of(inst.callee()->instructions(), [](const Instruction* part) {
      return part->kind() == OpKind::Dot || part->kind() == OpKind::Convolution;
    });
  }

  /// It takes no longer than a few launches, wherever the time goes.
  [[nodiscard]] bool IsShort(const Instruction& inst) const {
    const Cost& cost = costs_.Of(inst);
    const auto& ops = machine_.kernels.ops;
    const double moved = cost.bytes * static_cast<double>(machine_.OperationsPerByte(INT64_MAX));
    const double computed = cost.flops * static_cast<double>(ops.plain.operations) +
                            cost.transcendentals * static_cast<double>(ops.function.operations);
    return cost.bytes >= 0 &&
           std::max(moved, computed) <= static_cast<double>(options_.max_launches * machine_.costs.launch);
  }

  void AddSmall(Instruction* inst) {
    const auto plan = PlanLoops(*inst, machine_);
    if (!plan || !MayBeSideBySide(**plan) || !HasPlainCode((*plan)->lowered.kernel)) return;
    const kernel::Kernel& kernel = (*plan)->lowered.kernel;
    Small small{inst, inst->callee()->instruction_count(), inst->operand_count() + ArraysOf(inst->shape())};
    small.threads = kernel::ShapeOfBlocks(kernel).count();
    small.shared = kernel::SharedBytes(kernel);
    small_[inst] = small;
  }
  static int64_t ArraysOf(const Shape& shape) {
    return shape.IsTuple() ? static_cast<int64_t>(shape.tuple_shapes().size()) : 1;
  }
  /// Code is made of it, whatever it computes: what has none would take others with it.
  static bool HasPlainCode(const kernel::Kernel& kernel) {
    const auto is_plain = [](ElementType type) {
      return IsPred(type) ||
             (!IsComplex(type) && Info(type).bits >= CHAR_BIT && type != ElementType::F8E8M0FNU);
    };
    return llvm::all_of(kernel.value_types, is_plain) &&
           llvm::all_of(kernel.buffers, [&](const kernel::Buffer& b) { return is_plain(b.type); });
  }

  bool JoinOfOneLevel(Levels (*levels_of)(llvm::ArrayRef<Instruction*>), int64_t most_bytes) {
    const std::vector<Instruction*> order = computation_.PostOrder();
    const Levels levels = levels_of(order);
    std::map<int64_t, std::vector<Instruction*>> by_level;
    for (Instruction* inst : order)
      if (small_.contains(inst) && ByteSize(inst->shape()) <= most_bytes)
        by_level[levels.lookup(inst)].push_back(inst);
    bool changed = false;
    for (const auto& [level, kernels] : by_level) changed |= Join(kernels);
    return changed;
  }

  /// Each with the first that has room for it.
  bool Join(llvm::ArrayRef<Instruction*> kernels) {
    bool changed = false;
    std::vector<Small> launches;
    for (Instruction* inst : kernels) {
      const Small small = small_.lookup(inst);
      const auto launch = llvm::find_if(launches, [&](const Small& s) { return MayJoin(s, small); });
      if (launch == launches.end()) {
        launches.push_back(small);
        continue;
      }
      if (!context_.TakeRewrite()) break;
      small_.erase(launch->fusion);
      small_.erase(inst);
      launch->fusion = AsParts(launch->fusion);
      FuseSibling(launch->fusion, AsParts(inst));
      launch->instructions += small.instructions;
      launch->arrays += small.arrays;
      launch->threads = std::max(launch->threads, small.threads);
      launch->shared += small.shared;
      small_[launch->fusion] = *launch;
      changed = true;
    }
    return changed;
  }

  /// Registers are for as many threads as the largest blocks have.
  [[nodiscard]] bool MayJoin(const Small& a, const Small& b) const {
    const int64_t few = 2 * machine_.kernels.blocks.threads;
    return a.instructions + b.instructions <= options_.max_instructions &&
           a.arrays + b.arrays <= options_.max_arrays &&
           a.shared + b.shared <= machine_.kernels.blocks.shared &&
           (a.threads == b.threads || std::max(a.threads, b.threads) <= few);
  }

  /// A fusion that is `fusion` alone; itself if it is one of several already.
  static Instruction* AsParts(Instruction* fusion) {
    if (KernelConfigOf(*fusion)->path == KernelPath::SideBySide) return fusion;
    Instruction* whole = WrapInFusion(fusion, FusionKind::Loop);
    Instruction* part = whole->callee()->root();
    if (part->shape().IsTuple()) {
      Maker make(*whole->callee(), part);
      llvm::SmallVector<Instruction*, 4> results;
      for (int64_t i = 0; i < ArraysOf(part->shape()); ++i) results.push_back(make.Gte(part, i));
      whole->callee()->set_root(make.Tuple(results));
    }
    SetKernelConfig(whole, {KernelPath::SideBySide});
    return whole;
  }

  Computation& computation_;
  const SideBySideKernelsOptions& options_;
  const CostAnalysis& costs_;
  const Machine& machine_;
  PassContext& context_;
  llvm::DenseMap<const Instruction*, Small> small_;
};

Result<bool> RunSideBySideKernels(Module& module, const SideBySideKernelsOptions& options,
                                  PassContext& context) {
  bool changed = false;
  const CostAnalysis costs(module);
  for (Computation* computation : context.Computations(module))
    if (RunsOnWholeValues(*computation)) changed |= Joiner(*computation, options, costs, context).Run();
  // Of those that moved into a launch.
  if (changed) RemoveUnreachableComputations(module);
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(SideBySideKernels, SideBySideKernelsOptions);

}  // namespace hlo::compile
