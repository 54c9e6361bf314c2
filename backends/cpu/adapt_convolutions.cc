#include "backends/cpu/adapt_convolutions.h"

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

/// Worth bringing features together: results of at least so many features, each a sum of so many products, by
/// windows that are small beside the image; and worth two more kernels.
constexpr int64_t kFewestFeatures = 16, kFewestProducts = 64, kFewestTaps = 4, kMostTaps = 128;
constexpr int64_t kLeastWork = 1 << 23;

bool GainsByFeaturesLast(const Instruction& convolution) {
  const auto& attrs = convolution.attr<ConvolutionAttrs>();
  if (!attrs.dim_labels || attrs.feature_group_count != 1 || attrs.batch_group_count != 1) return false;
  const ConvDimLabels& labels = *attrs.dim_labels;
  int64_t taps = 1;
  for (const WindowDim& d : attrs.window.dims) taps *= d.size;
  const Shape& weights = convolution.operand(1)->shape();
  const int64_t minor = labels.input_rank - 1, products = weights.dim(labels.kernel_input_feature) * taps;
  return labels.input_feature != minor && labels.input_batch != minor && taps >= kFewestTaps &&
         taps <= kMostTaps && weights.dim(labels.kernel_output_feature) >= kFewestFeatures &&
         products >= kFewestProducts && convolution.shape().ElementCount() * products >= kLeastWork;
}

void OrderFeaturesLast(Instruction* convolution) {
  const ConvDimLabels labels = *convolution->attr<ConvolutionAttrs>().dim_labels;
  const int64_t rank = labels.input_rank;
  Maker make(convolution);
  Dims order = {labels.input_batch}, dims = {convolution->shape().dim(labels.output_batch)},
       back(static_cast<size_t>(rank));
  ConvDimLabels last = labels;
  for (int64_t t = 0; t < rank - 2; ++t) {
    const auto i = static_cast<size_t>(t);
    order.push_back(labels.input_spatial[i]);
    dims.push_back(convolution->shape().dim(labels.output_spatial[i]));
    back[static_cast<size_t>(labels.output_spatial[i])] = t + 1;
    last.input_spatial[i] = last.output_spatial[i] = t + 1;
  }
  order.push_back(labels.input_feature);
  dims.push_back(convolution->shape().dim(labels.output_feature));
  back[static_cast<size_t>(labels.output_batch)] = last.input_batch = last.output_batch = 0;
  back[static_cast<size_t>(labels.output_feature)] = last.input_feature = last.output_feature = rank - 1;
  Instruction* x = make.Transpose(convolution->operand(0), order);
  Instruction* made = CloneWith(*convolution, *convolution->parent(), {x, convolution->operand(1)});
  made->mutable_attrs().Mutable<ConvolutionAttrs>().dim_labels = last;
  made->set_shape(Shape::Array(convolution->shape().element_type(), dims));
  ReplaceAndRemove(convolution, Maker(convolution).Transpose(made, back));
}

/// All convolutions that `wanted` holds for.
template <class F>
std::vector<Instruction*> Convolutions(const Computation& computation, F&& wanted) {
  std::vector<Instruction*> found;
  for (Instruction* inst : computation.instructions())
    if (IsPlainConvolution(*inst) && wanted(*inst)) found.push_back(inst);
  return found;
}

}  // namespace

void AdaptConvolutions(Module& module) {
  for (Computation* computation : module.PostOrder()) {
    if (computation->IsFusion()) continue;
    for (Instruction* convolution : Convolutions(*computation, GainsByFeaturesLast))
      OrderFeaturesLast(convolution);
    for (Instruction* convolution : Convolutions(*computation, [](const Instruction&) { return true; }))
      Widen(convolution);
  }
}

}  // namespace hlo::cpu
