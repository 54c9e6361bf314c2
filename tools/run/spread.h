// Runs that are spread over processes: --launcher.
#pragma once
#include "backends/processes/processes.h"
#include "tools/common/sink.h"
#include "tools/run/options.h"

namespace hlo {

using processes::Processes;

/// Whether this process is one of several that --launcher makes one run of, and not the first, which speaks
/// for all.
bool IsFollower(Launcher launcher);
/// The processes of the run; null: this one alone. Errors: unavailable-mpi, unavailable-nccl, usage-option
/// for what several processes cannot do, usage-devices, runtime-collective-timeout.
Result<std::unique_ptr<Processes>> JoinProcesses(const RunOptions& options);
/// What a process that does not lead is to do: its part of runs, and nothing else.
void Follow(RunOptions& options);
/// Writes to a stream and keeps what it has written.
class KeepingStream final : public llvm::raw_ostream {
 public:
  explicit KeepingStream(llvm::raw_ostream& to) : to_(to) { SetUnbuffered(); }
  [[nodiscard]] const std::string& kept() const { return kept_; }
  [[nodiscard]] bool is_displayed() const override { return to_.is_displayed(); }

 private:
  void write_impl(const char* text, size_t size) override;
  [[nodiscard]] uint64_t current_pos() const override { return kept_.size(); }
  llvm::raw_ostream& to_;
  std::string kept_;
};

}  // namespace hlo
