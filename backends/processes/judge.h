// What the first process knows of a run: whether it has ended, or can never end.
#pragma once
#include <chrono>
#include <set>

#include "backends/processes/wire.h"
#include "ir/eval/device_network.h"

namespace hlo::processes {

/// Collects what the processes report. A deadlock is one once all processes have said twice that all of their
/// devices wait or have finished, with the same numbers of messages, and as many were received as were sent.
class Judge {
 public:
  using Clock = std::chrono::steady_clock;
  /// `timeout`: so long devices wait while nothing goes on in any process.
  Judge(int processes, int64_t partitions, llvm::ArrayRef<SourcePtr> sources,
        std::chrono::milliseconds timeout)
      : partitions_(partitions),
        sources_(sources),
        timeout_(timeout),
        reports_(static_cast<size_t>(processes)) {}

  /// The devices of a process have come to their ends; whether those of all have.
  bool End(int process);
  /// A device has waited for too long: all are to report.
  void BeLate(Clock::time_point now);
  void Take(int process, WireReport report);
  /// The round that reports are wanted of, where that is new, and whether of processes that can go on, too.
  std::optional<std::pair<uint64_t, bool>> TakeQuestion() { return std::exchange(question_, std::nullopt); }
  /// What is wrong, as far as reports tell.
  std::optional<Diagnostic> Finding(Clock::time_point now) const;

 private:
  using Counts = std::vector<std::pair<uint64_t, uint64_t>>;
  void AskAgain(bool of_all);
  [[nodiscard]] bool HasAll() const;
  [[nodiscard]] Diagnostic Error(bool all_wait) const;

  int64_t partitions_;
  llvm::ArrayRef<SourcePtr> sources_;
  std::chrono::milliseconds timeout_;
  std::set<int> ended_;
  uint64_t round_ = 0;
  std::vector<std::optional<WireReport>> reports_;  // of this round
  Counts before_;                                   // in the round before
  bool deadlock_ = false;
  std::optional<Clock::time_point> late_;
  std::optional<std::pair<uint64_t, bool>> question_;
};

}  // namespace hlo::processes
