#include "backends/compile/kernel_plans.h"

#include "backends/compile/kernel_config.h"
#include "backends/compile/side_by_side.h"
#include "backends/kernel/dedupe.h"
#include "backends/kernel/fold.h"
#include "backends/kernel/interleave.h"
#include "backends/kernel/routine.h"
#include "backends/kernel/row_blocks.h"
#include "backends/kernel/rows_in_place.h"
#include "backends/kernel/schedule.h"
#include "backends/kernel/share.h"
#include "backends/kernel/threads.h"
#include "backends/kernel/trim.h"
#include "backends/kernel/visit.h"
#include "ir/findings.h"
#include "ir/op.h"
#include "ir/support/hash.h"

namespace hlo::compile {
namespace {

/// A product whose factors of f32 may not be rounded to tf32.
bool KeepsFactors(const Instruction* inst) {
  const auto* dot = inst->attrs().GetIf<DotAttrs>();
  const auto* convolution = inst->attrs().GetIf<ConvolutionAttrs>();
  if (dot == nullptr && convolution == nullptr) return false;
  return (dot != nullptr ? dot->algorithm : convolution->algorithm) != DotAlgorithm::TF32TF32F32;
}

/// The machine, without units that round what some product of a kernel does not let them.
kernel::Target TargetFor(const Instruction& fusion, const Machine& machine) {
  kernel::Target target = machine.kernels;
  if (llvm::any_of(fusion.callee()->instructions(), KeepsFactors))
    llvm::erase_if(target.blocks.units,
                   [](const kernel::MatrixUnit& unit) { return unit.type == ElementType::F32; });
  return target;
}

/// The loops become fast ones: by `schedule`, or as is best, which is then what `schedule` says.
Result<llvm::SmallVector<int64_t, 8>> Optimize(kernel::Kernel& kernel, const Machine& machine,
                                               const kernel::Target& target,
                                               std::optional<kernel::Schedule>& schedule) {
  kernel::MergeLoops(kernel);
  kernel::RemoveDuplicates(kernel);
  if (machine.gpu.block > 0) {
    // Threads keep nothing for each other, and arrays stay where they begin: accesses are whole there.
    if (!schedule) schedule = kernel::ChooseSchedule(kernel, target);
    HLO_CHECK_OK(kernel::ApplySchedule(kernel, *schedule));
    return llvm::SmallVector<int64_t, 8>(kernel.buffers.size(), 0);
  }
  kernel::ShareBetweenLoops(kernel, target);
  auto moved = kernel::TrimBuffers(kernel, machine.scalar_bytes);
  kernel::FoldByRows(kernel, target);
  if (!schedule) schedule = kernel::ChooseSchedule(kernel, target);
  HLO_CHECK_OK(kernel::ApplySchedule(kernel, *schedule));
  kernel::InterleaveSums(kernel, target);
  return moved;
}

/// The kernel as schedules for blocks and threads find it.
Result<kernel::LoweredKernel> LowerForThreads(const Instruction& fusion, const Machine& machine) {
  HLO_TRY(kernel::LoweredKernel lowered, kernel::Lower(*fusion.callee(), "k", machine.kernels));
  kernel::FoldConstants(lowered.kernel);
  kernel::MergeLoops(lowered.kernel);
  kernel::RemoveDuplicates(lowered.kernel);
  return lowered;
}

uint64_t DefinedBuffers(const kernel::Kernel& kernel, size_t first) {
  uint64_t defined = 0;
  for (size_t i = first; i < std::min<size_t>(kernel.buffers.size(), kernel::kDefinedBits); ++i)
    if (kernel::Defines(kernel, static_cast<kernel::BufferId>(i))) defined |= uint64_t{1} << i;
  return defined;
}

/// One attempt, with folds that keep their order.
Result<KernelPlan> Attempt(const Instruction& fusion, const Machine& machine, std::optional<int64_t> row,
                           std::optional<kernel::Schedule> schedule, const kernel::Folds& in_order) {
  KernelPlan plan;
  HLO_TRY(plan.lowered, kernel::Lower(*fusion.callee(), fusion.name(), machine.kernels));
  kernel::Kernel& kernel = plan.lowered.kernel;
  kernel::FoldConstants(kernel);
  kernel::KeepOrder(kernel, in_order);
  const size_t output = fusion.callee()->parameters().size();
  plan.defined = DefinedBuffers(kernel, output);
  if (row) {
    if (!plan.lowered.in_place.empty()) return Decline(fusion.loc(), "it changes an operand");
    auto outer = kernel::TakeOuterLoops(kernel, static_cast<kernel::BufferId>(output), *row);
    if (!outer) return Decline(fusion.loc(), "its rows depend on where they are");
    plan.outer = std::move(*outer);
  }
  HLO_TRY(plan.moved, Optimize(kernel, machine, TargetFor(fusion, machine), schedule));
  plan.schedule = ToString(*schedule);
  plan.in_order = in_order;
  return plan;
}

}  // namespace

Result<KernelPlanPtr> PlanLoops(const Instruction& fusion, const Machine& machine,
                                std::optional<int64_t> row) {
  const std::optional<KernelConfig> config = KernelConfigOf(fusion);
  std::optional<kernel::Schedule> schedule;
  if (config && config->schedule) {
    HLO_TRY(schedule, kernel::ParseSchedule(*config->schedule));
  }
  // An array that the kernel computes in several places is folded in the same order in all of them.
  for (kernel::Folds in_order;;) {
    HLO_TRY(KernelPlan plan, Attempt(fusion, machine, row, schedule, in_order));
    if (schedule && machine.gpu.block == 0)
      if (const Status status = kernel::CheckWithoutThreads(plan.lowered.kernel); !status)
        return Error("kernel-schedule", fusion.loc(), "{0}", status.error().message);
    const kernel::Folds differ = kernel::FoldsThatDiffer(plan.lowered.kernel, plan.lowered.written_out);
    if (differ.empty()) return std::make_shared<const KernelPlan>(std::move(plan));
    const size_t known = in_order.size();
    in_order.insert(differ.begin(), differ.end());
    if (schedule || in_order.size() == known)
      return Error("kernel-schedule", fusion.loc(),
                   "%{0}, which is computed in several places, would be folded in several orders",
                   (*differ.begin())->name());
  }
}

std::optional<bool> MayWriteOver(const Instruction& fusion, int64_t operand, int64_t output,
                                 const Machine& machine) {
  const Shape& from = fusion.operand(operand)->shape();
  const Shape& to = output < 0 ? fusion.shape() : fusion.shape().tuple_shapes()[static_cast<size_t>(output)];
  const std::optional<KernelConfig> config = KernelConfigOf(fusion);
  if (machine.gpu.block == 0 || !config || !config->schedule || ByteSize(from) != ByteSize(to)) return false;
  const Result<kernel::Schedule> schedule = kernel::ParseSchedule(*config->schedule);
  const Result<kernel::LoweredKernel> lowered = LowerForThreads(fusion, machine);
  if (!schedule || !lowered || !lowered->in_place.empty()) return false;
  const auto first = static_cast<int64_t>(fusion.callee()->parameters().size());
  if (kernel::MayWriteOver(lowered->kernel, *schedule, static_cast<kernel::BufferId>(operand),
                           static_cast<kernel::BufferId>(first + std::max<int64_t>(output, 0))))
    return true;
  // All threads of a team may read what one of them writes, and what is written first may be read for others.
  const auto is_team = [](const kernel::ScheduleStep& step) {
    return step.kind == kernel::ScheduleStep::Kind::Team;
  };
  if (output >= 0 || llvm::any_of(*schedule, is_team)) return false;
  return std::nullopt;
}

Result<KernelAlternatives> AlternativesOf(const Instruction& fusion, const Machine& machine) {
  HLO_TRY(const kernel::LoweredKernel lowered, LowerForThreads(fusion, machine));
  KernelAlternatives alternatives{ToString(lowered.kernel), {}};
  for (const kernel::Schedule& schedule :
       kernel::AlternativeThreads(lowered.kernel, TargetFor(fusion, machine)))
    alternatives.schedules.push_back(ToString(schedule));
  return alternatives;
}

namespace {

uint64_t HashOf(const Computation& computation) {
  uint64_t hash = computation.instruction_count();
  for (const Instruction* inst : computation.instructions()) {
    hash = CombineHashes(hash, static_cast<uint64_t>(inst->kind()));
    hash = CombineHashes(hash, static_cast<size_t>(hash_value(inst->attrs())));
    if (!inst->shape().IsArray()) continue;
    hash = CombineHashes(hash, static_cast<uint64_t>(inst->shape().element_type()));
    for (const int64_t d : inst->shape().dims()) hash = CombineHashes(hash, static_cast<uint64_t>(d));
  }
  return hash;
}

bool SameComputation(const Computation& a, const Computation& b);

/// But for operands.
bool SameOperation(const Instruction& a, const Instruction& b) {
  if (a.kind() != b.kind() || a.operand_count() != b.operand_count() || a.shape() != b.shape() ||
      !(a.attrs() == b.attrs()) || a.callees().size() != b.callees().size())
    return false;
  for (size_t i = 0; i < a.callees().size(); ++i)
    if (!SameComputation(*a.callees()[i], *b.callees()[i])) return false;
  return a.extras().backend_config == b.extras().backend_config &&
         a.extras().result_accuracy == b.extras().result_accuracy;
}

/// The same instructions one after the other.
bool SameComputation(const Computation& a, const Computation& b) {
  if (&a == &b) return true;
  if (a.instruction_count() != b.instruction_count()) return false;
  llvm::DenseMap<const Instruction*, const Instruction*> partners;  // of a's, in b
  for (const auto& [x, y] : llvm::zip(a.instructions(), b.instructions())) partners[x] = y;
  for (const auto& [x, y] : partners) {
    if (!SameOperation(*x, *y)) return false;
    for (int64_t i = 0; i < x->operand_count(); ++i)
      if (partners.lookup(x->operand(i)) != y->operand(i)) return false;
  }
  return partners.lookup(a.root()) == b.root();
}

llvm::StringRef ConfigText(const Instruction& fusion) { return fusion.extras().backend_config; }

}  // namespace

KernelPlans& KernelPlans::Of(Module& module, const Machine& machine) {
  const std::shared_ptr<void> known = FindingsOf(module);
  if (auto* plans = static_cast<KernelPlans*>(known.get()); plans != nullptr && &plans->machine_ == &machine)
    return *plans;
  auto made = std::make_shared<KernelPlans>(machine);
  SetFindings(module, made);
  return *made;
}

Result<KernelPlanPtr> KernelPlans::Plan(const Instruction& fusion, std::optional<int64_t> row) {
  if (const KernelPlanPtr& known = plans_[{&fusion, row}]; known != nullptr) return known;
  const uint64_t hash = HashOf(*fusion.callee());
  for (const Planned& other : alike_[hash])
    if (other.row == row && ConfigText(*other.fusion) == ConfigText(fusion) &&
        SameComputation(*other.fusion->callee(), *fusion.callee()))
      return plans_[{&fusion, row}] = other.plan;
  HLO_TRY(KernelPlanPtr made, Make(fusion, row));
  plans_[{&fusion, row}] = made;
  // Whose folds have to be marked is found out of each.
  if (made->in_order.empty()) alike_[hash].push_back({&fusion, row, made});
  return made;
}

Result<KernelPlanPtr> KernelPlans::Make(const Instruction& fusion, std::optional<int64_t> row) {
  const auto config = KernelConfigOf(fusion);
  if (!config || config->path != KernelPath::SideBySide) return PlanLoops(fusion, machine_, row);
  const auto plan = [&](const Instruction& part) { return Plan(part); };
  HLO_TRY(KernelPlan whole, PlanSideBySide(fusion, machine_, plan));
  return std::make_shared<const KernelPlan>(std::move(whole));
}

namespace {

/// Kernels of chains are checked with their rows.
bool IsInChain(const Computation& computation) {
  return llvm::any_of(computation.callers(),
                      [](const Instruction* caller) { return caller->kind() == OpKind::Fusion; });
}

}  // namespace

namespace {

Status CheckSideBySide(const Instruction& fusion, const Machine& machine) {
  HLO_TRY(const std::vector<SideBySidePart> parts, PartsOf(fusion));
  for (const SideBySidePart& part : parts) HLO_CHECK_OK(CheckKernel(*part.fusion, machine));
  const auto plan = KernelPlans::Of(*fusion.module(), machine).Plan(fusion);
  return plan || IsDeclined(plan.error()) ? Status() : Error(plan.error());
}

}  // namespace

Status CheckKernel(const Instruction& fusion, const Machine& machine, std::optional<int64_t> row) {
  const auto config = KernelConfigOf(fusion);
  if (!config) return {};
  if (!config->problem.empty())
    return Error("unsupported-kernel", fusion.loc(), "%{0}: {1}", fusion.name(), config->problem);
  if (config->path == KernelPath::Chain) return {};
  if (config->path == KernelPath::SideBySide) return CheckSideBySide(fusion, machine);
  for (const Instruction* part : fusion.callee()->instructions())
    if (part->operand_count() > 0 && part->kind() != OpKind::Tuple &&
        part->kind() != OpKind::GetTupleElement && !kernel::HasLoops(part->kind()))
      return Error("unsupported-kernel", fusion.loc(),
                   "%{0}: the path 'loops' of its kernel does not apply: there are no loops for %{1}",
                   fusion.name(), part->name());
  if (!config->schedule) return {};
  const auto plan = KernelPlans::Of(*fusion.module(), machine).Plan(fusion, row);
  if (plan || IsDeclined(plan.error())) return {};
  return Error(plan.error().id, fusion.loc(), "%{0}: the schedule of its kernel does not fit: {1}",
               fusion.name(), plan.error().message);
}

Status CheckKernels(const Module& module, const Machine& machine) {
  for (const auto& computation : module.computations()) {
    if (IsInChain(*computation)) continue;
    for (const Instruction* inst : computation->InstructionsOf(OpKind::Fusion))
      HLO_CHECK_OK(CheckKernel(*inst, machine));
  }
  return {};
}

}  // namespace hlo::compile
