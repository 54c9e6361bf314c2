// Steps that run other steps.
#include <cstring>

#include "backends/gpu/runtime/steps.h"

namespace hlo::gpu {
namespace {

class WhileRunner final : public StepRunner {
 public:
  explicit WhileRunner(const Step& step) : step_(step) {}

  Status Run(Frame& frame) const override {
    frame.Observe(*step_.instruction);
    for (;;) {
      HLO_CHECK_OK(frame.CheckInterrupt());
      HLO_CHECK_OK(RunSequence(step_.parts[0], frame));
      uint8_t goes_on = 0;
      HLO_CHECK_OK(frame.stream().ToHost(&goes_on, frame.At(step_.predicate), sizeof goes_on));
      if (goes_on == 0) return {};
      HLO_CHECK_OK(RunSequence(step_.parts[1], frame));
    }
  }
  [[nodiscard]] std::string Explain() const override {
    return "loop over steps, which the host goes through";
  }

 private:
  const Step& step_;
};

class ConditionalRunner final : public StepRunner {
 public:
  explicit ConditionalRunner(const Step& step)
      : step_(step),
        by_predicate_(step.instruction->operand(0)->shape().element_type() == ElementType::Pred) {}

  Status Run(Frame& frame) const override {
    frame.Observe(*step_.instruction);
    size_t taken = step_.parts.size() - 1;
    const CuDevicePtr at = frame.At(step_.predicate);
    if (by_predicate_) {
      uint8_t first = 0;
      HLO_CHECK_OK(frame.stream().ToHost(&first, at, sizeof first));
      taken = first != 0 ? 0 : 1;
    } else {
      int32_t index = 0;
      HLO_CHECK_OK(frame.stream().ToHost(&index, at, sizeof index));
      if (index >= 0 && static_cast<size_t>(index) < taken) taken = static_cast<size_t>(index);
    }
    return RunSequence(step_.parts[taken], frame);
  }
  [[nodiscard]] std::string Explain() const override {
    return "choice between sequences of steps by the host";
  }

 private:
  const Step& step_;
  bool by_predicate_;
};

Status RunStep(const Step& step, Frame& frame) {
  HLO_CHECK_OK(RunnerOf(step).Run(frame));
  // What has parts has waited for them.
  return frame.wait_each() && step.parts.empty() ? frame.stream().Wait() : Status();
}

Status RunWatched(const Step& step, Frame& frame, InstructionListener& listener) {
  const bool listened = listener.Begin(*step.instruction);
  HLO_CHECK_OK(RunStep(step, frame));
  return listened ? listener.End(*step.instruction) : Status();
}

}  // namespace

Status RunSequence(const Sequence& sequence, Frame& frame) {
  for (const auto& step : sequence) {
    InstructionListener* const listener = frame.listener();
    Status status = listener == nullptr ? RunStep(*step, frame) : RunWatched(*step, frame, *listener);
    if (status) continue;
    Diagnostic error = std::move(status).error();
    if (error.loc.valid()) return Error(std::move(error));
    error.loc = step->instruction->loc();
    // Of a loop or a branch the step within has told.
    const bool of_driver = error.id == kGpuErrorId && !llvm::StringRef(error.message).starts_with("%");
    if (of_driver) {
      error.message = "%" + step->instruction->name().str() + ": " + error.message;
      if (!frame.wait_each()) error.Note("an earlier kernel may have caused it: --gpu-sync waits for each");
    }
    return Error(std::move(error));
  }
  return {};
}

std::unique_ptr<StepRunner> LoadWhile(const Step& step) { return std::make_unique<WhileRunner>(step); }
std::unique_ptr<StepRunner> LoadConditional(const Step& step) {
  return std::make_unique<ConditionalRunner>(step);
}

}  // namespace hlo::gpu
