#include "backends/gpu/codegen/optimize.h"

#include <numeric>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/BasicAliasAnalysis.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/BranchProbabilityInfo.h"
#include "llvm/Analysis/LazyValueInfo.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/MemorySSA.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ProfileSummaryInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/CorrelatedValuePropagation.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace hlo::gpu {
namespace {

/// The analyses that the passes below ask for, and no others: each takes its part of the program with it.
struct Analyses {
  explicit Analyses(llvm::TargetMachine& machine) {
    module.registerPass([] { return llvm::PassInstrumentationAnalysis(); });
    module.registerPass([] { return llvm::ProfileSummaryAnalysis(); });
    module.registerPass([&] { return llvm::FunctionAnalysisManagerModuleProxy(function); });
    RegisterFunctionAnalyses(machine);
    loop.registerPass([] { return llvm::PassInstrumentationAnalysis(); });
    loop.registerPass([&] { return llvm::FunctionAnalysisManagerLoopProxy(function); });
  }
  // Each empties the one before it when it ends.
  llvm::LoopAnalysisManager loop;
  llvm::FunctionAnalysisManager function;
  llvm::ModuleAnalysisManager module;

 private:
  void RegisterFunctionAnalyses(llvm::TargetMachine& machine) {
    function.registerPass([] { return llvm::PassInstrumentationAnalysis(); });
    function.registerPass([] { return llvm::DominatorTreeAnalysis(); });
    function.registerPass([] { return llvm::PostDominatorTreeAnalysis(); });
    function.registerPass([] { return llvm::AssumptionAnalysis(); });
    function.registerPass([] { return llvm::TargetLibraryAnalysis(); });
    function.registerPass([&machine] { return machine.getTargetIRAnalysis(); });
    function.registerPass([] { return llvm::LoopAnalysis(); });
    function.registerPass([] { return llvm::ScalarEvolutionAnalysis(); });
    function.registerPass([] { return llvm::LazyValueAnalysis(); });
    function.registerPass([] { return llvm::MemorySSAAnalysis(); });
    function.registerPass([] { return llvm::OptimizationRemarkEmitterAnalysis(); });
    function.registerPass([] { return llvm::BlockFrequencyAnalysis(); });
    function.registerPass([] { return llvm::BranchProbabilityAnalysis(); });
    function.registerPass([] { return llvm::BasicAA(); });
    function.registerPass([] {
      llvm::AAManager aliases;
      aliases.registerFunctionAnalysis<llvm::BasicAA>();
      return aliases;
    });
    function.registerPass([this] { return llvm::ModuleAnalysisManagerFunctionProxy(module); });
    function.registerPass([this] { return llvm::LoopAnalysisManagerFunctionProxy(loop); });
  }
};

llvm::FunctionPassManager Passes() {
  llvm::FunctionPassManager passes;
  const llvm::SimplifyCFGOptions branches;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::SimplifyCFGPass(branches));
  passes.addPass(llvm::InstCombinePass());
  // Divisions of indices, whose ranges are known, become those of 32 bits.
  passes.addPass(llvm::CorrelatedValuePropagationPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()),
                                                       /*UseMemorySSA=*/true));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::SimplifyCFGPass(branches));
  return passes;
}

void InlineCalls(llvm::Module& module) {
  for (bool changed = true; changed;) {
    changed = false;
    llvm::SmallVector<llvm::CallInst*, 8> calls;
    for (llvm::Function& function : module)
      for (llvm::Instruction& inst : llvm::instructions(function)) {
        auto* call = llvm::dyn_cast<llvm::CallInst>(&inst);
        llvm::Function* callee = call == nullptr ? nullptr : call->getCalledFunction();
        if (callee != nullptr && !callee->isDeclaration()) calls.push_back(call);
      }
    for (llvm::CallInst* call : calls) {
      llvm::InlineFunctionInfo info;
      changed |= llvm::InlineFunction(*call, info).isSuccess();
    }
  }
  for (llvm::Function& function : llvm::make_early_inc_range(module))
    if (function.hasLocalLinkage() && function.use_empty()) function.eraseFromParent();
}

constexpr unsigned kWord = 32, kByte = 8;

/// A vector of bytes that fills words; null for others.
llvm::FixedVectorType* AsBytes(llvm::Type* type) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  const bool bytes = vector != nullptr && vector->getElementType()->isIntegerTy(kByte);
  return bytes && vector->getNumElements() * kByte % kWord == 0 ? vector : nullptr;
}

/// The words of a vector of bytes, by instructions that LLVM does not see through: it would store bytes that
/// were computed one by one as it computed them.
llvm::Value* PackWords(llvm::IRBuilder<>& b, llvm::Value* bytes, unsigned count) {
  constexpr unsigned kBytes = kWord / kByte;
  const auto byte = [&](unsigned i) {
    return b.CreateZExt(b.CreateExtractElement(bytes, i), b.getInt32Ty());
  };
  // Each digit of a selector, the lowest first, is the number of a byte of the first word, or of the second
  // from 4 on.
  const auto select = [&](llvm::Value* x, llvm::Value* y, uint32_t selector) {
    return b.CreateIntrinsic(llvm::Intrinsic::nvvm_prmt, {}, {x, y, b.getInt32(selector)});
  };
  constexpr uint32_t kLowBytes = 0x3340, kLowHalves = 0x5410;
  llvm::Value* words = llvm::PoisonValue::get(llvm::FixedVectorType::get(b.getInt32Ty(), count / kBytes));
  for (unsigned i = 0; i < count; i += kBytes) {
    llvm::Value* low = select(byte(i), byte(i + 1), kLowBytes);
    llvm::Value* high = select(byte(i + 2), byte(i + 3), kLowBytes);
    words = b.CreateInsertElement(words, select(low, high, kLowHalves), i / kBytes);
  }
  return words;
}

/// Vectors of bytes are stored as vectors of words.
void StoreWords(llvm::Function& function) {
  for (llvm::Instruction& inst : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* store = llvm::dyn_cast<llvm::StoreInst>(&inst);
    llvm::FixedVectorType* type = store == nullptr ? nullptr : AsBytes(store->getValueOperand()->getType());
    if (type == nullptr || store->getAlign().value() < kWord / kByte) continue;
    llvm::IRBuilder<> b(store);
    store->setOperand(0, PackWords(b, store->getValueOperand(), type->getNumElements()));
  }
}

/// LLVM reads 16 bytes as four words at once wherever they lie: where that need not be a multiple of 16, they
/// become words, or halves.
void SplitUnaligned(llvm::Function& function) {
  constexpr unsigned kAll = 16, kHalf = kAll / 2;
  for (llvm::Instruction& inst : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* load = llvm::dyn_cast<llvm::LoadInst>(&inst);
    llvm::FixedVectorType* type = load == nullptr ? nullptr : AsBytes(load->getType());
    if (type == nullptr || type->getNumElements() != kAll || load->getAlign().value() >= kAll) continue;
    llvm::IRBuilder<> b(load);
    llvm::Value* from = load->getPointerOperand();
    const auto part = [&](llvm::FixedVectorType* part_type, uint64_t offset) {
      llvm::Value* place = offset == 0 ? from : b.CreateConstGEP1_64(b.getInt8Ty(), from, offset);
      auto* read = b.CreateAlignedLoad(part_type, place, llvm::commonAlignment(load->getAlign(), offset));
      read->copyMetadata(*load);
      return read;
    };
    llvm::Value* bytes = nullptr;
    if (load->getAlign().value() >= kWord / kByte) {
      bytes =
          b.CreateBitCast(part(llvm::FixedVectorType::get(b.getInt32Ty(), kAll * kByte / kWord), 0), type);
    } else {
      auto* half = llvm::FixedVectorType::get(b.getInt8Ty(), kHalf);
      llvm::SmallVector<int, kAll> lanes(kAll);
      std::iota(lanes.begin(), lanes.end(), 0);
      llvm::Value* low = part(half, 0);
      bytes = b.CreateShuffleVector(low, part(half, kHalf), lanes);
    }
    load->replaceAllUsesWith(bytes);
    load->eraseFromParent();
  }
}

}  // namespace

void Optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  InlineCalls(module);
  Analyses analyses(machine);
  llvm::FunctionPassManager passes = Passes();
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) {
      passes.run(function, analyses.function);
      StoreWords(function);
      SplitUnaligned(function);
    }
}

}  // namespace hlo::gpu
