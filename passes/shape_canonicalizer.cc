#include "passes/shape_canonicalizer.h"

#include <unordered_set>

namespace hlo {

Result<bool> RunShapeCanonicalizer(Module& module, const NoPassOptions&, PassContext& context) {
  const auto hash = [](const Shape& shape) { return static_cast<size_t>(hash_value(shape)); };
  std::unordered_set<Shape, decltype(hash)> shapes(0, hash);
  for (Computation* c : context.AllComputations(module)) {
    HLO_CHECK_OK(context.CheckInterrupt());
    for (Instruction* inst : c->instructions()) inst->set_shape(*shapes.insert(inst->shape()).first);
  }
  return false;
}

HLO_DEFINE_PASS(ShapeCanonicalizer, NoPassOptions);

}  // namespace hlo
