#include "backends/cpu/operand_types.h"

#include "ir/eval/compute_type.h"
#include "ir/op.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"

namespace hlo::cpu {
namespace {

/// The type that elements of `type` are multiplied in; `type` itself where it has kernels.
ElementType MultipliedType(ElementType type) {
  const TypeInfo& info = Info(type);
  if (info.bits > 8 || IsPred(type)) return type;
  // Powers of two alone: their least is subnormal in BF16.
  if (IsFloat(type)) return info.mantissa_bits == 0 ? type : ElementType::BF16;
  if (info.bits == 8) return type;
  return IsSigned(type) ? ElementType::S8 : ElementType::U8;
}

bool IsPlainConvolution(const Instruction& inst) {
  return inst.kind() == OpKind::Convolution && inst.operand_count() == 2 &&
         llvm::all_of(inst.operands(), [](const Instruction* operand) {
           return operand->shape().IsArray() && !operand->shape().HasDynamicDimension();
         });
}

void Widen(Instruction* convolution) {
  const ElementType result = convolution->shape().element_type();
  const bool in_f32 = !IsComplex(result) &&
                      ComputeTypeFor(result, convolution->operand(0)->shape().element_type(),
                                     convolution->operand(1)->shape().element_type()) == ComputeType::F32;
  for (const int64_t i : {0, 1}) {
    Instruction* x = convolution->operand(i);
    const ElementType from = x->shape().element_type(), to = MultipliedType(from);
    if (to != from && (in_f32 || !IsFloat(to))) convolution->SetOperand(i, Maker(convolution).Convert(x, to));
  }
  // Kernels round faster than what stores sums.
  if (!in_f32 || !IsFloat(result) || MultipliedType(result) == result) return;
  Instruction* sums = CloneWith(*convolution, *convolution->parent(), convolution->operands().vec());
  sums->set_shape(Shape::Array(ElementType::F32, convolution->shape().dims()));
  ReplaceAndRemove(convolution, Maker(convolution).Convert(sums, result));
}

}  // namespace

void WidenConvolutionOperands(Module& module) {
  for (Computation* computation : module.PostOrder()) {
    if (computation->IsFusion()) continue;
    std::vector<Instruction*> convolutions;
    for (Instruction* inst : computation->instructions())
      if (IsPlainConvolution(*inst)) convolutions.push_back(inst);
    for (Instruction* convolution : convolutions) Widen(convolution);
  }
}

}  // namespace hlo::cpu
