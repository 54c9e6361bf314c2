// Dumps between passes under XLA's file names (passes.md §1.6).
#pragma once
#include "passes/pass_manager.h"
#include "tools/common/options.h"
#include "tools/opt/module_form.h"

namespace hlo {

struct DumpOptions {
  std::string to;                         // folder; `-`: standard output; empty: no dumps
  std::optional<Regex> pass;              // around these; none without
  std::optional<Regex> pipeline, module;  // restrict; all without
  bool unchanged = false;                 // also steps that changed nothing
  bool timestamp = false;                 // microseconds since 1970 in front of every name
  int64_t max_modules = -1;               // only the first so many modules of the run; -1: all
  std::vector<ModuleForm> forms;
  bool compress = false;              // protos are gzipped
  bool subfolder = false;             // files lie in FOLDER/MODULE/HOST_PID
  bool metadata = false;              // what each pass did, as textproto
  bool config = false;                // the module's configuration and the options that were given
  bool fusion_visualization = false;  // drawings around the passes that fuse
  PrintOptions print;
  std::string stem;          // `cpu_` of `cpu_after_optimizations`
  std::string options_text;  // lines `name: value`
};

/// Writes a module before and after the pipeline and around the passes that --dump-pass-re selects. A dump
/// between two passes is named after both, so it is written when the second one starts; `pipeline-start` and
/// `pipeline-end` stand where a pipeline begins and ends.
class PassDumps final : public PassObserver {
 public:
  /// `number`: of the module in the run, from 1.
  PassDumps(const DumpOptions& options, int64_t number, llvm::raw_ostream& standard_output)
      : options_(options), number_(number), standard_output_(standard_output) {}
  Status BeforePipeline(const Module& module) override;
  Status BeforePass(const Module& module, const PassExecution& execution) override;
  Status AfterPass(const Module& module, const PassExecution& execution) override;
  Status AfterPipeline(const Module& module) override;
  /// Text about the module after all passes: `after_optimizations-NAME.txt`.
  Status WriteReport(const Module& module, llvm::StringRef name, llvm::StringRef text);
  [[nodiscard]] bool Wanted(const Module& module) const;

 private:
  /// What is known of one pass when the run is over.
  struct Record {
    std::string pass, pipeline;
    bool changed = false;
    int64_t start = 0, end = 0;  // microseconds since 1970
    PassCounters counters;
    std::vector<std::string> files;
  };

  Status Between(const Module& module, llvm::StringRef next, const std::string& pipeline);
  Status Write(const Module& module, const std::string& suffix);
  Status WriteForm(const Module& module, const std::string& suffix, ModuleForm form,
                   const FormOptions& options);
  Status WriteFileOrStdout(const Module& module, const std::string& suffix, llvm::StringRef extension,
                           llvm::StringRef text);
  Status WriteRecords(const Module& module);
  [[nodiscard]] std::string Folder(const Module& module) const;

  const DumpOptions& options_;
  int64_t number_;
  llvm::raw_ostream& standard_output_;
  int64_t step_ = 0;
  std::string last_pass_ = "pipeline-start", last_pipeline_;
  bool last_changed_ = true;
  std::vector<Record> records_;
};

}  // namespace hlo
