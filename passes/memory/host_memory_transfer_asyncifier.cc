// host-memory-transfer-asyncifier: transfers between the memories of host and device begin and end (passes.md
// §2.5), so that others can run meanwhile.
//
// Requires nothing. Preserves fusions, layouts.
// Changes: copies between the host's memory space, S(5), and another become copy-start and copy-done;
// dynamic-slices of what lies on the host, and dynamic-update-slices there of what does not, become
// asynchronous operations. Left alone: copies within one of the two, bodies of fusions, other threads.
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"
#include "passes/rewrite/memory_spaces.h"

namespace hlo {
namespace {

bool IsOnHost(const Shape& shape) { return SpaceOf(shape) == kHostSpace; }

/// What the XLA runtime remembers of an operation under way.
Shape ContextShape() { return Shape::ArrayWithDefaultLayout(ElementType::U32, {}); }

/// One that moves data from one memory to the other, and does nothing else.
bool Transfers(const Instruction& inst) {
  if (!inst.shape().IsArray() || inst.info().category != OpCategory::Movement) return false;
  const bool from = IsOnHost(inst.operand(0)->shape()), to = IsOnHost(inst.shape());
  if (inst.kind() == OpKind::Copy) return from != to;
  if (inst.kind() == OpKind::DynamicSlice) return from && !to;
  return inst.kind() == OpKind::DynamicUpdateSlice && from && to && !IsOnHost(inst.operand(1)->shape());
}

Instruction* SplitCopy(Instruction* copy) {
  Maker make(copy);
  const Shape both = Shape::MakeTuple({copy->shape(), copy->operand(0)->shape(), ContextShape()});
  Instruction* start =
      make.AddWithShape(OpKind::CopyStart, both, {copy->operand(0)}, {}, {}, copy->name().str() + "-start");
  return make.AddWithShape(OpKind::CopyDone, copy->shape(), {start}, {}, {}, copy->name().str() + "-done");
}

Instruction* SplitUpdate(Instruction* inst) {
  Computation* wrapped = NewComputation(*inst->module(), "async_computation");
  Maker inside(*wrapped, inst);
  llvm::SmallVector<Instruction*, 6> parameters;
  llvm::SmallVector<Shape, 6> shapes;
  for (const Instruction* operand : inst->operands()) {
    parameters.push_back(inside.Parameter(static_cast<int64_t>(parameters.size()), operand->shape()));
    shapes.push_back(operand->shape());
  }
  wrapped->set_root(CloneWith(*inst, *wrapped, parameters));
  Maker make(inst);
  const Shape all = Shape::MakeTuple({Shape::MakeTuple(shapes), inst->shape(), ContextShape()});
  Instruction* start =
      make.AddWithShape(OpKind::AsyncStart, all, inst->operands(), AsyncStartAttrs(), {wrapped});
  return make.AddWithShape(OpKind::AsyncDone, inst->shape(), {start});
}

Result<bool> RunHostMemoryTransferAsyncifier(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    if (c->execution_thread() != "main") continue;
    for (Instruction* inst : c->PostOrder()) {
      if (!Transfers(*inst)) continue;
      if (!context.TakeRewrite()) return changed;
      ReplaceWith(inst, inst->kind() == OpKind::Copy ? SplitCopy(inst) : SplitUpdate(inst));
      c->Remove(inst);
      changed = true;
    }
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(HostMemoryTransferAsyncifier, NoPassOptions);

}  // namespace hlo
