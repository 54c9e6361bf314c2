// The stages of hlo-opt behind HLO: kernels, LLVM IR, assembly, objects.
#include "tools/opt_output.h"

namespace hlo {

Status PrintCode(llvm::raw_ostream& os, const Module& module, const OptOptions& options) {
  CpuOptions cpu;
  cpu.optimization_level = static_cast<int>(options.passes.level.value_or(2));
  cpu.fast_math = options.passes.fast_math;
  cpu.cpu = options.mcpu;
  cpu.features = options.mattr;
  const auto wanted = [&](llvm::StringRef name) { return !options.kernel || options.kernel->Matches(name); };
  if (options.code == CodeForm::Object && os.is_displayed())
    return Error("usage-option", {}, "binary output is not written to a terminal; -o names a file");
  HLO_TRY(const std::string text,
          options.code ? GenerateCode(module, cpu, *options.code, wanted) : ExplainCode(module, cpu, wanted));
  os << text;
  return {};
}

}  // namespace hlo
