#include "backends/compile/side_by_side.h"

#include "backends/compile/kernel_config.h"
#include "backends/kernel/routine.h"
#include "backends/kernel/side_by_side.h"

namespace hlo::compile {
namespace {

tl::unexpected<Diagnostic> NotParts(const Instruction& fusion, llvm::StringRef why) {
  return Error("unsupported-kernel", fusion.loc(), "%{0}: {1}", fusion.name(), why);
}

llvm::SmallVector<const Instruction*, 8> ResultsOf(const Instruction& fusion) {
  const Instruction* root = fusion.callee()->root();
  if (root->kind() == OpKind::Tuple) return {root->operands().begin(), root->operands().end()};
  return {root};
}

/// How many arrays it is.
size_t LeavesOf(const Instruction& part) {
  return part.shape().IsTuple() ? part.shape().tuple_shapes().size() : 1;
}

Status CheckPart(const Instruction& fusion, const Instruction& part) {
  const auto config = KernelConfigOf(part);
  if (!config || config->path != KernelPath::Loops)
    return NotParts(fusion, "kernels side by side are fusions that are kernels of loops");
  if (!config->problem.empty()) return NotParts(fusion, config->problem);
  for (const Instruction* operand : part.operands())
    if (operand->kind() != OpKind::Parameter)
      return NotParts(fusion, "kernels side by side read parameters, not each other");
  return {};
}

/// Where each of its arrays lies among those of all: the operands' and its results.
kernel::KernelPart PlaceOf(const Instruction& fusion, const SideBySidePart& part, const KernelPlan& plan) {
  kernel::KernelPart placed{&plan.lowered.kernel, {}};
  for (const Instruction* operand : part.fusion->operands())
    placed.arrays.push_back(static_cast<kernel::BufferId>(operand->attr<ParameterAttrs>().number));
  for (const int64_t output : part.outputs)
    placed.arrays.push_back(static_cast<kernel::BufferId>(fusion.operand_count() + output));
  return placed;
}

}  // namespace

Result<std::vector<SideBySidePart>> PartsOf(const Instruction& fusion) {
  std::vector<SideBySidePart> parts;
  for (const Instruction* inst : fusion.callee()->InstructionsOf(OpKind::Fusion)) {
    HLO_CHECK_OK(CheckPart(fusion, *inst));
    parts.push_back({inst, llvm::SmallVector<int64_t, 2>(LeavesOf(*inst), -1)});
  }
  const auto results = ResultsOf(fusion);
  for (size_t i = 0; i < results.size(); ++i) {
    const bool of_tuple = results[i]->kind() == OpKind::GetTupleElement;
    const Instruction* made = of_tuple ? results[i]->operand(0) : results[i];
    const auto part = llvm::find_if(parts, [&](const SideBySidePart& p) { return p.fusion == made; });
    if (part == parts.end()) return NotParts(fusion, "the results of kernels side by side are theirs");
    const int64_t element = of_tuple ? results[i]->attr<GetTupleElementAttrs>().index : 0;
    part->outputs[static_cast<size_t>(element)] = static_cast<int64_t>(i);
  }
  size_t leaves = 0;
  for (const SideBySidePart& part : parts) leaves += part.outputs.size();
  const bool all =
      llvm::none_of(parts, [](const SideBySidePart& p) { return llvm::is_contained(p.outputs, -1); });
  if (parts.empty() || !all || leaves != results.size())
    return NotParts(fusion, "each result of kernels side by side is one of its own");
  return parts;
}

bool MayBeSideBySide(const KernelPlan& plan) {
  return plan.lowered.in_place.empty() && kernel::MayBePart(plan.lowered.kernel);
}

Result<KernelPlan> PlanSideBySide(const Instruction& fusion, const Machine& machine,
                                  llvm::function_ref<Result<KernelPlanPtr>(const Instruction& part)> plan) {
  HLO_TRY(const std::vector<SideBySidePart> parts, PartsOf(fusion));
  if (machine.gpu.block == 0)
    return NotParts(fusion, "kernels side by side are of machines of blocks and threads");
  KernelPlan whole;
  std::vector<KernelPlanPtr> plans;
  std::vector<kernel::KernelPart> kernels;
  std::vector<kernel::Buffer> arrays(static_cast<size_t>(fusion.operand_count()) + ResultsOf(fusion).size());
  for (const SideBySidePart& part : parts) {
    HLO_TRY(const KernelPlanPtr made, plan(*part.fusion));
    if (!MayBeSideBySide(*made)) return NotParts(fusion, "%" + part.fusion->name().str() + " has no blocks");
    kernels.push_back(PlaceOf(fusion, part, *made));
    const auto& places = kernels.back().arrays;
    for (size_t i = 0; i < places.size(); ++i) {
      const auto place = static_cast<size_t>(places[i]);
      arrays[place] = made->lowered.kernel.buffers[i];
      if (i < kernel::kDefinedBits && (made->defined >> i & 1) != 0 && place < kernel::kDefinedBits)
        whole.defined |= uint64_t{1} << place;
    }
    whole.in_order.insert(made->in_order.begin(), made->in_order.end());
    plans.push_back(made);
  }
  for (size_t i = 0; i < static_cast<size_t>(fusion.operand_count()); ++i)
    if (arrays[i].count == 0) {
      // Nobody reads it.
      const Shape& shape = fusion.operand(static_cast<int64_t>(i))->shape();
      arrays[i] = {.type = shape.element_type(), .count = shape.ElementCount()};
    }
  whole.lowered.kernel = kernel::SideBySide(fusion.name(), arrays, kernels);
  whole.moved.assign(whole.lowered.kernel.buffers.size(), 0);
  return whole;
}

}  // namespace hlo::compile
