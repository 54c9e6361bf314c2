// small-kernel-fusion: kernels that take no longer than it takes to start them become one kernel of several
// results, where none of them needs another and their loops are the same.
//
// Requires row-major. Preserves flat-calls, fusions, row-major. No value changes.
#include "backends/compile/kernel_config.h"
#include "backends/compile/kernel_readings.h"
#include "backends/compile/levels.h"
#include "backends/kernel/lower.h"
#include "passes/analysis/fusion_facts.h"
#include "passes/pass.h"
#include "passes/rewrite/fuse.h"

namespace hlo::compile {
namespace {

struct SmallKernelFusionOptions {
  int64_t max_arrays = 96;
  int64_t max_instructions = 1000;
  int64_t max_folded = 16384;
  static llvm::ArrayRef<PassOptionRow> Rows() {
    static constexpr PassOptionRow kRows[] = {
        PassOption<&SmallKernelFusionOptions::max_arrays>("max_arrays",
                                                          "that a joined kernel reads and writes"),
        PassOption<&SmallKernelFusionOptions::max_instructions>("max_instructions", "of a joined kernel"),
        PassOption<&SmallKernelFusionOptions::max_folded>(
            "max_folded", "elements that an iteration of a joined kernel folds"),
    };
    return kRows;
  }
};

/// A kernel that others may join.
struct Small {
  Instruction* fusion;
  KernelFacts facts;
  int64_t instructions = 0, arrays = 0;
};

class Joiner {
 public:
  Joiner(Computation& computation, const SmallKernelFusionOptions& options, PassContext& context)
      : computation_(computation), options_(options), machine_(MachineOf(context)), context_(context) {}

  /// True if kernels were joined. What is needed at the same time comes first: it is there as long as before.
  bool Run() {
    const bool late = JoinOfOneLevel(LevelsFromEnd);
    const bool early = JoinOfOneLevel(LevelsFromStart);
    return late || early;
  }

 private:
  bool JoinOfOneLevel(Levels (*levels_of)(llvm::ArrayRef<Instruction*>)) {
    const std::vector<Instruction*> order = computation_.PostOrder();
    const Levels levels = levels_of(order);
    // By level, loops, and whether elements are folded.
    std::map<std::tuple<int64_t, Dims, bool>, std::vector<Small>> alike;
    for (Instruction* inst : order)
      if (std::optional<Small> small = SmallOf(*inst))
        alike[{levels.lookup(inst), small->facts.nest, small->facts.reductions > 0}].push_back(
            std::move(*small));
    bool changed = false;
    for (auto& [key, kernels] : alike) changed |= Join(kernels);
    return changed;
  }

  [[nodiscard]] std::optional<Small> SmallOf(Instruction& inst) const {
    if (!IsKernel(inst)) return {};
    const auto nest = NestOf(inst, options_.max_instructions, machine_);
    if (!nest) return {};
    llvm::SmallVector<Instruction*, 1> one;
    Small small{&inst, {}, inst.callee()->instruction_count()};
    int64_t bytes = 0;
    for (const Instruction* output : OutputsOf(inst, one)) {
      bytes += ByteSize(output->shape());
      ++small.arrays;
    }
    for (const Instruction* operand : inst.operands()) {
      bytes += ByteSize(operand->shape());
      ++small.arrays;
    }
    if (bytes * machine_.OperationsPerByte(bytes) > machine_.costs.launch) return {};
    auto facts = FactsOfKernel(inst, *nest, machine_);
    if (!facts) return {};
    small.facts = std::move(*facts);
    if (!HasPlainCode(inst)) return {};
    return small;
  }

  /// Code is made of it, whatever it computes: what has none would take others with it.
  [[nodiscard]] bool HasPlainCode(const Instruction& inst) const {
    const auto lowered = kernel::Lower(*inst.callee(), "k", machine_.kernels);
    if (!lowered || !lowered->in_place.empty()) return false;
    const auto is_plain = [](ElementType type) {
      return IsPred(type) ||
             (!IsComplex(type) && Info(type).bits >= CHAR_BIT && type != ElementType::F8E8M0FNU);
    };
    return llvm::all_of(lowered->kernel.value_types, is_plain) &&
           llvm::all_of(lowered->kernel.buffers, [&](const kernel::Buffer& b) { return is_plain(b.type); });
  }

  /// One after the other, as many as there is room for.
  bool Join(std::vector<Small>& kernels) {
    bool changed = false;
    Small* joined = nullptr;
    for (Small& small : kernels) {
      if (joined == nullptr || !MayJoin(*joined, small) || !context_.TakeRewrite()) {
        joined = &small;
        continue;
      }
      FuseSibling(joined->fusion, small.fusion);
      ForgetSchedule(joined->fusion);
      joined->instructions += small.instructions;
      joined->arrays += small.arrays;
      joined->facts.folded += small.facts.folded;
      changed = true;
    }
    return changed;
  }

  [[nodiscard]] bool MayJoin(const Small& a, const Small& b) const {
    return a.instructions + b.instructions <= options_.max_instructions &&
           a.arrays + b.arrays <= options_.max_arrays &&
           a.facts.folded + b.facts.folded <= options_.max_folded;
  }

  Computation& computation_;
  const SmallKernelFusionOptions& options_;
  const Machine& machine_;
  PassContext& context_;
};

Result<bool> RunSmallKernelFusion(Module& module, const SmallKernelFusionOptions& options,
                                  PassContext& context) {
  bool changed = false;
  for (Computation* computation : context.Computations(module))
    if (RunsOnWholeValues(*computation)) changed |= Joiner(*computation, options, context).Run();
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(SmallKernelFusion, SmallKernelFusionOptions);

}  // namespace hlo::compile
