#include "backends/compile/tuple_levels.h"

namespace hlo::compile {
namespace {

/// Every level of a tuple is a place of its own in all that knows where values lie, and taking such a tuple
/// apart makes as many instructions with as many levels each: 4096 of them take four gigabytes.
constexpr int64_t kMostTupleLevels = 4096;

int64_t TupleLevels(const Shape& shape) {
  int64_t deepest = 0;
  std::vector<std::pair<const Shape*, int64_t>> stack = {{&shape, 0}};
  while (!stack.empty()) {
    const auto [at, levels] = stack.back();
    stack.pop_back();
    deepest = std::max(deepest, levels);
    if (!at->IsTuple()) continue;
    for (const Shape& element : at->tuple_shapes()) stack.emplace_back(&element, levels + 1);
  }
  return deepest;
}

}  // namespace

Status CheckTupleLevels(const Module& module) {
  for (const auto& computation : module.computations())
    for (const Instruction* inst : computation->instructions()) {
      if (!inst->shape().IsTuple()) continue;
      if (const int64_t levels = TupleLevels(inst->shape()); levels > kMostTupleLevels)
        return Error("limit-nesting", inst->loc(),
                     "the tuple of {0} has {1} levels, compiled it may have {2}", ("%" + inst->name()).str(),
                     levels, kMostTupleLevels);
    }
  return {};
}

}  // namespace hlo::compile
