#include "backends/gpu/runtime/attention_bias.h"

#include "backends/compile/kernel_config.h"
#include "backends/compile/kernel_plans.h"
#include "llvm/ADT/SetVector.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"

namespace hlo::gpu {
namespace {

using Value = AttentionBias::Value;
using Kind = Value::Kind;

/// Makes the values of a bias, each with as many elements as differ.
class BiasMaker {
 public:
  /// In a kernel, whose parameters are the arrays, or next to these.
  BiasMaker(const AttentionBias& bias, Maker make, bool in_kernel)
      : bias_(bias), make_(make), in_kernel_(in_kernel) {}

  Instruction* Make() {
    for (const Value& value : bias_.values)
      made_.push_back((this->*kRules[static_cast<size_t>(value.kind)])(value));
    Instruction* const all = make_.Convert(made_.back(), bias_.type);
    return llvm::is_sorted(bias_.order) ? all : make_.Transpose(all, bias_.order);
  }
  /// The operands of the kernel.
  [[nodiscard]] llvm::ArrayRef<Instruction*> operands() const { return operands_.getArrayRef(); }

 private:
  using Rule = Instruction* (BiasMaker::*)(const Value& value);
  static const Rule kRules[];

  static Shape ShapeOf(const Value& value) {
    const Shape& whole = value.at.inst->shape();
    llvm::SmallVector<int64_t, 6> sizes;
    for (int64_t d = 0; d < whole.rank(); ++d)
      sizes.push_back(value.varies[static_cast<unsigned>(d)] ? whole.dim(d) : 1);
    return Shape::ArrayWithDefaultLayout(whole.element_type(), sizes);
  }
  [[nodiscard]] Instruction* OperandOf(const Value& value, size_t i = 0) const {
    return made_[value.operands[i]];
  }
  /// A value whose dimensions of one element are as long as those of another one, or which is a number.
  Instruction* Along(Instruction* inst, const Shape& shape) {
    if (inst->shape().dims() == shape.dims()) return inst;
    llvm::SmallVector<int64_t, 6> places, sizes;
    for (int64_t d = 0; d < inst->shape().rank(); ++d) {
      if (inst->shape().dim(d) == 1) continue;
      places.push_back(d);
      sizes.push_back(inst->shape().dim(d));
    }
    return make_.Broadcast(make_.Reshape(inst, sizes), shape.WithElementType(inst->shape().element_type()),
                           places);
  }
  Instruction* AddTo(const Value& value, size_t i) {
    return Along(make_.Convert(OperandOf(value, i), ElementType::F32),
                 ShapeOf(value).WithElementType(ElementType::F32));
  }

  Instruction* Scores(const Value& value) {
    return make_.Full(ShapeOf(value).WithElementType(ElementType::F32), 0);
  }
  Instruction* Array(const Value& value) {
    auto* const array = const_cast<Instruction*>(value.at.inst);
    if (!in_kernel_) return array;
    operands_.insert(array);
    return make_.Parameter(static_cast<int64_t>(operands_.size()) - 1, array->shape());
  }
  Instruction* Number(const Value& value) { return CloneWith(*value.at.inst, make_.computation(), {}); }
  Instruction* Iota(const Value& value) {
    return make_.Iota(ShapeOf(value), value.at.inst->attr<IotaAttrs>().iota_dimension);
  }
  Instruction* Each(const Value& value) {
    const Shape shape = ShapeOf(value);
    llvm::SmallVector<Instruction*, 3> operands;
    for (size_t i = 0; i < value.operands.size(); ++i) operands.push_back(Along(OperandOf(value, i), shape));
    return make_.AddWithShape(value.at.inst->kind(), shape, operands, value.at.inst->attrs());
  }
  Instruction* Reshape(const Value& value) { return make_.Reshape(OperandOf(value), ShapeOf(value).dims()); }
  Instruction* Turn(const Value& value) {
    return make_.Transpose(OperandOf(value), value.at.inst->attr<DimensionsAttrs>().dimensions);
  }
  Instruction* Keep(const Value& value) { return OperandOf(value); }
  Instruction* Sum(const Value& value) { return make_.Binary(OpKind::Add, AddTo(value, 0), AddTo(value, 1)); }
  Instruction* Less(const Value& value) {
    return make_.Binary(OpKind::Subtract, AddTo(value, 0), AddTo(value, 1));
  }
  Instruction* Mask(const Value& value) {
    const bool inverted = value.kind == Kind::LeftOut;
    const Shape shape = ShapeOf(value);
    Instruction* const far = make_.Full(shape.WithElementType(ElementType::F32), bias_.masked);
    Instruction* const kept = AddTo(value, 1);
    return make_.Select(Along(OperandOf(value), shape), inverted ? far : kept, inverted ? kept : far);
  }
  /// As it is, of operands that are as long as they are.
  Instruction* Other(const Value& value) {
    llvm::SmallVector<Instruction*, 3> operands;
    for (size_t i = 0; i < value.operands.size(); ++i)
      operands.push_back(Along(OperandOf(value, i), bias_.values[value.operands[i]].at.inst->shape()));
    return CloneWith(*value.at.inst, make_.computation(), operands);
  }

  const AttentionBias& bias_;
  Maker make_;
  bool in_kernel_;
  llvm::SmallSetVector<Instruction*, 4> operands_;
  std::vector<Instruction*> made_;
};

const BiasMaker::Rule BiasMaker::kRules[] = {
    &BiasMaker::Scores,  &BiasMaker::Array,   &BiasMaker::Number, &BiasMaker::Iota, &BiasMaker::Each,
    &BiasMaker::Reshape, &BiasMaker::Reshape, &BiasMaker::Turn,   &BiasMaker::Keep, &BiasMaker::Sum,
    &BiasMaker::Less,    &BiasMaker::Mask,    &BiasMaker::Mask,   &BiasMaker::Other};

}  // namespace

Instruction* MakeBias(const AttentionBias& bias, Instruction* at) {
  return BiasMaker(bias, Maker(at), /*in_kernel=*/false).Make();
}

Instruction* MakeBias(const AttentionBias& bias, Instruction* step, const compile::Machine& machine) {
  Computation* const body = NewComputation(*step->module(), "bias");
  body->set_execution_thread(step->parent()->execution_thread());
  BiasMaker maker(bias, Maker(*body), /*in_kernel=*/true);
  body->set_root(maker.Make());
  Instruction* const made = Maker(step).AddWithShape(OpKind::Fusion, body->root()->shape(), maker.operands(),
                                                     FusionAttrs(), {body}, "bias");
  compile::SetKernelConfig(made, {compile::KernelPath::Loops});
  const auto plan = compile::PlanLoops(*made, machine);
  if (!plan) {
    step->parent()->Remove(made);
    return nullptr;
  }
  compile::SetKernelConfig(made, {compile::KernelPath::Loops, (*plan)->schedule});
  return made;
}

}  // namespace hlo::gpu
