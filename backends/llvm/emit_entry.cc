#include "backends/llvm/emit_entry.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace hlo::codegen {
namespace {

using llvm::BasicBlock;
using llvm::Value;
using Base = EntryPoint::Base;

/// Loads, stores and calls of one block: what LLVM does to a block takes time with the square of its length.
constexpr size_t kMostTogether = 256;

class EntryEmitter {
 public:
  EntryEmitter(const EntryPoint& entry, llvm::ArrayRef<llvm::Function*> routines)
      : entry_(entry),
        routines_(routines),
        module_(*routines.front()->getParent()),
        b_(module_.getContext()) {}

  llvm::Function* Run() {
    Begin(b_.getInt32Ty(), llvm::Function::ExternalLinkage, entry_.symbol);
    AddConstants();
    Check();
    const bool in_parts = routines_.size() > 1 || entry_.copies.size() > kMostTogether;
    for (size_t i = 0; i < routines_.size(); ++i) {
      if (in_parts)
        Part([&] { CallRoutine(i); });
      else
        CallRoutine(i);
    }
    for (llvm::ArrayRef<EntryPoint::Copy> rest = entry_.copies; !rest.empty();) {
      const auto copies = rest.take_front(kMostTogether);
      rest = rest.drop_front(copies.size());
      if (in_parts)
        Part([&] { CopyAll(copies); });
      else
        CopyAll(copies);
    }
    b_.CreateRet(b_.getInt32(EntryPoint::kDone));
    return function_;
  }

 private:
  BasicBlock* Block(const char* name) { return BasicBlock::Create(module_.getContext(), name, function_); }

  /// A function of args, results and temp, in which what follows is put.
  void Begin(llvm::Type* result, llvm::Function::LinkageTypes linkage, llvm::StringRef name) {
    llvm::Type* pointer = b_.getPtrTy();
    auto* type = llvm::FunctionType::get(result, {pointer, pointer, pointer}, false);
    function_ = llvm::Function::Create(type, linkage, name, module_);
    function_->addFnAttr(llvm::Attribute::NoUnwind);
    b_.SetInsertPoint(Block("entry"));
  }

  /// A function of its own that is called here.
  void Part(llvm::function_ref<void()> emit) {
    const llvm::IRBuilder<>::InsertPoint here = b_.saveIP();
    llvm::Function* outside = function_;
    Begin(b_.getVoidTy(), llvm::Function::InternalLinkage, entry_.symbol + ".part");
    emit();
    b_.CreateRetVoid();
    llvm::Function* part = std::exchange(function_, outside);
    b_.restoreIP(here);
    b_.CreateCall(part, {function_->getArg(0), function_->getArg(1), function_->getArg(2)});
  }

  void CallRoutine(size_t number) {
    llvm::Type* pointer = b_.getPtrTy();
    const std::vector<EntryPoint::Place>& places = entry_.slots[number];
    Value* slots = b_.CreateAlloca(llvm::ArrayType::get(pointer, places.size()));
    for (size_t i = 0; i < places.size(); ++i)
      b_.CreateStore(At(places[i]), b_.CreateConstInBoundsGEP1_64(pointer, slots, i));
    Value* nothing = llvm::ConstantPointerNull::get(b_.getPtrTy());
    b_.CreateCall(routines_[number], {slots, nothing, nothing});
  }

  void CopyAll(llvm::ArrayRef<EntryPoint::Copy> copies) {
    for (const EntryPoint::Copy& copy : copies)
      b_.CreateMemMove(At(copy.to), llvm::Align(1), At(copy.from), llvm::Align(1),
                       static_cast<uint64_t>(copy.bytes));
  }

  void AddConstants() {
    for (const llvm::ArrayRef<uint8_t> bytes : entry_.constants) {
      llvm::Constant* data = llvm::ConstantDataArray::get(module_.getContext(), bytes);
      auto* global = new llvm::GlobalVariable(module_, data->getType(), /*isConstant=*/true,
                                              llvm::GlobalValue::InternalLinkage, data, "constant");
      global->setAlignment(llvm::Align(64));
      constants_.push_back(global);
    }
  }

  Value* Load(unsigned from, size_t i) {
    return b_.CreateLoad(b_.getPtrTy(),
                         b_.CreateConstInBoundsGEP1_64(b_.getPtrTy(), function_->getArg(from), i));
  }

  /// Tells of pointers that cannot be right, before anything is written: first of those that are null.
  void Check() {
    Value* wrong = b_.getFalse();
    ForEachPointer(
        true, [&](Value* pointer) { wrong = b_.CreateOr(wrong, b_.CreateIsNull(pointer)); },
        [&] { ReturnIf(std::exchange(wrong, b_.getFalse()), EntryPoint::kNullPointer); });
    Value* bits = b_.getInt64(0);
    ForEachPointer(
        false, [&](Value* pointer) { bits = b_.CreateOr(bits, b_.CreatePtrToInt(pointer, b_.getInt64Ty())); },
        [&] {
          Value* rest = b_.CreateAnd(std::exchange(bits, b_.getInt64(0)),
                                     b_.getInt64(static_cast<uint64_t>(entry_.alignment) - 1));
          ReturnIf(b_.CreateIsNotNull(rest), EntryPoint::kMisaligned);
        });
  }
  /// Of what has bytes; `pause` after some of them, and at the end.
  void ForEachPointer(bool with_arguments, llvm::function_ref<void(Value*)> visit,
                      llvm::function_ref<void()> pause) {
    size_t count = 0;
    const auto all = [&](unsigned from, const std::vector<bool>& used) {
      for (size_t i = 0; i < used.size(); ++i) {
        if (!used[i]) continue;
        visit(Load(from, i));
        if (++count % kMostTogether == 0) pause();
      }
    };
    if (with_arguments) all(0, entry_.arguments);
    all(1, entry_.results);
    if (entry_.temporary) visit(function_->getArg(2));
    pause();
  }

  void ReturnIf(Value* wrong, EntryPoint::Code code) {
    BasicBlock *refuse = Block("refuse"), *next = Block("next");
    b_.CreateCondBr(wrong, refuse, next);
    b_.SetInsertPoint(refuse);
    b_.CreateRet(b_.getInt32(code));
    b_.SetInsertPoint(next);
  }

  Value* At(const EntryPoint::Place& place) {
    if (place.base == Base::Nowhere) return llvm::ConstantPointerNull::get(b_.getPtrTy());
    Value* base = place.base == Base::Argument   ? Load(0, place.number)
                  : place.base == Base::Result   ? Load(1, place.number)
                  : place.base == Base::Constant ? constants_[place.number]
                                                 : function_->getArg(2);
    return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), base, static_cast<uint64_t>(place.offset));
  }

  const EntryPoint& entry_;
  llvm::ArrayRef<llvm::Function*> routines_;
  llvm::Module& module_;
  llvm::IRBuilder<> b_;
  llvm::Function* function_ = nullptr;  // that is being made
  std::vector<Value*> constants_;
};

}  // namespace

llvm::Function* EmitEntryPoint(const EntryPoint& entry, llvm::ArrayRef<llvm::Function*> routines) {
  return EntryEmitter(entry, routines).Run();
}

}  // namespace hlo::codegen
