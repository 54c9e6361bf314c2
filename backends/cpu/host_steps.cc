#include "backends/cpu/host_steps.h"

#include "backends/cpu/host_steps_binary.h"
#include "ir/binary.h"

namespace hlo::cpu {

HostArrays ArraysOf(const Step& step) {
  HostArrays arrays;
  for (const Value& operand : step.operands)
    for (const Leaf& leaf : operand.leaves) arrays.slices.push_back(leaf.slice);
  arrays.results = arrays.slices.size();
  for (const Leaf& leaf : step.result.leaves) arrays.slices.push_back(leaf.written ? leaf.slice : Slice{});
  return arrays;
}

std::unique_ptr<HostSteps> ReadHostSteps(llvm::StringRef bytes) {
  BinaryReader reader(bytes);
  if (reader.Text() != kHostStepsVersion) return nullptr;
  auto steps = std::make_unique<HostSteps>();
  Archive(reader, steps->rates);
  BinaryLiterals literals;
  literals.by_number = [](uint64_t) { return std::make_shared<const Literal>(); };
  steps->module = FromBinary(reader.Text(), {}, &literals);
  if (steps->module == nullptr) return nullptr;
  const std::vector<const Instruction*> all = InstructionsOf(*steps->module);
  const auto instruction = [&](const Instruction*& inst) {
    const uint64_t number = reader.Number(all.size());
    inst = reader.failed() ? nullptr : all[number];
  };
  for (size_t left = reader.Count(); left > 0 && !reader.failed(); --left) {
    HostSteps::Row& row = steps->rows.emplace_back();
    Archive(reader, row.number);
    row.step = std::make_unique<Step>();
    instruction(row.step->instruction);
    if (reader.failed()) return nullptr;
    ArchiveStep(reader, *row.step);
    if (row.step->kind == StepKind::Chain) ArchiveChain(reader, row.chain.emplace(), instruction);
    for (size_t ways = reader.Count(); ways > 0; --ways) row.ways.push_back(gemm::WayNamed(reader.Text()));
  }
  return reader.failed() ? nullptr : std::move(steps);
}

}  // namespace hlo::cpu
