#include "backends/cpu/control_steps.h"

#include "backends/compile/run_steps.h"
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
    return compile::RunLoop(step_, frame, &RunSequence,
                            [&]() -> Result<bool> { return *frame.At(step_.predicate) != 0; });
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
  explicit ConditionalRunner(const Step& step) : step_(step), selector_(step) {}

  Status Run(Frame& frame) const override {
    frame.Observe(*step_.instruction);
    return RunSequence(step_.parts[selector_.Branch(frame.At(step_.predicate))], frame);
  }
  [[nodiscard]] std::string Explain() const override { return "choice between sequences of steps"; }
  bool AddTo(RoutineBuilder& routine) const override {
    return routine.Branch(step_.predicate, selector_.by_predicate(), step_.parts);
  }

 private:
  const Step& step_;
  compile::BranchSelector selector_;
};

}  // namespace

Status RunSequence(const Sequence& sequence, Frame& frame) {
  return compile::RunInOrder(sequence, frame.listener(),
                             [&](const Step& step) { return RunnerOf(step).Run(frame); });
}

std::unique_ptr<StepRunner> LoadWhile(const Step& step) { return std::make_unique<WhileRunner>(step); }
std::unique_ptr<StepRunner> LoadConditional(const Step& step) {
  return std::make_unique<ConditionalRunner>(step);
}

}  // namespace hlo::cpu
