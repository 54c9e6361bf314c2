#include "backends/cpu/kernel_table.h"

#include "backends/compile/tiers.h"
#include "backends/cpu/kernel_target.h"
#include "backends/kernel/parse.h"
#include "backends/llvm/emit_kernel.h"

namespace hlo::cpu {

Status KernelTable::Check(const kernel::Kernel& kernel) const { return codegen::CheckKernel(kernel); }

int64_t KernelTable::Grain(const kernel::Kernel& kernel) const { return codegen::ParallelGrain(kernel); }

Status KernelTable::Interpret(KernelEntry& entry) {
  HLO_TRY(tile::Program program, tile::Program::Make(entry.kernel));
  entry.program = std::make_unique<tile::Program>(std::move(program));
  entry.interpreted = true;
  return {};
}

Status KernelTable::Add(compile::ProgramKernel kernel) {
  HLO_TRY(const int32_t number, Add(std::move(kernel.kernel)));
  KernelEntry& entry = At(number);
  entry.why = std::move(kernel.why);
  return kernel.interpreted ? Interpret(entry) : Status();
}

Status KernelTable::ChooseTiers(const compile::Program& program, const CpuOptions& options) {
  const bool asked = !options.cpu.empty() || !options.features.empty();  // for code of a certain kind
  const bool forced = options.tier == Tier::Interpret;
  if (options.tier == Tier::Compile) return {};
  if (!forced && (asked || options.executions >= CpuOptions::kManyExecutions)) return {};
  const auto time = [&](size_t number) -> Result<double> {
    KernelEntry& entry = entries_[number];
    HLO_CHECK_OK(Interpret(entry));
    return entry.program->Nanoseconds();
  };
  HLO_TRY(auto choices, compile::ChooseTiers(program, size(), CpuMachine().interpreting,
                                             {.executions = options.executions, .interpret = forced}, time));
  for (size_t i = 0; i < size(); ++i) {
    KernelEntry& entry = entries_[i];
    entry.interpreted = choices[i].interpreted;
    entry.why = std::move(choices[i].why);
    if (!entry.interpreted) entry.program = nullptr;
  }
  return {};
}

bool KernelTable::Restore(int32_t compiled, llvm::StringRef text, std::string why) {
  KernelEntry& entry = entries_.emplace_back();
  entry.compiled = compiled;
  entry.why = std::move(why);
  if (compiled >= 0) return true;
  auto kernel = kernel::ParseKernel(text);
  if (!kernel) return false;
  entry.kernel = std::move(*kernel);
  return Interpret(entry).has_value();
}

void KernelTable::Link(const Jit& jit) {
  for (KernelEntry& entry : entries_)
    if (entry.compiled >= 0) entry.function = jit.Function(entry.compiled);
}

}  // namespace hlo::cpu
