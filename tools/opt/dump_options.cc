#include "tools/opt/dump_options.h"

#include <cstdlib>

namespace hlo {
namespace {

struct FormFlag {
  bool PassRunOptions::* flag;
  ModuleForm form;
};
constexpr FormFlag kFormFlags[] = {{&PassRunOptions::dump_text, ModuleForm::Text},
                                   {&PassRunOptions::dump_proto, ModuleForm::Proto},
                                   {&PassRunOptions::dump_dot, ModuleForm::Dot},
                                   {&PassRunOptions::dump_html, ModuleForm::Html}};

Result<std::vector<ModuleForm>> Forms(const PassRunOptions& passes) {
  std::vector<ModuleForm> forms;
  auto add = [&](ModuleForm form) {
    if (!llvm::is_contained(forms, form)) forms.push_back(form);
  };
  for (const llvm::StringRef word : passes.dump_as.items) {
    const ModuleFormInfo* info = FindModuleForm(word);
    if (!info) {
      std::vector<llvm::StringRef> words;
      for (const ModuleFormInfo& known : AllModuleForms()) words.push_back(known.word);
      return UnknownWord({"--dump-as", word}, words);
    }
    add(info->form);
  }
  for (const FormFlag& row : kFormFlags)
    if (passes.*row.flag) add(row.form);
  if (passes.dump_url)
    return Error("unavailable-feature", {},
                 "dumps as url need a drawing service, and there is none; --dump-as=html makes a file");
  if (passes.dump_riegeli)
    return Error("unavailable-feature", {}, "dumps as riegeli are not written; --dump-as=proto is");
  if (forms.empty()) forms.push_back(ModuleForm::Text);
  return forms;
}

/// The folder that an option names.
Result<std::string> Folder(const std::string& to) {
  if (to.empty()) return std::string("-");  // as in XLA: a dump option without a folder
  if (to != "sponge") return to;
  const char* folder = std::getenv("TEST_UNDECLARED_OUTPUTS_DIR");
  if (folder == nullptr || *folder == '\0')
    return Error("usage-option", {}, "option '--dump-to=sponge' needs $TEST_UNDECLARED_OUTPUTS_DIR");
  return std::string(folder);
}

}  // namespace

Result<DumpOptions> MakeDumpOptions(const OptOptions& options, const CommandLine& command_line) {
  const PassRunOptions& passes = options.passes;
  DumpOptions dumps;
  const bool any = !passes.dump_as.items.empty() || passes.dump_pass_re || passes.dump_module_re ||
                   passes.dump_pipeline_re || passes.dump_url || passes.dump_riegeli ||
                   llvm::any_of(kFormFlags, [&](const FormFlag& row) { return passes.*row.flag; });
  if ((passes.dump_to.empty() && !any) || !passes.dump_enabled) return dumps;
  HLO_TRY(dumps.to, Folder(passes.dump_to));
  HLO_TRY(dumps.forms, Forms(passes));
  for (const ModuleForm form : dumps.forms)
    if (dumps.to == "-" && Info(form).binary)
      return Error("usage-option", {}, "dumps as {0} are binary and need a folder: --dump-to=DIR",
                   Info(form).word);
  dumps.pass = passes.dump_pass_re;
  dumps.pipeline = passes.dump_pipeline_re;
  dumps.module = passes.dump_module_re;
  dumps.unchanged = passes.dump_unchanged;
  dumps.timestamp = passes.dump_timestamp;
  dumps.max_modules = passes.dump_max_modules;
  dumps.compress = passes.dump_compress;
  dumps.subfolder = passes.dump_subfolder;
  dumps.metadata = passes.dump_metadata;
  dumps.config = passes.dump_config;
  dumps.fusion_visualization = passes.dump_fusion_visualization;
  dumps.stem = options.platform == OptPlatform::Cpu   ? "cpu_"
               : options.platform == OptPlatform::Gpu ? "gpu_"
                                                      : "";
  dumps.print = MakePrintOptions(options, /*terminal=*/false);
  if (!passes.dump_large_constants && !options.large_constants) dumps.print.max_constant_elements = 10;
  for (const auto& [name, value] : command_line.options)
    dumps.options_text += (name + ": " + value + "\n").str();
  return dumps;
}

}  // namespace hlo
