// all_to_all_decomposer: all-to-all of one array as all-to-all of its slices (passes.md §2.3).
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: all-to-all with a split dimension becomes slices along it, an all-to-all of the tuple of slices,
// and a concatenation of what arrives. Left alone: modules that do not say how many devices a group has,
// dynamic shapes.
#include "ir/infer/groups.h"
#include "passes/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/expr.h"

namespace hlo {
namespace {

/// Members of a group; 0 if unknown or if they do not divide the dimension.
int64_t Parts(const Instruction& inst) {
  if (inst.kind() != OpKind::AllToAll || !HasStaticShapes(inst) || inst.operand_count() != 1 ||
      !inst.shape().IsArray())
    return 0;
  const auto dimension = inst.attr<AllToAllAttrs>().dimension;
  if (!dimension || *dimension < 0 || *dimension >= inst.shape().rank()) return 0;
  const auto size = GroupSize(inst);
  if (!size || !*size || **size < 1) return 0;
  return inst.shape().dim(*dimension) % **size == 0 ? **size : 0;
}

Instruction* Decompose(Instruction* inst) {
  Maker make(inst);
  AllToAllAttrs attrs = inst->attr<AllToAllAttrs>();
  const int64_t dimension = *attrs.dimension, parts = Parts(*inst);
  attrs.dimension.reset();
  const Expr x(make, inst->operand(0));
  const int64_t size = x.dim(dimension) / parts;
  llvm::SmallVector<Instruction*, 8> slices;
  llvm::SmallVector<Shape, 8> shapes;
  for (int64_t i = 0; i < parts; ++i) {
    slices.push_back(x.Slice(dimension, i * size, (i + 1) * size));
    shapes.push_back(slices.back()->shape());
  }
  const Expr exchanged(
      make, make.AddWithShape(OpKind::AllToAll, Shape::MakeTuple(shapes), slices, std::move(attrs)));
  llvm::SmallVector<Expr, 8> arrived;
  for (int64_t i = 0; i < parts; ++i) arrived.push_back(exchanged.Gte(i));
  return Concat(arrived, dimension);
}

Result<bool> RunAllToAllDecomposer(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(
      module, context, [](const Instruction& inst) { return Parts(inst) > 0; },
      [](Instruction* inst) -> Result<Instruction*> { return Decompose(inst); });
}

}  // namespace

HLO_DEFINE_PASS(AllToAllDecomposer, NoPassOptions);

}  // namespace hlo
