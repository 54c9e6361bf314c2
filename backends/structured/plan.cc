#include "backends/structured/plan.h"

#include "ir/computation.h"

namespace hlo::structured {

tl::unexpected<Diagnostic> Unsupported(const Instruction& inst, llvm::StringRef why) {
  return Decline(inst.loc(), "{0}", why);
}

Planner* PlannerFor(const Instruction& inst) {
  static constexpr struct {
    OpKind op;
    Planner* planner;
  } kPlanners[] = {
      {OpKind::TopK, &PlanTopK},
      {OpKind::ReduceWindow, &PlanPrefixScan},
      {OpKind::SelectAndScatter, &PlanSelectAndScatter},
      {OpKind::Fusion, &PlanHistogram},
      {OpKind::Scatter, &PlanHistogram},
      {OpKind::Sort, &PlanSort},
      {OpKind::Fft, &PlanFft},
      {OpKind::Dot, &PlanLaneProduct},
      {OpKind::Cholesky, &PlanCholesky},
      {OpKind::TriangularSolve, &PlanTriangularSolve},
      {OpKind::RngBitGenerator, &PlanRandomBits},
  };
  if (inst.kind() == OpKind::Fusion && inst.callee()->root()->kind() != OpKind::Scatter) return nullptr;
  if (inst.kind() == OpKind::CustomCall) {
    const llvm::StringRef target = inst.attr<CustomCallAttrs>().custom_call_target;
    if (target == "TopK") return &PlanTopK;
    return target.starts_with("lapack_") ? &PlanLapackCall : nullptr;
  }
  for (const auto& [op, planner] : kPlanners)
    if (op == inst.kind()) return planner;
  return nullptr;
}

}  // namespace hlo::structured
