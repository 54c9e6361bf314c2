#include "passes/dot_strength_reduction.h"

#include "passes/rewrite/dots.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

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

}  // namespace

llvm::ArrayRef<PassOptionRow> DotStrengthReductionOptions::Rows() { return kRows; }

Result<bool> RunDotStrengthReduction(Module& module, const DotStrengthReductionOptions& options,
                                     PassContext& context) {
  return ExpandMatches(
      module, context,
      [&](const Instruction& inst) {
        return inst.kind() == OpKind::Dot && HasStaticArrays(inst) && IsSmallProduct(inst, options);
      },
      [&](Instruction* inst) -> Result<Instruction*> {
        Maker make(inst);
        return MakeDotAsReduction(make, *inst);
      });
}

HLO_DEFINE_PASS(DotStrengthReduction, DotStrengthReductionOptions);

}  // namespace hlo
