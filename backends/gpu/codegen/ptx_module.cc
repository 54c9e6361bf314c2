#include "backends/gpu/codegen/ptx_module.h"

#include <atomic>

#include "backends/gpu/codegen/emit_ptx.h"
#include "backends/gpu/codegen/nvptx_target.h"
#include "backends/gpu/codegen/optimize.h"
#include "backends/llvm/deferred.h"
#include "backends/llvm/emit_kernel.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

namespace hlo::gpu {
namespace {

constexpr const char* kTriple = "nvptx64-nvidia-cuda";
constexpr llvm::StringLiteral kShuffles = "llvm.nvvm.shfl.sync.";

Diagnostic CompileError(const std::string& why) { return MakeError("compile-kernels", {}, "LLVM: {0}", why); }

void InitializeLlvm() {
  static const bool done = [] {
    codegen::RunDeferredInitializers();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)done;
}

std::atomic<int64_t> modules_made = 0;

/// What LLVM would make a call of, which nothing but NVIDIA's assembler would refuse: intrinsics of a name
/// that it does not know, and functions of libraries.
Status CheckDeclarations(const llvm::Module& module) {
  for (const llvm::Function& function : module)
    if (function.isDeclaration() && !function.isIntrinsic() && !function.use_empty())
      return Error(CompileError(("there is no function " + function.getName()).str()));
  return {};
}

/// What NVPTX cannot choose instructions for, and would end the program over. Remainders are not in it: they
/// would be wrong.
constexpr llvm::Intrinsic::ID kMissing[] = {
    llvm::Intrinsic::sin,  llvm::Intrinsic::cos,  llvm::Intrinsic::tan,   llvm::Intrinsic::pow,
    llvm::Intrinsic::exp,  llvm::Intrinsic::exp2, llvm::Intrinsic::exp10, llvm::Intrinsic::log,
    llvm::Intrinsic::log2, llvm::Intrinsic::log10};

/// What of these a function has; empty: nothing.
std::string MissingIn(const llvm::Function& function) {
  for (const llvm::Instruction& inst : llvm::instructions(function)) {
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&inst);
    if (call != nullptr && llvm::is_contained(kMissing, call->getIntrinsicID()))
      return call->getCalledFunction()->getName().str();
    if (inst.getOpcode() == llvm::Instruction::FRem || llvm::isa<llvm::FenceInst>(inst))
      return inst.getOpcodeName();
  }
  return "";
}

/// Lanes that reduce a row together may all read an element that one of them then writes. Exchanges order no
/// accesses of memory (ptx.md §3), a barrier among the same lanes does.
void OrderLanes(llvm::Function& function) {
  for (llvm::BasicBlock& block : function) {
    llvm::IntrinsicInst* last = nullptr;
    for (llvm::Instruction& instruction : block)
      if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
          call != nullptr && call->getCalledFunction()->getName().starts_with(kShuffles))
        last = call;
    if (last == nullptr) continue;
    llvm::IRBuilder<> b(last->getNextNode());
    b.CreateIntrinsic(llvm::Intrinsic::nvvm_bar_warp_sync, {}, {last->getArgOperand(0)});
  }
}

}  // namespace

struct PtxModule::State {
  llvm::LLVMContext context;
  llvm::Module module{"kernels", context};
  std::unique_ptr<llvm::TargetMachine> machine;
  int64_t static_shared_memory = 0;
};

PtxModule::PtxModule(std::unique_ptr<State> state) : state_(std::move(state)) {}
PtxModule::PtxModule(PtxModule&&) noexcept = default;
PtxModule& PtxModule::operator=(PtxModule&&) noexcept = default;
PtxModule::~PtxModule() = default;

Result<PtxModule> PtxModule::Create(const Target& target) {
  InitializeLlvm();
  std::string why;
  const llvm::Target* known = llvm::TargetRegistry::lookupTarget(kTriple, why);
  if (known == nullptr) return Error(CompileError(why));
  auto state = std::make_unique<State>();
  std::string version = target.ptx;
  llvm::erase(version, '.');
  state->machine.reset(known->createTargetMachine(kTriple, target.arch, "+ptx" + version, {},
                                                  llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                                  llvm::CodeGenOptLevel::Default));
  state->static_shared_memory = target.static_shared_memory;
  state->module.setTargetTriple(kTriple);
  state->module.setDataLayout(state->machine->createDataLayout());
  codegen::SetCodeTarget(state->module, NvptxTarget());
  return PtxModule(std::move(state));
}

/// Reads of what others write must not go through the read-only cache, nor past their writes.
void PtxModule::LetOverlap(llvm::Function& function, const kernel::Kernel& kernel,
                           const llvm::SmallBitVector& overlap) {
  unsigned argument = 0;
  for (size_t i = 0; i < kernel.buffers.size(); ++i) {
    if (kernel.buffers[i].space != kernel::Space::Global) continue;
    if (i < overlap.size() && overlap[static_cast<unsigned>(i)])
      for (const auto attribute : {llvm::Attribute::NoAlias, llvm::Attribute::ReadOnly})
        function.removeParamAttr(argument, attribute);
    ++argument;
  }
  if (overlap.any()) OrderLanes(function);
}

Status PtxModule::Add(const kernel::Kernel& kernel, const llvm::SmallBitVector& overlap) {
  int64_t shared = 0;
  for (const kernel::Buffer& buffer : kernel.buffers)
    if (buffer.space == kernel::Space::Shared && buffer.over < 0)
      shared += buffer.count * Info(buffer.type).host_bytes();
  if (shared > state_->static_shared_memory)
    return Decline({}, "{0} bytes of shared memory, a block has {1}", shared, state_->static_shared_memory);
  HLO_CHECK_OK(codegen::EmitKernel(kernel, state_->module));
  llvm::Function& function = *state_->module.getFunction(kernel.name);
  if (const std::string missing = MissingIn(function); !missing.empty()) {
    Forget(function);
    return Decline({}, "there is no {0} on GPUs yet", missing);
  }
  LetOverlap(function, kernel, overlap);
  return {};
}

void PtxModule::Forget(llvm::Function& function) {
  llvm::NamedMDNode* annotations = state_->module.getNamedMetadata("nvvm.annotations");
  std::vector<llvm::MDNode*> others;
  for (llvm::MDNode* node : annotations->operands()) {
    const auto* of = llvm::mdconst::dyn_extract_or_null<llvm::Function>(node->getOperand(0));
    if (of != &function) others.push_back(node);
  }
  annotations->clearOperands();
  for (llvm::MDNode* node : others) annotations->addOperand(node);
  function.eraseFromParent();
}

Result<std::string> PtxModule::Print(PtxForm form) {
  llvm::Module& module = state_->module;
#ifndef NDEBUG
  if (llvm::verifyModule(module, &llvm::errs())) llvm::report_fatal_error("invalid LLVM IR");
#endif
  if (form != PtxForm::LlvmBefore) Optimize(module, *state_->machine);
  HLO_CHECK_OK(CheckDeclarations(module));
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream os(text);
  if (form != PtxForm::Ptx) {
    module.print(os, nullptr);
    return std::string(text);
  }
  HLO_TRY([[maybe_unused]] const size_t left_out, EmitPtx(module, *state_->machine, os));
  ++modules_made;
  return std::string(text);
}

int64_t PtxModulesMade() { return modules_made; }

std::string SymbolFor(llvm::StringRef name) {
  std::string symbol = name.str();
  for (char& c : symbol)
    if (!llvm::isAlnum(c) && c != '_' && c != '$') c = '_';
  if (symbol.empty() || !(llvm::isAlpha(symbol[0]) || (symbol.size() > 1 && !llvm::isDigit(symbol[0]))))
    symbol = "k_" + symbol;
  return symbol;
}

}  // namespace hlo::gpu
