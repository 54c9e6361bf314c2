#include "backends/cpu/build.h"

#include "backends/compile/build.h"
#include "backends/compile/kernel_ops.h"
#include "backends/compile/program_binary.h"
#include "backends/compile/program_text.h"
#include "backends/cpu/chain_step.h"
#include "backends/cpu/control_steps.h"
#include "backends/cpu/copy_step.h"
#include "backends/cpu/eval_step.h"
#include "backends/cpu/kernel_step.h"
#include "backends/cpu/kernel_target.h"
#include "backends/cpu/prepare.h"
#include "backends/cpu/product_step.h"
#include "backends/cpu/routine_step.h"
#include "backends/cpu/structured_step.h"
#include "ir/findings.h"

namespace hlo::cpu {
namespace {

/// Makes steps ready that are known.
class Loader {
 public:
  explicit Loader(Program& program) : program_(program) {}

  /// Sets the step's runner; if its kind cannot compute it there is none, for `why`.
  void Load(Step& step, std::string& why) {
    step.runner = (this->*kRows[static_cast<size_t>(step.kind)])(step, why);
  }
  /// All steps. Errors: program-invalid.
  Status Load(Sequence& sequence) {
    for (std::unique_ptr<Step>& step : sequence) {
      for (Sequence& part : step->parts) HLO_CHECK_OK(Load(part));
      std::string why;
      Load(*step, why);
      if (step->runner == nullptr)
        return Error("program-invalid", step->loc, "%{0}: {1}", step->instruction->name(), why);
    }
    return {};
  }
  ProductChoice& products() {
    if (!products_) products_.emplace().target = ProductTarget(program_.jit->machine());
    return *products_;
  }

 private:
  using Made = std::unique_ptr<StepRunner>;
  Made Copy(const Step& step, std::string& why) {
    if (IsCopy(step)) return LoadCopy(step, program_);
    why = "no copy";
    return nullptr;
  }
  Made Kernel(const Step& step, std::string& why) {
    if (HasKernel(step)) return LoadKernel(step, program_);
    why = "no kernel";
    return nullptr;
  }
  Made Chain(const Step& step, std::string& why) {
    const std::optional<cpu::Chain> chain = ChainOf(*step.instruction);
    if (chain && HasKernel(step)) return LoadChain(step, *chain, program_, products());
    why = "no chain";
    return nullptr;
  }
  Made Structured(const Step& step, std::string& why) {
    return LoadStructured(step, program_, products().target.isa, why);
  }
  Made Product(const Step& step, std::string& why) { return LoadProduct(step, program_, products(), why); }
  Made Evaluate(const Step& step, std::string&) { return LoadEvaluation(step); }
  Made While(const Step& step, std::string&) { return LoadWhile(step); }
  Made Conditional(const Step& step, std::string&) { return LoadConditional(step); }

  [[nodiscard]] bool HasKernel(const Step& step) const {
    return step.call.kernel >= 0 && static_cast<size_t>(step.call.kernel) < program_.kernels.size();
  }

  /// By StepKind.
  static constexpr Made (Loader::* kRows[])(const Step&, std::string&) = {
      &Loader::Copy,    &Loader::Kernel,   &Loader::Chain, &Loader::Structured,
      &Loader::Product, &Loader::Evaluate, &Loader::While, &Loader::Conditional};

  Program& program_;
  std::optional<ProductChoice> products_;  // and the target of structured ops
};

/// The kernel of a fusion and how it is called; declines.
Result<KernelCall> PlanCall(const Step& step, KernelTable& kernels) {
  const Instruction& fusion = *step.instruction;
  const std::optional<Chain> chain = ChainOf(fusion);
  if (!chain) return compile::PlanKernel(fusion, CpuMachine(), kernels, step.operands, step.result);
  return compile::PlanRowKernel(*chain->middle, chain->rows, CpuMachine(), kernels,
                                KernelSlices(*chain, step.operands),
                                chain->last == nullptr && step.result.leaves[0].aligned);
}

/// Decides how steps are computed, and has code made.
class Builder {
 public:
  /// Fusions of which no kernel can be made, though one was planned.
  using Broken = llvm::DenseMap<const Instruction*, std::string>;

  Builder(Program& program, const CpuOptions& options, Broken& broken)
      : program_(program), options_(options), broken_(broken), loader_(program) {}

  /// If code cannot be made of a kernel its fusion is one more in `broken`, and all has to be built anew.
  /// Errors: kernel-broken.
  Status Build(const BufferAssignment& assignment, bool routines) {
    if (!options_.force_path.empty()) loader_.products().forced = gemm::WayNamed(options_.force_path);
    HLO_CHECK_OK(BuildSteps(program_, assignment, [&](Step& step) { return Choose(step), Status(); }));
    HLO_CHECK_OK(CheckForced());
    HLO_CHECK_OK(program_.kernels.ChooseTiers(program_, options_));
    HLO_CHECK_OK(failure_);
    int32_t kernel = 0;
    const auto check = [&](int32_t number) { return Try(*fusions_.lookup(number), false); };
    if (const Status made = program_.kernels.Compile(*program_.jit, check, kernel); !made) {
      Break(*fusions_.lookup(kernel), made.error());
      return failure_;
    }
    if (routines) MakeRoutines(program_, program_.entry);
    return {};
  }

 private:
  /// What tests let fail.
  Status Try(const Instruction& fusion, bool planned) {
    return options_.break_kernel ? options_.break_kernel(fusion, planned) : Status();
  }

  void Break(const Instruction& fusion, const Diagnostic& why) {
    broken_.try_emplace(&fusion, why.message);
    Diagnostic told =
        MakeError("kernel-broken", fusion.loc(),
                  "no kernel can be made of %{0}, which is a mistake of this program; please report "
                  "it with this module: {1}",
                  fusion.name(), why.message);
    // Nobody would hear of a warning without a report.
    if (options_.broken_kernels_fail || !options_.report) {
      if (failure_) failure_ = Error(std::move(told));
      return;
    }
    told.severity = Severity::Warning;
    told.Note("the evaluator computes it instead");
    options_.report(std::move(told));
  }

  Result<KernelCall> CallOf(const Instruction& fusion, llvm::function_ref<Result<KernelCall>()> plan) {
    if (const auto it = broken_.find(&fusion); it != broken_.end())
      return Decline(fusion.loc(), "{0}", it->second);
    Result<KernelCall> call = plan();
    if (const Status tried = Try(fusion, true); call && !tried) call = Error(tried.error());
    if (call) fusions_[call->kernel] = &fusion;
    if (!call && !IsDeclined(call.error())) Break(fusion, call.error());
    return call;
  }

  /// Whether the step can be of this kind, which it then is; if not, `why`.
  bool Is(StepKind kind, Step& step, std::string& why) {
    step.kind = kind;
    loader_.Load(step, why);
    return step.runner != nullptr;
  }
  /// Whether it has a kernel.
  bool Plan(Step& step, std::string& why) {
    if (step.instruction->kind() != OpKind::Fusion) return false;
    auto call = CallOf(*step.instruction, [&] { return PlanCall(step, program_.kernels); });
    if (!call) return why = call.error().message, false;
    step.call = std::move(*call);
    return true;
  }

  void Choose(Step& step) {
    std::string why;  // it has no faster way
    const OpKind op = step.instruction->kind();
    const bool host = options_.host != CodeHost::Nobody,
               product = op == OpKind::Dot || op == OpKind::Convolution;
    if (!step.parts.empty()) return loader_.Load(step, why);
    if (IsCopy(step)) return (void)Is(StepKind::Copy, step, why);
    if (host && Is(StepKind::Structured, step, why)) return;
    if (Plan(step, why))
      return (void)Is(ChainOf(*step.instruction) ? StepKind::Chain : StepKind::Kernel, step, why);
    if (host && product && Is(StepKind::Product, step, why)) return;
    step.why = why.empty() ? compile::WhyNoKernel(*step.instruction) : why;
    Is(StepKind::Evaluate, step, why);
  }

  /// The way that is forced is taken by something.
  Status CheckForced() {
    if (options_.force_path.empty() || loader_.products().applied > 0) return {};
    const ProductChoice& products = loader_.products();
    if (products.refusal.empty())
      return Error("unsupported-path", {},
                   "path '{0}' is forced, but no product or convolution of the module is computed by itself",
                   options_.force_path);
    return Error("unsupported-path", products.refused,
                 "path '{0}' is forced, but computes no product or convolution of the module: {1}",
                 options_.force_path, products.refusal);
  }

  Program& program_;
  const CpuOptions& options_;
  Broken& broken_;
  Loader loader_;
  llvm::DenseMap<int32_t, const Instruction*> fusions_;  // by kernel
  Status failure_;
};

}  // namespace

/// A kernel that is compiled has a number in the Jit, one that is interpreted a text.
struct StoredKernel {
  int32_t compiled = -1;
  std::string text, why;
};
HLO_BINARY_MEMBERS(StoredKernel, v.compiled, v.text, v.why)

Result<std::unique_ptr<Program>> BuildProgram(std::unique_ptr<Module> module, std::unique_ptr<Jit> jit,
                                              const CpuOptions& options, bool compile, int64_t red_zone) {
  std::unique_ptr<Program> program;
  BufferOptions buffers;
  buffers.red_zone = red_zone;
  HLO_TRY(const BufferAssignment assignment, BufferAssignment::Compute(*module, buffers));
  Builder::Broken broken;
  for (size_t known = ~size_t{0}; known != broken.size();) {
    known = broken.size();
    if (program != nullptr) {
      module = std::move(program->module);
      jit = program->jit->Fresh();
    }
    program = std::make_unique<Program>();
    program->module = std::move(module);
    program->jit = std::move(jit);
    if (!compile) program->kernels.KeepTexts();
    HLO_CHECK_OK(Builder(*program, options, broken)
                     .Build(assignment, /*routines=*/red_zone == 0 && options.host == CodeHost::Library));
  }
  SetFindings(*program->module, nullptr);
  if (compile) {
    HLO_CHECK_OK(program->jit->Compile());
    program->kernels.Link(*program->jit);
  }
  return program;
}

namespace {

/// Kernels keep to their arrays: they are seen to, or are what comes of their fusions.
Status CheckKernels(const Sequence& sequence, const compile::ProgramKernels& kernels) {
  for (const auto& step : sequence) {
    for (const Sequence& part : step->parts) HLO_CHECK_OK(CheckKernels(part, kernels));
    if (step->call.kernel < 0) continue;
    const kernel::Kernel& kernel = kernels[static_cast<size_t>(step->call.kernel)].kernel;
    if (step->kind == StepKind::Kernel && compile::KeepsToArrays(kernel)) continue;
    KernelTable planned;
    auto call = PlanCall(*step, planned);
    if (call) {
      call->kernel = step->call.kernel;
      if (*call == step->call && ToString(planned.At(0).kernel) == ToString(kernel)) continue;
    }
    return Error(
        "program-invalid", step->loc,
        "%{0}: kernel {1} is not the one of this fusion, and nothing shows that it keeps to its arrays",
        step->instruction->name(), step->call.kernel);
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Program>> ReadProgram(std::unique_ptr<Module> module, std::unique_ptr<Jit> jit,
                                             const compile::ProgramSource& source, bool compile) {
  HLO_CHECK_OK(CheckPrepared(*module, jit->machine()));
  auto program = std::make_unique<Program>();
  program->module = std::move(module);
  program->jit = std::move(jit);
  if (!compile) program->kernels.KeepTexts();
  HLO_TRY(compile::ProgramKernels kernels, ParseProgram(source, *program));
  HLO_CHECK_OK(CheckProgram(*program, kernels));
  HLO_CHECK_OK(CheckKernels(program->entry, kernels));
  for (compile::ProgramKernel& kernel : kernels) {
    const Loc loc = kernel.loc;
    if (Status added = program->kernels.Add(std::move(kernel)); !added)
      return Error("program-invalid", loc, "{0}", added.error().message);
  }
  HLO_CHECK_OK(Loader(*program).Load(program->entry));
  int32_t broken = 0;
  HLO_CHECK_OK(program->kernels.Compile(*program->jit, [](int32_t) { return Status(); }, broken));
  if (!LoadRoutines(*program, program->entry))
    return Error("program-invalid", {},
                 "a loop that is to be a routine has steps that cannot be part of one");
  SetFindings(*program->module, nullptr);
  if (compile) {
    HLO_CHECK_OK(program->jit->Compile());
    program->kernels.Link(*program->jit);
  }
  return program;
}

std::string ToBinary(const Program& program) {
  BinaryWriter writer;
  Write(writer, program);
  std::vector<StoredKernel> kernels;
  for (size_t i = 0; i < program.kernels.size(); ++i) {
    const KernelEntry& entry = program.kernels.At(static_cast<int32_t>(i));
    kernels.push_back({entry.compiled, entry.interpreted ? ToString(entry.kernel) : "", entry.why});
  }
  Archive(writer, kernels);
  return std::move(writer).Take();
}

std::unique_ptr<Program> LoadProgram(std::unique_ptr<Module> module, std::unique_ptr<Jit> jit,
                                     llvm::StringRef bytes, CompiledCode code) {
  auto program = std::make_unique<Program>();
  program->module = std::move(module);
  program->jit = std::move(jit);
  BinaryReader reader(bytes);
  Read(reader, *program);
  std::vector<StoredKernel> kernels;
  Archive(reader, kernels);
  if (reader.failed() || !reader.at_end() || !program->jit->Restore(std::move(code))) return nullptr;
  for (StoredKernel& kernel : kernels)
    if (!program->kernels.Restore(kernel.compiled, kernel.text, std::move(kernel.why))) return nullptr;
  if (!Loader(*program).Load(program->entry) || !LoadRoutines(*program, program->entry)) return nullptr;
  program->kernels.Link(*program->jit);
  return program;
}

}  // namespace hlo::cpu
