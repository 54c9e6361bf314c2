#include "backends/cpu/compile.h"

#include "backends/compile/memory.h"
#include "backends/cpu/build.h"
#include "backends/cpu/eval_step.h"
#include "backends/cpu/memory_check.h"
#include "backends/cpu/prepare.h"
#include "backends/cpu/program_cache.h"
#include "backends/profile.h"
#include "backends/run_devices.h"
#include "ir/support/buffer.h"
#include "ir/support/buffer_fill.h"
#include "ir/support/buffer_warm_up.h"
#include "ir/support/parallel.h"
#include "ir/support/work.h"

namespace hlo {
namespace {

using cpu::Buffer;
using cpu::BufferKind;
using cpu::Frame;
using cpu::Leaf;
using cpu::Program;

Literal& Part(Literal& value, llvm::ArrayRef<int64_t> index) {
  Literal* at = &value;
  for (const int64_t i : index) at = &at->MutableElements()[static_cast<size_t>(i)];
  return *at;
}

/// One run of a program on one device.
class ProgramRun {
 public:
  ProgramRun(const Program& program, Device& device, const Executor::Observer* observer,
             InstructionListener* listener, cpu::MemoryCheck* check = nullptr)
      : program_(program),
        check_(check),
        frame_(program.buffers.size(), static_cast<size_t>(program.sizes_count), program.plans, device,
               observer, listener) {}

  Result<Literal> Run(std::vector<Literal> arguments) {
    arguments_ = std::move(arguments);
    owners_.resize(program_.buffers.size());
    if (program_.arena_bytes > 0) arena_ = AllocateBuffer(static_cast<size_t>(program_.arena_bytes));
    for (size_t i = 0; i < program_.buffers.size(); ++i) Bind(i);
    frame_.ResolvePointers(program_.pointers);
    TakeSizes();
    HLO_CHECK_OK(cpu::RunSequence(program_.entry, frame_));
    if (check_ != nullptr) HLO_CHECK_OK(check_->Finish());
    const Leaf* at = program_.result.leaves.begin();
    return ResultPart(program_.result.shape, at);
  }

 private:
  /// Puts a buffer between red zones; arguments are copied there.
  void BindChecked(size_t i) {
    const Buffer& buffer = program_.buffers[i];
    static const Literal none;
    const Literal* literal = &none;
    if (buffer.kind == BufferKind::Parameter) {
      literal = owners_[i].literal = &Part(arguments_[static_cast<size_t>(buffer.parameter)], buffer.index);
      if (!literal->shape().IsArray()) return;
    } else if (buffer.kind == BufferKind::Constant) {
      literal = owners_[i].literal = &buffer.constant;
    }
    frame_.SetBase(i, check_->Place(i, *literal));
  }

  void Bind(size_t i) {
    if (check_ != nullptr) return BindChecked(i);
    const Buffer& buffer = program_.buffers[i];
    switch (buffer.kind) {
      case BufferKind::Parameter: {
        Literal& argument = Part(arguments_[static_cast<size_t>(buffer.parameter)], buffer.index);
        if (!argument.shape().IsArray()) return;
        owners_[i].literal = &argument;
        frame_.SetBase(i, buffer.written ? argument.MutableData() : const_cast<uint8_t*>(argument.data()));
        return;
      }
      case BufferKind::Constant:
        owners_[i].literal = &buffer.constant;
        frame_.SetBase(i, const_cast<uint8_t*>(buffer.constant.data()));
        return;
      case BufferKind::Output:
        owners_[i].memory = AllocateBuffer(static_cast<size_t>(buffer.size));
        frame_.SetBase(i, static_cast<uint8_t*>(owners_[i].memory.get()));
        return;
      case BufferKind::Temporary:
        frame_.SetBase(i, static_cast<uint8_t*>(arena_.get()) + buffer.offset);
        return;
    }
  }

  /// Run-time sizes of dynamic arguments.
  void TakeSizes() {
    for (const cpu::Value& parameter : program_.parameters)
      for (const Leaf& leaf : parameter.leaves) {
        if (leaf.slice.sizes < 0 || leaf.slice.buffer < 0) continue;
        const Literal& argument = *owners_[static_cast<size_t>(leaf.slice.buffer)].literal;
        if (!argument.HasDynamicSizes()) continue;
        Dims& sizes = frame_.Sizes(leaf.slice);
        sizes.clear();
        for (int64_t d = 0; d < leaf.shape.rank(); ++d) sizes.push_back(argument.DynamicSize(d));
      }
  }

  Literal ResultPart(const Shape& shape, const Leaf*& at) {
    if (shape.IsTuple()) {
      std::vector<Literal> elements;
      for (const Shape& element : shape.tuple_shapes()) elements.push_back(ResultPart(element, at));
      return Literal::MakeTuple(std::move(elements));
    }
    const Leaf& leaf = *at++;
    Literal part = ResultArray(shape, leaf);
    if (leaf.slice.sizes >= 0) {
      const Dims& sizes = frame_.Sizes(leaf.slice);
      for (size_t d = 0; d < sizes.size(); ++d)
        if (shape.is_dynamic(static_cast<int64_t>(d))) part.SetDynamicSize(static_cast<int64_t>(d), sizes[d]);
    }
    return part;
  }

  Literal ResultArray(const Shape& shape, const Leaf& leaf) {
    if (!shape.IsArray() || leaf.slice.buffer < 0) return Literal::Make(shape);
    const auto b = static_cast<size_t>(leaf.slice.buffer);
    // All results in a buffer have one owner: who has them all may write there.
    Owner& of = owners_[b];
    if (of.literal != nullptr && of.memory == nullptr) of.memory = std::make_shared<Literal>(*of.literal);
    std::shared_ptr<const void> owner = of.memory;
    const auto& buffer = program_.buffers[b];
    const bool writable =
        buffer.kind == BufferKind::Output || (buffer.kind == BufferKind::Parameter && buffer.written);
    uint8_t* data = frame_.At(leaf.slice);
    Literal part = writable ? Literal::Adopt(shape, data, std::move(owner))
                            : Literal::Borrow(shape, data, std::move(owner));
    return check_ != nullptr ? part.Copy() : part;  // the red zones go with the run
  }

  const Program& program_;
  cpu::MemoryCheck* check_;
  Frame frame_;
  /// Who holds the bytes of a buffer.
  struct Owner {
    const Literal* literal = nullptr;  // an argument or a constant
    std::shared_ptr<void> memory;      // of outputs, and of `literal` for results
  };
  std::vector<Literal> arguments_;
  llvm::SmallVector<Owner, 8> owners_;  // by buffer
  std::shared_ptr<void> arena_;
};

/// What steps, and those within them, can do before their first run.
void CollectPreparations(const cpu::Sequence& sequence, std::vector<std::function<void()>>& all) {
  for (const auto& step : sequence) {
    if (auto preparation = cpu::RunnerOf(*step).Preparation()) all.push_back(std::move(preparation));
    for (const cpu::Sequence& part : step->parts) CollectPreparations(part, all);
  }
}

class CpuExecutable final : public Executable {
 public:
  explicit CpuExecutable(std::unique_ptr<Program> program) : program_(std::move(program)) {}

  ~CpuExecutable() override {
    if (preparing_.joinable()) preparing_.join();
  }
  CpuExecutable(const CpuExecutable&) = delete;
  CpuExecutable& operator=(const CpuExecutable&) = delete;

  void Expect(int64_t argument_bytes) override {
    if (std::exchange(expected_, true)) return;
    // Clearing memory needs some time beside that of the arguments.
    constexpr int64_t kManyBytes = 1 << 20;
    if (argument_bytes >= kManyBytes) {
      std::vector<size_t> sizes = {static_cast<size_t>(program_->arena_bytes)};
      for (const Buffer& buffer : program_->buffers)
        if (buffer.kind == BufferKind::Output) sizes.push_back(static_cast<size_t>(buffer.size));
      warm_up_.emplace(std::move(sizes));
    }
    std::vector<std::function<void()>> preparations;
    CollectPreparations(program_->entry, preparations);
    if (preparations.empty() || ThreadCount() == 1) return;
    preparing_ = QuietThread([all = std::move(preparations), work = CurrentWork()] {
      const WorkScope scope(work);
      for (const auto& prepare : all) prepare();
    });
  }

  Result<ExecutionResult> Run(std::vector<std::vector<Literal>> arguments,
                              const ExecutionOptions& options) const override {
    std::call_once(first_run_, [this] { warm_up_.reset(); });
    return RunOnDevices(std::move(arguments), options, [&](Device& device, std::vector<Literal> mine) {
      std::optional<Profile::Recorder> recorder;
      if (options.profile != nullptr) recorder.emplace(*options.profile);
      ProgramRun run(*program_, device, options.on_instruction ? &options.on_instruction : nullptr,
                     recorder ? &*recorder : nullptr);
      return run.Run(std::move(mine));
    });
  }
  [[nodiscard]] const Module& module() const override { return *program_->module; }

  [[nodiscard]] std::optional<MemoryPlan> Memory() const override {
    return compile::PlanMemory(*program_->module);
  }

 private:
  std::unique_ptr<Program> program_;
  mutable std::optional<BufferWarmUp> warm_up_;  // until the first run
  mutable std::once_flag first_run_;
  bool expected_ = false;
  std::thread preparing_;
};

/// Runs a program twice, with different bytes in all memory that nobody has written. Any difference is a read
/// of such memory; a third run tells which element it reached first.
class CheckedExecutable final : public Executable {
 public:
  CheckedExecutable(std::unique_ptr<Program> program, BufferAssignment assignment)
      : program_(std::move(program)), assignment_(std::move(assignment)) {}

  Result<ExecutionResult> Run(std::vector<std::vector<Literal>> arguments,
                              const ExecutionOptions& options) const override {
    using enum cpu::MemoryCheck::Mode;
    std::vector<cpu::StepLog> logs(arguments.size());
    Result<ExecutionResult> first = RunOnce(arguments, options, logs, Record);
    if (!first && first.error().id == "memory-changed") {
      Result<ExecutionResult> again = RunOnce(std::move(arguments), options, logs, Thorough);
      return again ? first : again;
    }
    if (!first) return first;
    Result<ExecutionResult> second = RunOnce(arguments, options, logs, Compare);
    if (second || second.error().id != "memory-unwritten") return second;
    Result<ExecutionResult> third = RunOnce(std::move(arguments), options, logs, Explain);
    return third ? second : third;
  }
  [[nodiscard]] const Module& module() const override { return *program_->module; }
  [[nodiscard]] std::optional<MemoryPlan> Memory() const override {
    return compile::PlanMemory(*program_->module);
  }

 private:
  Result<ExecutionResult> RunOnce(std::vector<std::vector<Literal>> arguments,
                                  const ExecutionOptions& options, std::vector<cpu::StepLog>& logs,
                                  cpu::MemoryCheck::Mode mode) const {
    const BufferFill fill(cpu::MemoryCheck::Filling(mode));
    return RunOnDevices(std::move(arguments), options, [&](Device& device, std::vector<Literal> mine) {
      const auto number = static_cast<size_t>(device.id());
      cpu::MemoryCheck check(*program_, assignment_, mode, logs[number]);
      ProgramRun run(*program_, device, options.on_instruction ? &options.on_instruction : nullptr, &check,
                     &check);
      return run.Run(std::move(mine));
    });
  }

  std::unique_ptr<Program> program_;
  BufferAssignment assignment_;
};

/// The program of a module, made anew or as the cache has it.
Result<std::unique_ptr<Program>> CompileProgram(const Module& module, const CpuOptions& options,
                                                const cpu::Machine& machine) {
  if (options.program.exists())
    return cpu::ReadProgram(module.Clone(), std::make_unique<cpu::Jit>(machine), options.program,
                            /*compile=*/true);
  cpu::ProgramCache cache(module, options, machine);
  std::string why;
  std::unique_ptr<Program> cached = cache.Load(why);
  if (options.report && !why.empty()) {
    Diagnostic remark = MakeError("kernel-cache", {}, "{0}", why);
    remark.severity = Severity::Remark;
    options.report(std::move(remark));
  }
  if (cached != nullptr) return cached;
  std::unique_ptr<Module> copy = module.Clone();
  bool reported = false;
  CpuOptions watched = options;
  watched.controls.report = [&](Diagnostic d) {
    reported = true;
    if (options.controls.report) options.controls.report(std::move(d));
  };
  if (options.report)
    watched.report = [&](Diagnostic d) {
      reported = true;
      options.report(std::move(d));
    };
  HLO_CHECK_OK(cpu::Prepare(*copy, watched));
  cache.KeepModule(*copy);
  const int64_t red_zone = options.check_memory ? cpu::MemoryCheck::kRedZone : 0;
  HLO_TRY(auto program, cpu::BuildProgram(std::move(copy), std::make_unique<cpu::Jit>(machine), watched,
                                          /*compile=*/true, red_zone));
  if (!reported) cache.Store(*program);
  return program;
}

}  // namespace

Result<std::unique_ptr<Executable>> CompileForCpu(const Module& module, const CpuOptions& options) {
  HLO_TRY(const cpu::Machine machine, cpu::MachineFor(options.cpu, options.features, /*runs_here=*/true));
  HLO_TRY(auto program, CompileProgram(module, options, machine));
  if (options.check_memory) {
    BufferOptions buffers;
    buffers.red_zone = cpu::MemoryCheck::kRedZone;
    HLO_TRY(BufferAssignment assignment, BufferAssignment::Compute(*program->module, buffers));
    return std::make_unique<CheckedExecutable>(std::move(program), std::move(assignment));
  }
  return std::make_unique<CpuExecutable>(std::move(program));
}

}  // namespace hlo
