// shape-canonicalizer: equal shapes become one object (passes.md §2.1).
//
// Requires nothing. Preserves everything.
// Changes: memory and the time of comparisons only; no module looks different afterwards, so it never reports
// a change.
#include <unordered_set>

#include "passes/pass.h"

namespace hlo {
namespace {

Result<bool> RunShapeCanonicalizer(Module& module, const NoPassOptions&, PassContext& context) {
  const auto hash = [](const Shape& shape) { return static_cast<size_t>(hash_value(shape)); };
  std::unordered_set<Shape, decltype(hash)> shapes(0, hash);
  for (Computation* c : context.AllComputations(module)) {
    HLO_CHECK_OK(context.CheckInterrupt());
    for (Instruction* inst : c->instructions()) inst->set_shape(*shapes.insert(inst->shape()).first);
  }
  return false;
}

}  // namespace

HLO_DEFINE_PASS(ShapeCanonicalizer, NoPassOptions);

}  // namespace hlo
