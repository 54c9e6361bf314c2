#include "backends/cpu/control_steps.h"

#include <cstring>

#include "backends/cpu/routine_step.h"
#include "llvm/ADT/SmallVectorExtras.h"

namespace hlo::cpu {
namespace {

class WhileRunner final : public StepRunner {
 public:
  explicit WhileRunner(const Step& step)
      : step_(step),
        results_(llvm::map_to_vector<4>(step.result.leaves, [](const Leaf& leaf) { return leaf.slice; })) {}

  Status Run(Frame& frame) const override {
    frame.Observe(*step_.instruction);
    for (;;) {
      HLO_CHECK_OK(frame.CheckInterrupt());
      HLO_CHECK_OK(RunSequence(step_.parts[0], frame));
      if (*frame.At(step_.predicate) == 0) return {};
      HLO_CHECK_OK(RunSequence(step_.parts[1], frame));
    }
  }
  [[nodiscard]] std::string Explain() const override { return "loop over steps"; }
  bool AddTo(RoutineBuilder& routine) const override {
    return routine.While(step_.predicate, step_.parts[0], step_.parts[1], results_, step_.constants);
  }

 private:
  const Step& step_;
  llvm::SmallVector<Slice, 4> results_;
};

class ConditionalRunner final : public StepRunner {
 public:
  explicit ConditionalRunner(const Step& step)
      : step_(step),
        by_predicate_(step.instruction->operand(0)->shape().element_type() == ElementType::Pred) {}

  Status Run(Frame& frame) const override {
    frame.Observe(*step_.instruction);
    size_t taken = step_.parts.size() - 1;
    if (by_predicate_) {
      taken = *frame.At(step_.predicate) != 0 ? 0 : 1;
    } else {
      int32_t index = 0;
      std::memcpy(&index, frame.At(step_.predicate), sizeof index);
      if (index >= 0 && static_cast<size_t>(index) < taken) taken = static_cast<size_t>(index);
    }
    return RunSequence(step_.parts[taken], frame);
  }
  [[nodiscard]] std::string Explain() const override { return "choice between sequences of steps"; }
  bool AddTo(RoutineBuilder& routine) const override {
    return routine.Branch(step_.predicate, by_predicate_, step_.parts);
  }

 private:
  const Step& step_;
  bool by_predicate_;
};

Status RunWatched(const Step& step, Frame& frame, InstructionListener& listener) {
  const bool listened = listener.Begin(*step.instruction);
  HLO_CHECK_OK(RunnerOf(step).Run(frame));
  return listened ? listener.End(*step.instruction) : Status();
}

}  // namespace

Status RunSequence(const Sequence& sequence, Frame& frame) {
  InstructionListener* const listener = frame.listener();
  for (const auto& step : sequence) {
    Status status = listener == nullptr ? RunnerOf(*step).Run(frame) : RunWatched(*step, frame, *listener);
    if (status) continue;
    Diagnostic error = std::move(status).error();
    if (!error.loc.valid()) error.loc = step->instruction->loc();
    return Error(std::move(error));
  }
  return {};
}

std::unique_ptr<StepRunner> LoadWhile(const Step& step) { return std::make_unique<WhileRunner>(step); }
std::unique_ptr<StepRunner> LoadConditional(const Step& step) {
  return std::make_unique<ConditionalRunner>(step);
}

}  // namespace hlo::cpu
