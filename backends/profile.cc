#include "backends/profile.h"

#include "ir/op.h"

namespace hlo {
namespace {

/// Its computations run once after the other, as instructions of the program.
bool IsControl(const Instruction& inst) {
  return inst.kind() == OpKind::While || inst.kind() == OpKind::Conditional || inst.kind() == OpKind::Call;
}

int64_t Nanoseconds(std::chrono::steady_clock::duration d) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(d).count();
}

constexpr uint64_t DeviceCounts::* kCounts[] = {&DeviceCounts::launches,
                                                &DeviceCounts::sectors,
                                                &DeviceCounts::fewest_sectors,
                                                &DeviceCounts::bytes_read,
                                                &DeviceCounts::bytes_written,
                                                &DeviceCounts::shared_cycles,
                                                &DeviceCounts::fewest_shared_cycles,
                                                &DeviceCounts::branches,
                                                &DeviceCounts::divergent_branches};

}  // namespace

Profile::Recorder::~Recorder() {
  const int64_t total = Nanoseconds(Clock::now() - start_);
  const std::lock_guard lock(profile_.mutex_);
  profile_.device_ns_ += total;
  for (const auto& [inst, mine] : entries_) {
    Entry& entry = profile_.entries_[inst];
    entry.calls += mine.calls;
    entry.time_ns += mine.time_ns;
    entry.has_parts |= mine.has_parts;
    if (!mine.library.empty()) entry.library = mine.library;
  }
  for (const auto& [inst, mine] : counted_)
    for (const auto count : kCounts) profile_.counts_[inst].*count += mine.*count;
}

bool Profile::Recorder::Begin(const Instruction& inst) {
  if (within_op_) return false;
  if (!open_.empty()) open_.back().has_parts = true;
  within_op_ = !IsControl(inst);
  open_.push_back({Clock::now()});
  if (counts_) open_.back().counts = counts_();
  return true;
}

Status Profile::Recorder::End(const Instruction& inst) {
  const Open open = open_.back();
  const int64_t time = open.device_ns.value_or(Nanoseconds(Clock::now() - open.begin));
  open_.pop_back();
  within_op_ = false;
  if (!open_.empty()) open_.back().inner_ns += time;
  Entry& entry = entries_[&inst];
  ++entry.calls;
  entry.time_ns += time - open.inner_ns;
  entry.has_parts |= open.has_parts;
  if (!open.library.empty()) entry.library = open.library;
  if (!counts_ || open.has_parts) return {};
  const DeviceCounts now = counts_();
  for (const auto count : kCounts) counted_[&inst].*count += now.*count - open.counts.*count;
  return {};
}

void Profile::CountAs(int64_t runs) {
  for (auto& [inst, entry] : entries_) {
    entry.calls *= runs;
    entry.time_ns *= runs;
  }
  device_ns_ *= runs;
  runs_ *= runs;
}

}  // namespace hlo
