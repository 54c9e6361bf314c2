#include "backends/gpu/runtime/build.h"

#include "backends/compile/build.h"
#include "backends/compile/kernel_ops.h"
#include "backends/compile/kernel_plans.h"
#include "backends/compile/program_binary.h"
#include "backends/gpu/runtime/steps.h"
#include "backends/gpu/runtime/turns.h"
#include "ir/findings.h"
#include "llvm/Support/MathExtras.h"

namespace hlo::gpu {
namespace {

std::unique_ptr<StepRunner> RunnerFor(const Step& step, const KernelTable& kernels) {
  switch (step.kind) {
    case StepKind::Copy: return LoadCopy(step);
    case StepKind::Kernel:
      return step.parts.empty() ? LoadLibrary(step, LoadKernel(step, kernels)) : LoadTurns(step, kernels);
    case StepKind::While: return LoadWhile(step);
    case StepKind::Conditional: return LoadConditional(step);
    case StepKind::Call: return LoadLibrary(step, LoadCall(step));
    default: return LoadLibrary(step, LoadHost(step));
  }
}

/// Makes steps ready that are known. False if one has a kernel that there is not.
bool Load(const Sequence& sequence, const KernelTable& kernels) {
  for (const std::unique_ptr<Step>& step : sequence) {
    for (const Sequence& part : step->parts)
      if (!Load(part, kernels)) return false;
    const auto kernel = static_cast<size_t>(step->call.kernel);
    if (step->kind == StepKind::Kernel && kernel >= kernels.entries().size()) return false;
    step->runner = RunnerFor(*step, kernels);
  }
  return true;
}

class Builder {
 public:
  Builder(Program& program, const compile::Machine& machine) : program_(program), machine_(machine) {}

  Status Build(const BufferAssignment& assignment, bool make_code) {
    HLO_CHECK_OK(
        BuildSteps(program_, assignment, [&](Step& step) { return Choose(step); }, /*keeps_calls=*/true));
    TakeTurns(program_.entry, program_.kernels, machine_.kernels);
    HLO_CHECK_OK(MakeKernels(program_.entry));
    if (make_code) HLO_CHECK_OK(program_.kernels.Finish());
    Load(program_.entry, program_.kernels);
    PlaceTemporaries();
    return {};
  }

 private:
  Status Choose(Step& step) {
    if (!step.parts.empty()) return {};
    const OpKind op = step.instruction->kind();
    if (IsCopy(step)) {
      step.kind = StepKind::Copy;
    } else if (op == OpKind::Fusion) {
      return ChooseKernel(step);
    } else {
      step.kind = StepKind::Evaluate;
      step.why = llvm::formatv("the GPU backend has no kernel for {0} yet: {1}", Info(op).text,
                               compile::WhyNoKernel(*step.instruction))
                     .str();
    }
    return {};
  }

  Status ChooseKernel(Step& step) {
    step.kind = StepKind::Evaluate;
    if (llvm::any_of(step.instruction->callee()->instructions(),
                     [](const Instruction* inst) { return compile::KeepsOrder(*inst); })) {
      step.why = "few complex numbers in double precision keep their order";
      return {};
    }
    Result<KernelCall> call =
        compile::PlanKernel(*step.instruction, machine_, program_.kernels, step.operands, step.result);
    if (!call && !IsDeclined(call.error())) return Error(call.error());
    if (!call) {
      step.why = NoKernelYet(call.error());
      return {};
    }
    step.kind = StepKind::Kernel;
    step.call = std::move(*call);
    return {};
  }
  static std::string NoKernelYet(const Diagnostic& why) {
    return "the GPU backend has no kernel for it yet: " + why.message;
  }

  /// Code of all kernels: their calls have the numbers of that from now on.
  Status MakeKernels(Sequence& sequence) {
    for (size_t i = 0; i < sequence.size(); ++i) {
      Step& step = *sequence[i];
      for (Sequence& part : step.parts) HLO_CHECK_OK(MakeKernels(part));
      if (step.kind != StepKind::Kernel) continue;
      const Result<int32_t> made = program_.kernels.Make(step.call, !step.parts.empty());
      if (!made && !IsDeclined(made.error())) return Error(made.error());
      if (made) {
        step.call.kernel = *made;
      } else if (step.parts.empty()) {
        step.kind = StepKind::Evaluate;
        step.why = NoKernelYet(made.error());
        step.call = {};
      } else {
        // One after the other, then.
        Sequence parts = std::move(step.parts[0]);
        const auto at = sequence.erase(sequence.begin() + static_cast<ptrdiff_t>(i));
        sequence.insert(at, std::make_move_iterator(parts.begin()), std::make_move_iterator(parts.end()));
        i += parts.size() - 1;
      }
    }
    return {};
  }

  void PlaceTemporaries() {
    program_.arena_bytes = 0;
    for (Buffer& buffer : program_.buffers) {
      if (buffer.kind != BufferKind::Temporary) continue;
      buffer.offset = program_.arena_bytes;
      program_.arena_bytes += static_cast<int64_t>(
          llvm::alignTo(static_cast<uint64_t>(buffer.size), static_cast<uint64_t>(kDeviceAlignment)));
    }
  }

  Program& program_;
  const compile::Machine& machine_;
};

/// Whether a library can do it, all at once, where there is one.
bool IsForLibrary(const Instruction& inst) {
  return llvm::any_of(Libraries(), [&](const LibraryInfo& library) {
    return library.concerns(inst) && library.describe(inst).has_value();
  });
}

}  // namespace

BufferOptions PlacementOptions(const compile::Machine& machine) {
  BufferOptions options;
  options.alignment = kDeviceAlignment;
  options.use_results = true;
  options.may_write_over = [&machine](const Instruction& fusion, int64_t operand,
                                      int64_t output) -> std::optional<bool> {
    if (IsForLibrary(fusion)) return false;
    return compile::MayWriteOver(fusion, operand, output, machine);
  };
  return options;
}

Result<std::unique_ptr<Program>> BuildProgram(std::unique_ptr<Module> module, const Target& target,
                                              const compile::Machine& machine, bool make_code) {
  HLO_TRY(const BufferAssignment assignment, BufferAssignment::Compute(*module, PlacementOptions(machine)));
  auto program = std::make_unique<Program>(target, machine);
  program->module = std::move(module);
  HLO_CHECK_OK(Builder(*program, machine).Build(assignment, make_code));
  SetFindings(*program->module, nullptr);
  return program;
}

std::string ToBinary(const Program& program) {
  BinaryWriter writer;
  Write(writer, program);
  return std::move(writer).Take();
}

std::unique_ptr<Program> LoadProgram(std::unique_ptr<Module> module, const Target& target,
                                     const compile::Machine& machine, llvm::StringRef bytes,
                                     llvm::StringRef code) {
  auto program = std::make_unique<Program>(target, machine);
  program->module = std::move(module);
  BinaryReader reader(bytes);
  Read(reader, *program);
  if (reader.failed() || !reader.at_end() || !program->kernels.Restore(code)) return nullptr;
  return Load(program->entry, program->kernels) ? std::move(program) : nullptr;
}

}  // namespace hlo::gpu
