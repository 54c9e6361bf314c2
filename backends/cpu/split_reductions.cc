#include "backends/cpu/split_reductions.h"

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
  // Narrow floats are rounded at every step: their sums would come out differently.
  const ElementType type = x.element_type();
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

}  // namespace

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
