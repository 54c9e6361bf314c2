#include "backends/cpu/routine_step.h"

namespace hlo::cpu {
namespace {

class RoutineRunner final : public StepRunner {
 public:
  RoutineRunner(const Instruction& loop, const KernelFn* function, int32_t number, size_t slots,
                std::vector<kernel::HostCall> calls)
      : loop_(loop), function_(function), number_(number), slots_(slots), calls_(std::move(calls)) {}

  Status Run(Frame& frame) const override {
    frame.Observe(loop_);
    HLO_CHECK_OK(frame.CheckInterrupt());
    const kernel::RoutineHost host{&Poll, calls_.data()};
    (*function_)(frame.Pointers(slots_), reinterpret_cast<int64_t>(&frame), reinterpret_cast<int64_t>(&host));
    return frame.CheckInterrupt();
  }
  [[nodiscard]] std::string Explain() const override { return "routine r" + std::to_string(number_); }
  [[nodiscard]] int32_t code() const override { return number_; }

 private:
  static int64_t Poll(void* frame) { return static_cast<Frame*>(frame)->CheckInterrupt() ? 0 : 1; }

  const Instruction& loop_;
  const KernelFn* function_;
  int32_t number_;
  size_t slots_;  // in Program::pointers
  std::vector<kernel::HostCall> calls_;
};

/// Makes one function of a loop if it can be one.
bool MakeRoutine(Program& program, Step& loop) {
  RoutineBuilder builder;
  if (!RunnerOf(loop).AddTo(builder)) return false;
  std::vector<kernel::HostCall> calls = builder.TakeHostCalls();
  auto [routine, slices] = std::move(builder).Finish(program.buffers);
  const int32_t number = program.jit->AddRoutine(routine);
  const size_t slots = program.AddPointers(slices);
  loop.runner = std::make_unique<RoutineRunner>(*loop.instruction, program.jit->FunctionPlace(number), number,
                                                slots, std::move(calls));
  return true;
}

}  // namespace

void MakeRoutines(Program& program, Sequence& sequence) {
  for (std::unique_ptr<Step>& step : sequence) {
    step->routine = step->kind == StepKind::While && MakeRoutine(program, *step);
    if (!step->routine)
      for (Sequence& part : step->parts) MakeRoutines(program, part);
  }
}

bool LoadRoutines(Program& program, Sequence& sequence) {
  for (std::unique_ptr<Step>& step : sequence) {
    if (step->routine) {
      if (!MakeRoutine(program, *step)) return false;
      continue;
    }
    for (Sequence& part : step->parts)
      if (!LoadRoutines(program, part)) return false;
  }
  return true;
}

}  // namespace hlo::cpu
