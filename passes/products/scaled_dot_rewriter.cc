// scaled-dot-rewriter: scaled-dot as dot of scaled operands (passes.md §2.3, ops-structured §3.3).
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: operands and scales are converted to f32 (f64 if one of them is), scales repeated to the size of
// their operands and multiplied; a dot of the products takes the place. Left alone: dynamic shapes.
#include "passes/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/expr.h"

namespace hlo {
namespace {

/// The operand times its scale, of which each element counts for a block of the operand.
Expr Scaled(const Expr& x, const Expr& scale, ElementType type) {
  Dims blocks, kept;
  for (int64_t d = 0; d < x.shape().rank(); ++d) {
    kept.push_back(static_cast<int64_t>(blocks.size()));
    blocks.push_back(scale.dim(d));
    blocks.push_back(scale.dim(d) == 0 ? 0 : x.dim(d) / scale.dim(d));
  }
  return x.To(type) * scale.To(type).Broadcast(blocks, kept).Reshape(x.shape().dims());
}

Instruction* Rewrite(Instruction* inst) {
  Maker make(inst);
  bool wide = inst->shape().element_type() == ElementType::F64;
  for (const Instruction* o : inst->operands()) wide |= o->shape().element_type() == ElementType::F64;
  const ElementType type = wide ? ElementType::F64 : ElementType::F32;
  const auto operand = [&](int64_t i) { return Expr(make, inst->operand(i)); };
  return make.Dot(Scaled(operand(0), operand(2), type), Scaled(operand(1), operand(3), type),
                  inst->attr<DotAttrs>(), inst->shape().element_type());
}

Result<bool> RunScaledDotRewriter(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(
      module, context,
      [](const Instruction& inst) { return inst.kind() == OpKind::ScaledDot && HasStaticShapes(inst); },
      [](Instruction* inst) -> Result<Instruction*> { return Rewrite(inst); });
}

}  // namespace

HLO_DEFINE_PASS(ScaledDotRewriter, NoPassOptions);

}  // namespace hlo
