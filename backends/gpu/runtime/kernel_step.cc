// Steps that launch kernels, and those that copy.
#include "backends/gpu/runtime/steps.h"

namespace hlo::gpu {
namespace {

class CopyRunner final : public StepRunner {
 public:
  explicit CopyRunner(const Step& step)
      : inst_(*step.instruction), from_(step.operands[0].leaves[0].slice), to_(step.result.leaves[0].slice) {}

  Status Run(Frame& frame) const override {
    frame.Observe(inst_);
    const CuDevicePtr from = frame.At(from_), to = frame.At(to_);
    if (from == to || to_.size == 0) return {};
    return frame.stream().Copy(to, from, static_cast<size_t>(to_.size));
  }
  [[nodiscard]] std::string Explain() const override { return "copy on the GPU"; }
  [[nodiscard]] bool MayBeRecorded() const override { return true; }

 private:
  const Instruction& inst_;
  Slice from_, to_;
};

class KernelRunner : public StepRunner {
 public:
  KernelRunner(const Step& step, const KernelTable& kernels) : step_(step), kernels_(kernels) {
    const llvm::ArrayRef<Slice> all(step.call.buffers);
    for (const Slice& result : all.drop_front(step.call.first_result)) {
      if (result.buffer < 0 || result.size == 0) continue;
      writes_ = true;
      if (!step.parts.empty()) continue;  // the steps that it does read what others of them write
      const auto overlaps = [&](const Slice& operand) { return operand.Overlaps(result); };
      if (llvm::none_of(all.take_front(step.call.first_result), overlaps)) fresh_.push_back(result);
    }
  }

  Status Run(Frame& frame) const override {
    frame.Observe(*step_.instruction);
    const KernelCall& call = step_.call;
    if (!writes_) return {};
    for (const Slice& result : fresh_)
      frame.stream().gpu().Forget(frame.stream().handle(), frame.At(result),
                                  static_cast<size_t>(result.size));
    for (const auto& [from, to] : call.copies)
      if (const CuDevicePtr source = frame.At(from), target = frame.At(to); source != target && to.size > 0)
        HLO_CHECK_OK(frame.stream().Copy(target, source, static_cast<size_t>(to.size)));
    const KernelEntry& entry = kernels_.entries()[static_cast<size_t>(call.kernel)];
    llvm::SmallVector<CuDevicePtr, 8> arguments;
    for (const int32_t i : entry.arguments)
      arguments.push_back(frame.At(call.buffers[static_cast<size_t>(i)]));
    llvm::SmallVector<void*, 8> pointers;
    for (CuDevicePtr& argument : arguments) pointers.push_back(&argument);
    const auto& [grid, block] = std::tie(entry.grid, entry.block);
    return frame.stream().gpu().Call(&DriverApi::LaunchKernel, frame.Function(call.kernel), grid[0], grid[1],
                                     grid[2], block[0], block[1], block[2], 0U, frame.stream().handle(),
                                     pointers.data(), nullptr);
  }
  [[nodiscard]] std::string Explain() const override {
    const KernelEntry& entry = kernels_.entries()[static_cast<size_t>(step_.call.kernel)];
    const auto size = [](const std::array<unsigned, 3>& of) {
      std::string text = std::to_string(of[0]);
      for (size_t i = 1; i < of.size(); ++i)
        if (of[1] > 1 || of[2] > 1) text += "x" + std::to_string(of[i]);
      return text;
    };
    return "kernel " + entry.name + ", blocks: " + size(entry.grid) + ", threads: " + size(entry.block);
  }
  [[nodiscard]] bool MayBeRecorded() const override { return true; }

 private:
  const Step& step_;
  const KernelTable& kernels_;
  bool writes_ = false;
  llvm::SmallVector<Slice, 2> fresh_;  // results in places of their own
};

class TurnsRunner final : public KernelRunner {
 public:
  TurnsRunner(const Step& step, const KernelTable& kernels)
      : KernelRunner(step, kernels), steps_(step.parts[0]) {}

  Status Run(Frame& frame) const override {
    // Errors are those of one of them.
    if (frame.names_each()) return RunSequence(steps_, frame);
    return KernelRunner::Run(frame);
  }
  [[nodiscard]] std::string Explain() const override { return KernelRunner::Explain() + ", for all of"; }

 private:
  const Sequence& steps_;
};

}  // namespace

bool IsCopy(const Step& step) {
  const OpKind kind = step.instruction->kind();
  return (kind == OpKind::Copy || kind == OpKind::Reshape) && step.result.shape.IsArray() &&
         step.operands[0].leaves[0].slice.sizes < 0 && step.result.leaves[0].slice.sizes < 0;
}

std::unique_ptr<StepRunner> LoadCopy(const Step& step) { return std::make_unique<CopyRunner>(step); }
std::unique_ptr<StepRunner> LoadKernel(const Step& step, const KernelTable& kernels) {
  return std::make_unique<KernelRunner>(step, kernels);
}
std::unique_ptr<StepRunner> LoadTurns(const Step& step, const KernelTable& kernels) {
  return std::make_unique<TurnsRunner>(step, kernels);
}

}  // namespace hlo::gpu
