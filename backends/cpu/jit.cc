#include "backends/cpu/jit.h"

#include <deque>

#include "backends/llvm/emit_kernel.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

namespace hlo::cpu {
namespace {

void InitializeLlvm() {
  static const bool done = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    return true;
  }();
  (void)done;
}

Diagnostic CompileError(const std::string& why) { return MakeError("compile-kernels", {}, "LLVM: {0}", why); }

}  // namespace

Machine HostMachine() {
  Machine machine;
  // The features count, not the name: virtual machines report names that do not fit.
  for (const auto& [feature, on] : llvm::sys::getHostCPUFeatures()) {
    if (!on || feature.starts_with("avx10")) continue;
    machine.features += (machine.features.empty() ? "+" : ",+") + feature.str();
  }
  return machine;
}

class Jit::State {
 public:
  explicit State(Machine machine) : machine_(std::move(machine)) {}

  Result<int32_t> Add(kernel::Kernel kernel) {
    std::string text;
    llvm::raw_string_ostream os(text);
    kernel::Print(os, kernel, /*with_name=*/false);
    const auto [it, added] = numbers_.try_emplace(text, static_cast<int32_t>(names_.size()));
    if (!added) {
      if (it->second < 0) return Error(failures_[static_cast<size_t>(-1 - it->second)]);
      return it->second;
    }
    HLO_CHECK_OK(Start());
    kernel.name = "k" + std::to_string(names_.size());
    if (Status status = codegen::EmitKernel(kernel, *module_); !status) {
      if (llvm::Function* half = module_->getFunction(kernel.name)) half->eraseFromParent();
      it->second = -1 - static_cast<int32_t>(failures_.size());
      failures_.push_back(status.error());
      return Error(std::move(status).error());
    }
    llvm::Function* function = module_->getFunction(kernel.name);
    function->addFnAttr("target-cpu", machine_.cpu);
    function->addFnAttr("target-features", machine_.features);
    function->addFnAttr("prefer-vector-width", "512");
    names_.push_back(kernel.name);
    functions_.push_back(nullptr);
    return it->second;
  }

  Status Compile() {
    if (names_.empty()) return {};
#ifndef NDEBUG
    if (llvm::verifyModule(*module_, &llvm::errs())) llvm::report_fatal_error("invalid LLVM IR");
#endif
    llvm::SmallVector<char, 0> object;
    llvm::raw_svector_ostream os(object);
    llvm::legacy::PassManager passes;
    if (target_->addPassesToEmitFile(passes, os, nullptr, llvm::CodeGenFileType::ObjectFile))
      return Error(CompileError("the target cannot emit objects"));
    passes.run(*module_);
    module_.reset();
    auto jit = llvm::orc::LLJITBuilder().create();
    if (!jit) return Error(CompileError(llvm::toString(jit.takeError())));
    jit_ = std::move(*jit);
    if (auto error =
            jit_->addObjectFile(std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(object), false)))
      return Error(CompileError(llvm::toString(std::move(error))));
    for (size_t i = 0; i < names_.size(); ++i) {
      auto address = jit_->lookup(names_[i]);
      if (!address) return Error(CompileError(llvm::toString(address.takeError())));
      functions_[i] = address->toPtr<KernelFn>();
    }
    return {};
  }

  [[nodiscard]] const KernelFn* Function(int32_t kernel) const { return &functions_[static_cast<size_t>(kernel)]; }
  [[nodiscard]] size_t kernel_count() const { return names_.size(); }

 private:
  /// LLVM is started by the first kernel.
  Status Start() {
    if (module_) return {};
    InitializeLlvm();
    context_ = std::make_unique<llvm::LLVMContext>();
    module_ = std::make_unique<llvm::Module>("kernels", *context_);
    const std::string triple = llvm::sys::getProcessTriple();
    std::string why;
    const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, why);
    if (target == nullptr) return Error(CompileError(why));
    llvm::TargetOptions options;
    target_.reset(target->createTargetMachine(triple, machine_.cpu, machine_.features, options,
                                              llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                              llvm::CodeGenOptLevel::Less, /*JIT=*/true));
    module_->setTargetTriple(triple);
    module_->setDataLayout(target_->createDataLayout());
    return {};
  }

  Machine machine_;
  std::unique_ptr<llvm::LLVMContext> context_;
  std::unique_ptr<llvm::Module> module_;
  std::unique_ptr<llvm::TargetMachine> target_;
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  llvm::StringMap<int32_t> numbers_;  // by text; below 0: a failure
  std::vector<Diagnostic> failures_;
  std::vector<std::string> names_;
  std::deque<KernelFn> functions_;
};

Jit::Jit(Machine machine) : state_(std::make_unique<State>(std::move(machine))) {}
Jit::~Jit() = default;
Result<int32_t> Jit::Add(kernel::Kernel kernel) { return state_->Add(std::move(kernel)); }
Status Jit::Compile() { return state_->Compile(); }
const KernelFn* Jit::Function(int32_t kernel) const { return state_->Function(kernel); }
size_t Jit::kernel_count() const { return state_->kernel_count(); }

}  // namespace hlo::cpu
