#include "passes/rewrite/vector_windows.h"

#include "passes/rewrite/expander.h"
#include "passes/rewrite/maker.h"

namespace hlo {

bool HasVectorWindows(const Instruction& inst) {
  return inst.kind() == OpKind::ReduceWindow && inst.attr<ReduceWindowAttrs>().window.dims.size() == 1 &&
         HasStaticShapes(inst);
}

Result<Instruction*> WithMatrixWindows(Instruction* inst) {
  Maker make(inst);
  llvm::SmallVector<Instruction*, 4> operands(inst->operands());
  const int64_t count = inst->operand_count() / 2;
  for (Instruction*& x : llvm::MutableArrayRef(operands).take_front(static_cast<size_t>(count)))
    x = make.Reshape(x, {x->shape().dim(0), 1});
  ReduceWindowAttrs attrs = inst->attr<ReduceWindowAttrs>();
  attrs.window.dims.push_back(WindowDim());
  Instruction* y = make.Add(OpKind::ReduceWindow, operands, attrs, inst->callees());
  if (!inst->shape().IsTuple()) return make.Reshape(y, inst->shape().dims());
  llvm::SmallVector<Instruction*, 2> results;
  for (int64_t i = 0; i < count; ++i)
    results.push_back(make.Reshape(make.Gte(y, i), inst->shape().tuple_shape(i).dims()));
  return make.Tuple(results);
}

}  // namespace hlo
