// How long values and buffers live on the time line of a schedule.
#pragma once
#include "passes/analysis/ordering.h"

namespace hlo {

/// From definition to last use, both included.
struct LiveRange {
  int64_t start = 0, end = -1;
  [[nodiscard]] bool empty() const { return end < start; }
  [[nodiscard]] bool Overlaps(const LiveRange& o) const { return start <= o.end && o.start <= end; }
  /// The shortest range that holds both.
  [[nodiscard]] LiveRange Hull(const LiveRange& o) const {
    if (empty()) return o;
    return o.empty() ? *this : LiveRange{std::min(start, o.start), std::max(end, o.end)};
  }
  bool operator==(const LiveRange&) const = default;
};

/// The range of every defined value, by place; places that define nothing have an empty one.
std::vector<LiveRange> ValueLiveRanges(const Dataflow& flow, const Timeline& timeline);

/// Bytes that an array needs: dense, packed if the layout says so, behind its metadata prefix; 0 for tokens
/// and opaque values, 8 per element for the table of a tuple; -1 if they cannot be counted.
int64_t BufferBytes(const Shape& shape);

/// The most bytes that values live at one time, if buffers could be placed without gaps, and when: what a
/// schedule is judged by. Parameters and constants do not count. Schedules of called computations count too.
struct MemoryPeak {
  int64_t bytes = 0;
  int64_t time = 0;
  const Instruction* instruction = nullptr;  // null for an empty module
};
MemoryPeak PeakOf(const Module& module, const Schedule& schedule);

}  // namespace hlo
