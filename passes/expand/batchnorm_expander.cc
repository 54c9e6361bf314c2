// batchnorm_expander: batch normalisation as sums and arithmetic (passes.md §4.10).
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: batch-norm-training, -inference and -grad become reductions and elementwise ops, in f64 for f64,
// else in f32 with results rounded once. The variance is the mean square deviation, so it is never negative.
// Left alone: dynamic shapes.
#include "passes/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/expr.h"

namespace hlo {
namespace {

struct BatchnormExpanderOptions {
  bool training = true, inference = true, grad = true;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&BatchnormExpanderOptions::training>("training", "expand batch-norm-training"),
    PassOption<&BatchnormExpanderOptions::inference>("inference", "expand batch-norm-inference"),
    PassOption<&BatchnormExpanderOptions::grad>("grad", "expand batch-norm-grad"),
};

/// What the three ops have in common: operands in the type to compute in, sums over all but the feature.
struct BatchNorm {
  explicit BatchNorm(Instruction* inst)
      : make(inst), at(inst), feature(inst->attr<BatchNormAttrs>().feature_index) {
    const Shape& shape = inst->operand(0)->shape();
    type = shape.element_type() == ElementType::F64 ? ElementType::F64 : ElementType::F32;
    for (int64_t d = 0; d < shape.rank(); ++d) {
      if (d == feature) continue;
      others.push_back(d);
      count *= static_cast<double>(shape.dim(d));
    }
    // Epsilon as a value of the operand's type.
    epsilon = Expr(
        make, make.Convert(make.Scalar(shape.element_type(), inst->attr<BatchNormAttrs>().epsilon), type));
  }
  Expr Operand(int64_t i) { return Expr(make, at->operand(i)).To(type); }
  Expr Sum(const Expr& x) const { return x.Reduce(OpKind::Add, 0, others); }
  /// A value per feature for each element.
  Expr Each(const Expr& vector) const { return vector.Broadcast(at->operand(0)->shape().dims(), {feature}); }
  Expr InverseDeviation(const Expr& variance) const { return (variance + epsilon).Unary(OpKind::Rsqrt); }
  Instruction* Result(const Expr& x, const Shape& shape) const { return x.To(shape.element_type()); }

  Maker make;
  Instruction* at;
  int64_t feature;
  ElementType type;
  Dims others;
  double count = 1;  // elements per feature
  Expr epsilon;
};

Instruction* ExpandTraining(Instruction* inst) {
  BatchNorm n(inst);
  const Expr x = n.Operand(0);
  const Expr mean = n.Sum(x) / n.count;
  const Expr deviation = x - n.Each(mean);
  const Expr variance = n.Sum(deviation * deviation) / n.count;
  const Expr out = deviation * n.Each(n.InverseDeviation(variance) * n.Operand(1)) + n.Each(n.Operand(2));
  const Shape& shape = inst->shape();
  return n.make.Tuple({n.Result(out, shape.tuple_shape(0)), n.Result(mean, shape.tuple_shape(1)),
                       n.Result(variance, shape.tuple_shape(2))});
}

Instruction* ExpandInference(Instruction* inst) {
  BatchNorm n(inst);
  const Expr scale = n.Operand(1) * n.InverseDeviation(n.Operand(4));
  const Expr out = (n.Operand(0) - n.Each(n.Operand(3))) * n.Each(scale) + n.Each(n.Operand(2));
  return n.Result(out, inst->shape());
}

Instruction* ExpandGrad(Instruction* inst) {
  BatchNorm n(inst);
  const Expr scale = n.Operand(1), variance = n.Operand(3), dy = n.Operand(4);
  const Expr deviation = n.Operand(0) - n.Each(n.Operand(2));
  const Expr inverse = n.InverseDeviation(variance);
  const Expr dot = n.Sum(dy * deviation), offset_grad = n.Sum(dy);
  const Expr centred = dy * n.count - n.Each(offset_grad) - deviation * n.Each(dot / (variance + n.epsilon));
  const Expr operand_grad = n.Each(scale * inverse / n.count) * centred;
  const Shape& shape = inst->shape();
  return n.make.Tuple({n.Result(operand_grad, shape.tuple_shape(0)),
                       n.Result(dot * inverse, shape.tuple_shape(1)),
                       n.Result(offset_grad, shape.tuple_shape(2))});
}

llvm::ArrayRef<PassOptionRow> BatchnormExpanderOptions::Rows() { return kRows; }

Result<bool> RunBatchnormExpander(Module& module, const BatchnormExpanderOptions& options,
                                  PassContext& context) {
  using Expansion = Instruction* (*)(Instruction*);
  const auto expansion = [&](OpKind kind) -> Expansion {
    return kind == OpKind::BatchNormTraining && options.training     ? &ExpandTraining
           : kind == OpKind::BatchNormInference && options.inference ? &ExpandInference
           : kind == OpKind::BatchNormGrad && options.grad           ? &ExpandGrad
                                                                     : nullptr;
  };
  return ExpandMatches(
      module, context,
      [&](const Instruction& inst) { return expansion(inst.kind()) && HasStaticShapes(inst); },
      [&](Instruction* inst) -> Result<Instruction*> { return expansion(inst->kind())(inst); });
}

}  // namespace

HLO_DEFINE_PASS(BatchnormExpander, BatchnormExpanderOptions);

}  // namespace hlo
