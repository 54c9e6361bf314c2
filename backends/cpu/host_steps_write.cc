#include "backends/cpu/host_steps_binary.h"
#include "ir/binary.h"
#include "ir/op.h"
#include "llvm/ADT/DenseSet.h"

namespace hlo::cpu {
namespace {

/// Larger constants that code has are not written twice. Bytes.
constexpr int64_t kMostKept = 256;

bool IsDynamic(const Value& value) {
  return llvm::any_of(value.leaves, [](const Leaf& leaf) { return leaf.slice.sizes >= 0; });
}

/// A copy that says nothing of where it comes from.
std::unique_ptr<Module> WithoutSources(const Module& module) {
  std::unique_ptr<Module> copy = module.Clone();
  for (const auto& computation : copy->computations()) {
    computation->set_loc({});
    for (Instruction* inst : computation->instructions()) {
      inst->set_loc({});
      inst->set_metadata(nullptr);
    }
  }
  return copy;
}

}  // namespace

std::string ObstacleToHostStep(const Step& step, const ModuleConfig& config) {
  const Instruction& inst = *step.instruction;
  const bool has_code = step.kind == StepKind::Chain && RunnerOf(step).code() >= 0;
  if (!has_code && step.kind != StepKind::Structured && step.kind != StepKind::Product &&
      step.kind != StepKind::Evaluate)
    return RunnerOf(step).Explain();
  if (IsDynamic(step.result) || llvm::any_of(step.operands, IsDynamic)) return "dynamic sizes";
  const OpCategory category = inst.info().category;
  if (category == OpCategory::Async) return "it runs beside others";
  if (category == OpCategory::Communication && !inst.info().Is(kGrouped) &&
      inst.kind() != OpKind::CollectivePermute)
    return "it needs a host";
  if (config.replica_count * config.num_partitions != 1 &&
      (category == OpCategory::Communication || inst.kind() == OpKind::PartitionId ||
       inst.kind() == OpKind::ReplicaId))
    return "it needs several devices";
  return "";
}

std::string WriteHostSteps(const Module& module, llvm::ArrayRef<Buffer> buffers,
                           llvm::ArrayRef<std::pair<int32_t, const Step*>> steps, const gemm::Rates& rates) {
  BinaryWriter writer;
  writer.Text(kHostStepsVersion);
  Archive(writer, const_cast<gemm::Rates&>(rates));
  llvm::DenseSet<const void*> left_out;
  for (const Buffer& buffer : buffers)
    if (buffer.kind == BufferKind::Constant && buffer.size > kMostKept)
      left_out.insert(buffer.source->attr<ConstantAttrs>().literal.get());
  BinaryLiterals literals;
  literals.number_of = [&](const LiteralPtr& literal) -> std::optional<uint64_t> {
    return left_out.contains(literal.get()) ? std::optional(kLeftOut) : std::nullopt;
  };
  writer.Text(ToBinary(*WithoutSources(module), &literals));
  llvm::DenseMap<const Instruction*, uint64_t> numbers;
  for (const Instruction* inst : InstructionsOf(module)) numbers.try_emplace(inst, numbers.size());
  const auto instruction = [&](const Instruction* inst) { writer.Number(numbers.lookup(inst)); };
  writer.Number(steps.size());
  for (auto [number, step] : steps) {
    Archive(writer, number);
    instruction(step->instruction);
    ArchiveStep(writer, const_cast<Step&>(*step));
    // What is wrong was refused before (CheckWays).
    WaysOfParts ways;
    if (step->kind == StepKind::Product)
      if (auto written = WrittenWays(*step->instruction)) ways = *written;
    if (step->kind == StepKind::Chain) {
      const Chain chain = *ChainOf(*step->instruction);
      ChainRows rows{chain, RowsOfBlock(chain)};
      ArchiveChain(writer, rows, instruction);
      ways = {WrittenWay(*chain.first), chain.last != nullptr ? WrittenWay(*chain.last) : nullptr};
    }
    writer.Number(ways.size());
    for (const gemm::Way* way : ways) writer.Text(way != nullptr ? way->name : "");
  }
  return std::move(writer).Take();
}

}  // namespace hlo::cpu
