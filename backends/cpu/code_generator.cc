#include "backends/cpu/code_generator.h"

#include <mutex>
#include <numeric>

#include "backends/llvm/code_target.h"
#include "backends/llvm/deferred.h"
#include "backends/llvm/emit_kernel.h"
#include "backends/llvm/emit_routine.h"
#include "backends/llvm/missing.h"
#include "ir/support/parallel.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

namespace hlo::cpu {
namespace {

/// LLVM instructions in a part: some milliseconds of work, many times what a part costs by itself.
constexpr size_t kPartSize = 500;

Diagnostic CompileError(const std::string& why) { return MakeError("compile-kernels", {}, "LLVM: {0}", why); }

void InitializeLlvm() {
  static const bool done = [] {
    codegen::RunDeferredInitializers();
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();  // of instructions that functions of C hold as text
    InitializeOtherTargets();
    return true;
  }();
  (void)done;
}

Result<std::string> EmitCode(llvm::Module& module, llvm::TargetMachine& target, bool assembly) {
#ifndef NDEBUG
  if (llvm::verifyModule(module, &llvm::errs())) llvm::report_fatal_error("invalid LLVM IR");
#endif
  llvm::SmallVector<char, 0> code;
  llvm::raw_svector_ostream os(code);
  llvm::legacy::PassManager passes;
  if (target.addPassesToEmitFile(
          passes, os, nullptr,
          assembly ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile))
    return Error(CompileError("the target cannot emit this form of code"));
  passes.run(module);
  return std::string(code.begin(), code.end());
}

}  // namespace

struct CodeGenerator::Part {
  explicit Part(std::shared_ptr<llvm::LLVMContext> shared)
      : context(shared ? std::move(shared) : std::make_shared<llvm::LLVMContext>()) {}
  std::shared_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> owned = std::make_unique<llvm::Module>("kernels", *context);
  llvm::Module& module = *owned;
  size_t size = 0;  // instructions
  std::vector<llvm::Function*> routines;
};

/// Code generators that nobody uses now; one serves one thread at a time.
class CodeGenerator::Targets {
 public:
  static Result<std::unique_ptr<Targets>> Create(const Machine& machine) {
    InitializeLlvm();
    auto targets = std::make_unique<Targets>(machine);
    std::string why;
    targets->target_ = llvm::TargetRegistry::lookupTarget(targets->triple_, why);
    if (targets->target_ == nullptr) return Error(CompileError(why));
    targets->free_.push_back(targets->Make());
    return targets;
  }
  explicit Targets(const Machine& machine) : machine_(machine) {}

  void Prepare(llvm::Module& module) const {
    module.setTargetTriple(triple_);
    const llvm::TargetMachine& target = *free_.front();
    module.setDataLayout(target.createDataLayout());
    codegen::SetCodeTarget(module, codegen::CodeTargetFor(target));
  }

  std::unique_ptr<llvm::TargetMachine> Take() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        auto target = std::move(free_.back());
        free_.pop_back();
        return target;
      }
    }
    return Make();
  }
  void GiveBack(std::unique_ptr<llvm::TargetMachine> target) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(target));
  }

 private:
  [[nodiscard]] std::unique_ptr<llvm::TargetMachine> Make() const {
    return std::unique_ptr<llvm::TargetMachine>(
        target_->createTargetMachine(triple_, machine_.cpu, machine_.features, {}, llvm::Reloc::PIC_,
                                     llvm::CodeModel::Small, llvm::CodeGenOptLevel::Less, /*JIT=*/true));
  }

  const Machine& machine_;
  std::string triple_ = machine_.Triple();
  const llvm::Target* target_ = nullptr;
  std::mutex mutex_;
  std::vector<std::unique_ptr<llvm::TargetMachine>> free_;
};

CodeGenerator::CodeGenerator(Machine machine, std::shared_ptr<llvm::LLVMContext> together)
    : machine_(std::move(machine)), together_(std::move(together)) {}
CodeGenerator::~CodeGenerator() = default;

Status CodeGenerator::Start() {
  if (targets_) return {};
  HLO_TRY(targets_, Targets::Create(machine_));
  return {};
}

CodeGenerator::Part& CodeGenerator::OpenPart() {
  if (parts_.empty() || (!together_ && parts_.back()->size >= kPartSize)) {
    parts_.push_back(std::make_unique<Part>(together_));
    targets_->Prepare(parts_.back()->module);
  }
  return *parts_.back();
}

void CodeGenerator::SetTarget(llvm::Function& function, const Machine& machine) {
  function.addFnAttr("target-cpu", machine.cpu);
  function.addFnAttr("target-features", machine.features);
  function.addFnAttr("prefer-vector-width", "512");
}

Status CodeGenerator::Add(CodeSource source, std::string name) {
  HLO_CHECK_OK(Start());
  const size_t number = functions_.size();
  functions_.push_back({std::move(name), std::move(source)});
  Function& function = functions_.back();
  if (const auto* routine = std::get_if<kernel::Routine>(&function.source))
    return AddRoutine(*routine, number);
  auto& kernel = std::get<kernel::Kernel>(function.source);
  kernel.name = function.name;
  Part& part = OpenPart();
  Status status = codegen::EmitKernel(kernel, part.module);
  llvm::Function* code = part.module.getFunction(function.name);
  if (!status) {
    if (code != nullptr) code->eraseFromParent();
    return status;
  }
  SetTarget(*code);
  part.size += code->getInstructionCount();
  function.part = &part;
  return {};
}

/// A routine is where the first of its kernels is; of others it gets copies.
Status CodeGenerator::AddRoutine(const kernel::Routine& routine, size_t number) {
  Part* part = nullptr;
  ForEachCall(routine.body, [&](const kernel::CallStep& call) {
    if (part == nullptr) part = functions_[static_cast<size_t>(call.kernel)].part;
  });
  if (part == nullptr) part = &OpenPart();
  Status status;
  ForEachCall(routine.body, [&](const kernel::CallStep& call) {
    const Function& callee = functions_[static_cast<size_t>(call.kernel)];
    if (part->module.getFunction(callee.name) != nullptr || !status) return;
    status = codegen::EmitKernel(std::get<kernel::Kernel>(callee.source), part->module);
    if (!status) return;
    llvm::Function& copy = *part->module.getFunction(callee.name);
    SetTarget(copy);
    copy.setLinkage(llvm::Function::InternalLinkage);
  });
  HLO_CHECK_OK(status);
  Function& function = functions_[number];
  llvm::Function* code = codegen::EmitRoutine(routine, function.name, part->module, [&](int32_t kernel) {
    return functions_[static_cast<size_t>(kernel)].name;
  });
  SetTarget(*code);
  part->size += code->getInstructionCount();
  part->routines.push_back(code);
  function.part = part;
  return {};
}

void CodeGenerator::AddEntryPoint(const codegen::EntryPoint& entry, llvm::ArrayRef<int32_t> routines) {
  assert(together_ && "it calls what is in its own part");
  std::vector<llvm::Function*> callees;
  for (const int32_t routine : routines) {
    const Function& callee = functions_[static_cast<size_t>(routine)];
    callees.push_back(callee.part->module.getFunction(callee.name));
  }
  std::vector<llvm::Function*> kernels;
  if (entry.archive)
    for (const codegen::EntryPoint::Kernel& kernel : entry.archive->kernels) {
      const Function& function = functions_[static_cast<size_t>(kernel.kernel)];
      kernels.push_back(function.part->module.getFunction(function.name));
    }
  SetTarget(*codegen::EmitEntryPoint(entry, callees, kernels));
}

void CodeGenerator::Optimize(Part& part, const llvm::TargetMachine& target) const {
  for (llvm::Function* routine : part.routines) codegen::OptimizeRoutine(*routine, target);
  part.routines.clear();
}

void CodeGenerator::Complete(Part& part, const llvm::TargetMachine& target, bool optimize) const {
  if (optimize) Optimize(part, target);
  codegen::CallMissing(part.module, target);
  for (llvm::Function& function : llvm::make_early_inc_range(llvm::reverse(part.module)))
    if (function.hasLocalLinkage() && function.use_empty()) function.eraseFromParent();
  // Functions that kernels share were made on the way.
  for (llvm::Function& function : part.module)
    if (!function.isDeclaration() && !function.hasFnAttribute("target-cpu")) SetTarget(function);
}

void CodeGenerator::Hide(llvm::function_ref<bool(size_t number)> is_called) const {
  for (size_t i = 0; i < functions_.size(); ++i)
    if (functions_[i].part != nullptr && !is_called(i))
      functions_[i].part->module.getFunction(functions_[i].name)->setLinkage(llvm::Function::InternalLinkage);
}

Result<std::string> CodeGenerator::GenerateObject(llvm::ArrayRef<CodeGenerator*> versions,
                                                  const codegen::Front& front) {
  std::unique_ptr<llvm::Module> all;
  for (CodeGenerator* version : versions) {
    version->Hide([](size_t) { return false; });
    Part& part = *version->parts_.front();
    auto target = version->targets_->Take();
    version->Complete(part, *target, /*optimize=*/true);
    version->targets_->GiveBack(std::move(target));
    // For which machine it was emitted; functions have that themselves.
    if (llvm::NamedMDNode* flags = part.module.getModuleFlagsMetadata()) flags->eraseFromParent();
    if (all == nullptr)
      all = std::move(part.owned);
    else if (llvm::Linker::linkModules(*all, std::move(part.owned)))
      return Error(CompileError("code for several processors does not become one module"));
  }
  codegen::EmitFront(*all, front);
  // What asks whether the processor has what it needs must need nothing.
  CodeGenerator& first = *versions.front();
  Machine any = first.machine_;
  if (llvm::Triple(any.Triple()).isX86()) any.cpu = "x86-64", any.features = "";
  for (llvm::Function& function : *all)
    if (!function.isDeclaration() && !function.hasFnAttribute("target-cpu")) SetTarget(function, any);
  return EmitCode(*all, *first.targets_->Take(), /*assembly=*/false);
}

std::vector<NotedFunction> CodeGenerator::Rename(Part& part, const Notes& notes) {
  std::vector<NotedFunction> noted;
  for (const auto& [number, note] : notes.by_number) {
    if (functions_[number].part != &part) continue;
    llvm::Function* function = part.module.getFunction(functions_[number].name);
    if (function == nullptr) continue;  // a part of its routine by now
    function->setName(SymbolOf(functions_[number].name, note));
    noted.push_back({function, &note});
  }
  return noted;
}

Result<std::string> CodeGenerator::GeneratePart(Part& part, Form form, const Notes& notes) {
  auto target = targets_->Take();
  Complete(part, *target, form != Form::LlvmBefore);
  const std::vector<NotedFunction> noted = Rename(part, notes);
  if (notes.lines) AddLines(part.module, noted);
  std::string text;
  if (form == Form::LlvmBefore || form == Form::LlvmAfter) {
    llvm::raw_string_ostream os(text);
    PrintWithHeadings(os, part.module, noted);
  } else {
    HLO_TRY(text, EmitCode(part.module, *target, form == Form::Assembly));
  }
  targets_->GiveBack(std::move(target));
  return text;
}

Result<std::vector<std::string>> CodeGenerator::Generate(Form form,
                                                         llvm::function_ref<bool(size_t number)> is_called,
                                                         const Notes& notes) {
  Hide(is_called);
  const size_t count = parts_.size();
  std::vector<std::string> code(count);
  std::vector<Status> status(count);
  const auto generate = [&](size_t p) -> Status {
    HLO_TRY(code[p], GeneratePart(*parts_[p], form, notes));
    parts_[p].reset();
    return {};
  };
  // The big ones first.
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](size_t x, size_t y) {
    return std::pair(parts_[y]->size, x) < std::pair(parts_[x]->size, y);
  });
  ParallelFor(0, static_cast<int64_t>(count), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const size_t p = order[static_cast<size_t>(i)];
      status[p] = generate(p);
    }
  });
  for (const Status& s : status) HLO_CHECK_OK(s);
  return code;
}

}  // namespace hlo::cpu
