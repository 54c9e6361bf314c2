#include "backends/cpu/kernel_step.h"

#include <cstring>

#include "backends/cpu/routine_step.h"
#include "ir/support/parallel.h"

namespace hlo::cpu {
namespace {

class KernelRunner final : public StepRunner {
 public:
  KernelRunner(const Step& step, Program& program)
      : inst_(*step.instruction),
        entry_(program.kernels.At(step.call.kernel)),
        buffers_(program.AddPointers(step.call.buffers)),
        call_(step.call) {}

  Status Run(Frame& frame) const override {
    frame.Observe(inst_);
    for (const auto& [from, to] : call_.copies)
      if (uint8_t *source = frame.At(from), *target = frame.At(to); source != target)
        std::memmove(target, source, static_cast<size_t>(to.size));
    void* const* buffers = frame.Pointers(buffers_);
    if (call_.extent <= call_.grain) {
      entry_.Run(buffers, 0, call_.extent);
    } else {
      ParallelFor(0, call_.extent, call_.grain,
                  [&](int64_t begin, int64_t end) { entry_.Run(buffers, begin, end); });
    }
    return {};
  }
  [[nodiscard]] int32_t code() const override { return entry_.compiled; }
  [[nodiscard]] std::string Explain() const override {
    if (entry_.interpreted) return "interpreted kernel: " + entry_.why;
    return "kernel k" + std::to_string(entry_.compiled) + (entry_.why.empty() ? "" : ": " + entry_.why);
  }
  bool AddTo(RoutineBuilder& routine) const override {
    return !entry_.interpreted && routine.Call(call_, entry_.compiled);
  }

 private:
  const Instruction& inst_;
  const KernelEntry& entry_;
  size_t buffers_;  // in Program::pointers
  const KernelCall& call_;
};

}  // namespace

std::unique_ptr<StepRunner> LoadKernel(const Step& step, Program& program) {
  return std::make_unique<KernelRunner>(step, program);
}

}  // namespace hlo::cpu
