// The form of host steps as bytes, for both ways.
#pragma once
#include "backends/compile/program_binary.h"
#include "backends/cpu/host_steps.h"

namespace hlo::compile {
HLO_BINARY_MEMBERS(FusedRows, v.count, v.input, v.input_row, v.result_row, v.unit)
}  // namespace hlo::compile

namespace hlo::gemm {
HLO_BINARY_MEMBERS(Rates, v.cycles_per_ns, v.vectors, v.pairs, v.fours, v.pairs_of_tiles, v.fours_of_tiles)
}  // namespace hlo::gemm

namespace hlo::cpu {

/// Begins the bytes; changes with their form.
inline constexpr llvm::StringLiteral kHostStepsVersion = "hlo.aot/" HLO_VERSION "/2";
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
  if (step.kind == StepKind::Chain) Archive(a, step.call);
}

/// `instruction` writes or reads the number of one.
template <class A>
void ArchiveChain(A& a, ChainRows& rows, llvm::function_ref<void(const Instruction*&)> instruction) {
  bool has_last = rows.chain.last != nullptr;
  Archive(a, has_last);
  instruction(rows.chain.first);
  instruction(rows.chain.middle);
  if (has_last) instruction(rows.chain.last);
  ArchiveAll(a, rows.chain.rows, rows.block);
}

}  // namespace hlo::cpu
