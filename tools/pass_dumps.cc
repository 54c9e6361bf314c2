#include "tools/pass_dumps.h"

#include <chrono>

#include "llvm/ADT/StringExtras.h"
#include "tools/opt_json.h"
#include "tools/output_file.h"

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

}  // namespace

bool PassDumps::Wanted(const Module& module) const {
  return !options_.to.empty() && (!options_.module || options_.module->Matches(module.name()));
}

Status PassDumps::Write(const Module& module, const std::string& suffix) {
  if (options_.max_modules >= 0 && written_ >= options_.max_modules) return {};
  ++written_;
  const char* const extension = options_.form == DumpForm::Json ? "json" : "txt";
  std::string time;
  if (options_.timestamp)
    time = std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(
                              std::chrono::system_clock::now().time_since_epoch())
                              .count()) +
           ".";
  const std::string number = "module_" + Digits(number_);
  std::string name = time + number + "." + Sanitized(module.name()) + "." + suffix + "." + extension;
  if (name.size() > kLongestName) name = time + number + "." + suffix + "." + extension;
  std::string text;
  llvm::raw_string_ostream os(text);
  if (options_.form == DumpForm::Json) {
    WriteGraphJson(os, module, options_.print, 0);
  } else {
    Print(os, module, options_.print);
    os << '\n';
  }
  if (options_.to == "-") {
    standard_output_ << "*** Begin " << name << " ***\n" << text << "*** End " << name << " ***\n";
    return {};
  }
  return WriteFile(options_.to + "/" + name, text, standard_output_);
}

Status PassDumps::BeforePipeline(const Module& module) {
  if (!Wanted(module)) return {};
  return Write(module, "before_optimizations");
}

Status PassDumps::Between(const Module& module, llvm::StringRef next, const std::string& pipeline) {
  if (!Wanted(module) || !options_.pass) return {};
  if (options_.pipeline && !options_.pipeline->Matches(pipeline)) return {};
  if (!options_.pass->Matches(last_pass_) && !options_.pass->Matches(next)) return {};
  if (!last_changed_ && !options_.unchanged && options_.pass->pattern() == ".*") return {};
  const std::string step = Digits(step_++);
  return Write(module, step + "." + Sanitized(pipeline) + ".after_" + Sanitized(last_pass_) + ".before_" +
                           Sanitized(next));
}

Status PassDumps::BeforePass(const Module& module, const PassExecution& execution) {
  return Between(module, execution.pass->name, PipelineName(execution.pipeline));
}

Status PassDumps::AfterPass(const Module& module, const PassExecution& execution) {
  (void)module;
  last_pass_ = execution.pass->name.str();
  last_pipeline_ = PipelineName(execution.pipeline);
  last_changed_ = execution.changed;
  return {};
}

Status PassDumps::AfterPipeline(const Module& module) {
  if (!Wanted(module)) return {};
  HLO_CHECK_OK(Between(module, "pipeline-end", last_pipeline_.empty() ? "passes" : last_pipeline_));
  return Write(module, options_.stem + "after_optimizations");
}

}  // namespace hlo
