#include "backends/cpu/narrow_weights.h"

#include "backends/cpu/product_problem.h"
#include "backends/gemm/thin_run.h"
#include "ir/op.h"
#include "passes/rewrite/edit.h"

namespace hlo::cpu {
namespace {

/// Operand `i` of a dot widens weights.
bool Widens(const Instruction& dot, int64_t i) {
  const Instruction &convert = *dot.operand(i), &other = *dot.operand(1 - i);
  if (convert.kind() != OpKind::Convert || other.shape().element_type() != ElementType::F32 ||
      convert.shape().element_type() != ElementType::F32 || dot.shape().element_type() != ElementType::F32)
    return false;
  const Shape& stored = convert.operand(0)->shape();
  return gemm::IsWidenedWhenRead(stored.element_type()) && !stored.HasDynamicDimension() &&
         !other.shape().HasDynamicDimension() && stored.ElementCount() > other.shape().ElementCount();
}

/// The product is bound by reading the larger factor.
bool IsThinProduct(const Instruction& dot) {
  gemm::Problem problem = DotProblem(dot);
  if (gemm::IsThin(problem)) return true;
  problem.Exchange();
  return gemm::IsThin(problem);
}

}  // namespace

void ReadWeightsAsStored(Module& module) {
  for (Computation* computation : module.PostOrder()) {
    if (computation->IsFusion()) continue;
    std::vector<Instruction*> dots;
    for (Instruction* inst : computation->instructions())
      if (inst->kind() == OpKind::Dot && inst->operand_count() == 2 &&
          inst->attr<DotAttrs>().algorithm == DotAlgorithm::Unset)
        dots.push_back(inst);
    for (Instruction* dot : dots)
      for (const int64_t i : {0, 1}) {
        if (!Widens(*dot, i)) continue;
        Instruction* convert = dot->operand(i);
        dot->SetOperand(i, convert->operand(0));
        if (IsThinProduct(*dot))
          RemoveIfDead(convert);
        else
          dot->SetOperand(i, convert);
      }
  }
}

}  // namespace hlo::cpu
