#include "backends/llvm/emit_entry.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace hlo::codegen {
namespace {

using llvm::BasicBlock;
using llvm::Value;
using Base = EntryPoint::Base;

class EntryEmitter {
 public:
  EntryEmitter(const EntryPoint& entry, llvm::Function& routine)
      : entry_(entry), routine_(routine), module_(*routine.getParent()), b_(module_.getContext()) {}

  llvm::Function* Run() {
    llvm::Type* pointer = b_.getPtrTy();
    auto* type = llvm::FunctionType::get(b_.getInt32Ty(), {pointer, pointer, pointer}, false);
    function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, entry_.symbol, module_);
    function_->addFnAttr(llvm::Attribute::NoUnwind);
    b_.SetInsertPoint(Block("entry"));
    Load();
    Check();
    Value* slots = b_.CreateAlloca(llvm::ArrayType::get(pointer, entry_.slots.size()));
    for (size_t i = 0; i < entry_.slots.size(); ++i)
      b_.CreateStore(At(entry_.slots[i]), b_.CreateConstInBoundsGEP1_64(pointer, slots, i));
    Value* nothing = llvm::ConstantPointerNull::get(b_.getPtrTy());
    b_.CreateCall(&routine_, {slots, nothing, nothing});
    for (const EntryPoint::Copy& copy : entry_.copies)
      b_.CreateMemMove(At(copy.to), llvm::Align(1), At(copy.from), llvm::Align(1),
                       static_cast<uint64_t>(copy.bytes));
    b_.CreateRet(b_.getInt32(EntryPoint::kDone));
    return function_;
  }

 private:
  BasicBlock* Block(const char* name) { return BasicBlock::Create(module_.getContext(), name, function_); }

  void Load() {
    const auto load = [&](unsigned from, const std::vector<bool>& used, std::vector<Value*>& to) {
      for (size_t i = 0; i < used.size(); ++i)
        to.push_back(b_.CreateLoad(b_.getPtrTy(),
                                   b_.CreateConstInBoundsGEP1_64(b_.getPtrTy(), function_->getArg(from), i)));
    };
    load(0, entry_.arguments, arguments_);
    load(1, entry_.results, results_);
    for (const llvm::ArrayRef<uint8_t> bytes : entry_.constants) {
      llvm::Constant* data = llvm::ConstantDataArray::get(module_.getContext(), bytes);
      auto* global = new llvm::GlobalVariable(module_, data->getType(), /*isConstant=*/true,
                                              llvm::GlobalValue::InternalLinkage, data, "constant");
      global->setAlignment(llvm::Align(64));
      constants_.push_back(global);
    }
  }

  /// Tells of pointers that cannot be right, before anything is written.
  void Check() {
    Value *null = b_.getFalse(), *bits = b_.getInt64(0);
    const auto look = [&](Value* pointer, bool aligned) {
      null = b_.CreateOr(null, b_.CreateIsNull(pointer));
      if (aligned) bits = b_.CreateOr(bits, b_.CreatePtrToInt(pointer, b_.getInt64Ty()));
    };
    for (size_t i = 0; i < arguments_.size(); ++i)
      if (entry_.arguments[i]) look(arguments_[i], false);
    for (size_t i = 0; i < results_.size(); ++i)
      if (entry_.results[i]) look(results_[i], true);
    if (entry_.temporary) look(function_->getArg(2), true);
    ReturnIf(null, EntryPoint::kNullPointer);
    Value* rest = b_.CreateAnd(bits, b_.getInt64(static_cast<uint64_t>(entry_.alignment) - 1));
    ReturnIf(b_.CreateIsNotNull(rest), EntryPoint::kMisaligned);
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
    Value* base = place.base == Base::Argument   ? arguments_[place.number]
                  : place.base == Base::Result   ? results_[place.number]
                  : place.base == Base::Constant ? constants_[place.number]
                                                 : function_->getArg(2);
    return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), base, static_cast<uint64_t>(place.offset));
  }

  const EntryPoint& entry_;
  llvm::Function& routine_;
  llvm::Module& module_;
  llvm::IRBuilder<> b_;
  llvm::Function* function_ = nullptr;
  std::vector<Value*> arguments_, results_, constants_;
};

}  // namespace

llvm::Function* EmitEntryPoint(const EntryPoint& entry, llvm::Function& routine) {
  return EntryEmitter(entry, routine).Run();
}

}  // namespace hlo::codegen
