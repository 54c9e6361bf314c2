// The form of host steps as bytes, for both ways.
#pragma once
#include "backends/cpu/host_steps.h"
#include "ir/support/binary.h"

namespace hlo {
template <>
inline constexpr uint64_t kEnumerators<compile::StepKind> = std::size(compile::kStepKinds);
}  // namespace hlo

namespace hlo::compile {
HLO_BINARY_MEMBERS(Slice, v.buffer, v.sizes, v.offset, v.size)
}  // namespace hlo::compile

namespace hlo::gemm {
HLO_BINARY_MEMBERS(Rates, v.cycles_per_ns, v.vectors, v.pairs, v.fours, v.pairs_of_tiles, v.fours_of_tiles)
}  // namespace hlo::gemm

namespace hlo::cpu {

/// Begins the bytes; changes with their form.
inline constexpr llvm::StringLiteral kHostStepsVersion = "hlo.aot/" HLO_VERSION "/1";
/// The number of a constant that is left out.
inline constexpr uint64_t kLeftOut = 0;

/// All instructions of a module, in the order of the text.
inline std::vector<const Instruction*> InstructionsOf(const Module& module) {
  std::vector<const Instruction*> all;
  for (const auto& computation : module.computations())
    for (const Instruction* inst : computation->instructions()) all.push_back(inst);
  return all;
}

/// Where the arrays of a value lie; what they are follows from its shape.
template <class A>
void ArchiveValue(A& a, Value& value, const Shape& shape) {
  if constexpr (A::kReads) {
    value.shape = shape;
    ForEachLeaf(shape, [&](const ShapeIndex&, const Shape& leaf) { value.leaves.push_back({leaf, {}}); });
  }
  for (Leaf& leaf : value.leaves) ArchiveAll(a, leaf.slice, leaf.written, leaf.aligned);
}

/// All of a step but its instruction.
template <class A>
void ArchiveStep(A& a, Step& step) {
  Archive(a, step.kind);
  if constexpr (A::kReads) step.operands.resize(static_cast<size_t>(step.instruction->operand_count()));
  for (size_t i = 0; i < step.operands.size(); ++i)
    ArchiveValue(a, step.operands[i], step.instruction->operand(static_cast<int64_t>(i))->shape());
  ArchiveValue(a, step.result, step.instruction->shape());
}

}  // namespace hlo::cpu
