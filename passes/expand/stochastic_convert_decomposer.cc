// stochastic_convert_decomposer: stochastic-convert as arithmetic (passes.md §4.10).
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: stochastic-convert to signed integers becomes: the whole part of |x|, one more if the random word
// is below the fraction, with the sign of x; saturated as convert does where x is out of range. Exact.
// Left alone: unsigned targets, for which the op has no meaning; dynamic shapes.
#include <cmath>

#include "passes/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/expr.h"

namespace hlo {
namespace {

Result<Instruction*> Decompose(Instruction* inst) {
  Maker make(inst);
  const ElementType from = inst->operand(0)->shape().element_type();
  const ElementType target = inst->shape().element_type();
  // Fractions scaled by the width of the random words are exact in f32 for narrower types.
  const ElementType type = from == ElementType::F64 ? from : ElementType::F32;
  const Expr x = Expr(make, inst->operand(0)).To(type);
  const Expr random(make, inst->operand(1));
  const Expr magnitude = x.Unary(OpKind::Abs), whole = magnitude.Unary(OpKind::Floor);
  const Expr threshold = ((magnitude - whole) * std::ldexp(1.0, Info(from).bits)).To(random.type());
  const Expr rounded = whole.To(target) + Lt(random, threshold).To(target);
  const Expr result = Select(Lt(x, 0), Neg(rounded), rounded);
  const double limit = std::ldexp(1.0, Info(target).bits - 1);
  // Only 2^k - 1 that the type holds is below its limit; others round up to 2^k, which no value x reaches.
  const Expr in_range = Gt(x, -limit) & Lt(x, limit - 1);
  return Select(in_range, result, x.To(target)).inst();
}

Result<bool> RunStochasticConvertDecomposer(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(
      module, context,
      [](const Instruction& inst) {
        return inst.kind() == OpKind::StochasticConvert && IsSigned(inst.shape().element_type()) &&
               HasStaticShapes(inst);
      },
      Decompose);
}

}  // namespace

HLO_DEFINE_PASS(StochasticConvertDecomposer, NoPassOptions);

}  // namespace hlo
