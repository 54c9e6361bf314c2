#include "passes/float_normalization.h"

#include "passes/dce.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/widen.h"
#include "passes/tuple_simplifier.h"

namespace hlo {
namespace {

Result<bool> Normalize(Module& module, PassContext& context, const TypePair& types) {
  const auto widen = [&](Instruction* inst) -> Result<Instruction*> { return Widened(inst, types); };
  const auto is_reduction = [](const Instruction& inst) {
    return inst.kind() == OpKind::Reduce || inst.kind() == OpKind::ReduceWindow;
  };
  // Reductions first, while their bodies still show what they do.
  HLO_TRY(bool changed,
          ExpandMatches(
              module, context,
              [&](const Instruction& inst) { return is_reduction(inst) && ComputesIn(inst, types.narrow); },
              widen));
  HLO_TRY(const bool more,
          ExpandMatches(
              module, context,
              [&](const Instruction& inst) { return !is_reduction(inst) && ComputesIn(inst, types.narrow); },
              widen));
  if (!changed && !more) return false;
  HLO_CHECK_OK(RunTupleSimplifier(module, {}, context));
  HLO_CHECK_OK(RunDce(module, {}, context));
  return true;
}

}  // namespace

#define HLO_DEFINE(Suffix, narrow, wide)                                                                   \
  Result<bool> RunFloatNormalization##Suffix(Module& module, const NoPassOptions&, PassContext& context) { \
    return Normalize(module, context, {ElementType::narrow, ElementType::wide});                           \
  }                                                                                                        \
  HLO_DEFINE_PASS(FloatNormalization##Suffix, NoPassOptions);
HLO_FLOAT_NORMALIZATIONS(HLO_DEFINE)
#undef HLO_DEFINE

}  // namespace hlo
