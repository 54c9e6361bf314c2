// Where diagnostics go: filtering, counting, rendering; the progress line.
#pragma once
#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "ir/support/diagnostic.h"
#include "llvm/Support/raw_ostream.h"
#include "tools/common/common_options.h"

namespace hlo {

/// True if a stream should get colours (tools.md §1.4).
bool UseColor(When when, const llvm::raw_ostream& stream);

/// One line on a terminal, rewritten in place; off it (`always`) a line every 10 s. Nothing in the first
/// second. Thread-safe.
class Progress {
 public:
  Progress(llvm::StringRef tool, When when, llvm::raw_ostream& err);
  ~Progress() { Erase(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Shows `[tool] text 8.2s`; `text` is made only if it is time for an update.
  void Update(llvm::function_ref<std::string()> text);
  /// Whether anything will ever be shown.
  [[nodiscard]] bool enabled() const { return enabled_; }
  /// Removes the line from the terminal, before something else is written.
  void Erase();

 private:
  using Clock = std::chrono::steady_clock;
  std::string tool_;
  llvm::raw_ostream& err_;
  bool enabled_ = false, in_place_ = false;
  Clock::time_point start_;
  std::atomic<Clock::rep> next_{0};
  std::mutex mutex_;
  bool shown_ = false;
};

/// Reports diagnostics of one run of a tool and knows its exit code.
class DiagnosticSink {
 public:
  DiagnosticSink(llvm::StringRef tool, const CommonOptions& options, llvm::raw_ostream& err);
  ~DiagnosticSink();
  DiagnosticSink(const DiagnosticSink&) = delete;
  DiagnosticSink& operator=(const DiagnosticSink&) = delete;

  /// Shows one diagnostic as -W, -q, --max-errors and --diagnostics-format want, and raises the exit code
  /// if it is an error (perhaps by --werror).
  void Report(Diagnostic diagnostic);
  void Report(llvm::ArrayRef<Diagnostic> diagnostics);
  /// From here on diagnostics belong to this module: --max-errors counts anew, module_exit_code() is 0.
  void BeginModule(llvm::StringRef name);
  /// For --verbose: shown from verbosity `level` on, never counted.
  void Verbose(int level, llvm::StringRef text);

  /// The highest of all codes so far.
  [[nodiscard]] int exit_code() const;
  void Raise(int code);
  [[nodiscard]] int module_exit_code() const { return module_code_; }
  /// Ids and texts reported since BeginModule, for result objects.
  [[nodiscard]] llvm::ArrayRef<Diagnostic> module_diagnostics() const { return module_diagnostics_; }
  /// True if --fail-fast was given and something failed.
  [[nodiscard]] bool stopped() const { return options_.fail_fast && code_ != 0; }
  Progress& progress() { return progress_; }
  llvm::raw_ostream& err() { return err_; }

 private:
  Severity EffectiveSeverity(const Diagnostic& diagnostic, bool& shown) const;
  void Show(const Diagnostic& diagnostic);
  void FinishModule();

  const CommonOptions& options_;
  llvm::raw_ostream& err_;
  Progress progress_;
  std::mutex mutex_;
  RenderOptions render_;
  std::string module_;
  std::vector<Diagnostic> module_diagnostics_;
  int64_t errors_ = 0, hidden_errors_ = 0;
  int code_ = 0, module_code_ = 0;
};

}  // namespace hlo
