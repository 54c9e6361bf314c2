// When instructions run: at one time each under a schedule, or partly ordered by what depends on what; and
// whether two values can lie in one buffer under such an order.
#pragma once
#include <functional>
#include <memory>

#include "passes/analysis/dataflow.h"
#include "passes/analysis/reachability.h"

namespace hlo {

/// Order of the instructions of each computation; missing ones run in post-order.
using Schedule = llvm::DenseMap<const Computation*, std::vector<Instruction*>>;
/// The schedules that the computations have.
Schedule ScheduleOf(const Module& module);

/// An operand is read until the call ends, rather than when it begins: of a composite, which somebody may do
/// as a whole.
bool ReadsUntilEnd(const Use& use);

/// One time line over all computations that control flow reaches: a called computation runs between begin and
/// end of its caller, a loop's condition before its body, branches one after the other. A computation with
/// several callers has its place in the first.
class Timeline {
 public:
  Timeline(const Dataflow& flow, const Schedule& schedule);
  /// When operands are read, and when the result is there: different only for control flow.
  [[nodiscard]] int64_t Begin(const Instruction& i) const { return instructions_.find(&i)->second.first; }
  [[nodiscard]] int64_t End(const Instruction& i) const { return instructions_.find(&i)->second.second; }
  [[nodiscard]] int64_t Begin(const Computation& c) const { return computations_.find(&c)->second.first; }
  [[nodiscard]] int64_t End(const Computation& c) const { return computations_.find(&c)->second.second; }
  [[nodiscard]] int64_t length() const { return static_cast<int64_t>(at_.size()); }
  /// The instruction that begins or ends at `time`; for begin and end of a computation its root.
  [[nodiscard]] const Instruction& At(int64_t time) const { return *at_[static_cast<size_t>(time)]; }

  /// When a value comes into being: parameters with their computation.
  [[nodiscard]] int64_t Definition(const Dataflow& flow, Place value) const;
  /// When it is over.
  [[nodiscard]] int64_t Time(const Use& use) const;

 private:
  using Span = std::pair<int64_t, int64_t>;
  llvm::DenseMap<const Instruction*, Span> instructions_;
  llvm::DenseMap<const Computation*, Span> computations_;
  std::vector<const Instruction*> at_;
};

/// Decides about uses and definitions. Dependency: only what holds for every legal order counts; the module
/// must be flat. Sequential: what holds on the time line.
class Ordering {
 public:
  enum class Kind : uint8_t { Dependency, Sequential };
  Ordering(const Dataflow& flow, const Timeline& timeline, Kind kind, MayWriteOver of_code = nullptr)
      : flow_(flow), timeline_(timeline), kind_(kind), sharing_(std::move(of_code)) {}

  /// The read is over when `value` is written, or `value` is written over what is read element by element.
  bool UseBeforeDefinition(const Use& use, Place value) const;
  bool DefinitionBeforeDefinition(Place a, Place b) const;
  /// `a` is written and read for the last time before `b` is written: both may lie in one buffer.
  bool Before(Place a, Place b) const;
  [[nodiscard]] const Timeline& timeline() const { return timeline_; }
  [[nodiscard]] const Dataflow& flow() const { return flow_; }

 private:
  /// A moment within a computation: an instruction, or its beginning or end.
  struct Moment {
    const Computation* computation;
    const Instruction* instruction;  // null: begin or end
    bool begin;                      // of the computation, or of the instruction
  };
  [[nodiscard]] bool SharesAt(const Use& use, Place value) const;
  [[nodiscard]] Moment DefinitionMoment(Place value) const;
  [[nodiscard]] bool MomentBefore(Moment a, Moment b) const;
  [[nodiscard]] bool InstructionBefore(const Instruction& a, const Instruction& b) const;
  const Reachability& Reach(const Computation& computation) const;

  const Dataflow& flow_;
  const Timeline& timeline_;
  Kind kind_;
  mutable SharingRules sharing_;
  mutable llvm::DenseMap<const Computation*, std::unique_ptr<Reachability>> reachability_;
};

}  // namespace hlo
