#include "backends/cpu/kernel_table.h"

#include "backends/kernel/parse.h"
#include "backends/llvm/emit_kernel.h"

namespace hlo::cpu {

Status KernelTable::Check(const kernel::Kernel& kernel) const { return codegen::CheckKernel(kernel); }

int64_t KernelTable::Grain(const kernel::Kernel& kernel) const { return codegen::ParallelGrain(kernel); }

Result<int32_t> KernelTable::Add(kernel::Kernel kernel) {
  HLO_CHECK_OK(Check(kernel));
  entries_.emplace_back().kernel = std::move(kernel);
  return static_cast<int32_t>(entries_.size()) - 1;
}

Status KernelTable::Add(compile::ProgramKernel kernel) {
  HLO_TRY(const int32_t number, Add(std::move(kernel.kernel)));
  KernelEntry& entry = At(number);
  entry.why = std::move(kernel.why);
  if (!kernel.interpreted) return {};
  HLO_TRY(tile::Program program, tile::Program::Make(entry.kernel));
  entry.program = std::make_unique<tile::Program>(std::move(program));
  return {};
}

Status KernelTable::Compile(Jit& jit, llvm::function_ref<Status(int32_t)> check, int32_t& broken) {
  broken = 0;
  for (KernelEntry& entry : entries_) {
    if (keeps_texts_) entry.text = ToString(entry.kernel);
    if (entry.program == nullptr) {
      HLO_CHECK_OK(check(broken));
      HLO_TRY(entry.compiled, jit.Add(std::move(entry.kernel)));
    }
    ++broken;
  }
  return {};
}

bool KernelTable::Restore(int32_t compiled, llvm::StringRef text, std::string why) {
  KernelEntry& entry = entries_.emplace_back();
  entry.compiled = compiled;
  entry.why = std::move(why);
  if (compiled >= 0) return true;
  const auto kernel = kernel::ParseKernel(text);
  if (!kernel) return false;
  auto program = tile::Program::Make(*kernel);
  if (program) entry.program = std::make_unique<tile::Program>(std::move(*program));
  return entry.program != nullptr;
}

void KernelTable::Link(const Jit& jit) {
  for (KernelEntry& entry : entries_)
    if (entry.compiled >= 0) entry.function = jit.Function(entry.compiled);
}

}  // namespace hlo::cpu
