// small-while-loop-hoisting: small loops become calls that are compiled as one kernel (passes.md §2.4).
//
// Requires nothing. Preserves layouts, canonical-dots, fusions.
// Changes: a while that runs nothing but simple operations on at most `small_buffer_access_size` bytes, those
// of its operand and those of the values in body and condition together, becomes a call of the loop, marked
// xla_cpu_small_call="true". Left alone: loops with sorts, library and custom calls, calls other
// than loops and fusions, communication, randomness or side effects; loops in marked calls; dynamic shapes.
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/MathExtras.h"
#include "passes/analysis/frontend_attributes.h"
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"

namespace hlo {
namespace {

struct SmallWhileLoopHoistingOptions {
  int64_t small_buffer_access_size = 1024;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&SmallWhileLoopHoistingOptions::small_buffer_access_size>("small_buffer_access_size",
                                                                         "bytes of a small loop"),
};

constexpr llvm::StringLiteral kSmallCall = "xla_cpu_small_call";

bool IsSimple(const Instruction& inst) {
  constexpr OpCategory kOthers[] = {OpCategory::Communication, OpCategory::Custom, OpCategory::Async,
                                    OpCategory::Random, OpCategory::LinearAlgebra};
  if (llvm::is_contained(kOthers, inst.info().category) || inst.shape().HasDynamicDimension()) return false;
  if (inst.info().category == OpCategory::Control)
    return inst.kind() == OpKind::While || inst.kind() == OpKind::Fusion;
  return inst.kind() != OpKind::Sort && inst.kind() != OpKind::TopK;
}

void AddBytes(const Shape& shape, uint64_t& bytes) {
  ForEachLeaf(shape, [&](const ShapeIndex&, const Shape& leaf) {
    if (leaf.IsArray()) bytes = llvm::SaturatingAdd(bytes, static_cast<uint64_t>(ByteSize(leaf)));
  });
}

/// Body and condition of a loop do simple things to few bytes.
bool IsSmallLoop(const Instruction& inst, uint64_t most) {
  if (inst.kind() != OpKind::While || HasSideEffect(inst) || HasControlEdges(inst)) return false;
  uint64_t bytes = 0;
  AddBytes(inst.shape(), bytes);
  llvm::SmallVector<const Computation*, 8> todo(inst.callees().begin(), inst.callees().end());
  while (!todo.empty()) {
    for (const Instruction* inner : todo.pop_back_val()->instructions()) {
      if (!IsSimple(*inner)) return false;
      const bool makes = inner->info().category != OpCategory::Tuple && inner->kind() != OpKind::Parameter &&
                         inner->kind() != OpKind::While;
      if (makes) AddBytes(inner->shape(), bytes);
      if (bytes > most) return false;
      if (inner->kind() == OpKind::While) todo.append(inner->callees().begin(), inner->callees().end());
    }
  }
  return bytes <= most;
}

bool IsMarked(const Computation& computation) {
  return llvm::any_of(computation.callers(),
                      [](const Instruction* caller) { return FrontendValue(*caller, kSmallCall) == "true"; });
}

void WrapInCall(Instruction* loop) {
  Computation* wrapped = NewComputation(*loop->module(), (loop->name() + "_computation").str());
  wrapped->set_execution_thread(loop->parent()->execution_thread());
  Maker inside(*wrapped, loop);
  Instruction* init = inside.Parameter(0, loop->operand(0)->shape());
  wrapped->set_root(CloneWith(*loop, *wrapped, {init}));
  Maker make(loop);
  Instruction* call = make.Call(wrapped, {loop->operand(0)});
  call->MutableExtras().frontend_attributes = {{kSmallCall, "true"}};
  ReplaceWith(loop, call);
  loop->parent()->Remove(loop);
}

llvm::ArrayRef<PassOptionRow> SmallWhileLoopHoistingOptions::Rows() { return kRows; }

Result<bool> RunSmallWhileLoopHoisting(Module& module, const SmallWhileLoopHoistingOptions& options,
                                       PassContext& context) {
  bool changed = false;
  const auto most = static_cast<uint64_t>(std::max<int64_t>(options.small_buffer_access_size, 0));
  // Callers first: of nested loops the outermost that is small.
  const std::vector<Computation*> computations = context.Computations(module);
  llvm::SmallPtrSet<const Computation*, 8> within;
  for (Computation* c : llvm::reverse(computations)) {
    HLO_CHECK_OK(context.CheckInterrupt());
    for (Instruction* loop : c->InstructionsOf(OpKind::While)) {
      const bool inside = within.contains(c) || IsMarked(*c);
      if (!inside && IsSmallLoop(*loop, most)) {
        if (!context.TakeRewrite()) return changed;
        within.insert(loop->callees().begin(), loop->callees().end());
        WrapInCall(loop);
        changed = true;
      } else if (inside) {
        within.insert(loop->callees().begin(), loop->callees().end());
      }
    }
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(SmallWhileLoopHoisting, SmallWhileLoopHoistingOptions);

}  // namespace hlo
