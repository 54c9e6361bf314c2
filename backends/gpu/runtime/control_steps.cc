// Steps that run other steps.
#include <cmath>

#include "backends/compile/run_steps.h"
#include "backends/gpu/runtime/graphs.h"
#include "backends/gpu/runtime/steps.h"
#include "llvm/ADT/ScopeExit.h"

namespace hlo::gpu {
namespace {

/// The GPU does all of it.
bool IsOfGpu(const Step& step) { return step.kind == StepKind::Kernel || step.kind == StepKind::Copy; }

/// Of a loop whose iterations are recorded: so many launches take far longer than asking for all of them.
constexpr int64_t kStepsAtOnce = 128;
/// How often these have to run for recording them to pay.
constexpr int64_t kFewestTimes = 2;
/// Of steps that follow each other.
constexpr int64_t kMostRecorded = 4096;
/// Iterations of a loop of unknown length for which the host waits before it records the loop.
constexpr int64_t kIterationsByHost = 8;
/// Steps beside those of its parts that a loop or a branch is in a graph, for each of them.
constexpr int64_t kStepsOfPart = 2;

std::optional<int64_t> RecordedSteps(const Step& step, const Frame& frame);

/// How many steps of the GPU a sequence is in a graph; nothing: it cannot be recorded.
std::optional<int64_t> RecordedSteps(const Sequence& sequence, const Frame& frame) {
  if (frame.StreamsOf(sequence) != nullptr) return {};
  int64_t steps = 0;
  for (const auto& step : sequence) {
    const std::optional<int64_t> of_step = RecordedSteps(*step, frame);
    if (!of_step || steps + *of_step > kMostRecorded) return {};
    steps += *of_step;
  }
  return steps;
}

/// Of a loop of known length with so many steps, whether it is written out in a graph.
bool IsWrittenOut(std::optional<int64_t> trips, int64_t steps) {
  return trips && (steps == 0 || *trips <= kMostRecorded / steps);
}

std::optional<int64_t> RecordedSteps(const Step& step, const Frame& frame) {
  // What libraries do while a stream is recorded is theirs to decide.
  if (frame.PlanOf(step) != nullptr) return {};
  if (IsOfGpu(step)) return 1;
  if (step.kind == StepKind::Call) return RecordedSteps(step.parts[0], frame);
  if (!RunnerOf(step).MayBeRecorded()) return {};
  const std::optional<int64_t> trips = step.Trips();
  int64_t steps = 0;
  for (const Sequence& part : llvm::reverse(step.parts)) {
    const std::optional<int64_t> of_part = RecordedSteps(part, frame);
    if (!of_part) return {};
    // The body comes first, and may be all that there is.
    if (IsWrittenOut(trips, *of_part)) return *trips * *of_part;
    steps += *of_part + kStepsOfPart;
    if (!frame.MayDecideInGraphs() || steps > kMostRecorded) return {};
  }
  return steps;
}

bool MayBeRecorded(const Sequence& sequence) {
  return llvm::all_of(sequence, [](const auto& step) { return RunnerOf(*step).MayBeRecorded(); });
}

class WhileRunner final : public StepRunner {
 public:
  explicit WhileRunner(const Step& step)
      : step_(step),
        trips_(step.Trips()),
        may_be_recorded_(gpu::MayBeRecorded(step.parts[1]) && (trips_ || gpu::MayBeRecorded(step.parts[0]))) {
  }

  Status Run(Frame& frame) const override {
    frame.Observe(*step_.instruction);
    // Who looks at instructions wants to see those of the condition.
    if (frame.recorder() != nullptr && !IsWrittenOut(frame)) return Record(frame);
    if (trips_ && !frame.IsWatched()) return RunTrips(frame);
    bool records = frame.graphs() != nullptr && may_be_recorded_;
    if (records && (frame.insists_on_graphs() || frame.graphs()->Has(&step_.parts[0]))) {
      records = false;
      HLO_TRY(const bool ran, RunAsGraph(frame));
      if (ran) return {};
    }
    int64_t iterations = 0;
    return compile::RunLoop(step_, frame, &RunSequence, [&]() -> Result<bool> {
      uint8_t goes_on = 0;
      HLO_CHECK_OK(frame.stream().ToHost(&goes_on, frame.At(step_.predicate), sizeof goes_on));
      if (goes_on == 0 || !records || ++iterations < kIterationsByHost) return goes_on != 0;
      // The rest of them is a loop, too.
      records = false;
      HLO_TRY(const bool ran, RunAsGraph(frame));
      return !ran;
    });
  }
  [[nodiscard]] std::string Explain() const override {
    if (trips_)
      return "loop of " + std::to_string(*trips_) + " times over steps, for which the host does not wait";
    return may_be_recorded_ ? "loop over steps, in a graph, or which the host goes through"
                            : "loop over steps, which the host goes through";
  }
  [[nodiscard]] bool MayBeRecorded() const override { return may_be_recorded_; }

 private:
  [[nodiscard]] bool IsWrittenOut(const Frame& frame) const {
    return trips_ && gpu::IsWrittenOut(trips_, RecordedSteps(step_.parts[1], frame).value_or(kMostRecorded));
  }
  /// As the next of a graph that is being recorded.
  Status Record(Frame& frame) const {
    HLO_CHECK_OK(RunSequence(step_.parts[0], frame));
    return frame.recorder()->AddLoop(frame.stream(), frame.At(step_.predicate), [this, &frame]() -> Status {
      HLO_CHECK_OK(RunSequence(step_.parts[1], frame));
      return RunSequence(step_.parts[0], frame);
    });
  }
  /// All of it; false if that does not go.
  Result<bool> RunAsGraph(Frame& frame) const {
    if (!RecordedSteps(step_, frame)) return false;
    return frame.RunRecorded(&step_.parts[0], [&] { return Record(frame); });
  }

  Status RunTrips(Frame& frame) const {
    int64_t i = 0;
    if (frame.graphs() != nullptr) {
      HLO_TRY(i, RunRecorded(frame));
    }
    for (; i < *trips_; ++i) {
      HLO_CHECK_OK(frame.CheckInterrupt());
      HLO_CHECK_OK(RunSequence(step_.parts[1], frame));
    }
    return {};
  }

  /// Several iterations at a time, if they are such that this pays for recording them. How many it has run.
  Result<int64_t> RunRecorded(Frame& frame) const {
    const int64_t steps = RecordedSteps(step_.parts[1], frame).value_or(0);
    if (steps == 0 || steps > kStepsAtOnce || *trips_ < kFewestTimes * kStepsAtOnce / steps) return 0;
    const int64_t at_once = kStepsAtOnce / steps;
    int64_t done = 0;
    for (; done + at_once <= *trips_; done += at_once) {
      HLO_CHECK_OK(frame.CheckInterrupt());
      HLO_TRY(const bool ran, frame.RunRecorded(&step_.parts[1], [&]() -> Status {
        for (int64_t i = 0; i < at_once; ++i) HLO_CHECK_OK(RunSequence(step_.parts[1], frame));
        return {};
      }));
      if (!ran) break;
      if (frame.wait_each()) HLO_CHECK_OK(frame.stream().Wait());
    }
    return done;
  }

  const Step& step_;
  std::optional<int64_t> trips_;
  bool may_be_recorded_;
};

class ConditionalRunner final : public StepRunner {
 public:
  explicit ConditionalRunner(const Step& step)
      : step_(step), selector_(step), may_be_recorded_(llvm::all_of(step.parts, &gpu::MayBeRecorded)) {}

  Status Run(Frame& frame) const override {
    frame.Observe(*step_.instruction);
    if (frame.recorder() != nullptr) return Record(frame);
    std::array<uint8_t, sizeof(int32_t)> selector{};
    HLO_CHECK_OK(frame.stream().ToHost(selector.data(), frame.At(step_.predicate), selector_.bytes()));
    return RunSequence(step_.parts[selector_.Branch(selector.data())], frame);
  }
  [[nodiscard]] std::string Explain() const override {
    return may_be_recorded_ ? "choice between sequences of steps, in a graph or by the host"
                            : "choice between sequences of steps by the host";
  }
  [[nodiscard]] bool MayBeRecorded() const override { return may_be_recorded_; }

 private:
  Status Record(Frame& frame) const {
    std::vector<StepGraphs::Ask> branches;
    for (const Sequence& part : step_.parts)
      branches.push_back(part.empty() ? StepGraphs::Ask()
                                      : [&part, &frame] { return RunSequence(part, frame); });
    return frame.recorder()->AddBranches(frame.stream(), frame.At(step_.predicate), selector_.bytes(),
                                         std::move(branches));
  }

  const Step& step_;
  compile::BranchSelector selector_;
  bool may_be_recorded_;
};

class CallRunner final : public StepRunner {
 public:
  explicit CallRunner(const Step& step) : steps_(step.parts[0]) {}
  Status Run(Frame& frame) const override { return RunSequence(steps_, frame); }
  [[nodiscard]] std::string Explain() const override { return std::to_string(steps_.size()) + " steps"; }
  [[nodiscard]] bool MayBeRecorded() const override { return gpu::MayBeRecorded(steps_); }

 private:
  const Sequence& steps_;
};

/// Says whose error of the driver it is; of a loop or a branch the step within has told.
Diagnostic Named(Diagnostic error, const Frame& frame, const std::string& who) {
  if (error.id != kGpuErrorId || llvm::StringRef(error.message).starts_with("%")) return error;
  error.message = who + ": " + error.message;
  if (!frame.wait_each()) error.Note("an earlier kernel may have caused it: --gpu-sync waits for each");
  return error;
}

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
  const bool by_library = step.kind == StepKind::Call && frame.PlanOf(step) != nullptr;
  const bool timed = frame.took() && (IsOfGpu(step) || by_library);
  Status status = timed ? RunTimed(step, frame) : RunnerOf(step).Run(frame);
  // What has parts has waited for them.
  const bool waited = !step.parts.empty() && !IsOfGpu(step) && !by_library;
  if (status && frame.wait_each() && !waited) status = frame.stream().Wait();
  if (status) return status;
  return Error(Named(std::move(status).error(), frame, "%" + step.instruction->name().str()));
}

/// Steps that are done in turns are seen each.
Status RunWatched(llvm::ArrayRef<std::unique_ptr<Step>> steps, Frame& frame) {
  const auto run = [&](const Step& step) { return RunStep(step, frame); };
  for (; !steps.empty(); steps = steps.drop_front()) {
    const Step& step = *steps.front();
    if (IsOfGpu(step) && !step.parts.empty())
      HLO_CHECK_OK(RunSequence(step.parts[0], frame));
    else
      HLO_CHECK_OK(compile::RunInOrder(steps.take_front(), frame.listener(), run));
  }
  return {};
}

/// Steps that a stream is asked for all at once. False if that does not go.
Result<bool> RunAsGraph(llvm::ArrayRef<std::unique_ptr<Step>> steps, Frame& frame) {
  Result<bool> ran = frame.RunRecorded(steps.front().get(), [&]() -> Status {
    for (const auto& step : steps) HLO_CHECK_OK(RunnerOf(*step).Run(frame));
    return {};
  });
  Status status = ran ? Status() : Error(ran.error());
  if (ran && *ran && frame.wait_each()) status = frame.stream().Wait();
  if (status) return ran;
  const Instruction& first = *steps.front()->instruction;
  const std::string who =
      llvm::formatv("%{0} and {1} steps behind it, in a graph", first.name(), steps.size() - 1);
  Diagnostic error = Named(std::move(status).error(), frame, who);
  if (!error.loc.valid()) error.loc = first.loc();
  return Error(std::move(error));
}

/// The first steps that one graph has room for.
llvm::ArrayRef<std::unique_ptr<Step>> StepsTogether(llvm::ArrayRef<std::unique_ptr<Step>> steps,
                                                    const Frame& frame) {
  int64_t all = 0;
  return steps.take_while([&](const auto& step) {
    const std::optional<int64_t> recorded = RecordedSteps(*step, frame);
    all += recorded.value_or(0);
    return recorded && all <= kMostRecorded;
  });
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
  if (frame.IsWatched()) return RunWatched(sequence, frame);
  if (frame.graphs() == nullptr || !frame.graphs_of_all()) return compile::RunInOrder(rest, nullptr, run);
  while (!rest.empty()) {
    auto together = StepsTogether(rest, frame);
    bool ran = false;
    // A branch of its own is worth it only where graphs are asked for.
    const auto alone = [&](const Step& step) {
      return step.kind == StepKind::Conditional && frame.insists_on_graphs();
    };
    if (together.size() > 1 || (together.size() == 1 && alone(*together.front()))) {
      HLO_TRY(ran, RunAsGraph(together, frame));
    }
    if (together.empty()) together = rest.take_front();
    if (!ran) HLO_CHECK_OK(compile::RunInOrder(together, nullptr, run));
    rest = rest.drop_front(together.size());
  }
  return {};
}

/// Who wants to know of each step where something goes wrong has the host go through loops.
bool Frame::MayDecideInGraphs() const {
  const bool named = of_.names_each && !of_.insists_on_graphs;
  return of_.graphs != nullptr && !named && !IsWatched() && of_.graphs->HasConditions();
}

Result<bool> Frame::RunRecorded(const void* what, llvm::function_ref<Status()> ask) {
  // Steps that a loop or a branch has are recorded after `ask`.
  recording_ = true;
  const auto done = llvm::make_scope_exit([&] { recording_ = false; });
  return of_.graphs->Run(what, stream(), of_.insists_on_graphs, ask);
}

std::unique_ptr<StepRunner> LoadWhile(const Step& step) { return std::make_unique<WhileRunner>(step); }
std::unique_ptr<StepRunner> LoadCall(const Step& step) { return std::make_unique<CallRunner>(step); }
std::unique_ptr<StepRunner> LoadConditional(const Step& step) {
  return std::make_unique<ConditionalRunner>(step);
}

}  // namespace hlo::gpu
