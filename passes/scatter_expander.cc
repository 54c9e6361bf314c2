#include "passes/scatter_expander.h"

#include "passes/analysis/reshape_facts.h"
#include "passes/rewrite/batching_dims.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/expr.h"
#include "passes/rewrite/index_matrix.h"

namespace hlo {
namespace {

bool CanExpand(const Instruction& inst) {
  if (inst.kind() != OpKind::Scatter || !HasStaticShapes(inst) || !inst.shape().IsArray()) return false;
  const ElementType type = inst.shape().element_type();
  auto has_type = [&](const Instruction* i) { return i->shape().IsScalarOf(type); };
  return inst.operand_count() == 3 && inst.operand(2)->shape().ElementCount() != 0 &&
         inst.shape().rank() != 0 && llvm::all_of(inst.callee()->parameters(), has_type) &&
         has_type(inst.callee()->root());
}

/// Combines one window of updates into x, if it lies within.
Expr UpdateAt(Maker& make, const Expr& x, const Expr& row, const Expr& window, const Instruction& scatter) {
  const Dims& places = scatter.attr<ScatterAttrs>().scatter_dims_to_operand_dims;
  const Expr zero(make, make.ScalarInt(row.type(), 0));
  llvm::SmallVector<Expr, 6> starts(static_cast<size_t>(x.shape().rank()), zero);
  Expr within(make, make.ScalarInt(ElementType::Pred, 1));
  for (size_t k = 0; k < places.size(); ++k) {
    const Expr start = row.Slice(1, static_cast<int64_t>(k), static_cast<int64_t>(k) + 1).Reshape({});
    starts[static_cast<size_t>(places[k])] = start;
    within = within & Ge(start, 0) & Le(start, x.dim(places[k]) - window.dim(places[k]));
  }
  const Expr before = DynamicSliceOf(x, starts, window.shape().dims());
  MapAttrs map;
  for (int64_t d = 0; d < x.shape().rank(); ++d) map.dimensions.push_back(d);
  Instruction* after = make.Add(OpKind::Map, {before, window}, std::move(map), scatter.callees());
  return DynamicUpdateOf(x, Expr(make, make.Select(within, after, before)), starts);
}

Instruction* Loop(Maker& make, Instruction* inst) {
  const auto& a = inst->attr<ScatterAttrs>();
  const Expr matrix(make, IndexMatrix(make, inst->operand(1), a.index_vector_dim));
  // Signed and wide, so that every index beyond the array is seen as such.
  const Expr indices = matrix.To(ElementType::S64);
  const Expr updates(make, UpdateMatrix(make, inst->operand(2), a, inst->shape().rank()));
  Dims sizes(updates.shape().dims());
  sizes[0] = 1;
  const Dims window(llvm::ArrayRef<int64_t>(sizes).drop_front());
  const auto state =
      CountedLoop(make, "scatter", indices.dim(0), {Expr(make, inst->operand(0)), indices, updates},
                  [&](Maker& body, const Expr& i, llvm::ArrayRef<Expr> s) -> llvm::SmallVector<Expr, 6> {
                    llvm::SmallVector<Expr, 6> starts(sizes.size(), Expr(0));
                    starts[0] = i;
                    const Expr row = DynamicSliceOf(s[1], {i, 0}, {1, s[1].dim(1)});
                    const Expr update = DynamicSliceOf(s[2], starts, sizes).Reshape(window);
                    return {UpdateAt(body, s[0], row, update, *inst), s[1], s[2]};
                  });
  return state[0].inst();
}

Result<Instruction*> Expanded(Instruction* inst) {
  if (inst->shape().ElementCount() == 0) return inst->operand(0);
  Maker make(inst);
  if (!HasBatchingDims(*inst)) return Loop(make, inst);
  Instruction* plain = WithoutBatchingDims(make, inst);
  Instruction* loop = Loop(make, plain);
  plain->parent()->Remove(plain);
  return loop;
}

}  // namespace

Result<bool> RunScatterExpander(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(module, context, CanExpand, Expanded);
}

HLO_DEFINE_PASS(ScatterExpander, NoPassOptions);

}  // namespace hlo
