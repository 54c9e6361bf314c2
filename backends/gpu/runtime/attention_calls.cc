#include "backends/gpu/runtime/attention_calls.h"

#include "backends/compile/kernel_config.h"
#include "backends/gpu/libraries/attention_text.h"
#include "backends/gpu/runtime/attention_bias.h"
#include "ir/findings.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "passes/analysis/cost.h"
#include "passes/analysis/fusion_facts.h"
#include "passes/pass_manager.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"

namespace hlo::gpu {
namespace {

/// Steps from the first one of an attention to its last that are looked at.
constexpr size_t kMostBetween = 256;

/// The bytes of a value: those of an instruction, or of a part of its tuple.
struct Bytes {
  const Instruction* owner;
  llvm::SmallVector<int64_t, 2> part;  // from the innermost tuple outwards
  [[nodiscard]] bool Overlaps(const Bytes& o) const {
    const size_t common = std::min(part.size(), o.part.size());
    return owner == o.owner &&
           llvm::equal(llvm::ArrayRef(part).take_back(common), llvm::ArrayRef(o.part).take_back(common));
  }
};
Bytes BytesOf(const Instruction* value) {
  Bytes bytes{value, {}};
  while (bytes.owner->kind() == OpKind::Bitcast || bytes.owner->kind() == OpKind::GetTupleElement) {
    if (bytes.owner->kind() == OpKind::GetTupleElement)
      bytes.part.push_back(bytes.owner->attr<GetTupleElementAttrs>().index);
    bytes.owner = bytes.owner->operand(0);
  }
  return bytes;
}

/// The places of instructions in the order in which they are run.
using Places = llvm::DenseMap<const Instruction*, size_t>;

/// Whether all steps may be run where the last one is: what lies between that and the first one that reads
/// arrays of others reads nothing that they read, so that it is written over by nobody.
bool MayWait(llvm::ArrayRef<Instruction*> steps, const std::vector<Instruction*>& order,
             const Places& places) {
  const llvm::SmallPtrSet<const Instruction*, 8> mine(steps.begin(), steps.end());
  llvm::SmallVector<Bytes, 8> read;
  size_t first = order.size();
  for (const Instruction* step : steps) {
    for (const Instruction* operand : step->operands()) {
      if (mine.contains(operand)) continue;
      first = std::min(first, places.lookup(step));
      read.push_back(BytesOf(operand));
    }
  }
  const size_t last = places.lookup(steps.back());
  if (last - first > kMostBetween) return false;
  return llvm::all_of(llvm::ArrayRef(order).slice(first, last - first), [&](const Instruction* between) {
    if (mine.contains(between)) return true;
    if (between->kind() != OpKind::Fusion) return CostsNothing(between->kind());
    return llvm::none_of(between->operands(), [&](const Instruction* operand) {
      const Bytes bytes = BytesOf(operand);
      return llvm::any_of(read, [&](const Bytes& mine_too) { return bytes.Overlaps(mine_too); });
    });
  });
}

/// A call of the steps, instead of the last one. They do not read `bias`, which may be null.
Instruction* CallOf(const AttentionSteps& found, Instruction* bias) {
  const std::vector<Instruction*>& steps = found.steps;
  Instruction* const last = steps.back();
  Computation* const body = NewComputation(*last->module(), "attention");
  body->set_execution_thread(last->parent()->execution_thread());
  llvm::DenseMap<const Instruction*, Instruction*> copies;
  llvm::SmallVector<Instruction*, 8> operands;
  std::vector<Instruction*> order;
  const auto copy_of = [&](Instruction* value) {
    Instruction*& copy = copies[value];
    if (copy == nullptr) {
      operands.push_back(value);
      copy = Maker(*body, value).Parameter(static_cast<int64_t>(operands.size()) - 1, value->shape());
      order.push_back(copy);
    }
    return copy;
  };
  for (const Instruction* step : steps) {
    llvm::SmallVector<Instruction*, 4> inputs;
    for (Instruction* operand : step->operands()) inputs.push_back(copy_of(operand));
    Instruction* const copy = CloneWith(*step, *body, inputs);
    copies[step] = copy;
    order.push_back(copy);
  }
  Instruction* const result = order.back();
  if (bias != nullptr) copy_of(bias);
  body->set_root(result);
  body->set_schedule(std::move(order));
  LibraryAttention attention = found.attention;
  for (View* view : {&attention.queries, &attention.keys, &attention.values, &attention.bias})
    if (view->array >= 0)
      view->array = llvm::find(operands, found.arrays[static_cast<size_t>(view->array)]) - operands.begin();
  if (bias != nullptr) attention.bias.array = static_cast<int64_t>(operands.size()) - 1;
  Instruction* const call =
      Maker(last).AddWithShape(OpKind::Call, last->shape(), operands, CallAttrs(), {body}, "attention");
  MarkAttention(call, ToText(attention));
  return call;
}

/// Whether others than these steps read one of them, or it is the result.
bool IsReadBeside(const Instruction& step, llvm::ArrayRef<Instruction*> steps) {
  return &step != steps.back() && (step.IsRoot() || llvm::any_of(step.users(), [&](const Instruction* user) {
                                     return !llvm::is_contained(steps, user);
                                   }));
}

/// Makes calls of attention in a computation; whether there is one.
bool CallAttentionOf(Computation& computation, const compile::Machine& machine) {
  const std::vector<Instruction*> order = computation.schedule();
  Places places;
  for (size_t i = 0; i < order.size(); ++i) places[order[i]] = i;
  std::vector<AttentionSteps> found;
  for (Instruction* fusion : computation.InstructionsOf(OpKind::Fusion)) {
    if (!compile::IsKernel(*fusion) || fusion->callee()->InstructionsOf(OpKind::Dot).size() != 1) continue;
    auto steps = AttentionFrom(*fusion);
    if (steps && MayWait(steps->steps, order, places)) found.push_back(std::move(*steps));
  }
  llvm::DenseMap<const Instruction*, Instruction*> by;  // calls, and null for what they call
  llvm::SmallPtrSet<Instruction*, 8> shared;            // stay as long as others read them
  std::vector<Instruction*> now;
  llvm::DenseMap<const Instruction*, Instruction*> biases;  // of calls
  for (const AttentionSteps& one : found) {
    const std::vector<Instruction*>& steps = one.steps;
    if (llvm::any_of(steps, [&](const Instruction* step) { return by.contains(step); })) continue;
    Instruction* const bias = one.bias ? MakeBias(*one.bias, steps.back(), machine) : nullptr;
    if (one.bias && bias == nullptr) continue;
    Instruction* const call = CallOf(one, bias);
    if (bias != nullptr) biases[call] = bias;
    for (Instruction* step : steps)
      if (IsReadBeside(*step, steps))
        shared.insert(step);
      else
        by[step] = nullptr;
    by[steps.back()] = call;
  }
  if (by.empty()) return false;
  for (Instruction* inst : order) {
    const auto it = by.find(inst);
    Instruction* const stays = it == by.end() ? inst : it->second;
    if (Instruction* const bias = biases.lookup(stays)) now.push_back(bias);
    if (stays != nullptr) now.push_back(stays);
  }
  computation.set_schedule(now);
  for (Instruction* inst : llvm::reverse(order)) {
    const auto it = by.find(inst);
    if (it == by.end()) continue;
    if (it->second != nullptr) ReplaceWith(inst, it->second);
  }
  for (Instruction* inst : llvm::reverse(order))
    if (by.contains(inst)) computation.Remove(inst);
  for (Instruction* inst : llvm::reverse(order)) {
    if (!shared.contains(inst) || !inst->users().empty()) continue;
    llvm::erase(now, inst);
    computation.set_schedule(now);
    computation.Remove(inst);
  }
  return true;
}

}  // namespace

bool MayHaveAttention(const Module& module) {
  const auto has = [&](OpKind kind) {
    return llvm::any_of(module.computations(),
                        [&](const auto& computation) { return !computation->InstructionsOf(kind).empty(); });
  };
  return has(OpKind::Dot) && has(OpKind::Exp);
}

void MarkAttention(Instruction* call, llvm::StringRef text) {
  Module& module = *call->module();
  auto& attributes = call->MutableExtras().frontend_attributes;
  attributes.push_back({module.Save(kAttentionAttribute), module.Save(text)});
  attributes.push_back({"composite.name", "hlo.attention"});
  attributes.push_back({"composite.version", "1"});
  attributes.push_back({"inlineable", "false"});
  call->mutable_attrs().Mutable<CallAttrs>().is_composite = true;
}

Status CallAttention(Module& module, const compile::Machine& machine) {
  std::vector<Computation*> computations;
  for (const auto& computation : module.computations())
    if (RunsOnWholeValues(*computation) && computation->has_schedule() && !IsInAttention(*computation))
      computations.push_back(computation.get());
  bool changed = false;
  for (Computation* computation : computations) changed |= CallAttentionOf(*computation, machine);
  if (!changed) return {};
  RemoveUnreachableComputations(module);
  SetFindings(module, nullptr);
  // Results may have to lie where operands do, as in the state of a loop, which calls read until they end.
  RewriteControls controls;
  PassManager manager(controls, {});
  HLO_TRY(const auto pipeline, ParsePipeline("copy-insertion"));
  HLO_TRY([[maybe_unused]] const bool copies, manager.Run(module, pipeline));
  return {};
}

}  // namespace hlo::gpu
