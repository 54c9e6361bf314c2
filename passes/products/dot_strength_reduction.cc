// dot-strength-reduction: small products with vectors become multiply and reduce (passes.md §2.2).
//
// Requires nothing. Preserves flat-calls, canonical-dots, fusions.
// Changes: dots one operand of which has no free dimension become the sum of a product, taken in at least
// f32, if the other operand has at most max_elements. Left alone: pred, dots with a precision algorithm,
// dynamic shapes; under --strict-fp what rounds.
#include "passes/analysis/reducers.h"
#include "passes/pass.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

struct DotStrengthReductionOptions {
  int64_t max_elements = 10'000;  // of either operand
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&DotStrengthReductionOptions::max_elements>("max_elements", "largest operand that is reduced"),
};

bool IsSmallProduct(const Instruction& dot, const DotStrengthReductionOptions& options) {
  const auto& attrs = dot.attr<DotAttrs>();
  const bool vector = RolesOf(dot, 0).free.empty() || RolesOf(dot, 1).free.empty();
  const int64_t elements =
      std::max(dot.operand(0)->shape().ElementCount(), dot.operand(1)->shape().ElementCount());
  return vector && !attrs.lhs_contracting_dims.empty() && elements <= options.max_elements &&
         attrs.algorithm == DotAlgorithm::Unset && !IsPred(dot.shape().element_type());
}

llvm::ArrayRef<PassOptionRow> DotStrengthReductionOptions::Rows() { return kRows; }

Result<bool> RunDotStrengthReduction(Module& module, const DotStrengthReductionOptions& options,
                                     PassContext& context) {
  return ExpandMatches(
      module, context,
      [&](const Instruction& inst) {
        if (context.policy().strict_fp && RoundsByOrder(OpKind::Add, inst.shape().element_type()))
          return false;
        return inst.kind() == OpKind::Dot && HasStaticArrays(inst) && IsSmallProduct(inst, options);
      },
      [&](Instruction* inst) -> Result<Instruction*> {
        Maker make(inst);
        return MakeDotAsReduction(make, *inst);
      });
}

}  // namespace

HLO_DEFINE_PASS(DotStrengthReduction, DotStrengthReductionOptions);

}  // namespace hlo
