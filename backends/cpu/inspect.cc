#include "backends/cpu/inspect.h"

#include "backends/cpu/build.h"
#include "backends/cpu/prepare.h"
#include "backends/run_devices.h"
#include "ir/print.h"
#include "ir/support/line_table.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace hlo {
namespace {

using cpu::CodeNote;
using cpu::Program;
using cpu::Sequence;
using cpu::Step;

/// Calls `visit` with every step, those of loops and branches behind their own; `path` names these.
void ForEachStep(const Sequence& sequence, const std::string& path,
                 llvm::function_ref<void(const Step&, const std::string& path)> visit) {
  for (const auto& step : sequence) {
    visit(*step, path);
    for (size_t i = 0; i < step->parts.size(); ++i)
      ForEachStep(step->parts[i],
                  path + "%" + step->instruction->name().str() + " " + step->PartName(i) + " / ", visit);
  }
}

Result<std::unique_ptr<Program>> Build(const Module& module, const CpuOptions& options) {
  HLO_CHECK_OK(CheckSupported(module, {}));
  HLO_TRY(cpu::Machine machine, cpu::MachineFor(options.cpu, options.features, /*runs_here=*/false));
  std::unique_ptr<Module> copy = module.Clone();
  auto jit = std::make_unique<cpu::Jit>(std::move(machine));
  jit->KeepTogether();
  if (options.program.exists())
    return cpu::ReadProgram(std::move(copy), std::move(jit), options.program, /*compile=*/false);
  HLO_CHECK_OK(cpu::Prepare(*copy, options));
  return cpu::BuildProgram(std::move(copy), std::move(jit), options, /*compile=*/false);
}

/// Which steps compute what stands at a place of the text; what has none goes by its name.
class Whereabouts {
 public:
  /// What the step `label` computes: its instruction and, in place of a fusion or a reduction, its parts.
  void Add(const Instruction& step, const std::string& label) {
    llvm::SmallVector<const Instruction*, 8> pending = {&step};
    llvm::SmallDenseSet<const Computation*, 4> seen;
    while (!pending.empty()) {
      const Instruction& inst = *pending.pop_back_val();
      if (inst.kind() != OpKind::Parameter) {
        std::vector<std::string>& labels = labels_[KeyOf(inst)];
        if (labels.empty() || labels.back() != label) labels.push_back(label);
      }
      // Loops, branches and calls have steps for their parts.
      if (inst.kind() == OpKind::While || inst.kind() == OpKind::Conditional || inst.kind() == OpKind::Call)
        continue;
      for (const Computation* callee : inst.callees())
        if (seen.insert(callee).second)
          for (const Instruction* part : callee->instructions()) pending.push_back(part);
    }
  }

  /// The steps, or why there are none.
  [[nodiscard]] std::string Of(const Instruction& inst, const llvm::StringSet<>& kept) const {
    const auto it = labels_.find(KeyOf(inst));
    if (it == labels_.end()) return kept.contains(KeyOf(inst)) ? "no code" : "removed or replaced by passes";
    constexpr size_t kShown = 4;
    const llvm::ArrayRef<std::string> labels = it->second;
    std::string text = "in " + llvm::join(labels.take_front(kShown), ", ");
    if (labels.size() > kShown) text += llvm::formatv(" and {0} more", labels.size() - kShown).str();
    return text;
  }

  static std::string KeyOf(const Instruction& inst) {
    return inst.loc().valid() ? "@" + std::to_string(inst.loc().begin) : inst.name().str();
  }

 private:
  llvm::StringMap<std::vector<std::string>> labels_;
};

/// Where the instructions of the module went that are no steps of their own.
void ExplainOthers(const Module& module, Program& program, const KernelFilter& wanted,
                   llvm::raw_ostream& os) {
  Whereabouts places;
  llvm::StringSet<> steps, kept;
  ForEachStep(program.entry, "", [&](const Step& step, const std::string& path) {
    const Instruction& inst = *step.instruction;
    steps.insert(Whereabouts::KeyOf(inst) + " " + inst.name().str());
    places.Add(inst, path + "%" + inst.name().str());
  });
  for (const auto& computation : program.module->computations())
    for (const Instruction* inst : computation->instructions()) kept.insert(Whereabouts::KeyOf(*inst));
  bool heading = false;
  for (const Computation* computation : module.PostOrder())
    for (const Instruction* inst : computation->instructions()) {
      if (!wanted(inst->name()) || steps.contains(Whereabouts::KeyOf(*inst) + " " + inst->name().str()))
        continue;
      if (!std::exchange(heading, true)) os << "instructions without steps of their own:\n";
      os << "  %" << inst->name() << ' ' << inst->info().text << ": " << places.Of(*inst, kept) << '\n';
    }
}

std::string TextOf(const Program& program) {
  std::string text;
  llvm::raw_string_ostream os(text);
  PrintProgram(os, program, program.kernels.Texts());
  PrintOptions print = PrintOptions::ModuleDump();
  print.max_constant_elements = -1;
  Print(os, *program.module, print);
  return text;
}

}  // namespace

Result<std::string> GenerateCode(const Module& module, const CpuOptions& options, CodeForm form,
                                 KernelFilter wanted, bool lines) {
  HLO_TRY(const auto program, Build(module, options));
  if (form == CodeForm::Program) return TextOf(*program);
  LineTable table;
  std::map<int32_t, CodeNote> all, chosen;
  ForEachStep(program->entry, "", [&](const Step& step, const std::string&) {
    const int32_t code = cpu::RunnerOf(step).code();
    if (code < 0) return;
    const Instruction& inst = *step.instruction;
    CodeNote& note = all[code];
    note.heading += (note.heading.empty() ? "%" : ", %") + inst.name().str();
    if (!note.name.empty()) return;
    note.name = inst.name().str();
    note.line = table.Line(inst.loc());
    if (note.line == 0) return;
    note.file = inst.loc().source->name().str();
    const llvm::StringRef before = inst.loc().source->text().take_front(inst.loc().begin);
    note.column = static_cast<int64_t>(before.size() - (before.rfind('\n') + 1)) + 1;
  });
  ForEachStep(program->entry, "", [&](const Step& step, const std::string&) {
    const int32_t code = cpu::RunnerOf(step).code();
    if (code >= 0 && (wanted(step.instruction->name()) || wanted("k" + std::to_string(code))))
      chosen[code] = all[code];
  });
  return program->jit->Print(form, chosen, lines);
}

Result<std::string> ExplainCode(const Module& module, const CpuOptions& options, KernelFilter wanted) {
  HLO_TRY(const auto program, Build(module, options));
  std::string text;
  llvm::raw_string_ostream os(text);
  ForEachStep(program->entry, "", [&](const Step& step, const std::string& path) {
    const Instruction& inst = *step.instruction;
    if (!wanted(inst.name())) return;
    os << path << '%' << inst.name() << " = " << ToString(inst.shape(), /*with_layout=*/false) << ' '
       << inst.info().text << ": " << cpu::RunnerOf(step).Explain() << '\n'
       << cpu::RunnerOf(step).ExplainChoice();
  });
  ExplainOthers(module, *program, wanted, os);
  return text;
}

}  // namespace hlo
