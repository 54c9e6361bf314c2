#include "backends/processes/judge.h"

namespace hlo::processes {
namespace {

/// How long a process may take to say where its devices are.
constexpr std::chrono::milliseconds kPatience{1000};

}  // namespace

bool Judge::End(int process) {
  ended_.insert(process);
  return ended_.size() == reports_.size();
}

void Judge::AskAgain(bool of_all) {
  reports_.assign(reports_.size(), std::nullopt);
  question_ = {++round_, of_all};
}

void Judge::BeLate(Clock::time_point now) {
  if (late_) return;
  late_ = now;
  AskAgain(/*of_all=*/true);
}

bool Judge::HasAll() const {
  return llvm::all_of(reports_, [](const auto& report) { return report.has_value(); });
}

void Judge::Take(int process, WireReport report) {
  if (report.round != round_) return;
  reports_[static_cast<size_t>(process)] = std::move(report);
  if (!HasAll()) return;
  const auto moves = [&](const auto& known) {
    return known->quiet_ms < static_cast<uint64_t>(timeout_.count());
  };
  if (late_ && llvm::any_of(reports_, moves)) late_.reset();
  if (late_) return;
  uint64_t sent = 0, received = 0;
  Counts counts;
  bool waits = false;
  for (const auto& known : reports_) {
    if (!known->stuck) return;
    sent += known->sent;
    received += known->received;
    counts.emplace_back(known->sent, known->received);
    waits |= llvm::any_of(known->places, [](const WirePlace& p) { return p.state == DevicePlace::Waits; });
  }
  if (!waits || sent != received) return;
  deadlock_ = counts == before_;
  before_ = std::move(counts);
  if (!deadlock_) AskAgain(/*of_all=*/false);
}

std::optional<Diagnostic> Judge::Finding(Clock::time_point now) const {
  if (deadlock_) return Error(/*all_wait=*/true);
  if (late_ && (HasAll() || now - *late_ > kPatience)) return Error(/*all_wait=*/false);
  return std::nullopt;
}

Diagnostic Judge::Error(bool all_wait) const {
  std::vector<DevicePlace> places;
  for (const auto& report : reports_) {
    if (!report) continue;
    for (const WirePlace& p : report->places)
      places.push_back({p.device, p.device / partitions_, p.device % partitions_, p.state, p.instruction,
                        FromWire(p.loc, sources_)});
  }
  llvm::sort(places, [](const DevicePlace& a, const DevicePlace& b) { return a.device < b.device; });
  Diagnostic error = StuckError(all_wait, places);
  for (size_t r = 0; r < reports_.size(); ++r)
    if (!reports_[r]) error.Note(llvm::formatv("process {0} does not answer", r).str());
  return error;
}

}  // namespace hlo::processes
