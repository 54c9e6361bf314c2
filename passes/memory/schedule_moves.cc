// root-instruction-sinker, instruction-hoister, constant-deferring: small moves within schedules.
//
// Require schedule. Preserve everything.
// Change:
//  - root-instruction-sinker: every scheduled computation ends with its root. A tuple instruction moves; any
//    other root stays where it runs and gets a bitcast, or a tuple of its elements, as new root at the end.
//  - instruction-hoister: parameters and constants stand first, bitcasts and get-tuple-elements right behind
//    what they read.
//  - constant-deferring: constants stand right before their first user.
#include "llvm/ADT/DenseSet.h"
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"

namespace hlo {
namespace {

struct InstructionHoisterOptions {
  bool hoist_parameters = true;
  bool hoist_constants = true;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kHoisterRows[] = {
    PassOption<&InstructionHoisterOptions::hoist_parameters>("hoist_parameters", "parameters come first"),
    PassOption<&InstructionHoisterOptions::hoist_constants>("hoist_constants",
                                                            "constants come first, behind parameters"),
};

using Order = std::vector<Instruction*>;

/// Installs an order if it differs and leave is given; true if it was.
bool Reorder(Computation& computation, Order order, PassContext& context) {
  if (order == computation.schedule() || !context.TakeRewrite()) return false;
  computation.set_schedule(std::move(order));
  return true;
}

/// A root at the end for a computation whose root does not run last.
void SinkRoot(Computation& computation) {
  Instruction* root = computation.root();
  Order order = computation.schedule();
  if (root->kind() == OpKind::Tuple && root->users().empty() && root->extras().control_successors.empty()) {
    llvm::erase(order, root);
    order.push_back(root);
    computation.set_schedule(std::move(order));
    return;
  }
  Maker maker(computation, root);
  Instruction* last = nullptr;
  if (root->shape().IsTuple()) {
    std::vector<Instruction*> parts;
    for (int64_t i = 0; i < root->shape().tuple_size(); ++i) {
      parts.push_back(maker.Gte(root, i));
      order.push_back(parts.back());
    }
    last = maker.AddWithShape(OpKind::Tuple, root->shape(), parts);
  } else {
    last = maker.Bitcast(root, root->shape());
  }
  order.push_back(last);
  computation.set_root(last);
  computation.set_schedule(std::move(order));
}

/// Instructions that are hoisted go as soon as what they need is there, the others keep their order.
Order Hoisted(const Computation& computation, const InstructionHoisterOptions& options) {
  Order order;
  llvm::DenseSet<const Instruction*> placed;
  const auto place = [&](Instruction* inst) {
    if (placed.insert(inst).second) order.push_back(inst);
  };
  const auto ready = [&](const Instruction* inst) {
    const auto there = [&](const Instruction* i) { return placed.contains(i); };
    return llvm::all_of(inst->operands(), there) && llvm::all_of(inst->extras().control_predecessors, there);
  };
  // What only names a part of `inst` follows it, and so on.
  const auto place_with_names = [&](Instruction* inst) {
    llvm::SmallVector<Instruction*, 8> todo = {inst};
    while (!todo.empty()) {
      Instruction* at = todo.pop_back_val();
      if (placed.contains(at) || !ready(at)) continue;
      place(at);
      for (Instruction* user : llvm::reverse(at->users()))
        if (user->kind() == OpKind::Bitcast || user->kind() == OpKind::GetTupleElement) todo.push_back(user);
    }
  };
  if (options.hoist_parameters)
    for (Instruction* inst : computation.parameters())
      if (ready(inst)) place(inst);
  if (options.hoist_constants)
    for (Instruction* inst : computation.schedule())
      if (inst->kind() == OpKind::Constant && ready(inst)) place(inst);
  const Order first = order;
  for (Instruction* inst : first)
    for (Instruction* user : inst->users())
      if (user->kind() == OpKind::Bitcast || user->kind() == OpKind::GetTupleElement) place_with_names(user);
  for (Instruction* inst : computation.schedule()) place_with_names(inst);
  return order;
}

Order Deferred(const Computation& computation) {
  Order order;
  llvm::DenseSet<const Instruction*> waiting;
  const auto defers = [&](const Instruction* inst) {
    return inst->kind() == OpKind::Constant && !inst->users().empty() && !HasControlEdges(*inst);
  };
  for (Instruction* inst : computation.schedule()) {
    if (defers(inst)) {
      waiting.insert(inst);
      continue;
    }
    for (Instruction* operand : inst->operands())
      if (waiting.erase(operand)) order.push_back(operand);
    order.push_back(inst);
  }
  return order;
}

/// The scheduled computations that may be changed.
std::vector<Computation*> Scheduled(const Module& module, const PassContext& context) {
  std::vector<Computation*> computations = context.AllComputations(module);
  llvm::erase_if(computations, [](const Computation* c) { return !c->has_schedule(); });
  return computations;
}

llvm::ArrayRef<PassOptionRow> InstructionHoisterOptions::Rows() { return kHoisterRows; }

Result<bool> RunRootInstructionSinker(Module& module, const NoPassOptions& options, PassContext& context) {
  (void)options;
  bool changed = false;
  for (Computation* computation : Scheduled(module, context)) {
    const Instruction& root = *computation->root();
    // What was started may be read by its end alone.
    const bool under_way = root.info().Is(kStart) || root.kind() == OpKind::AsyncUpdate;
    if (computation->schedule().back() == &root || under_way || !context.TakeRewrite()) continue;
    SinkRoot(*computation);
    changed = true;
  }
  return changed;
}

Result<bool> RunInstructionHoister(Module& module, const InstructionHoisterOptions& options,
                                   PassContext& context) {
  bool changed = false;
  for (Computation* computation : Scheduled(module, context))
    changed |= Reorder(*computation, Hoisted(*computation, options), context);
  return changed;
}

Result<bool> RunConstantDeferring(Module& module, const NoPassOptions& options, PassContext& context) {
  (void)options;
  bool changed = false;
  for (Computation* computation : Scheduled(module, context))
    changed |= Reorder(*computation, Deferred(*computation), context);
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(RootInstructionSinker, NoPassOptions);
HLO_DEFINE_PASS(InstructionHoister, InstructionHoisterOptions);
HLO_DEFINE_PASS(ConstantDeferring, NoPassOptions);

}  // namespace hlo
