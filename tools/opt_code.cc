// The stages of hlo-opt behind HLO: kernels, LLVM IR, assembly, objects.
#include "tools/opt_output.h"
#include "tools/opt_passes.h"

namespace hlo {

Status PrintCode(llvm::raw_ostream& os, const Module& module, const OptOptions& options) {
  CpuOptions cpu;
  cpu.optimization_level = static_cast<int>(options.passes.level.value_or(2));
  HLO_TRY(const PassRunner passes, PassRunner::Make(options));
  cpu.selection = passes.selection();
  cpu.controls = passes.BaseControls();
  cpu.cpu = options.mcpu;
  cpu.features = options.mattr;
  // Code that is looked at is all there; --explain-codegen also tells what one run of hlo-run would do.
  cpu.tier = options.code ? Tier::Compile : options.tier;
  cpu.executions = 1;
  const auto wanted = [&](llvm::StringRef name) { return !options.kernel || options.kernel->Matches(name); };
  if (options.code == CodeForm::Object && os.is_displayed())
    return Error("usage-option", {}, "binary output is not written to a terminal; -o names a file");
  HLO_TRY(const std::string text, options.code
                                      ? GenerateCode(module, cpu, *options.code, wanted, options.debug_lines)
                                      : ExplainCode(module, cpu, wanted));
  os << text;
  return {};
}

}  // namespace hlo
