// Slots of routines by value.
#include <algorithm>
#include <numeric>

#include "backends/kernel/routine.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"

namespace hlo::kernel {
namespace {

/// Steps that take slots for arguments.
template <class Step>
concept IsCall = std::is_same_v<Step, CallStep> || std::is_same_v<Step, HostStep>;

bool IsDefined(const IsCall auto& step, size_t i) {
  return i < kDefinedBits && ((step.defined >> i) & 1) != 0;
}

/// Which slots hold values that somebody may read, where ways through a routine meet: before the condition of
/// a loop, behind branches.
class Liveness {
 public:
  using Set = llvm::BitVector;

  explicit Liveness(const Routine& routine) : slots_(static_cast<unsigned>(routine.slots.size())) {
    Set kept(slots_);
    for (unsigned slot = 0; slot < slots_; ++slot)
      if (routine.slots[slot].written) kept.set(slot);
    Summarize(routine.body);
    at_entry_ = Walk(routine.body, std::move(kept));
  }
  [[nodiscard]] const Set& at_entry() const { return at_entry_; }
  /// `step`: a WhileStep or BranchStep.
  [[nodiscard]] const Set& AtMeeting(const void* step) const { return meetings_.find(step)->second; }

 private:
  /// What is live before a body: what it reads first, and of what is live behind it all that it does not
  /// write on every way.
  struct Summary {
    Set read, written;
  };
  static void Add(Set& live, SlotId slot) { live.set(static_cast<unsigned>(slot)); }
  static void Remove(Set& live, SlotId slot) { live.reset(static_cast<unsigned>(slot)); }
  static Set Before(const Summary& summary, Set live) {
    live.reset(summary.written);
    live |= summary.read;
    return live;
  }

  // Each body is summed up once, whatever it lies in: what is live within a loop depends on its second round.
  void Summarize(const RoutineBody& body) {
    Summary all{Set(slots_), Set(slots_)};
    for (const RoutineStep& s : llvm::reverse(body))
      std::visit([&](const auto& step) { SumUp(step, all); }, s.step);
    summaries_[&body] = std::move(all);
  }
  /// Puts a step before what `all` sums up.
  void SumUp(const IsCall auto& step, Summary& all) {
    all.read = Before(step, std::move(all.read));
    for (size_t i = 0; i < step.slots.size(); ++i)
      if (IsDefined(step, i)) Add(all.written, step.slots[i]);
  }
  void SumUp(const CopyStep& step, Summary& all) {
    if (step.from == step.to) return;
    all.read = Before(step, std::move(all.read));
    Add(all.written, step.to);
  }
  void SumUp(const auto& step, Summary& all) {
    const Summary one = SummaryOf(step);
    all.read = Before(one, std::move(all.read));
    all.written |= one.written;
  }
  Summary SummaryOf(const WhileStep& step) {
    Summarize(step.condition);
    Summarize(step.body);
    return {AtHead(step, Set(slots_)), summaries_[&step.condition].written};
  }
  Summary SummaryOf(const BranchStep& step) {
    Summary one{Set(slots_), Set(slots_, !step.branches.empty())};
    for (const RoutineBody& branch : step.branches) {
      Summarize(branch);
      one.read |= summaries_[&branch].read;
      one.written &= summaries_[&branch].written;
    }
    Add(one.read, step.selector);
    return one;
  }
  /// Before the condition of a loop behind which `live` is live.
  Set AtHead(const WhileStep& step, Set live) {
    Add(live, step.predicate);
    live |= summaries_[&step.body].read;
    return Before(summaries_[&step.condition], std::move(live));
  }

  Set Walk(const RoutineBody& body, Set live) {
    for (const RoutineStep& s : llvm::reverse(body))
      live = std::visit([&](const auto& step) { return Before(step, std::move(live)); }, s.step);
    return live;
  }
  Set Before(const IsCall auto& step, Set live) {
    for (size_t i = 0; i < step.slots.size(); ++i)
      if (IsDefined(step, i)) Remove(live, step.slots[i]);
    for (size_t i = 0; i < step.slots.size(); ++i)
      if (!IsDefined(step, i)) Add(live, step.slots[i]);
    return live;
  }
  Set Before(const CopyStep& step, Set live) {
    if (step.from == step.to) return live;
    Remove(live, step.to);
    Add(live, step.from);
    return live;
  }
  Set Before(const WhileStep& step, Set live) {
    Set head = AtHead(step, live);
    Walk(step.body, head);
    Add(live, step.predicate);
    live |= Before(summaries_[&step.body], head);
    Walk(step.condition, std::move(live));
    return meetings_[&step] = std::move(head);
  }
  Set Before(const BranchStep& step, const Set& live) {
    meetings_[&step] = live;
    Set before(slots_);
    for (const RoutineBody& branch : step.branches) before |= Walk(branch, live);
    Add(before, step.selector);
    return before;
  }

  unsigned slots_;
  Set at_entry_;
  llvm::DenseMap<const RoutineBody*, Summary> summaries_;
  llvm::DenseMap<const void*, Set> meetings_;
};

/// Finds which mentions of a slot may mean the same value: those that a definition reaches. Control flow is a
/// tree, so one walk finds all.
class Splitter {
 public:
  explicit Splitter(Routine& routine) : routine_(routine), live_(routine) {
    now_.resize(routine.slots.size());
    for (size_t slot = 0; slot < now_.size(); ++slot) now_[slot] = Define(slot, routine.slots[slot].size);
  }

  void Run() {
    const std::vector<int> before = now_;
    Walk(routine_.body);
    Join(before, live_.at_entry());  // found in memory and left there: in the same slot
    KeepWholeWhatIsReadInParts();
    std::vector<SlotId> slot_of(groups_.size(), -1);
    for (size_t slot = 0; slot < now_.size(); ++slot)
      if (routine_.slots[slot].written || live_.at_entry().test(static_cast<unsigned>(slot)))
        slot_of[static_cast<size_t>(Find(now_[slot]))] = static_cast<SlotId>(slot);
    for (auto& [place, group] : mentions_) {
      SlotId& slot = slot_of[static_cast<size_t>(Find(group))];
      if (slot < 0) {
        slot = static_cast<SlotId>(routine_.slots.size());
        routine_.slots.push_back({groups_[static_cast<size_t>(Find(group))].most, true, true, true});
      }
      *place = slot;
    }
  }

 private:
  /// Values of a slot that some mention may mean. Of groups that were joined one stands for all.
  struct Group {
    int joined;
    size_t slot;
    int64_t least, most;  // bytes of definitions; of all mentions
  };

  int Define(size_t slot, int64_t bytes) {
    const int group = static_cast<int>(groups_.size());
    groups_.push_back({group, slot, bytes, bytes});
    return group;
  }
  int Find(int group) {
    while (groups_[static_cast<size_t>(group)].joined != group)
      group = groups_[static_cast<size_t>(group)].joined =
          groups_[static_cast<size_t>(groups_[static_cast<size_t>(group)].joined)].joined;
    return group;
  }
  void Join(int a, int b) {
    a = Find(a);
    b = Find(b);
    if (a == b) return;
    Group &to = groups_[static_cast<size_t>(std::min(a, b))],
          &from = groups_[static_cast<size_t>(std::max(a, b))];
    from.joined = to.joined;
    to.least = std::min(to.least, from.least);
    to.most = std::max(to.most, from.most);
  }
  void Join(const std::vector<int>& others, const Liveness::Set& live) {
    for (const unsigned slot : live.set_bits()) Join(now_[slot], others[slot]);
  }

  [[nodiscard]] bool IsScalar(SlotId slot) const { return routine_.slots[static_cast<size_t>(slot)].scalar; }
  void Read(SlotId& slot, int64_t bytes) {
    if (!IsScalar(slot)) return;
    const int group = Find(now_[static_cast<size_t>(slot)]);
    groups_[static_cast<size_t>(group)].most = std::max(groups_[static_cast<size_t>(group)].most, bytes);
    mentions_.emplace_back(&slot, group);
  }
  void Write(SlotId& slot, int64_t bytes) {
    if (!IsScalar(slot)) return;
    const int group = now_[static_cast<size_t>(slot)] = Define(static_cast<size_t>(slot), bytes);
    mentions_.emplace_back(&slot, group);
  }

  void Walk(RoutineBody& body) {
    for (RoutineStep& s : body) std::visit([&](auto& step) { Step(step); }, s.step);
  }
  void Step(IsCall auto& step) {
    for (size_t i = 0; i < step.slots.size(); ++i)
      if (!IsDefined(step, i)) Read(step.slots[i], i < step.bytes.size() ? step.bytes[i] : 0);
    for (size_t i = 0; i < step.slots.size(); ++i)
      if (IsDefined(step, i)) Write(step.slots[i], step.bytes[i]);
  }
  void Step(CopyStep& step) {
    if (step.from == step.to) return;
    Read(step.from, step.bytes);
    Write(step.to, step.bytes);
  }
  void Step(WhileStep& step) {
    const std::vector<int> head = now_;
    Walk(step.condition);
    Read(step.predicate, 1);
    const std::vector<int> exit = now_;
    Walk(step.body);
    Join(head, live_.AtMeeting(&step));
    now_ = exit;
  }
  void Step(BranchStep& step) {
    Read(step.selector, step.by_predicate ? 1 : sizeof(int32_t));
    const std::vector<int> before = now_;
    std::vector<int> after;
    for (RoutineBody& branch : step.branches) {
      now_ = before;
      Walk(branch);
      if (!after.empty()) Join(after, live_.AtMeeting(&step));
      after = now_;
    }
  }

  /// A value of which somebody reads more than one definition writes is made of several: their slot stays
  /// one.
  void KeepWholeWhatIsReadInParts() {
    std::vector<bool> whole(routine_.slots.size());
    for (size_t i = 0; i < groups_.size(); ++i)
      if (const Group& group = groups_[static_cast<size_t>(Find(static_cast<int>(i)))];
          group.least < group.most)
        whole[group.slot] = true;
    std::vector<int> first(routine_.slots.size(), -1);
    for (size_t i = 0; i < groups_.size(); ++i) {
      const size_t slot = groups_[i].slot;
      if (first[slot] < 0) first[slot] = static_cast<int>(i);
      if (whole[slot]) Join(first[slot], static_cast<int>(i));
    }
  }

  Routine& routine_;
  Liveness live_;
  std::vector<Group> groups_;
  std::vector<int> now_;                           // by slot
  std::vector<std::pair<SlotId*, int>> mentions_;  // and the groups they mean
};

}  // namespace

void SplitSlots(Routine& routine) { Splitter(routine).Run(); }

}  // namespace hlo::kernel
