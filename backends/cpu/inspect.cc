#include "backends/cpu/inspect.h"

#include "backends/cpu/build.h"
#include "backends/cpu/prepare.h"
#include "backends/run_devices.h"

namespace hlo {
namespace {

using cpu::Program;
using cpu::Sequence;
using cpu::Step;

/// Calls `visit` with every step, those of loops and branches behind their own; `path` names these.
void ForEachStep(Sequence& sequence, const std::string& path,
                 llvm::function_ref<void(const Step&, const std::string& path)> visit) {
  for (const auto& step : sequence) {
    visit(*step, path);
    step->ForEachPart([&](llvm::StringRef name, Sequence& part) {
      ForEachStep(part, path + "%" + step->instruction()->name().str() + " " + name.str() + " / ", visit);
    });
  }
}

Result<std::unique_ptr<Program>> Build(const Module& module, const CpuOptions& options) {
  HLO_CHECK_OK(CheckSupported(module, {}));
  HLO_TRY(cpu::Machine machine, cpu::MachineFor(options.cpu, options.features, /*runs_here=*/false));
  std::unique_ptr<Module> copy = module.Clone();
  HLO_CHECK_OK(cpu::Prepare(*copy, options));
  auto jit = std::make_unique<cpu::Jit>(std::move(machine));
  jit->KeepTogether();
  cpu::BuildRecord record;
  return cpu::BuildProgram(std::move(copy), std::move(jit), options, record, /*compile=*/false);
}

}  // namespace

Result<std::string> GenerateCode(const Module& module, const CpuOptions& options, CodeForm form,
                                 KernelFilter wanted) {
  HLO_TRY(const auto program, Build(module, options));
  std::map<int32_t, std::string> headings;
  ForEachStep(program->entry, "", [&](const Step& step, const std::string&) {
    if (step.code() < 0) return;
    std::string& heading = headings[step.code()];
    heading += (heading.empty() ? "%" : ", %") + step.instruction()->name().str();
  });
  std::map<int32_t, std::string> chosen;
  ForEachStep(program->entry, "", [&](const Step& step, const std::string&) {
    if (step.code() < 0) return;
    if (wanted(step.instruction()->name()) || wanted("k" + std::to_string(step.code())))
      chosen[step.code()] = headings[step.code()];
  });
  return program->jit->Print(form, chosen);
}

Result<std::string> ExplainCode(const Module& module, const CpuOptions& options, KernelFilter wanted) {
  HLO_TRY(const auto program, Build(module, options));
  std::string text;
  llvm::raw_string_ostream os(text);
  ForEachStep(program->entry, "", [&](const Step& step, const std::string& path) {
    const Instruction& inst = *step.instruction();
    if (!wanted(inst.name())) return;
    os << path << '%' << inst.name() << " = " << ToString(inst.shape(), /*with_layout=*/false) << ' '
       << inst.info().text << ": " << step.Explain() << '\n';
  });
  return text;
}

}  // namespace hlo
