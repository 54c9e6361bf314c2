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

/// Gives a fusion a body that no other one shares; false if it has one.
bool OwnBody(Instruction* fusion) {
  if (fusion->callee()->callers().size() <= 1) return false;
  fusion->SetCallees({CloneComputation(*fusion->callee())});
  return true;
}

}  // namespace

Instruction* WrapInFusion(Instruction* inst, FusionKind kind) {
  Computation* fused = NewComputation(*inst->module(), "fused_computation");
  fused->set_execution_thread(inst->parent()->execution_thread());
  llvm::SmallVector<Instruction*, 4> operands, copies;
  llvm::SmallDenseMap<const Instruction*, Instruction*, 4> parameters;
  Maker inside(*fused, inst);
  for (Instruction* o : inst->operands()) {
    Instruction*& parameter = parameters[o];
    if (parameter == nullptr) {
      parameter = inside.Parameter(static_cast<int64_t>(operands.size()), o->shape());
      operands.push_back(o);
    }
    copies.push_back(parameter);
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

bool GrowingFusion::OwnBody() { return hlo::OwnBody(fusion_); }

void GrowingFusion::FindPlaces() {
  if (places_.empty())
    for (int64_t i = 0; i < used_; ++i) places_[fusion_->operand(i)].push_back(i);
}

Instruction* GrowingFusion::StandIn(Instruction*& made) {
  if (made == nullptr) made = Maker(fusion_).Add(OpKind::Tuple, {}, {}, {}, "vacant");
  return made;
}

Instruction* GrowingFusion::ParameterFor(const Instruction* operand) {
  FindPlaces();
  const auto at = places_.find(operand);
  return at == places_.end() ? nullptr : fusion_->callee()->parameter(at->second.front());
}

Instruction* GrowingFusion::NewParameter(Instruction* value) {
  // A quarter more at a time, so that all operands are set anew a few times only.
  constexpr int64_t kLeast = 8, kShare = 4;
  if (used_ == fusion_->operand_count()) {
    llvm::SmallVector<Instruction*, 16> operands(fusion_->operands());
    operands.resize(operands.size() + static_cast<size_t>(std::max(kLeast, used_ / kShare)), StandIn(spare_));
    fusion_->SetOperands(operands);
  }
  fusion_->SetOperand(used_, value);
  places_[value].push_back(used_);
  return Maker(*fusion_->callee(), value).Parameter(used_++, value->shape());
}

Instruction* GrowingFusion::Fuse(Instruction* producer) {
  constexpr int64_t kMostParameters = int64_t{1} << 19;  // half of what a computation may have
  if (vacated_ > kMostParameters) Finish();
  OwnBody();
  FindPlaces();
  llvm::SmallVector<Instruction*, 4> inner;
  for (Instruction* o : producer->operands()) {
    Instruction* known = ParameterFor(o);
    inner.push_back(known ? known : NewParameter(o));
  }
  Instruction* copy = CloneWith(*producer, *fusion_->callee(), inner);
  const auto at = places_.find(producer);
  const int64_t place = at->second.front();
  at->second.erase(at->second.begin());
  if (at->second.empty()) places_.erase(at);
  fusion_->callee()->parameter(place)->ReplaceAllUsesWith(copy);
  fusion_->SetOperand(place, StandIn(vacant_));
  ++vacated_;
  return copy;
}

void GrowingFusion::FuseAsOutput(Instruction* producer) {
  OwnBody();  // before its outputs are looked at
  llvm::SmallVector<Instruction*, 4> outputs = Outputs(fusion_);
  const size_t known = outputs.size();
  outputs.push_back(Fuse(producer));
  SetOutputs(fusion_, outputs, known, {producer});
  producer->parent()->Remove(producer);
}

void GrowingFusion::Finish() {
  if (vacant_ == nullptr && spare_ == nullptr) return;
  fusion_->callee()->RemoveParameters([&](const Instruction& parameter) {
    return fusion_->operand(parameter.attr<ParameterAttrs>().number) == vacant_;
  });
  llvm::SmallVector<Instruction*, 16> operands(fusion_->operands());
  llvm::erase_if(operands, [&](const Instruction* o) { return o == vacant_ || o == spare_; });
  fusion_->SetOperands(operands);
  for (Instruction** tuple : {&vacant_, &spare_})
    if (Instruction* made = std::exchange(*tuple, nullptr)) made->parent()->Remove(made);
  places_.clear();
  used_ = fusion_->operand_count();
  vacated_ = 0;
}

Instruction* FuseProducer(Instruction* fusion, Instruction* producer) {
  return GrowingFusion(fusion).Fuse(producer);
}

void FuseProducerAsOutput(Instruction* fusion, Instruction* producer) {
  GrowingFusion(fusion).FuseAsOutput(producer);
}

void FuseSibling(Instruction* fusion, Instruction* sibling) {
  OwnBody(fusion);
  Computation* fused = fusion->callee();
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
