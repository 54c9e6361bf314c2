// all-reduce-promotion: exchanges combine in a wider type (passes.md §2.6).
//
// Requires nothing. Preserves flat-calls, layouts, canonical-dots, fusions.
// Changes: an all-reduce or reduce-scatter of arrays of type `from` becomes one of type `to` between
// conversions; sums of floats are rounded once. Left alone: reducers of more than one operation, constrained
// layouts, control edges; under --strict-fp sums and products of floats.
#include "passes/analysis/reducers.h"
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/collectives.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

struct AllReducePromotionOptions {
  std::string from = "bf16", to = "f32";
  static llvm::ArrayRef<PassOptionRow> Rows();
};

using O = AllReducePromotionOptions;
constexpr PassOptionRow kRows[] = {
    PassOption<&O::from>("from", "the type to replace"),
    PassOption<&O::to>("to", "the type that replaces it, of the same kind and wider"),
};

struct Types {
  ElementType from, to;
};

Result<Types> ReadOptions(const O& options) {
  const auto from = ParseElementType(options.from), to = ParseElementType(options.to);
  if (!from || !to || !IsArrayType(*from) || !IsArrayType(*to) || Info(*from).bits >= Info(*to).bits ||
      Info(*from).type_class != Info(*to).type_class)
    return Error("usage-pass-option", Loc(),
                 "all-reduce-promotion: found '{0}' and '{1}', expected a type and a wider one of its kind",
                 options.from, options.to);
  return Types{*from, *to};
}

bool MayPromote(const Instruction& inst, ElementType type, bool strict_fp) {
  const std::optional<OpKind> op = CollectiveOp(inst);
  if (!op || HasControlEdges(inst) || inst.callee()->root()->shape().element_type() != type) return false;
  if (const auto* reduce = inst.attrs().GetIf<AllReduceAttrs>(); reduce && reduce->constrain_layout)
    return false;
  if (const auto* scatter = inst.attrs().GetIf<ReduceScatterAttrs>(); scatter && scatter->constrain_layout)
    return false;
  return !(strict_fp && RoundsByOrder(*op, type)) && llvm::all_of(inst.operands(), [&](const Instruction* o) {
    return o->shape().IsArray() && o->shape().element_type() == type;
  });
}

Instruction* Promoted(Instruction* inst, const Types& types) {
  Maker make(inst);
  llvm::SmallVector<Instruction*, 4> operands, results;
  for (Instruction* o : inst->operands()) operands.push_back(make.Convert(o, types.to));
  const bool tuple = inst->shape().IsTuple();
  llvm::SmallVector<Shape, 4> shapes;
  for (int64_t i = 0; i < inst->operand_count(); ++i)
    shapes.push_back((tuple ? inst->shape().tuple_shape(i) : inst->shape()).WithElementType(types.to));
  Instruction* wide =
      make.AddWithShape(inst->kind(), tuple ? Shape::MakeTuple(shapes) : shapes[0], operands, inst->attrs(),
                        {make.ScalarComputation(*CollectiveOp(*inst), types.to)});
  if (!tuple) return make.Convert(wide, types.from);
  for (int64_t i = 0; i < inst->operand_count(); ++i)
    results.push_back(make.Convert(make.Gte(wide, i), types.from));
  return make.Tuple(results);
}

llvm::ArrayRef<PassOptionRow> AllReducePromotionOptions::Rows() { return kRows; }

Result<bool> RunAllReducePromotion(Module& module, const AllReducePromotionOptions& options,
                                   PassContext& context) {
  HLO_TRY(const Types types, ReadOptions(options));
  return ExpandMatches(
      module, context,
      [&](const Instruction& inst) { return MayPromote(inst, types.from, context.policy().strict_fp); },
      [&](Instruction* inst) -> Result<Instruction*> { return Promoted(inst, types); });
}

}  // namespace

HLO_DEFINE_PASS(AllReducePromotion, AllReducePromotionOptions);

}  // namespace hlo
