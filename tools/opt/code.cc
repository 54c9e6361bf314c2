// The stages of hlo-opt behind HLO: kernels, LLVM IR, assembly, objects, functions of C.
#include "backends/cpu/ahead_of_time.h"
#include "backends/gpu/compile/inspect.h"
#include "backends/gpu/runtime/compile.h"
#include "tools/opt/output.h"

namespace hlo {
namespace {

Result<std::string> CodeOfGpu(const Module& module, const CpuOptions& cpu, const OptOptions& options,
                              KernelFilter wanted) {
  GpuOptions gpu;
  HLO_TRY(gpu.target, gpu::FindTarget(options.gpu_target));
  gpu.run_passes = [&](Module& copy) { return cpu.run_passes(copy, cpu.pipeline); };
  return GenerateGpuCode(module, gpu, options.gpu_code, wanted);
}

Result<std::string> ExplainGpu(const Module& module, const CpuOptions& cpu, const OptOptions& options,
                               KernelFilter wanted) {
  GpuRunOptions gpu;
  HLO_TRY(gpu.target, gpu::FindTarget(options.gpu_target));
  gpu.run_passes = [&](Module& copy) { return cpu.run_passes(copy, cpu.pipeline); };
  if (options.passes.strict_fp) gpu.libraries = {gpu::LibraryOptions::Use::Off, "", "--strict-fp"};
  return ExplainGpuCode(module, gpu, wanted);
}

Result<std::string> CodeOf(const Module& module, const CpuOptions& cpu, const OptOptions& options,
                           KernelFilter wanted) {
  if (options.platform == OptPlatform::Gpu && !options.code && options.explain_codegen)
    return ExplainGpu(module, cpu, options, wanted);
  if (options.platform == OptPlatform::Gpu) return CodeOfGpu(module, cpu, options, wanted);
  if (!options.code) return ExplainCode(module, cpu, wanted);
  return GenerateCode(module, cpu, *options.code, wanted, options.debug_lines);
}

}  // namespace

Status PrintCode(llvm::raw_ostream& os, const Module& module, CpuOptions cpu, const OptOptions& options) {
  cpu.force_path = options.force_path.name;
  if (options.code == CodeForm::Header) {
    cpu.host = options.host();
    AheadOfTimeCompiler compiler;
    HLO_CHECK_OK(compiler.Add(module, cpu, options.entry_name.empty() ? "" : options.entry_name.front()));
    HLO_TRY(const AheadOfTime code, compiler.Finish());
    os << code.header;
    return {};
  }
  // Code that is looked at is all there; --explain-codegen and programs also tell what one run of hlo-run
  // would do.
  const bool as_run = !options.code || options.code == CodeForm::Program;
  cpu.tier = as_run ? options.tier : Tier::Compile;
  cpu.executions = 1;
  bool found = !options.kernel;
  std::string names;  // of the first, for the message
  const auto wanted = [&](llvm::StringRef name) {
    const bool matches = !options.kernel || options.kernel->Matches(name);
    if (!found && !matches && names.size() < 60) names += (names.empty() ? "" : ", ") + name.str();
    found |= matches;
    return matches;
  };
  const bool binary = options.code
                          ? options.code == CodeForm::Object
                          : options.platform == OptPlatform::Gpu && options.gpu_code == GpuCodeForm::Cubin;
  if (binary && os.is_displayed())
    return Error("usage-option", {}, "binary output is not written to a terminal; -o names a file");
  HLO_TRY(const std::string text, CodeOf(module, cpu, options, wanted));
  if (!found)
    return Error("usage-name", {}, "option '--kernel': no kernel and no instruction matches '{0}'{1}{2}",
                 options.kernel->pattern(), names.empty() ? "" : "; there are ", names);
  os << text;
  return {};
}

Status WriteAheadOfTime(AheadOfTimeCompiler& compiler, const OptOptions& options,
                        llvm::ArrayRef<std::string> inputs) {
  HLO_TRY(const AheadOfTime code, compiler.Finish());
  std::vector<std::pair<const char*, const std::string*>> parts = {
      {".o", &code.object}, {".h", &code.header}, {".json", &code.description}};
  if (options.aot_weights) parts.emplace_back(".weights", &code.weights);
  // All of them or none.
  std::vector<OutputFile> files;
  for (const auto& [extension, text] : parts) {
    HLO_TRY(OutputFile file, OutputFile::Open(options.aot + extension, llvm::nulls(), inputs));
    file.stream() << *text;
    HLO_CHECK_OK(file.Close());
    files.push_back(std::move(file));
  }
  for (OutputFile& file : files) HLO_CHECK_OK(file.Commit());
  return {};
}

}  // namespace hlo
