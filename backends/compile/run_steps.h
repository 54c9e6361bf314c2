// How backends go through steps: what loops, branches and sequences mean, whatever runs a step.
#pragma once
#include <cstring>

#include "backends/compile/program.h"
#include "ir/eval/executor.h"

namespace hlo::compile {

/// Runs steps one after the other by `run`, and tells the listener, if there is one. Errors without a place
/// get that of the step's instruction.
template <class Run>
Status RunInOrder(llvm::ArrayRef<std::unique_ptr<Step>> steps, InstructionListener* listener, Run run) {
  for (const std::unique_ptr<Step>& step : steps) {
    const Instruction& inst = *step->instruction;
    const bool listened = listener != nullptr && listener->Begin(inst);
    Status status = run(*step);
    if (status && listened) status = listener->End(inst);
    if (status) continue;
    Diagnostic error = std::move(status).error();
    if (!error.loc.valid()) error.loc = inst.loc();
    return Error(std::move(error));
  }
  return {};
}

/// Runs the parts of a loop by `run` until the condition has left false, which `goes_on` reads.
template <class Frame, class Run, class GoesOn>
Status RunLoop(const Step& step, Frame& frame, Run run, GoesOn goes_on) {
  for (;;) {
    HLO_CHECK_OK(frame.CheckInterrupt());
    HLO_CHECK_OK(run(step.parts[0], frame));
    HLO_TRY(const bool again, goes_on());
    if (!again) return {};
    HLO_CHECK_OK(run(step.parts[1], frame));
  }
}

/// What a conditional chooses by: a predicate, or a number.
class BranchSelector {
 public:
  explicit BranchSelector(const Step& conditional)
      : branches_(conditional.parts.size()),
        by_predicate_(conditional.instruction->operand(0)->shape().element_type() == ElementType::Pred) {}
  [[nodiscard]] bool by_predicate() const { return by_predicate_; }
  [[nodiscard]] size_t bytes() const { return by_predicate_ ? sizeof(uint8_t) : sizeof(int32_t); }
  /// The branch that these bytes stand for; as ops-structured says for numbers out of range.
  [[nodiscard]] size_t Branch(const uint8_t* selector) const {
    if (by_predicate_) return *selector != 0 ? 0 : 1;
    int32_t index = 0;
    std::memcpy(&index, selector, sizeof index);
    return index >= 0 && static_cast<size_t>(index) < branches_ ? static_cast<size_t>(index) : branches_ - 1;
  }

 private:
  size_t branches_;
  bool by_predicate_;
};

}  // namespace hlo::compile
