// add-original-value: every value says under which name it came in (passes.md §2.1).
//
// Requires nothing. Preserves everything.
// Changes: instructions without origin get one, made of their name and the place of each part of the value.
// Left alone: bodies of fusions, tokens and other values that are no arrays.
#include "passes/pass.h"

namespace hlo {
namespace {

Origin OriginOf(llvm::StringRef name, const Shape& shape, ShapeIndex index) {
  Origin origin;
  if (!shape.IsTuple()) {
    origin.has_name = true;
    origin.name = name;
    origin.index = std::move(index);
    return origin;
  }
  origin.is_tuple = true;
  for (int64_t i = 0; i < shape.tuple_size(); ++i) {
    ShapeIndex inner = index;
    inner.push_back(i);
    origin.elements.push_back(OriginOf(name, shape.tuple_shape(i), std::move(inner)));
  }
  return origin;
}

bool HoldsArrays(const Shape& shape) {
  bool arrays = true;
  ForEachLeaf(shape, [&](const ShapeIndex&, const Shape& leaf) { arrays &= leaf.IsArray(); });
  return arrays;
}

Result<bool> RunAddOriginalValue(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    HLO_CHECK_OK(context.CheckInterrupt());
    for (Instruction* inst : c->instructions()) {
      if (inst->extras().origin || !HoldsArrays(inst->shape())) continue;
      if (!context.TakeRewrite()) return changed;
      inst->MutableExtras().origin =
          std::make_shared<const Origin>(OriginOf(inst->name(), inst->shape(), {}));
      changed = true;
    }
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(AddOriginalValue, NoPassOptions);

}  // namespace hlo
