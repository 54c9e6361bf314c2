// algorithm-checker: do the types of products fit the algorithms they ask for? (passes.md §2.7)
//
// Requires nothing. Preserves everything.
// Fails at the first dot, scaled-dot or convolution whose algorithm takes other operands or gives other
// results. f32 operands may be taken as bf16 or tf32; an algorithm's accumulator may be rounded to bf16.
#include "passes/pass.h"

namespace hlo {
namespace {

using enum ElementType;

/// Types that an algorithm takes and gives. An empty list of operands: any 8-bit float.
struct AlgorithmTypes {
  DotAlgorithm algorithm;
  llvm::SmallVector<ElementType, 2> operands;
  llvm::SmallVector<ElementType, 3> results;
};
const AlgorithmTypes kTypes[] = {
    {DotAlgorithm::AnyF8AnyF8F32, {}, {F32, BF16, F16}},
    {DotAlgorithm::AnyF8AnyF8F32FastAccum, {}, {F32, BF16, F16}},
    {DotAlgorithm::F16F16F16, {F16}, {F16}},
    {DotAlgorithm::F16F16F32, {F16}, {F32, F16}},
    {DotAlgorithm::BF16BF16BF16, {BF16}, {BF16}},
    {DotAlgorithm::BF16BF16F32, {BF16, F32}, {F32, BF16}},
    {DotAlgorithm::BF16BF16F32X3, {F32}, {F32}},
    {DotAlgorithm::BF16BF16F32X6, {F32}, {F32}},
    {DotAlgorithm::BF16BF16F32X9, {F32}, {F32}},
    {DotAlgorithm::TF32TF32F32, {F32}, {F32}},
    {DotAlgorithm::TF32TF32F32X3, {F32}, {F32}},
    {DotAlgorithm::F32F32F32, {F32}, {F32}},
    {DotAlgorithm::F64F64F64, {F64}, {F64}},
};

DotAlgorithm AlgorithmOf(const Instruction& inst) {
  if (const auto* dot = inst.attrs().GetIf<DotAttrs>()) return dot->algorithm;
  if (const auto* convolution = inst.attrs().GetIf<ConvolutionAttrs>()) return convolution->algorithm;
  return DotAlgorithm::Unset;
}

bool IsNarrow(ElementType type) { return IsFloat(type) && Info(type).bits == 8; }

Status Check(const Instruction& inst) {
  const DotAlgorithm algorithm = AlgorithmOf(inst);
  if (algorithm == DotAlgorithm::Unset) return {};
  const AlgorithmTypes& types =
      *llvm::find_if(kTypes, [&](const AlgorithmTypes& t) { return t.algorithm == algorithm; });
  for (int64_t i = 0; i < 2; ++i) {
    const ElementType type = inst.operand(i)->shape().element_type();
    if (types.operands.empty() ? IsNarrow(type) : llvm::is_contained(types.operands, type)) continue;
    return Error("unsupported-algorithm", inst.loc(), "%{0}: algorithm {1} takes no operand of type {2}",
                 inst.name(), ToString(algorithm), ToString(type));
  }
  const ElementType result = inst.shape().element_type();
  if (llvm::is_contained(types.results, result) || (types.operands.empty() && IsNarrow(result))) return {};
  return Error("unsupported-algorithm", inst.loc(), "%{0}: algorithm {1} gives no result of type {2}",
               inst.name(), ToString(algorithm), ToString(result));
}

Result<bool> RunAlgorithmChecker(Module& module, const NoPassOptions&, PassContext& context) {
  for (const Computation* c : context.AllComputations(module))
    for (const Instruction* inst : c->instructions()) HLO_CHECK_OK(Check(*inst));
  return false;
}

}  // namespace

HLO_DEFINE_PASS(AlgorithmChecker, NoPassOptions);

}  // namespace hlo
