#include "tools/common/sink.h"

#include <cstdlib>

#include "llvm/Support/Process.h"

namespace hlo {
namespace {

using namespace std::chrono_literals;

llvm::StringRef Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

unsigned TerminalWidth(const llvm::raw_ostream& err) {
  const unsigned columns = err.is_displayed() ? llvm::sys::Process::StandardErrColumns() : 0;
  return columns == 0 ? RenderOptions{}.width : columns;
}

}  // namespace

bool UseColor(When when, const llvm::raw_ostream& stream) {
  if (when != When::Auto) return when == When::Always;
  const llvm::StringRef forced = Environment("CLICOLOR_FORCE");
  if (!forced.empty() && forced != "0") return true;
  return Environment("NO_COLOR").empty() && Environment("TERM") != "dumb" && stream.is_displayed();
}

Progress::Progress(llvm::StringRef tool, When when, llvm::raw_ostream& err)
    : tool_(tool), err_(err), in_place_(err.is_displayed()), start_(Clock::now()) {
  enabled_ = when == When::Always || (when == When::Auto && in_place_);
  next_ = (start_ + (in_place_ ? Clock::duration(1s) : Clock::duration(10s))).time_since_epoch().count();
}

void Progress::Update(llvm::function_ref<std::string()> text) {
  if (!enabled_) return;
  const Clock::time_point now = Clock::now();
  Clock::rep due = next_.load(std::memory_order_relaxed);
  if (now.time_since_epoch().count() < due) return;
  const Clock::duration pause = in_place_ ? Clock::duration(100ms) : Clock::duration(10s);
  if (!next_.compare_exchange_strong(due, (now + pause).time_since_epoch().count())) return;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const std::string line = llvm::formatv("[{0}] {1} {2:F1}s", tool_, text(), seconds).str();
  const std::lock_guard lock(mutex_);
  if (in_place_)
    err_ << '\r' << line << "\x1b[K";
  else
    err_ << line << '\n';
  err_.flush();
  shown_ = in_place_;
}

void Progress::Erase() {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(shown_, false)) return;
  err_ << "\r\x1b[K";
  err_.flush();
}

DiagnosticSink::DiagnosticSink(llvm::StringRef tool, const CommonOptions& options, llvm::raw_ostream& err)
    : options_(options), err_(err), progress_(tool, options.progress, err) {
  render_.color = UseColor(options.color, err);
  render_.width = TerminalWidth(err);
  render_.notes = !options.quiet;
}

DiagnosticSink::~DiagnosticSink() { FinishModule(); }

void DiagnosticSink::BeginModule(llvm::StringRef name) {
  FinishModule();
  const std::lock_guard lock(mutex_);
  module_ = name.str();
  module_diagnostics_.clear();
  errors_ = hidden_errors_ = 0;
  module_code_ = 0;
}

void DiagnosticSink::FinishModule() {
  if (hidden_errors_ > 0 && options_.diagnostics_format == DiagnosticsFormat::Text && !options_.quiet)
    err_ << llvm::formatv("note: {0} more errors (see --max-errors)\n", hidden_errors_);
  hidden_errors_ = 0;
}

Severity DiagnosticSink::EffectiveSeverity(const Diagnostic& diagnostic, bool& shown) const {
  shown = true;
  if (diagnostic.severity == Severity::Error) return Severity::Error;
  shown = !options_.quiet;
  if (diagnostic.severity != Severity::Warning) return diagnostic.severity;
  bool is_error = options_.werror, enabled = true;
  for (llvm::StringRef word : options_.warnings) {
    const bool error = word.consume_front("error="), off = !error && word.consume_front("no-");
    if (word != diagnostic.id.text()) continue;
    enabled = !off;
    is_error = error || (is_error && !off);
  }
  if (!enabled) shown = false;
  if (!enabled || !is_error) return Severity::Warning;
  shown = true;
  return Severity::Error;
}

void DiagnosticSink::Show(const Diagnostic& diagnostic) {
  progress_.Erase();
  if (options_.diagnostics_format == DiagnosticsFormat::Json)
    err_ << RenderJson(diagnostic, module_) << '\n';
  else
    err_ << Render(diagnostic, render_);
  err_.flush();
}

void DiagnosticSink::Report(Diagnostic diagnostic) {
  const std::lock_guard lock(mutex_);
  bool shown = true;
  diagnostic.severity = EffectiveSeverity(diagnostic, shown);
  if (diagnostic.severity == Severity::Error) {
    if (diagnostic.id.empty())
      llvm::report_fatal_error(llvm::Twine("an error without a diagnostic: ") + diagnostic.message);
    const int code = DiagnosticInfo::Of(diagnostic.id).exit;
    code_ = std::max(code_, code);
    module_code_ = std::max(module_code_, code);
    if (options_.max_errors > 0 && ++errors_ > options_.max_errors) {
      ++hidden_errors_;
      return;
    }
  }
  if (shown) Show(diagnostic);
  module_diagnostics_.push_back(std::move(diagnostic));
}

void DiagnosticSink::Report(llvm::ArrayRef<Diagnostic> diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics) Report(diagnostic);
}

void DiagnosticSink::Verbose(int level, llvm::StringRef text) {
  if (options_.verbose.value < level || options_.quiet) return;
  progress_.Erase();
  err_ << text << '\n';
}

int DiagnosticSink::exit_code() const {
  return code_ == ExitCode::Unavailable && options_.skip_unavailable ? ExitCode::Skipped : code_;
}

void DiagnosticSink::Raise(int code) {
  code_ = std::max(code_, code);
  module_code_ = std::max(module_code_, code);
}

}  // namespace hlo
