#include "backends/cpu/split_reductions.h"

#include "ir/eval/elementwise.h"
#include "ir/op.h"
#include "passes/analysis/reducers.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"

namespace hlo::cpu {
namespace {

/// Elements below which one thread is done before another one has started.
constexpr int64_t kMinElements = int64_t{1} << 18;
constexpr int64_t kMostParts = 64;

/// How many parts of equal length; 1: none.
int64_t PartsOf(const Instruction& inst) {
  if (inst.kind() != OpKind::Reduce || inst.has_extras()) return 1;
  const std::optional<OpKind> op = PlainReductionOp(inst);
  if (!op || inst.shape().rank() != 0 || !MayRepeatInit(*op, *inst.operand(1))) return 1;
  const Shape& x = inst.operand(0)->shape();
  const ElementType type = x.element_type();
  // Narrow floats that are not widened are rounded at every step: products would come out differently.
  if (x.HasDynamicDimension() || (IsFloat(type) && Info(type).bits < 32) || IsComplex(type)) return 1;
  const int64_t count = x.ElementCount();
  if (count < kMinElements) return 1;
  int64_t parts = kMostParts;
  while (count % parts != 0) parts /= 2;
  return parts;
}

void Split(Instruction* reduce, int64_t parts) {
  Maker make(reduce);
  Instruction* x = reduce->operand(0);
  Instruction* init = reduce->operand(1);
  Instruction* rows = make.Reshape(x, Dims{parts, x->shape().ElementCount() / parts});
  Instruction* sums = make.Reduce(rows, init, {1}, reduce->callee());
  ReplaceAndRemove(reduce, make.Reduce(sums, init, {0}, reduce->callee()));
}

/// A sum whose steps would each be rounded to a narrow type.
bool IsNarrowSum(const Instruction& inst) {
  if (inst.kind() != OpKind::Reduce || inst.has_extras() || !IsSum(inst)) return false;
  const ElementType type = inst.shape().element_type();
  return IsFloat(type) && Info(type).bits < 32 && type != ElementType::F8E8M0FNU &&
         !inst.operand(0)->shape().HasDynamicDimension();
}

void Widen(Instruction* sum) {
  Maker make(sum);
  Instruction* x = make.Convert(sum->operand(0), ElementType::F32);
  Instruction* init = sum->operand(1);
  init = init->kind() == OpKind::Constant
             ? make.Constant(ConvertLiteral(*init->attr<ConstantAttrs>().literal, ElementType::F32))
             : make.Convert(init, ElementType::F32);
  Instruction* wide = make.Reduce(x, init, ReducedDims(*sum), OpKind::Add);
  ReplaceAndRemove(sum, make.Convert(wide, sum->shape().element_type()));
}

}  // namespace

void WidenSums(Module& module) {
  for (Computation* computation : module.PostOrder()) {
    if (computation->IsFusion()) continue;
    std::vector<Instruction*> found;
    for (Instruction* inst : computation->instructions())
      if (IsNarrowSum(*inst)) found.push_back(inst);
    for (Instruction* sum : found) Widen(sum);
  }
}

void SplitFullReductions(Module& module) {
  for (Computation* computation : module.PostOrder()) {
    if (computation->IsFusion()) continue;
    std::vector<std::pair<Instruction*, int64_t>> found;
    for (Instruction* inst : computation->instructions())
      if (const int64_t parts = PartsOf(*inst); parts > 1) found.emplace_back(inst, parts);
    for (const auto& [reduce, parts] : found) Split(reduce, parts);
  }
}

}  // namespace hlo::cpu
