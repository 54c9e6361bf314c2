#include "backends/gpu/runtime/split_for_libraries.h"

#include "backends/compile/kernel_config.h"
#include "backends/compile/kernel_plans.h"
#include "backends/gpu/libraries/attention_text.h"
#include "backends/gpu/libraries/convolution.h"
#include "backends/gpu/libraries/product.h"
#include "backends/gpu/runtime/attention_calls.h"
#include "backends/gpu/runtime/filter_order.h"
#include "ir/findings.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "passes/analysis/fusion_facts.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"

namespace hlo::gpu {
namespace {

/// What of a kernel a library does where that pays and it does not do the whole.
struct PartRow {
  llvm::StringLiteral library;
  bool (*does_whole)(const Instruction& fusion);
  Instruction* (*part)(const Instruction& fusion);
};
constexpr PartRow kParts[] = {
    {"cuBLASLt", [](const Instruction& fusion) { return ProductOf(fusion).has_value(); }, &ProductApart},
    {"cuDNN", [](const Instruction& fusion) { return ConvolutionOf(fusion).has_value(); }, &ConvolutionApart},
};

/// The value up to which one that is there does a kernel; null: there is none.
Instruction* PartFor(const Instruction& fusion, llvm::function_ref<bool(llvm::StringRef library)> is_there) {
  for (const PartRow& row : kParts)
    if (!row.does_whole(fusion))
      if (Instruction* const value = row.part(fusion); value != nullptr && is_there(row.library))
        return value;
  return nullptr;
}

/// What a value of a computation is made of, itself the last, as the computation lists it.
std::vector<Instruction*> MadeOf(Instruction* value) {
  llvm::DenseSet<Instruction*> needed;
  std::vector<Instruction*> work = {value};
  while (!work.empty()) {
    Instruction* const at = work.back();
    work.pop_back();
    if (needed.insert(at).second) work.insert(work.end(), at->operands().begin(), at->operands().end());
  }
  std::vector<Instruction*> order;
  for (Instruction* inst : value->parent()->PostOrder())
    if (needed.contains(inst)) order.push_back(inst);
  return order;
}

/// A kernel that computes `value` of a kernel's body, before that kernel.
Instruction* KernelOf(Instruction* fusion, Instruction* value) {
  Computation* const body = NewComputation(*fusion->module(), "fused_computation");
  body->set_execution_thread(fusion->callee()->execution_thread());
  llvm::DenseMap<const Instruction*, Instruction*> copies;
  llvm::SmallVector<Instruction*, 4> operands;
  for (const Instruction* inst : MadeOf(value)) {
    if (inst->kind() == OpKind::Parameter) {
      operands.push_back(fusion->operand(inst->attr<ParameterAttrs>().number));
      copies[inst] = Maker(*body, inst).Parameter(static_cast<int64_t>(operands.size()) - 1, inst->shape());
      continue;
    }
    llvm::SmallVector<Instruction*, 4> inputs;
    for (const Instruction* operand : inst->operands()) inputs.push_back(copies.lookup(operand));
    copies[inst] = CloneWith(*inst, *body, inputs);
  }
  body->set_root(copies.lookup(value));
  Instruction* const made =
      Maker(fusion).AddWithShape(OpKind::Fusion, value->shape(), operands, FusionAttrs(), {body}, "fusion");
  compile::SetKernelConfig(made, {compile::KernelPath::Loops});
  return made;
}

/// What nothing in the body reads any more goes, and operands of the kernel with it.
void RemoveUnread(Instruction* fusion, Instruction* value) {
  Computation* const body = fusion->callee();
  std::vector<Instruction*> made_of = MadeOf(value);
  for (Instruction* inst : llvm::reverse(made_of))
    if (inst->kind() != OpKind::Parameter && inst->users().empty()) body->Remove(inst);
  llvm::SmallVector<Instruction*, 8> operands;
  body->RemoveParameters([&](const Instruction& parameter) {
    const bool unneeded = parameter.users().empty() && !parameter.IsRoot();
    if (!unneeded) operands.push_back(fusion->operand(parameter.attr<ParameterAttrs>().number));
    return unneeded;
  });
  fusion->SetOperands(operands);
}

/// Gives the part up to `value` a kernel, which comes before the fusion's.
Instruction* Split(Instruction* fusion, Instruction* value) {
  Instruction* const part = KernelOf(fusion, value);
  llvm::SmallVector<Instruction*, 8> operands(fusion->operands());
  operands.push_back(part);
  fusion->SetOperands(operands);
  Instruction* const parameter =
      Maker(*fusion->callee(), value).Parameter(static_cast<int64_t>(operands.size()) - 1, value->shape());
  value->ReplaceAllUsesWith(parameter);
  RemoveUnread(fusion, value);
  compile::ForgetSchedule(fusion);
  return part;
}

/// Writes the schedules that are best into kernels; false if one of them is none.
Result<bool> Plan(llvm::ArrayRef<Instruction*> kernels, const compile::Machine& machine) {
  for (Instruction* kernel : kernels) {
    const auto plan = compile::PlanLoops(*kernel, machine);
    if (!plan && IsDeclined(plan.error())) return false;
    HLO_CHECK_OK(plan);
    compile::SetKernelConfig(kernel, {compile::KernelPath::Loops, (*plan)->schedule});
  }
  return true;
}

/// The part of a kernel as one before it; null where there would be what is no kernel: `fusion` is then as
/// it was.
Result<Instruction*> SplitOne(Instruction* fusion, const compile::Machine& machine,
                              llvm::function_ref<Instruction*(const Instruction& fusion)> choose) {
  Computation* const before = fusion->callee();
  const llvm::SmallVector<Instruction*, 8> operands(fusion->operands());
  const auto config = compile::KernelConfigOf(*fusion);
  // The kernel as it was stays until it is known what becomes of it.
  fusion->SetCallees({CloneComputation(*before)});
  Instruction* const value = choose(*fusion);
  Instruction* const part = Split(fusion, value);
  HLO_TRY(const bool planned, Plan({part, fusion}, machine));
  if (planned) return part;
  fusion->SetOperands(operands);
  fusion->SetCallees({before});
  compile::SetKernelConfig(fusion, *config);
  fusion->parent()->Remove(part);
  return nullptr;
}

/// Splits those kernels of a module of which `is_meant` holds, at the value that `choose` finds in a copy of
/// the body.
Status SplitAll(Module& module, const compile::Machine& machine,
                llvm::function_ref<bool(const Instruction& fusion)> is_meant,
                llvm::function_ref<Instruction*(const Instruction& fusion)> choose) {
  std::vector<Instruction*> found;
  for (const auto& computation : module.computations()) {
    if (!RunsOnWholeValues(*computation) || !computation->has_schedule()) continue;
    for (Instruction* inst : computation->InstructionsOf(OpKind::Fusion))
      if (compile::IsKernel(*inst) && is_meant(*inst)) found.push_back(inst);
  }
  if (found.empty()) return {};
  llvm::DenseMap<const Instruction*, Instruction*> parts;
  llvm::SetVector<Computation*> changed;
  for (Instruction* fusion : found) {
    HLO_TRY(Instruction* const part, SplitOne(fusion, machine, choose));
    if (part == nullptr) continue;
    parts[fusion] = part;
    changed.insert(fusion->parent());
  }
  for (Computation* computation : changed) {
    std::vector<Instruction*> order;
    for (Instruction* inst : computation->schedule()) {
      if (Instruction* const part = parts.lookup(inst)) order.push_back(part);
      order.push_back(inst);
    }
    computation->set_schedule(std::move(order));
  }
  RemoveUnreachableComputations(module);
  // Plans of kernels are of what they were.
  SetFindings(module, nullptr);
  return {};
}

}  // namespace

Status SplitForLibraries(Module& module, const compile::Machine& machine,
                         llvm::function_ref<bool(llvm::StringRef library)> expected) {
  llvm::StringMap<bool> there;
  const auto is_there = [&](llvm::StringRef library) {
    const auto [it, added] = there.try_emplace(library);
    if (added) it->second = expected(library);
    return it->second;
  };
  if (MayHaveAttention(module) && is_there("cuDNN")) HLO_CHECK_OK(CallAttention(module, machine));
  HLO_CHECK_OK(SplitAll(
      module, machine,
      [&](const Instruction& fusion) {
        return !IsInAttention(*fusion.parent()) && PartFor(fusion, is_there) != nullptr;
      },
      [&](const Instruction& fusion) { return PartFor(fusion, is_there); }));
  return SplitAll(
      module, machine,
      [&](const Instruction& fusion) { return HasFilterOutOfOrder(fusion) && is_there("cuDNN"); },
      OrderFilter);
}

}  // namespace hlo::gpu
