// Steps that run other steps.
#include <cmath>

#include "backends/compile/run_steps.h"
#include "backends/gpu/runtime/graphs.h"
#include "backends/gpu/runtime/steps.h"

namespace hlo::gpu {
namespace {

class WhileRunner final : public StepRunner {
 public:
  explicit WhileRunner(const Step& step) : step_(step), trips_(step.Trips()) {}

  Status Run(Frame& frame) const override {
    frame.Observe(*step_.instruction);
    // Who looks at instructions wants to see those of the condition.
    if (trips_ && !frame.IsWatched()) return RunTrips(frame);
    return compile::RunLoop(step_, frame, &RunSequence, [&]() -> Result<bool> {
      uint8_t goes_on = 0;
      HLO_CHECK_OK(frame.stream().ToHost(&goes_on, frame.At(step_.predicate), sizeof goes_on));
      return goes_on != 0;
    });
  }
  [[nodiscard]] std::string Explain() const override {
    if (trips_)
      return "loop of " + std::to_string(*trips_) + " times over steps, for which the host does not wait";
    return "loop over steps, which the host goes through";
  }

 private:
  Status RunTrips(Frame& frame) const {
    for (int64_t i = 0; i < *trips_; ++i) {
      HLO_CHECK_OK(frame.CheckInterrupt());
      HLO_CHECK_OK(RunSequence(step_.parts[1], frame));
    }
    return {};
  }

  const Step& step_;
  std::optional<int64_t> trips_;
};

class ConditionalRunner final : public StepRunner {
 public:
  explicit ConditionalRunner(const Step& step) : step_(step), selector_(step) {}

  Status Run(Frame& frame) const override {
    frame.Observe(*step_.instruction);
    std::array<uint8_t, sizeof(int32_t)> selector{};
    HLO_CHECK_OK(frame.stream().ToHost(selector.data(), frame.At(step_.predicate), selector_.bytes()));
    return RunSequence(step_.parts[selector_.Branch(selector.data())], frame);
  }
  [[nodiscard]] std::string Explain() const override {
    return "choice between sequences of steps by the host";
  }

 private:
  const Step& step_;
  compile::BranchSelector selector_;
};

/// Says whose error of the driver it is; of a loop or a branch the step within has told.
Diagnostic Named(Diagnostic error, const Frame& frame, const std::string& who) {
  if (error.id != kGpuErrorId || llvm::StringRef(error.message).starts_with("%")) return error;
  error.message = who + ": " + error.message;
  if (!frame.wait_each()) error.Note("an earlier kernel may have caused it: --gpu-sync waits for each");
  return error;
}

/// The GPU does all of it.
bool IsOfGpu(const Step& step) { return step.kind == StepKind::Kernel || step.kind == StepKind::Copy; }

/// Runs a step without parts between two events, and tells what the GPU's clock says. What the host does for
/// a step is none of it.
Status RunTimed(const Step& step, Frame& frame) {
  constexpr double kPerMillisecond = 1e6;
  Stream& stream = frame.stream();
  HLO_TRY(const Event begin, Event::Create(stream.gpu_ptr(), /*timed=*/true));
  HLO_TRY(const Event end, Event::Create(stream.gpu_ptr(), /*timed=*/true));
  HLO_CHECK_OK(stream.Record(begin));
  HLO_CHECK_OK(RunnerOf(step).Run(frame));
  HLO_CHECK_OK(stream.Record(end));
  HLO_CHECK_OK(stream.Wait());
  float milliseconds = 0;
  HLO_CHECK_OK(stream.gpu().Call(&DriverApi::EventElapsedTime, &milliseconds, begin.handle(), end.handle()));
  frame.took()(std::llround(double{milliseconds} * kPerMillisecond));
  return {};
}

Status RunStep(const Step& step, Frame& frame) {
  const bool timed = frame.took() && IsOfGpu(step);
  Status status = timed ? RunTimed(step, frame) : RunnerOf(step).Run(frame);
  // What has parts has waited for them.
  if (status && frame.wait_each() && step.parts.empty()) status = frame.stream().Wait();
  if (status) return status;
  return Error(Named(std::move(status).error(), frame, "%" + step.instruction->name().str()));
}

/// What libraries do while a stream is recorded is theirs to decide.
bool FitsGraph(const Step& step, const Frame& frame) {
  return (step.kind == StepKind::Kernel && frame.PlanOf(step) == nullptr) || step.kind == StepKind::Copy;
}

/// Steps that a stream is asked for all at once.
Status RunAsGraph(llvm::ArrayRef<std::unique_ptr<Step>> steps, Frame& frame) {
  Status status = frame.graphs()->Run(*steps.front(), frame.stream(), [&]() -> Status {
    for (const auto& step : steps) HLO_CHECK_OK(RunnerOf(*step).Run(frame));
    return {};
  });
  if (status && frame.wait_each()) status = frame.stream().Wait();
  if (status) return status;
  const Instruction& first = *steps.front()->instruction;
  const std::string who =
      llvm::formatv("%{0} and {1} steps behind it, in a graph", first.name(), steps.size() - 1);
  Diagnostic error = Named(std::move(status).error(), frame, who);
  if (!error.loc.valid()) error.loc = first.loc();
  return Error(std::move(error));
}

/// Each step on its stream, between the events that order it.
Status RunOnStreams(const Sequence& sequence, const SequenceStreams& plan, Frame& frame) {
  if (plan.start >= 0) HLO_CHECK_OK(frame.Use(0).Record(frame.event(plan.start)));
  const StepPlace* place = plan.steps.data();
  HLO_CHECK_OK(compile::RunInOrder(sequence, frame.listener(), [&](const Step& step) -> Status {
    const StepPlace& at = *place++;
    Stream& stream = frame.Use(at.stream);
    for (const int32_t event : at.waits) HLO_CHECK_OK(stream.WaitFor(frame.event(event)));
    HLO_CHECK_OK(RunStep(step, frame));
    return at.event < 0 ? Status() : stream.Record(frame.event(at.event));
  }));
  Stream& first = frame.Use(0);
  for (const int32_t event : plan.joins) HLO_CHECK_OK(first.WaitFor(frame.event(event)));
  return {};
}

}  // namespace

Status RunSequence(const Sequence& sequence, Frame& frame) {
  if (const SequenceStreams* const plan = frame.StreamsOf(sequence))
    return RunOnStreams(sequence, *plan, frame);
  llvm::ArrayRef<std::unique_ptr<Step>> rest = sequence;
  const auto run = [&](const Step& step) { return RunStep(step, frame); };
  if (frame.graphs() == nullptr || frame.IsWatched()) return compile::RunInOrder(rest, frame.listener(), run);
  while (!rest.empty()) {
    const auto together = rest.take_while([&](const auto& step) { return FitsGraph(*step, frame); });
    if (together.size() > 1) {
      HLO_CHECK_OK(RunAsGraph(together, frame));
      rest = rest.drop_front(together.size());
    } else {
      HLO_CHECK_OK(compile::RunInOrder(rest.take_front(), nullptr, run));
      rest = rest.drop_front();
    }
  }
  return {};
}

std::unique_ptr<StepRunner> LoadWhile(const Step& step) { return std::make_unique<WhileRunner>(step); }
std::unique_ptr<StepRunner> LoadConditional(const Step& step) {
  return std::make_unique<ConditionalRunner>(step);
}

}  // namespace hlo::gpu
