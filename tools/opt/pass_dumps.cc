#include "tools/opt/pass_dumps.h"

#include <unistd.h>

#include <chrono>

#include "llvm/ADT/StringExtras.h"
#include "tools/common/gzip.h"
#include "tools/common/output_file.h"
#include "tools/opt/dump_records.h"

namespace hlo {
namespace {

constexpr size_t kLongestName = 255;  // beyond, the module's name is left out

/// What may stand in a file name; everything else becomes `_`.
std::string Sanitized(llvm::StringRef name) {
  std::string clean = name.str();
  for (char& c : clean)
    if (!llvm::isAlnum(c) && c != '-' && c != '.' && c != '_') c = '_';
  return clean;
}

/// At least four digits.
std::string Digits(int64_t number) {
  const std::string text = std::to_string(number);
  return std::string(4 - std::min<size_t>(4, text.size()), '0') + text;
}

/// The innermost named list of the path `simplify/fix`.
std::string PipelineName(llvm::StringRef path) {
  llvm::SmallVector<llvm::StringRef> names;
  path.split(names, '/', -1, /*KeepEmpty=*/false);
  for (const llvm::StringRef name : llvm::reverse(names))
    if (name != "fix") return name.str();
  return "passes";
}

int64_t Microseconds(std::chrono::system_clock::duration time) {
  return std::chrono::duration_cast<std::chrono::microseconds>(time).count();
}

std::string HostAndProcess() {
  char host[256] = "localhost";
  (void)gethostname(host, sizeof(host) - 1);
  return Sanitized(host) + "_" + std::to_string(getpid());
}

}  // namespace

bool PassDumps::Wanted(const Module& module) const {
  if (options_.to.empty() || (options_.max_modules >= 0 && number_ > options_.max_modules)) return false;
  return !options_.module || options_.module->Matches(module.name());
}

std::string PassDumps::Folder(const Module& module) const {
  return options_.subfolder ? options_.to + "/" + Sanitized(module.name()) + "/" + HostAndProcess()
                            : options_.to;
}

Status PassDumps::WriteFileOrStdout(const Module& module, const std::string& suffix,
                                    llvm::StringRef extension, llvm::StringRef text) {
  std::string time;
  if (options_.timestamp)
    time = std::to_string(Microseconds(std::chrono::system_clock::now().time_since_epoch())) + ".";
  const std::string number = time + "module_" + Digits(number_) + ".";
  const std::string end = suffix + (suffix.empty() ? "" : ".") + extension.str();
  std::string name = number + Sanitized(module.name()) + "." + end;
  if (name.size() > kLongestName) name = number + end;
  if (options_.to == "-") {
    standard_output_ << "*** Begin " << name << " ***\n" << text << "*** End " << name << " ***\n";
    return {};
  }
  if (!records_.empty()) records_.back().files.push_back(name);
  return WriteFile(Folder(module) + "/" + name, text, standard_output_);
}

Status PassDumps::WriteForm(const Module& module, const std::string& suffix, ModuleForm form,
                            const FormOptions& options) {
  std::string text;
  llvm::raw_string_ostream os(text);
  HLO_CHECK_OK(WriteModule(os, module, form, options));
  const bool compress = options_.compress && Info(form).binary;
  if (compress) text = Gzipped(text);
  return WriteFileOrStdout(module, suffix, (Info(form).extension + (compress ? ".gz" : "")).str(), text);
}

Status PassDumps::Write(const Module& module, const std::string& suffix) {
  FormOptions options;
  options.print = options_.print;
  for (const ModuleForm form : options_.forms) HLO_CHECK_OK(WriteForm(module, suffix, form, options));
  return {};
}

Status PassDumps::WriteReport(const Module& module, llvm::StringRef name, llvm::StringRef text) {
  return WriteFileOrStdout(module, options_.stem + "after_optimizations-" + name.str(), "txt", text);
}

Status PassDumps::BeforePipeline(const Module& module) {
  if (!Wanted(module)) return {};
  if (options_.config) {
    HLO_CHECK_OK(WriteFileOrStdout(module, "", "config.pbtxt", ConfigText(module)));
    if (!options_.options_text.empty())
      HLO_CHECK_OK(WriteFileOrStdout(module, "", "debug_options", options_.options_text));
  }
  const int64_t now = Microseconds(std::chrono::system_clock::now().time_since_epoch());
  records_.push_back({"pipeline-start", "", false, now, now, {}, {}});
  return Write(module, "before_optimizations");
}

Status PassDumps::Between(const Module& module, llvm::StringRef next, const std::string& pipeline) {
  const bool fuses = options_.fusion_visualization &&
                     (llvm::StringRef(last_pass_).contains("fusion") || next.contains("fusion"));
  bool wanted = options_.pass && (!options_.pipeline || options_.pipeline->Matches(pipeline)) &&
                (options_.pass->Matches(last_pass_) || options_.pass->Matches(next));
  if (wanted && !last_changed_ && !options_.unchanged && options_.pass->pattern() == ".*") wanted = false;
  if (!Wanted(module) || (!wanted && !fuses)) return {};
  const std::string suffix = Digits(step_++) + "." + Sanitized(pipeline) + ".after_" + Sanitized(last_pass_) +
                             ".before_" + Sanitized(next);
  if (fuses && (!wanted || !llvm::is_contained(options_.forms, ModuleForm::Dot))) {
    FormOptions form;
    form.print = options_.print;
    HLO_CHECK_OK(WriteForm(module, suffix, ModuleForm::Dot, form));
  }
  return wanted ? Write(module, suffix) : Status();
}

Status PassDumps::BeforePass(const Module& module, const PassExecution& execution) {
  const std::string pipeline = PipelineName(execution.pipeline);
  if (pipeline != last_pipeline_) {
    if (!last_pipeline_.empty()) HLO_CHECK_OK(Between(module, "pipeline-end", last_pipeline_));
    last_pass_ = "pipeline-start";
    last_pipeline_ = pipeline;
    last_changed_ = true;
  }
  return Between(module, execution.pass->name, pipeline);
}

Status PassDumps::AfterPass(const Module& module, const PassExecution& execution) {
  last_pass_ = execution.pass->name.str();
  last_changed_ = execution.changed;
  if (!Wanted(module)) return {};
  const int64_t now = Microseconds(std::chrono::system_clock::now().time_since_epoch());
  const int64_t length = std::chrono::duration_cast<std::chrono::microseconds>(execution.time).count();
  records_.push_back(
      {last_pass_, last_pipeline_, execution.changed, now - length, now, execution.counters, {}});
  return {};
}

Status PassDumps::AfterPipeline(const Module& module) {
  if (!Wanted(module)) return {};
  HLO_CHECK_OK(Between(module, "pipeline-end", last_pipeline_.empty() ? "passes" : last_pipeline_));
  const std::string suffix = options_.stem + "after_optimizations";
  HLO_CHECK_OK(Write(module, suffix));
  if (llvm::is_contained(options_.forms, ModuleForm::Html)) {
    FormOptions top;
    top.print = options_.print;
    top.fusion_bodies = false;
    HLO_CHECK_OK(WriteForm(module, suffix + ".top_level", ModuleForm::Html, top));
  }
  return options_.metadata ? WriteRecords(module) : Status();
}

Status PassDumps::WriteRecords(const Module& module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "canonical_module_id: " << number_ << '\n';
  for (size_t i = 0; i < records_.size(); ++i) {
    const Record& r = records_[i];
    os << "pass_metadata {\n  pass_id: " << i + 1 << "\n  pass_name: " << ProtoQuoted(r.pass)
       << "\n  pipeline_name: " << ProtoQuoted(r.pipeline) << '\n';
    for (const std::string& file : r.files) os << "  dump_filenames: " << ProtoQuoted(file) << '\n';
    os << "  module_changed: " << (r.changed ? "true" : "false") << "\n  module_id: " << number_
       << "\n  start_timestamp_usec: " << r.start << "\n  end_timestamp_usec: " << r.end << '\n';
    for (const auto& [name, value] : r.counters)
      os << "  kv_metrics { key: " << ProtoQuoted(name) << " value: " << value << " }\n";
    os << "}\n";
  }
  const std::string name = "module_" + Digits(number_) + ".metadata.textproto";
  if (options_.to == "-") {
    standard_output_ << "*** Begin " << name << " ***\n" << text << "*** End " << name << " ***\n";
    return {};
  }
  return WriteFile(Folder(module) + "/" + name, text, standard_output_);
}

}  // namespace hlo
