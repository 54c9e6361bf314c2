// comparison-expander: compares floats in total order as integers (passes.md §4.10).
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: compare with type=TOTALORDER on floats becomes compare of integers with the same order. Types of
// 6 bits, which no integer type has, go through f32. Left alone: dynamic shapes.
#include "passes/pass.h"
#include "passes/rewrite/bits.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

struct ComparisonExpanderOptions {
  /// `from:to` pairs of floating types: operands of type `from` are converted to `to` first.
  std::vector<std::string> upcast;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&ComparisonExpanderOptions::upcast>("upcast", "pairs 'bf16:f32' of types to widen first"),
};

/// The type the options widen `type` to; itself if none; nothing if the options make no sense.
Result<ElementType> Widened(ElementType type, const ComparisonExpanderOptions& options) {
  for (const llvm::StringRef pair : options.upcast) {
    const auto [from, to] = pair.split(':');
    const auto source = ParseElementType(from), target = ParseElementType(to);
    if (!source || !target || !IsFloat(*source) || !IsFloat(*target) ||
        Info(*target).bits < Info(*source).bits)
      return Error("usage-pass-option", {},
                   "option 'upcast' of pass 'comparison-expander': found '{0}', expected two floating types "
                   "as in 'bf16:f32'",
                   pair);
    if (*source == type) return *target;
  }
  return type;
}

llvm::ArrayRef<PassOptionRow> ComparisonExpanderOptions::Rows() { return kRows; }

Result<bool> RunComparisonExpander(Module& module, const ComparisonExpanderOptions& options,
                                   PassContext& context) {
  HLO_CHECK_OK(Widened(ElementType::F32, options));
  return ExpandMatches(
      module, context,
      [](const Instruction& inst) {
        return inst.kind() == OpKind::Compare && inst.attr<CompareAttrs>().type == CompareType::TotalOrder &&
               IsFloat(inst.operand(0)->shape().element_type()) && HasStaticShapes(inst);
      },
      [&](Instruction* inst) -> Result<Instruction*> {
        Maker make(inst);
        HLO_TRY(const ElementType type, Widened(inst->operand(0)->shape().element_type(), options));
        const Expr x = Expr(make, inst->operand(0)).To(type), y = Expr(make, inst->operand(1)).To(type);
        const auto keys = TotalOrderKeys(x, y);
        return Compare(inst->attr<CompareAttrs>().direction, keys[0], keys[1]).inst();
      });
}

}  // namespace

HLO_DEFINE_PASS(ComparisonExpander, ComparisonExpanderOptions);

}  // namespace hlo
