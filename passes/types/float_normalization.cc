// float-normalization-TYPE: no arithmetic in TYPE (passes.md §2.7).
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: instructions that compute in TYPE (rewrite/widen.h says which these are) get their operands
// converted to a wider type and their results converted back: bf16 and f8e8m0fnu compute in f32, the other
// types of 8 and 4 bits in f16, s4 in s8 and u4 in u8. Left alone: what moves values, bodies of fusions.
#include "passes/pass.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/tuples.h"
#include "passes/rewrite/widen.h"

namespace hlo {
namespace {

/// The passes and their types: X(stem suffix, narrow type, wide type).
#define HLO_FLOAT_NORMALIZATIONS(X)    \
  X(Bf16, BF16, F32)                   \
  X(F8e5m2, F8E5M2, F16)               \
  X(F8e4m3fn, F8E4M3FN, F16)           \
  X(F8e4m3, F8E4M3, F16)               \
  X(F8e4m3b11fnuz, F8E4M3B11FNUZ, F16) \
  X(F8e5m2fnuz, F8E5M2FNUZ, F16)       \
  X(F8e4m3fnuz, F8E4M3FNUZ, F16)       \
  X(F8e3m4, F8E3M4, F16)               \
  X(F8e8m0fnu, F8E8M0FNU, F32)         \
  X(F4e2m1fn, F4E2M1FN, F16)           \
  X(S4, S4, S8)                        \
  X(U4, U4, U8)

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
  HLO_CHECK_OK(SimplifyTuples(module, context));
  HLO_CHECK_OK(RemoveDeadCode(module, context));
  return true;
}

}  // namespace

#define HLO_DEFINE(Suffix, narrow, wide)                                                  \
  static Result<bool> RunFloatNormalization##Suffix(Module& module, const NoPassOptions&, \
                                                    PassContext& context) {               \
    return Normalize(module, context, {ElementType::narrow, ElementType::wide});          \
  }                                                                                       \
  HLO_DEFINE_PASS(FloatNormalization##Suffix, NoPassOptions);
HLO_FLOAT_NORMALIZATIONS(HLO_DEFINE)
#undef HLO_DEFINE

}  // namespace hlo
