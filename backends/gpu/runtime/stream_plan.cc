#include "backends/gpu/runtime/stream_plan.h"

#include <array>
#include <map>

#include "backends/gpu/runtime/program.h"
#include "passes/analysis/cost.h"

namespace hlo::gpu {
namespace {

constexpr int32_t kStreams = StreamPlan::kStreams;
/// Before all steps of a sequence.
constexpr int32_t kStart = -1;
constexpr int32_t kNever = -2;
/// Seconds of work that is worth an event: shorter kernels end before the next begins.
constexpr double kWorthwhile = 20e-6;
constexpr double kLaunch = 1e-6;

/// By stream, a step.
using Steps = std::array<int32_t, kStreams>;
constexpr Steps Nothing() {
  Steps steps{};
  steps.fill(kNever);
  return steps;
}

/// Who touched the bytes of one buffer last.
class BufferAccesses {
 public:
  struct Access {
    int64_t end = 0;
    std::pair<int32_t, int32_t> writer = {0, kNever};  // stream and step
    Steps readers = Nothing();
  };
  /// Calls `visit` for all parts of the range, after cutting them at its ends.
  template <class F>
  void ForRange(int64_t begin, int64_t end, F visit) {
    Cut(begin);
    Cut(end);
    int64_t at = begin;
    auto it = parts_.lower_bound(begin);
    while (at < end) {
      if (it == parts_.end() || it->first > at) {
        const int64_t gap_end = it == parts_.end() ? end : std::min(end, it->first);
        it = parts_.emplace_hint(it, at, Access{gap_end});
      }
      visit(it->second);
      at = it->second.end;
      ++it;
    }
  }
  /// The range has one part only from now on.
  void Replace(int64_t begin, int64_t end, const Access& access) {
    auto it = parts_.lower_bound(begin);
    while (it != parts_.end() && it->first < end) it = parts_.erase(it);
    parts_[begin] = access;
    parts_[begin].end = end;
  }

 private:
  void Cut(int64_t at) {
    auto it = parts_.upper_bound(at);
    if (it == parts_.begin()) return;
    --it;
    if (it->first == at || it->second.end <= at) return;
    const Access rest = it->second;
    it->second.end = at;
    parts_.emplace(at, rest);
  }
  std::map<int64_t, Access> parts_;  // by their begin
};

/// The slices that a step reads and those that it writes.
struct Touched {
  llvm::SmallVector<Slice, 8> reads, writes;
};
Touched TouchedBy(const Step& step) {
  Touched touched;
  if (step.kind == StepKind::Kernel) {
    const llvm::ArrayRef<Slice> all(step.call.buffers);
    touched.reads.append(all.begin(), all.begin() + static_cast<ptrdiff_t>(step.call.first_result));
    touched.writes.append(all.begin() + static_cast<ptrdiff_t>(step.call.first_result), all.end());
    for (const auto& [from, to] : step.call.copies) {
      touched.reads.push_back(from);
      touched.writes.push_back(to);
    }
    return touched;
  }
  for (const Value& operand : step.operands)
    for (const Leaf& leaf : operand.leaves) touched.reads.push_back(leaf.slice);
  for (const Leaf& leaf : step.result.leaves)
    if (leaf.written) touched.writes.push_back(leaf.slice);
  return touched;
}

class Planner {
 public:
  Planner(const compile::Program& program, const Target& target, SideStreams side)
      : costs_(*program.module), target_(target), side_(side) {}

  StreamPlan Run(const Sequence& entry) {
    std::vector<const Sequence*> work = {&entry};
    while (!work.empty()) {
      const Sequence* const sequence = work.back();
      work.pop_back();
      for (const auto& step : *sequence)
        for (const Sequence& part : step->parts) work.push_back(&part);
      if (sequence->size() > 1) Plan(*sequence);
    }
    return std::move(plan_);
  }

 private:
  void Plan(const Sequence& sequence) {
    sequence_ = {};
    sequence_.steps.resize(sequence.size());
    buffers_.clear();
    at_.assign(sequence.size(), Nothing());
    known_.fill(Nothing());
    known_[0][0] = kStart;
    last_ = known_[0];
    free_.fill(0);
    ends_.assign(sequence.size(), 0);
    floor_ = kStart;
    streams_ = 1;
    for (size_t i = 0; i < sequence.size(); ++i) Place(*sequence[i], static_cast<int32_t>(i));
    if (streams_ == 1) return;
    for (int32_t s = 1; s < kStreams; ++s)
      if (last_[static_cast<size_t>(s)] > known_[0][static_cast<size_t>(s)])
        sequence_.joins.push_back(EventOf(last_[static_cast<size_t>(s)]));
    plan_.streams = std::max(plan_.streams, streams_);
    plan_.sequences[&sequence] = std::move(sequence_);
  }

  void Place(const Step& step, int32_t number) {
    // What the host goes through waits for all, and all waits for it.
    const bool alone = compile::HasParts(step.kind);
    const Touched touched = alone ? Touched() : TouchedBy(step);
    const Steps needs = alone ? last_ : NeedsOf(touched);
    const double seconds = SecondsOf(step);
    const int32_t stream = alone ? 0 : StreamFor(step, needs, seconds);
    streams_ = std::max(streams_, stream + 1);
    const auto s = static_cast<size_t>(stream);
    StepPlace& place = sequence_.steps[static_cast<size_t>(number)];
    place.stream = stream;
    for (size_t t = 0; t < kStreams; ++t) {
      if (t == s || needs[t] <= known_[s][t]) continue;
      place.waits.push_back(EventOf(needs[t]));
      Learn(s, needs[t]);
    }
    ends_[static_cast<size_t>(number)] = free_[s] = StartOf(stream, needs) + seconds;
    known_[s][s] = last_[s] = number;
    at_[static_cast<size_t>(number)] = known_[s];
    if (alone) {
      buffers_.clear();
      floor_ = number;
    } else {
      Touch(touched, stream, number);
    }
  }

  /// What a stream knows that has waited for a step.
  void Learn(size_t stream, int32_t step) {
    const Steps& of = step < 0 ? kAtStart : at_[static_cast<size_t>(step)];
    for (size_t t = 0; t < kStreams; ++t) known_[stream][t] = std::max(known_[stream][t], of[t]);
  }

  [[nodiscard]] Steps NeedsOf(const Touched& touched) {
    Steps needs = Nothing();
    needs[0] = floor_;
    const auto need = [&](int32_t stream, int32_t step) {
      int32_t& known = needs[static_cast<size_t>(stream)];
      known = std::max(known, step);
    };
    const auto visit = [&](const Slice& slice, bool write) {
      if (slice.buffer < 0 || slice.size == 0) return;
      buffers_[slice.buffer].ForRange(slice.offset, slice.offset + slice.size,
                                      [&](const BufferAccesses::Access& access) {
                                        need(access.writer.first, access.writer.second);
                                        for (int32_t s = 0; write && s < kStreams; ++s)
                                          need(s, access.readers[static_cast<size_t>(s)]);
                                      });
    };
    for (const Slice& slice : touched.reads) visit(slice, false);
    for (const Slice& slice : touched.writes) visit(slice, true);
    return needs;
  }

  void Touch(const Touched& touched, int32_t stream, int32_t number) {
    for (const Slice& slice : touched.reads)
      if (slice.buffer >= 0 && slice.size > 0)
        buffers_[slice.buffer].ForRange(
            slice.offset, slice.offset + slice.size,
            [&](BufferAccesses::Access& access) { access.readers[static_cast<size_t>(stream)] = number; });
    for (const Slice& slice : touched.writes) {
      if (slice.buffer < 0 || slice.size == 0) continue;
      BufferAccesses::Access access;
      access.writer = {stream, number};
      buffers_[slice.buffer].Replace(slice.offset, slice.offset + slice.size, access);
    }
  }

  [[nodiscard]] double SecondsOf(const Step& step) const {
    const Cost& cost = costs_.Of(*step.instruction);
    constexpr double kMultiplyAdd = 2;
    const double rate = kMultiplyAdd * static_cast<double>(target_.multiprocessors) *
                        static_cast<double>(target_.clock_hz) * static_cast<double>(target_.f32_per_clock);
    return kLaunch + std::max(std::max(cost.bytes, 0.0) / static_cast<double>(target_.memory_bandwidth),
                              std::max(cost.flops, 0.0) / rate);
  }

  /// When a step could begin there, by what is known.
  [[nodiscard]] double StartOf(int32_t stream, const Steps& needs) const {
    double start = free_[static_cast<size_t>(stream)];
    for (const int32_t step : needs)
      if (step >= 0) start = std::max(start, ends_[static_cast<size_t>(step)]);
    return start;
  }

  /// The first of those where it could begin first. What the host computes meets the others on the first.
  [[nodiscard]] int32_t StreamFor(const Step& step, const Steps& needs, double seconds) const {
    const bool on_gpu = step.kind == StepKind::Kernel || step.kind == StepKind::Copy;
    if (!on_gpu || (side_ == SideStreams::Auto && seconds < kWorthwhile)) return 0;
    int32_t best = 0;
    for (int32_t s = 1; s < kStreams; ++s)
      if (StartOf(s, needs) < StartOf(best, needs)) best = s;
    // What goes on where it was needs no event.
    for (int32_t s = 0; s < kStreams; ++s)
      if (const int32_t step_before = needs[static_cast<size_t>(s)];
          step_before >= 0 && step_before == last_[static_cast<size_t>(s)] &&
          StartOf(s, needs) <= StartOf(best, needs))
        return s;
    return best;
  }

  int32_t EventOf(int32_t step) {
    int32_t& event = step < 0 ? sequence_.start : sequence_.steps[static_cast<size_t>(step)].event;
    if (event < 0) event = plan_.events++;
    return event;
  }

  static constexpr Steps kAtStart = {kStart, kNever, kNever, kNever};

  const CostAnalysis costs_;
  const Target& target_;
  SideStreams side_;
  StreamPlan plan_;
  // Of the sequence that is planned.
  SequenceStreams sequence_;
  llvm::DenseMap<int32_t, BufferAccesses> buffers_;
  std::vector<Steps> at_;     // by step: what its stream knew behind it
  std::vector<double> ends_;  // by step, in seconds
  std::array<Steps, kStreams> known_{};
  Steps last_{};
  std::array<double, kStreams> free_{};
  int32_t floor_ = kStart;  // the step that all later ones follow
  int32_t streams_ = 1;
};

}  // namespace

StreamPlan PlanStreams(const compile::Program& program, const Target& target, SideStreams side) {
  return side == SideStreams::Off ? StreamPlan() : Planner(program, target, side).Run(program.entry);
}

}  // namespace hlo::gpu
