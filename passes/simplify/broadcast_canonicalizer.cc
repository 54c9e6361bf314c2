// broadcast_canonicalizer: broadcasts keep the order of dimensions (passes.md §2.1).
//
// Requires nothing. Preserves flat-calls, fusions.
// Changes: a broadcast with unsorted dimensions becomes one with sorted dimensions and a transpose.
// Left alone: dynamic shapes.
#include "passes/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/maker.h"

namespace hlo {
namespace {

bool Permutes(const Instruction& inst) {
  return inst.kind() == OpKind::Broadcast && HasStaticShapes(inst) &&
         !llvm::is_sorted(inst.attr<DimensionsAttrs>().dimensions);
}

Result<Instruction*> ReplacementFor(Instruction* inst) {
  Maker make(inst);
  const Dims& dims = inst->attr<DimensionsAttrs>().dimensions;
  Dims sorted(dims), sizes(inst->shape().dims()), permutation;
  llvm::sort(sorted);
  for (int64_t d = 0; d < inst->shape().rank(); ++d) permutation.push_back(d);
  for (size_t i = 0; i < dims.size(); ++i) {
    sizes[static_cast<size_t>(sorted[i])] = inst->operand(0)->shape().dim(static_cast<int64_t>(i));
    permutation[static_cast<size_t>(dims[i])] = sorted[i];
  }
  const Shape shape = Shape::ArrayWithDefaultLayout(inst->shape().element_type(), sizes);
  Instruction* transpose = make.Transpose(make.Broadcast(inst->operand(0), shape, sorted), permutation);
  transpose->set_shape(inst->shape());
  return transpose;
}

Result<bool> RunBroadcastCanonicalizer(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(module, context, Permutes, ReplacementFor);
}

}  // namespace

HLO_DEFINE_PASS(BroadcastCanonicalizer, NoPassOptions);

}  // namespace hlo
