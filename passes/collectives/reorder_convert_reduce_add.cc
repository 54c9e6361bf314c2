// reorder-convert-reduce-add: sums that are added in a wider type are exchanged in it (passes.md §2.6).
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: where the sum of a reduce-scatter, or with enable_all_reduce of an all-reduce, is converted to a
// wider float type and added to something, the conversion comes before the exchange. Left alone: other
// reducers, several arrays, other users, constrained layouts, control edges; under --strict-fp all.
#include "passes/analysis/conversions.h"
#include "passes/pass.h"
#include "passes/rewrite/collectives.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

struct ReorderConvertReduceAddOptions {
  bool enable_all_reduce = false;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&ReorderConvertReduceAddOptions::enable_all_reduce>("enable_all_reduce", "all-reduces, too"),
};

bool AddsConvertedSum(const Instruction& inst, bool all_reduce) {
  if (inst.kind() != OpKind::Convert || inst.users().size() != 1 ||
      inst.users().front()->kind() != OpKind::Add)
    return false;
  const Instruction& sum = *inst.operand(0);
  const ElementType from = sum.shape().element_type(), to = inst.shape().element_type();
  return (sum.kind() == OpKind::ReduceScatter || (all_reduce && sum.kind() == OpKind::AllReduce)) &&
         CollectiveOp(sum) == OpKind::Add && IsPlainCollective(sum) && sum.users().size() == 1 &&
         !sum.IsRoot() && IsFloat(from) && IsFloat(to) && from != to && IsLosslessConversion(from, to);
}

Instruction* SumOfConverted(Instruction* convert) {
  Maker make(convert);
  const Instruction& sum = *convert->operand(0);
  const ElementType type = convert->shape().element_type();
  Instruction* x = sum.operand(0);
  Instruction* wide = make.AddWithShape(OpKind::Convert, x->shape().WithElementType(type), {x});
  return make.AddWithShape(sum.kind(), convert->shape(), {wide}, sum.attrs(),
                           {make.ScalarComputation(OpKind::Add, type)});
}

llvm::ArrayRef<PassOptionRow> ReorderConvertReduceAddOptions::Rows() { return kRows; }

Result<bool> RunReorderConvertReduceAdd(Module& module, const ReorderConvertReduceAddOptions& options,
                                        PassContext& context) {
  if (context.policy().strict_fp) return false;
  return ExpandMatches(
      module, context,
      [&](const Instruction& inst) { return AddsConvertedSum(inst, options.enable_all_reduce); },
      [](Instruction* inst) -> Result<Instruction*> { return SumOfConverted(inst); });
}

}  // namespace

HLO_DEFINE_PASS(ReorderConvertReduceAdd, ReorderConvertReduceAddOptions);

}  // namespace hlo
