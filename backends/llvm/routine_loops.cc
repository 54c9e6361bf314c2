#include "backends/llvm/routine_loops.h"

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/SimplifyQuery.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopRotationUtils.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"
#include "llvm/Transforms/Utils/UnrollLoop.h"

namespace hlo::codegen {
namespace {

using llvm::BasicBlock;
using llvm::Function;
using llvm::Instruction;
using llvm::Loop;
using llvm::ScalarEvolution;
using llvm::Value;

constexpr const char* kPoll = "hlo.poll";
/// Iterations between two polls.
constexpr uint32_t kPollEvery = 1024;
/// Instructions of a condition that is written twice, and of a loop that is written out.
constexpr unsigned kMaxCondition = 16, kMaxShort = 32;
constexpr unsigned kCopies = 4;

struct Analyses {
  Analyses(Function& function, const llvm::TargetMachine& target)
      : dominators(function),
        loops(dominators),
        assumptions(function),
        functions(known),
        costs(target.getTargetTransformInfo(function)),
        evolution(function, functions, assumptions, dominators, loops) {}
  llvm::DominatorTree dominators;
  llvm::LoopInfo loops;
  llvm::AssumptionCache assumptions;
  llvm::TargetLibraryInfoImpl known;
  llvm::TargetLibraryInfo functions;
  llvm::TargetTransformInfo costs;
  ScalarEvolution evolution;
};

llvm::CallInst* AsMarker(Instruction& inst) {
  auto* call = llvm::dyn_cast<llvm::CallInst>(&inst);
  const Function* callee = call != nullptr ? call->getCalledFunction() : nullptr;
  return callee != nullptr && callee->getName() == kPoll ? call : nullptr;
}

llvm::SmallVector<llvm::CallInst*, 4> MarkersOf(const Loop& loop) {
  llvm::SmallVector<llvm::CallInst*, 4> markers;
  for (BasicBlock* block : loop.blocks())
    for (Instruction& inst : *block)
      if (llvm::CallInst* marker = AsMarker(inst)) markers.push_back(marker);
  return markers;
}

/// The operand that the maximum or minimum always is; null if that is not known.
Value* OnlyOperand(const llvm::MinMaxIntrinsic& choice, ScalarEvolution& evolution) {
  // Of larger or equal, signed or not.
  const llvm::CmpInst::Predicate stays = llvm::CmpInst::getNonStrictPredicate(choice.getPredicate());
  const llvm::SCEV *x = evolution.getSCEV(choice.getLHS()), *y = evolution.getSCEV(choice.getRHS());
  if (evolution.isKnownPredicateAt(stays, x, y, &choice)) return choice.getLHS();
  return evolution.isKnownPredicateAt(stays, y, x, &choice) ? choice.getRHS() : nullptr;
}

void RemoveBounds(Function& routine, Analyses& a) {
  for (Instruction& inst : llvm::make_early_inc_range(llvm::instructions(routine))) {
    auto* choice = llvm::dyn_cast<llvm::MinMaxIntrinsic>(&inst);
    if (choice == nullptr || !a.evolution.isSCEVable(choice->getType())) continue;
    if (a.loops.getLoopFor(choice->getParent()) == nullptr) continue;
    if (Value* operand = OnlyOperand(*choice, a.evolution)) {
      a.evolution.forgetValue(choice);
      choice->replaceAllUsesWith(operand);
      choice->eraseFromParent();
    }
  }
}

unsigned SizeOf(const Loop& loop) {
  unsigned size = 0;
  for (const BasicBlock* block : loop.blocks()) size += static_cast<unsigned>(block->size());
  return size;
}

void Unroll(Loop& loop, Analyses& a, Function& routine) {
  if (!llvm::formLCSSARecursively(loop, a.dominators, &a.loops, &a.evolution) &&
      !loop.isLCSSAForm(a.dominators))
    return;
  llvm::OptimizationRemarkEmitter remarks(&routine);
  llvm::UnrollLoopOptions options{};
  options.Count = kCopies;
  const llvm::LoopUnrollResult result = llvm::UnrollLoop(&loop, options, &a.loops, &a.evolution,
                                                         &a.dominators, &a.assumptions, &a.costs, &remarks,
                                                         /*PreserveLCSSA=*/true);
  if (result != llvm::LoopUnrollResult::PartiallyUnrolled) return;  // as it was, or none any more
  // One poll is enough: the last, behind which the next round begins.
  const auto markers = MarkersOf(loop);
  const BasicBlock* latch = loop.getLoopLatch();
  if (!llvm::any_of(markers, [&](const auto* marker) { return marker->getParent() == latch; })) return;
  bool kept = false;
  for (llvm::CallInst* marker : llvm::reverse(markers)) {
    if (marker->getParent() == latch && !kept)
      kept = true;
    else
      marker->eraseFromParent();
  }
}

}  // namespace

llvm::FunctionCallee PollMarker(llvm::Module& module) {
  llvm::FunctionCallee marker = module.getOrInsertFunction(
      kPoll, llvm::FunctionType::get(llvm::Type::getVoidTy(module.getContext()), false));
  auto& function = *llvm::cast<Function>(marker.getCallee());
  function.setOnlyAccessesInaccessibleMemory();
  function.setDoesNotThrow();
  function.setWillReturn();
  return marker;
}

void TurnLoops(Function& routine, const llvm::TargetMachine& target) {
  Analyses a(routine, target);
  const llvm::SimplifyQuery query(routine.getDataLayout(), &a.functions, &a.dominators, &a.assumptions);
  for (Loop* loop : a.loops.getLoopsInPreorder()) {
    if (MarkersOf(*loop).empty()) continue;
    llvm::simplifyLoop(loop, &a.dominators, &a.loops, &a.evolution, &a.assumptions, nullptr,
                       /*PreserveLCSSA=*/false);
    llvm::formLCSSARecursively(*loop, a.dominators, &a.loops, &a.evolution);
    llvm::LoopRotation(loop, &a.loops, &a.costs, &a.assumptions, &a.dominators, &a.evolution, nullptr, query,
                       /*RotationOnly=*/true, kMaxCondition, /*IsUtilMode=*/true);
  }
  RemoveBounds(routine, a);
}

void UnrollShortLoops(Function& routine, const llvm::TargetMachine& target) {
  Analyses a(routine, target);
  for (Loop* loop : a.loops.getLoopsInPreorder()) {
    if (!loop->isInnermost() || SizeOf(*loop) > kMaxShort || MarkersOf(*loop).size() != 1) continue;
    llvm::simplifyLoop(loop, &a.dominators, &a.loops, &a.evolution, &a.assumptions, nullptr,
                       /*PreserveLCSSA=*/false);
    Unroll(*loop, a, routine);
  }
}

void ExpandPolls(Function& routine) {
  llvm::SmallVector<llvm::CallInst*, 4> markers;
  for (Instruction& inst : llvm::instructions(routine))
    if (llvm::CallInst* marker = AsMarker(inst)) markers.push_back(marker);
  if (routine.hasFnAttribute(kNoPolls))
    for (llvm::CallInst* marker : std::exchange(markers, {})) marker->eraseFromParent();
  if (markers.empty()) return;
  llvm::LLVMContext& context = routine.getContext();
  llvm::IRBuilder<> b(&routine.getEntryBlock(), routine.getEntryBlock().begin());
  llvm::AllocaInst* rounds = b.CreateAlloca(b.getInt32Ty());  // until the next poll
  b.CreateStore(b.getInt32(kPollEvery), rounds);
  BasicBlock* stopped = BasicBlock::Create(context, "stopped", &routine);
  b.SetInsertPoint(stopped);
  b.CreateRetVoid();
  for (llvm::CallInst* marker : markers) {
    BasicBlock* block = marker->getParent();
    BasicBlock* next = llvm::SplitBlock(block, marker);
    marker->eraseFromParent();
    block->getTerminator()->eraseFromParent();
    BasicBlock* ask = BasicBlock::Create(context, "ask", &routine);
    b.SetInsertPoint(block);
    Value* left = b.CreateSub(b.CreateLoad(b.getInt32Ty(), rounds), b.getInt32(1));
    b.CreateStore(left, rounds);
    b.CreateCondBr(b.CreateICmpEQ(left, b.getInt32(0)), ask, next,
                   llvm::MDBuilder(context).createUnlikelyBranchWeights());
    b.SetInsertPoint(ask);
    b.CreateStore(b.getInt32(kPollEvery), rounds);
    auto* type = llvm::FunctionType::get(b.getInt64Ty(), {b.getPtrTy()}, false);
    Value* poll = b.CreateLoad(b.getPtrTy(), routine.getArg(2));
    Value* stop = b.CreateCall(type, poll, {routine.getArg(1)});
    b.CreateCondBr(b.CreateICmpEQ(stop, b.getInt64(0)), next, stopped);
  }
  llvm::DominatorTree dominators(routine);
  llvm::PromoteMemToReg({rounds}, dominators);
}

}  // namespace hlo::codegen
