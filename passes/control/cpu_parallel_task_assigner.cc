// cpu-parallel-task-assigner: large operations are shared by several tasks (passes.md §6.1).
//
// Requires nothing. Preserves layouts, canonical-dots, fusions.
// Changes: of an instruction that is worth several tasks the backend config says into how many parts each of
// the outermost dimensions of the result is cut; one that is no fusion becomes a call of a computation that
// holds it alone. What
// moves more than it computes gets a task per 256 KiB, at most the root of the processors; all else one per
// 100,000 operations, a transcendental counting two, a byte ten. Left alone: what libraries compute, loops of
// calls, updates in place, communication, randomness, side effects, tuples, dynamic shapes; fusions of a kind
// of their own or with a config; bodies of parallel calls.
#include <cmath>

#include "llvm/Support/FormatVariadic.h"
#include "passes/analysis/cost.h"
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"

namespace hlo {
namespace {

struct CpuParallelTaskAssignerOptions {
  int64_t max_parallelism = 8;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&CpuParallelTaskAssignerOptions::max_parallelism>("max_parallelism", "processors"),
};

constexpr double kBytesPerTask = 256 << 10;
constexpr double kWorkPerTask = 100'000;
constexpr double kWorkPerTranscendental = 2, kWorkPerByte = 10;
constexpr llvm::StringLiteral kPartitions = "outer_dimension_partitions";

/// Loops of the compiler's own, each element of the result by itself.
bool RunsInLoops(const Instruction& inst) {
  constexpr OpCategory kCategories[] = {
      OpCategory::Arithmetic, OpCategory::Transcendental, OpCategory::Comparison, OpCategory::Conversion,
      OpCategory::Movement,   OpCategory::Reduction,      OpCategory::Indexing,   OpCategory::Control};
  if (!inst.shape().IsArray() || !inst.shape().has_layout() || inst.shape().HasDynamicDimension() ||
      !llvm::is_contained(kCategories, inst.info().category))
    return false;
  if (inst.info().category == OpCategory::Control && inst.kind() != OpKind::Fusion) return false;
  // Reductions and indexing: what makes each element by itself.
  if (inst.info().category == OpCategory::Reduction &&
      !(inst.attrs().GetIf<ReduceAttrs>() || inst.attrs().GetIf<ReduceWindowAttrs>() ||
        inst.attrs().GetIf<MapAttrs>()))
    return false;
  if (inst.info().category == OpCategory::Indexing && !inst.attrs().GetIf<GatherAttrs>()) return false;
  return inst.kind() != OpKind::DynamicUpdateSlice && inst.kind() != OpKind::Bitcast &&
         !HasSideEffect(inst) && !HasControlEdges(inst);
}
bool MayBeShared(const Instruction& inst) {
  if (!RunsInLoops(inst)) return false;
  if (inst.kind() != OpKind::Fusion) return !inst.operands().empty();
  if (inst.attr<FusionAttrs>().kind != FusionKind::Loop || !inst.extras().backend_config.empty())
    return false;
  return llvm::all_of(inst.callee()->instructions(), [](const Instruction* inner) {
    return inner->info().category == OpCategory::Source || inner->kind() == OpKind::Bitcast ||
           RunsInLoops(*inner);
  });
}

int64_t Tasks(const Cost& cost, int64_t most) {
  double tasks = 0;
  if (cost.flops <= cost.bytes)
    tasks = std::min(std::ceil(std::sqrt(static_cast<double>(most))), cost.bytes / kBytesPerTask);
  else
    tasks = (cost.flops + kWorkPerTranscendental * cost.transcendentals + kWorkPerByte * cost.bytes) /
            kWorkPerTask;
  return std::max<int64_t>(1, static_cast<int64_t>(std::min(static_cast<double>(most), tasks)));
}

/// Parts of the dimensions of the result, the slowest first, of about as many elements each.
Dims Partitions(const Shape& shape, int64_t tasks) {
  Dims parts;
  for (const int64_t d : llvm::reverse(shape.layout().minor_to_major)) {
    if (tasks <= 1) break;
    parts.push_back(std::max<int64_t>(1, std::min(shape.dim(d), tasks)));
    tasks /= parts.back();
  }
  while (!parts.empty() && parts.back() == 1) parts.pop_back();
  return parts;
}

bool IsParallelCall(const Instruction& call) {
  return call.kind() == OpKind::Call && call.callee()->root()->extras().backend_config.contains(kPartitions);
}

void SetParts(Instruction* inst, const Dims& parts) {
  std::string words;
  for (const int64_t part : parts) words += (words.empty() ? "\"" : ",\"") + std::to_string(part) + "\"";
  inst->MutableExtras().backend_config =
      inst->module()->Save(llvm::formatv("{{\"{0}\":[{1}]}", kPartitions, words).str());
}

/// The instruction alone in a computation that is called instead; the copy there.
Instruction* Outline(Instruction* inst) {
  Computation* outlined = NewComputation(*inst->module(), ("parallel_" + inst->name()).str());
  outlined->set_execution_thread(inst->parent()->execution_thread());
  Maker inside(*outlined, inst);
  llvm::SmallVector<Instruction*, 4> parameters;
  for (const Instruction* o : inst->operands())
    parameters.push_back(inside.Parameter(static_cast<int64_t>(parameters.size()), o->shape()));
  Instruction* root = CloneWith(*inst, *outlined, parameters);
  outlined->set_root(root);
  Instruction* call = Maker(inst).Call(outlined, inst->operands());
  ReplaceWith(inst, call);
  inst->parent()->Remove(inst);
  return root;
}

llvm::ArrayRef<PassOptionRow> CpuParallelTaskAssignerOptions::Rows() { return kRows; }

Result<bool> RunCpuParallelTaskAssigner(Module& module, const CpuParallelTaskAssignerOptions& options,
                                        PassContext& context) {
  bool changed = false;
  const CostAnalysis costs(module);
  for (Computation* c : context.Computations(module)) {
    HLO_CHECK_OK(context.CheckInterrupt());
    // What runs once per element, and what runs in parts already, is not shared once more.
    const bool runs_whole = llvm::all_of(c->callers(), [](const Instruction* caller) {
      return caller->info().Is(kRuns) && !IsParallelCall(*caller);
    });
    if (!runs_whole) continue;
    for (Instruction* inst : c->PostOrder()) {
      if (!MayBeShared(*inst)) continue;
      const Dims parts = Partitions(inst->shape(), Tasks(costs.Of(*inst), options.max_parallelism));
      if (parts.empty()) continue;
      if (!context.TakeRewrite()) return changed;
      SetParts(inst->kind() == OpKind::Fusion ? inst : Outline(inst), parts);
      changed = true;
    }
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(CpuParallelTaskAssigner, CpuParallelTaskAssignerOptions);

}  // namespace hlo
