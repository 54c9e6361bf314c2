#include "backends/gpu/emulator/host_code.h"

#include "backends/llvm/deferred.h"
#include "ir/support/cpu_features.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/Scalar.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

namespace hlo::gpu {
namespace {

Diagnostic CompileError(const std::string& why) { return MakeError("compile-kernels", {}, "LLVM: {0}", why); }

Result<std::unique_ptr<llvm::TargetMachine>> HostTarget(llvm::CodeGenOptLevel level) {
  codegen::RunDeferredInitializers();
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  const std::string triple = llvm::sys::getProcessTriple();
  std::string why;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, why);
  if (target == nullptr) return Error(CompileError(why));
  std::string features;
  for (const llvm::StringRef feature : KnownCpuFeatures())
    if (HasCpuFeatures({feature})) features += (features.empty() ? "+" : ",+") + feature.str();
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, "x86-64", features, {}, llvm::Reloc::PIC_, llvm::CodeModel::Small, level, /*JIT=*/true));
}

void PromoteVariables(llvm::Function& function) {
  llvm::SmallVector<llvm::AllocaInst*> variables;
  for (llvm::BasicBlock& block : function)
    for (llvm::Instruction& inst : block)
      if (auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&inst);
          variable != nullptr && llvm::isAllocaPromotable(variable))
        variables.push_back(variable);
  if (variables.empty()) return;
  llvm::DominatorTree dominators(function);
  llvm::PromoteMemToReg(variables, dominators);
}

}  // namespace

Status PrepareForHost(llvm::Module& module) {
  HLO_TRY(const auto target, HostTarget(llvm::CodeGenOptLevel::None));
  module.setTargetTriple(target->getTargetTriple().str());
  module.setDataLayout(target->createDataLayout());
  return {};
}

Result<std::string> MakeHostObject(llvm::Module& module, bool quick) {
  HLO_TRY(const auto target, HostTarget(quick ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Less));
#ifndef NDEBUG
  if (llvm::verifyModule(module, &llvm::errs())) llvm::report_fatal_error("invalid LLVM IR");
#endif
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    function.addFnAttr("target-features", target->getTargetFeatureString());
    // Stacks of fibres have no guard that a large frame could not jump over.
    function.addFnAttr("probe-stack", "inline-asm");
    llvm::EliminateUnreachableBlocks(function);
    PromoteVariables(function);
  }
  llvm::SmallVector<char, 0> code;
  llvm::raw_svector_ostream os(code);
  llvm::legacy::PassManager passes;
  if (!quick) {
    passes.add(llvm::createEarlyCSEPass());
    passes.add(llvm::createCFGSimplificationPass());
  }
  if (target->addPassesToEmitFile(passes, os, nullptr, llvm::CodeGenFileType::ObjectFile))
    return Error(CompileError("the target cannot emit this form of code"));
  passes.run(module);
  return std::string(code.begin(), code.end());
}

}  // namespace hlo::gpu
