#include "backends/llvm/emit_routine.h"

#include "backends/llvm/code_target.h"
#include "backends/llvm/routine_loops.h"
#include "backends/llvm/types.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Scalar.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace hlo::codegen {
namespace {

using kernel::RoutineBody;
using kernel::Slot;
using kernel::SlotId;
using llvm::BasicBlock;
using llvm::Type;
using llvm::Value;

/// Of each function that the steps of a long row are divided among.
constexpr size_t kStepsOfPart = 256;
/// Attribute of functions that do some steps of a routine.
constexpr llvm::StringLiteral kPart = "hlo-part";

class RoutineEmitter {
 public:
  RoutineEmitter(const kernel::Routine& routine, llvm::Module& module,
                 llvm::function_ref<std::string(int32_t)> kernel_name)
      : routine_(routine),
        module_(module),
        kernel_name_(kernel_name),
        b_(module.getContext()),
        pointer_(b_.getPtrTy()) {}

  llvm::Function* Run(llvm::StringRef name) {
    Begin(llvm::Function::ExternalLinkage, name);
    EnterSlots();
    Emit(routine_.body);
    for (size_t i = 0; i < routine_.slots.size(); ++i)
      if (routine_.slots[i].scalar && routine_.slots[i].written && !routine_.slots[i].local)
        CopyBytes(memory_[i], slots_[i], routine_.slots[i].size);
    b_.CreateRetVoid();
    return function_;
  }

 private:
  /// A function of slots, context and host, in which what follows is put.
  void Begin(llvm::Function::LinkageTypes linkage, const llvm::Twine& name) {
    auto* type = llvm::FunctionType::get(b_.getVoidTy(), {pointer_, pointer_, pointer_}, false);
    function_ = llvm::Function::Create(type, linkage, name, module_);
    function_->addFnAttr(llvm::Attribute::NoUnwind);
    if (!routine_.polls) function_->addFnAttr(kNoPolls);
    b_.SetInsertPoint(Block("entry"));
  }

  void EnterSlots() {
    for (const Slot& slot : routine_.slots) {
      if (!slot.local) {
        Value* place = b_.CreateConstInBoundsGEP1_64(pointer_, function_->getArg(0), memory_.size());
        memory_.push_back(b_.CreateLoad(pointer_, place));
        slots_.push_back(memory_.back());
        if (!slot.scalar) continue;
      }
      llvm::AllocaInst* local =
          b_.CreateAlloca(llvm::ArrayType::get(b_.getInt8Ty(), static_cast<uint64_t>(slot.size)));
      local->setAlignment(llvm::Align(kArrayAlignment));
      if (slot.local) {
        slots_.push_back(local);
      } else if (slot.constant) {
        slots_.back() = local;
        b_.CreateStore(b_.getIntN(static_cast<unsigned>(slot.size) * CHAR_BIT, *slot.constant), local);
      } else {
        slots_.back() = local;
        CopyBytes(local, memory_.back(), slot.size);
      }
    }
  }

  void CopyBytes(Value* to, Value* from, int64_t bytes) {
    // Without a type of its own, so that slots become registers of the type that kernels use.
    b_.CreateMemCpy(to, llvm::Align(1), from, llvm::Align(1), static_cast<uint64_t>(bytes));
  }

  void Emit(const RoutineBody& body) {
    llvm::ArrayRef<kernel::RoutineStep> rest = body;
    // Only the function that polls can end the routine.
    if (rest.size() <= kernel::kMostSteps || routine_.polls) return EmitSteps(rest);
    while (!rest.empty()) {
      const auto steps = rest.take_front(kStepsOfPart);
      EmitPart({steps.begin(), steps.end()});
      rest = rest.drop_front(steps.size());
    }
  }
  void EmitSteps(llvm::ArrayRef<kernel::RoutineStep> steps) {
    for (const kernel::RoutineStep& s : steps) std::visit([&](const auto& step) { EmitStep(step); }, s.step);
  }

  /// Steps as a function of its own, which is called here.
  void EmitPart(RoutineBody steps) {
    llvm::SetVector<SlotId> used;
    kernel::ForEachSlot(steps, [&](SlotId& slot) { used.insert(slot); });
    const llvm::IRBuilder<>::InsertPoint here = b_.saveIP();
    llvm::Function* outside = function_;
    Begin(llvm::Function::InternalLinkage, outside->getName() + ".part");
    function_->addFnAttr(kPart);
    std::vector<Value*> slots_outside;
    for (const SlotId id : used) {
      const auto slot = static_cast<size_t>(id);
      assert(!routine_.slots[slot].scalar && "the part finds slots in memory");
      Value* place = b_.CreateConstInBoundsGEP1_64(pointer_, function_->getArg(0), slot);
      slots_outside.push_back(std::exchange(slots_[slot], b_.CreateLoad(pointer_, place)));
    }
    EmitSteps(steps);
    b_.CreateRetVoid();
    for (size_t i = 0; i < used.size(); ++i) slots_[static_cast<size_t>(used[i])] = slots_outside[i];
    llvm::Function* part = std::exchange(function_, outside);
    b_.restoreIP(here);
    b_.CreateCall(part, {function_->getArg(0), function_->getArg(1), function_->getArg(2)});
  }

  /// An array of the pointers to slots.
  Value* PointersTo(llvm::ArrayRef<SlotId> slots) {
    const llvm::IRBuilder<>::InsertPoint here = b_.saveIP();
    BasicBlock& entry = function_->getEntryBlock();
    b_.SetInsertPoint(&entry, entry.getFirstInsertionPt());
    Value* pointers = b_.CreateAlloca(llvm::ArrayType::get(pointer_, slots.size()));
    b_.restoreIP(here);
    for (size_t i = 0; i < slots.size(); ++i)
      b_.CreateStore(slots_[static_cast<size_t>(slots[i])],
                     b_.CreateConstInBoundsGEP1_64(pointer_, pointers, i));
    return pointers;
  }

  void EmitStep(const kernel::HostStep& step) {
    Value* calls = b_.CreateLoad(pointer_, b_.CreateConstInBoundsGEP1_64(pointer_, function_->getArg(2), 1));
    const auto entry = static_cast<uint64_t>(step.number) * 2;
    Value* run = b_.CreateLoad(pointer_, b_.CreateConstInBoundsGEP1_64(pointer_, calls, entry));
    Value* what = b_.CreateLoad(pointer_, b_.CreateConstInBoundsGEP1_64(pointer_, calls, entry + 1));
    auto* type = llvm::FunctionType::get(b_.getVoidTy(), {pointer_, pointer_}, false);
    b_.CreateCall(type, run, {what, PointersTo(step.slots)});
  }

  void EmitStep(const kernel::CallStep& step) {
    Value* pointers = PointersTo(step.slots);
    llvm::Function* kernel = module_.getFunction(kernel_name_(step.kernel));
    assert(kernel != nullptr && "kernels are emitted before the routines that call them");
    b_.CreateCall(kernel, {pointers, b_.getInt64(0), b_.getInt64(static_cast<uint64_t>(step.extent))});
  }

  void EmitStep(const kernel::CopyStep& step) {
    if (step.from == step.to) return;
    Value *to = slots_[static_cast<size_t>(step.to)], *from = slots_[static_cast<size_t>(step.from)];
    if (IsScalar(step.from) || IsScalar(step.to)) return CopyBytes(to, from, step.bytes);
    b_.CreateMemMove(to, llvm::Align(1), from, llvm::Align(1), static_cast<uint64_t>(step.bytes));
  }

  void EmitStep(const kernel::WhileStep& step) {
    BasicBlock *head = Block("while"), *body = Block("do"), *after = Block("done");
    b_.CreateBr(head);
    b_.SetInsertPoint(head);
    Emit(step.condition);
    b_.CreateCondBr(IsTrue(step.predicate), body, after);
    b_.SetInsertPoint(body);
    Emit(step.body);
    b_.CreateCall(PollMarker(module_));
    b_.CreateBr(head);
    b_.SetInsertPoint(after);
  }

  void EmitStep(const kernel::BranchStep& step) {
    BasicBlock* after = Block("joined");
    std::vector<BasicBlock*> branches;
    for (size_t i = 0; i < step.branches.size(); ++i) branches.push_back(Block("branch"));
    if (step.by_predicate) {
      b_.CreateCondBr(IsTrue(step.selector), branches[0], branches[1]);
    } else {
      Value* selector = b_.CreateLoad(b_.getInt32Ty(), slots_[static_cast<size_t>(step.selector)]);
      llvm::SwitchInst* choice = b_.CreateSwitch(selector, branches.back());
      for (size_t i = 0; i + 1 < branches.size(); ++i)
        choice->addCase(b_.getInt32(static_cast<uint32_t>(i)), branches[i]);
    }
    for (size_t i = 0; i < branches.size(); ++i) {
      b_.SetInsertPoint(branches[i]);
      Emit(step.branches[i]);
      b_.CreateBr(after);
    }
    b_.SetInsertPoint(after);
  }

  /// It lies where no other slot does.
  [[nodiscard]] bool IsScalar(SlotId slot) const { return routine_.slots[static_cast<size_t>(slot)].scalar; }

  Value* IsTrue(SlotId predicate) {
    return b_.CreateICmpNE(b_.CreateLoad(b_.getInt8Ty(), slots_[static_cast<size_t>(predicate)]),
                           b_.getInt8(0));
  }

  BasicBlock* Block(const char* name) { return BasicBlock::Create(module_.getContext(), name, function_); }

  const kernel::Routine& routine_;
  llvm::Module& module_;
  llvm::function_ref<std::string(int32_t)> kernel_name_;
  llvm::IRBuilder<> b_;
  Type* pointer_;
  llvm::Function* function_ = nullptr;
  std::vector<Value*> memory_,
      slots_;  // by slot: where it lies (none of local ones), where the steps find it
};

void RunPasses(llvm::Function& routine, const llvm::TargetMachine& target,
               std::initializer_list<llvm::Pass*> list) {
  llvm::legacy::FunctionPassManager passes(routine.getParent());
  passes.add(llvm::createTargetTransformInfoWrapperPass(target.getTargetIRAnalysis()));
  for (llvm::Pass* pass : list) passes.add(pass);
  passes.doInitialization();
  passes.run(routine);
  passes.doFinalization();
}

/// Adds its parts to `parts`.
void OptimizeSteps(llvm::Function& routine, const llvm::TargetMachine& target,
                   std::vector<llvm::Function*>& parts) {
  std::vector<llvm::CallInst*> calls;
  for (llvm::Instruction& inst : llvm::instructions(routine)) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&inst);
    llvm::Function* callee = call != nullptr ? call->getCalledFunction() : nullptr;
    if (callee == nullptr || callee->isDeclaration()) continue;
    if (callee->hasFnAttribute(kPart))
      parts.push_back(callee);
    else
      calls.push_back(call);
  }
  // Larger kernels are called instead of copied, and calls stay calls once the routine has grown enough: one
  // that has parts has.
  const CodeTarget::Code& code = CodeTargetOf(*routine.getParent()).facts().code;
  size_t size = routine.hasFnAttribute(kPart) ? code.routine : 0;
  for (llvm::CallInst* call : calls) {
    const size_t more = call->getCalledFunction()->getInstructionCount();
    if (more > code.inlined || size + more > code.routine) continue;
    size += more;
    llvm::InlineFunctionInfo info;
    llvm::InlineFunction(*call, info);
  }
  // The first frees the arrays of pointers that kernels are handed, the second what these point to.
  RunPasses(routine, target,
            {llvm::createSROAPass(), llvm::createSROAPass(), llvm::createEarlyCSEPass(/*UseMemorySSA=*/true),
             llvm::createCFGSimplificationPass()});
  TurnLoops(routine, target);
  RunPasses(routine, target, {llvm::createLICMPass()});
  UnrollShortLoops(routine, target);
  ExpandPolls(routine);
}

}  // namespace

llvm::Function* EmitRoutine(const kernel::Routine& routine, llvm::StringRef name, llvm::Module& module,
                            llvm::function_ref<std::string(int32_t kernel)> kernel_name) {
  return RoutineEmitter(routine, module, kernel_name).Run(name);
}

void OptimizeRoutine(llvm::Function& routine, const llvm::TargetMachine& target) {
  std::vector<llvm::Function*> functions = {&routine};
  for (size_t i = 0; i < functions.size(); ++i) OptimizeSteps(*functions[i], target, functions);
}

}  // namespace hlo::codegen
