// unstable-reduction-detector: sums and products taken in narrow floats are reported (passes.md §2.7).
//
// Requires nothing. Preserves everything.
// Warns of each reduction, of arrays and between devices, that adds or multiplies floats of fewer than 32
// bits (complex numbers of such do not exist): every step rounds. Maxima, minima and reductions of no more
// than two elements are none.
#include "passes/analysis/reducers.h"
#include "passes/pass.h"

namespace hlo {
namespace {

/// Has a computation that combines elements.
bool Combines(const Instruction& inst) {
  const OpCategory category = inst.info().category;
  const bool reduces = category == OpCategory::Reduction || category == OpCategory::Communication;
  return reduces && inst.kind() != OpKind::Sort && !inst.callees().empty();
}

bool IsNarrow(ElementType type) { return IsFloat(type) && Info(type).bits < Info(ElementType::F32).bits; }

/// The instruction rounds after each addition or multiplication within its reducer; the type in which.
std::optional<ElementType> RoundsInNarrow(const Instruction& inst) {
  if (!Combines(inst)) return std::nullopt;
  for (const Instruction* step : inst.callees().back()->instructions()) {
    const bool sums = step->kind() == OpKind::Add || step->kind() == OpKind::Multiply;
    if (sums && step->shape().IsArray() && IsNarrow(step->shape().element_type()))
      return step->shape().element_type();
  }
  return std::nullopt;
}

Result<bool> RunUnstableReductionDetector(Module& module, const NoPassOptions&, PassContext& context) {
  for (const Computation* c : context.AllComputations(module))
    for (const Instruction* inst : c->instructions()) {
      const auto type = RoundsInNarrow(*inst);
      const bool tiny = type && inst->kind() == OpKind::Reduce && inst->shape().IsArray() &&
                        inst->operand(0)->shape().ElementCount() <= 2 * inst->shape().ElementCount();
      if (!type || tiny) continue;
      Diagnostic warning =
          MakeError("unstable-reduction", inst->loc(), "%{0}: {1} rounds to {2} after every step",
                    inst->name(), inst->info().text, ToString(*type));
      warning.severity = Severity::Warning;
      context.Report(std::move(warning));
    }
  return false;
}

}  // namespace

HLO_DEFINE_PASS(UnstableReductionDetector, NoPassOptions);

}  // namespace hlo
