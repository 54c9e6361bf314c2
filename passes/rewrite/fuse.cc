#include "passes/rewrite/fuse.h"

#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"

namespace hlo {
namespace {

/// The parameter that stands for `value`, a new operand of the fusion if it is none yet.
Instruction* ParameterFor(Instruction* fusion, Instruction* value,
                          llvm::SmallVectorImpl<Instruction*>& operands) {
  Computation* fused = fusion->callee();
  for (size_t i = 0; i < operands.size(); ++i)
    if (operands[i] == value) return fused->parameter(static_cast<int64_t>(i));
  operands.push_back(value);
  Maker make(*fused, value);
  return make.Parameter(static_cast<int64_t>(operands.size()) - 1, value->shape());
}

/// The elements of the fused root if it is a tuple of outputs, else the root alone.
llvm::SmallVector<Instruction*, 4> Outputs(const Instruction* fusion) {
  Instruction* root = fusion->callee()->root();
  if (fusion->shape().IsTuple() && root->kind() == OpKind::Tuple)
    return {root->operands().begin(), root->operands().end()};
  return {root};
}

/// Gives the fusion these outputs, of which the first `known` are those it has; element i of the new ones
/// replaces `replaced[i]`.
void SetOutputs(Instruction* fusion, llvm::ArrayRef<Instruction*> outputs, size_t known,
                llvm::ArrayRef<Instruction*> replaced) {
  Computation* fused = fusion->callee();
  Instruction* old_root = fused->root();
  const bool was_tuple = fusion->shape().IsTuple() && old_root->kind() == OpKind::Tuple;
  Instruction* root = Maker(*fused, old_root).Tuple(outputs);
  fused->set_root(root);
  if (was_tuple) fused->Remove(old_root);
  if (!was_tuple) {
    // Readers of the one value read element 0.
    const llvm::SmallVector<Instruction*, 4> users(fusion->users().begin(), fusion->users().end());
    const bool was_root = fusion->IsRoot();
    fusion->set_shape(root->shape());
    Instruction* first = Maker(*fusion->parent(), fusion).Gte(fusion, 0);
    for (Instruction* user : users) user->ReplaceOperand(fusion, first);
    if (was_root) fusion->parent()->set_root(first);
  }
  fusion->set_shape(root->shape());
  for (size_t i = 0; i < replaced.size(); ++i)
    if (replaced[i])
      replaced[i]->ReplaceAllUsesWith(
          Maker(*fusion->parent(), fusion).Gte(fusion, static_cast<int64_t>(known + i)));
}

/// The body of a fusion, which no other one shares.
Computation* OwnBody(Instruction* fusion) {
  if (fusion->callee()->callers().size() > 1) fusion->SetCallees({CloneComputation(*fusion->callee())});
  return fusion->callee();
}

}  // namespace

Instruction* WrapInFusion(Instruction* inst, FusionKind kind) {
  Computation* fused = NewComputation(*inst->module(), "fused_computation");
  fused->set_execution_thread(inst->parent()->execution_thread());
  llvm::SmallVector<Instruction*, 4> operands, copies;
  Maker inside(*fused, inst);
  for (Instruction* o : inst->operands()) {
    size_t at = static_cast<size_t>(llvm::find(operands, o) - operands.begin());
    if (at == operands.size()) {
      operands.push_back(o);
      inside.Parameter(static_cast<int64_t>(at), o->shape());
    }
    copies.push_back(fused->parameter(static_cast<int64_t>(at)));
  }
  fused->set_root(CloneWith(*inst, *fused, copies));
  FusionAttrs attrs;
  attrs.kind = kind;
  Instruction* fusion =
      Maker(inst).AddWithShape(OpKind::Fusion, inst->shape(), operands, std::move(attrs), {fused}, "fusion");
  ReplaceWith(inst, fusion);
  inst->parent()->Remove(inst);
  return fusion;
}

Instruction* FuseProducer(Instruction* fusion, Instruction* producer) {
  Computation* fused = OwnBody(fusion);
  llvm::SmallVector<Instruction*, 8> operands(fusion->operands().begin(), fusion->operands().end());
  llvm::SmallVector<Instruction*, 4> inner;
  for (Instruction* o : producer->operands()) inner.push_back(ParameterFor(fusion, o, operands));
  Instruction* copy = CloneWith(*producer, *fused, inner);
  const int64_t at = llvm::find(operands, producer) - operands.begin();
  Instruction* parameter = fused->parameter(at);
  parameter->ReplaceAllUsesWith(copy);
  fused->RemoveParameters([&](const Instruction& p) { return &p == parameter; });
  operands.erase(operands.begin() + at);
  fusion->SetOperands(operands);
  return copy;
}

void FuseProducerAsOutput(Instruction* fusion, Instruction* producer) {
  OwnBody(fusion);
  llvm::SmallVector<Instruction*, 4> outputs = Outputs(fusion);
  const size_t known = outputs.size();
  outputs.push_back(FuseProducer(fusion, producer));
  SetOutputs(fusion, outputs, known, {producer});
  producer->parent()->Remove(producer);
}

void FuseSibling(Instruction* fusion, Instruction* sibling) {
  Computation* fused = OwnBody(fusion);
  llvm::SmallVector<Instruction*, 4> outputs = Outputs(fusion);
  const size_t known = outputs.size();
  llvm::SmallVector<Instruction*, 8> operands(fusion->operands().begin(), fusion->operands().end());
  llvm::SmallVector<Instruction*, 8> arguments, replaced;
  for (Instruction* o : sibling->operands()) arguments.push_back(ParameterFor(fusion, o, operands));
  fusion->SetOperands(operands);
  if (sibling->kind() != OpKind::Fusion) {
    outputs.push_back(CloneWith(*sibling, *fused, arguments));
    SetOutputs(fusion, outputs, known, {sibling});
    sibling->parent()->Remove(sibling);
    return;
  }
  llvm::DenseMap<const Instruction*, Instruction*> copies;
  Instruction* root = InlineBody(fused->root(), *sibling->callee(), arguments,
                                 [&](const Instruction* from, Instruction* to) { copies[from] = to; });
  const bool tuple = sibling->shape().IsTuple() && root->kind() == OpKind::Tuple;
  if (!tuple) {
    outputs.push_back(root);
    SetOutputs(fusion, outputs, known, {sibling});
    sibling->parent()->Remove(sibling);
    return;
  }
  for (Instruction* o : root->operands()) outputs.push_back(o);
  SetOutputs(fusion, outputs, known, {});
  const llvm::SmallVector<Instruction*, 4> users(sibling->users().begin(), sibling->users().end());
  for (Instruction* user : users) {
    user->SetOperand(0, fusion);
    user->mutable_attrs().Mutable<GetTupleElementAttrs>().index += static_cast<int64_t>(known);
  }
  fused->Remove(root);
  sibling->parent()->Remove(sibling);
}

}  // namespace hlo
