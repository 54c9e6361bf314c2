#include "backends/llvm/emit_front.h"

#include "backends/llvm/emit_entry.h"
#include "backends/llvm/processor_check.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace hlo::codegen {
namespace {

using llvm::BasicBlock;
using llvm::Value;

/// Versions of a function have mostly the same constants.
void ShareConstants(llvm::Module& module) {
  llvm::DenseMap<std::pair<llvm::Constant*, uint64_t>, llvm::GlobalVariable*> known;
  for (llvm::GlobalVariable& global : llvm::make_early_inc_range(module.globals())) {
    if (!global.hasInternalLinkage() || !global.isConstant() || !global.hasInitializer()) continue;
    const auto [it, added] =
        known.try_emplace({global.getInitializer(), global.getAlign().valueOrOne().value()}, &global);
    if (added) continue;
    global.replaceAllUsesWith(it->second);
    global.eraseFromParent();
  }
}

class FrontEmitter {
 public:
  FrontEmitter(llvm::Module& module, const Front& front)
      : module_(module), front_(front), b_(module.getContext()) {}

  void Run() {
    if (front_.asks()) version_ = EmitProcessorCheck(module_, front_.features);
    for (const Front::Function& function : front_.functions) {
      symbol_ = function.symbol;
      llvm::Type *pointer = b_.getPtrTy(), *number = b_.getInt64Ty(), *code = b_.getInt32Ty();
      Value* other = b_.getInt32(EntryPoint::kOtherMachine);
      if (!function.has_archive) {
        Call("", Versions(BodySymbol, "bodies"), nullptr, code, {pointer, pointer, pointer}, other);
        continue;
      }
      llvm::Constant* programs = Versions(ProgramSymbol, "programs");
      Call("", programs, "hlo_rt_run", code, {pointer, pointer, pointer}, other);
      Call("_start", programs, "hlo_rt_start", code, {code, pointer, pointer}, other);
      Call("_temp_bytes", programs, "hlo_rt_temp_bytes", number, {}, b_.getInt64(0));
      Call("_end", programs, "hlo_rt_end", b_.getVoidTy(), {}, nullptr);
      if (function.has_weights) {
        Call("_map_weights", programs, "hlo_rt_map_weights", code, {pointer}, other);
        Call("_verify_weights", programs, "hlo_rt_verify_weights", code, {}, other);
      }
      for (size_t v = 0; v < front_.features.size(); ++v) Hide(BodySymbol(symbol_, v));
    }
  }

 private:
  llvm::GlobalValue* Hide(const std::string& name) {
    llvm::GlobalValue* value = module_.getNamedValue(name);
    value->setLinkage(llvm::GlobalValue::InternalLinkage);
    return value;
  }

  /// What there is for the only version, or a table of them.
  llvm::Constant* Versions(std::string (*name)(llvm::StringRef, size_t), const char* table) {
    std::vector<llvm::Constant*> versions;
    for (size_t v = 0; v < front_.features.size(); ++v) versions.push_back(Hide(name(symbol_, v)));
    if (versions.size() == 1) return versions.front();
    auto* type = llvm::ArrayType::get(b_.getPtrTy(), versions.size());
    return new llvm::GlobalVariable(module_, type, /*isConstant=*/true, llvm::GlobalValue::InternalLinkage,
                                    llvm::ConstantArray::get(type, versions), table);
  }

  /// A function of C that calls what there is for this machine, or one of the archive with that before its
  /// own arguments. `none`: what it returns if there is nothing.
  void Call(llvm::StringRef suffix, llvm::Constant* versions, const char* of_archive, llvm::Type* result,
            llvm::ArrayRef<llvm::Type*> arguments, Value* none) {
    auto* type = llvm::FunctionType::get(result, arguments, false);
    function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol_ + suffix, module_);
    function_->addFnAttr(llvm::Attribute::NoUnwind);
    b_.SetInsertPoint(Block("entry"));
    Value* version = Version(versions, none);
    llvm::SmallVector<Value*, 4> values;
    llvm::FunctionCallee callee(type, version);
    if (of_archive != nullptr) {
      llvm::SmallVector<llvm::Type*, 4> with_program(arguments);
      with_program.insert(with_program.begin(), b_.getPtrTy());
      callee = module_.getOrInsertFunction(of_archive, llvm::FunctionType::get(result, with_program, false));
      values.push_back(version);
    }
    for (llvm::Argument& argument : function_->args()) values.push_back(&argument);
    Return(b_.CreateCall(callee, values));
  }

  Value* Version(llvm::Constant* versions, Value* none) {
    if (version_ == nullptr) return versions;
    const size_t count = front_.features.size();
    Value* number = b_.CreateCall(version_);
    BasicBlock *refuse = Block("refuse"), *next = Block("next");
    b_.CreateCondBr(b_.CreateICmpEQ(number, b_.getInt32(static_cast<uint32_t>(count))), refuse, next);
    b_.SetInsertPoint(refuse);
    Return(none);
    b_.SetInsertPoint(next);
    if (count == 1) return versions;
    Value* place = b_.CreateInBoundsGEP(b_.getPtrTy(), versions, b_.CreateZExt(number, b_.getInt64Ty()));
    return b_.CreateLoad(b_.getPtrTy(), place);
  }

  void Return(Value* value) {
    if (function_->getReturnType()->isVoidTy())
      b_.CreateRetVoid();
    else
      b_.CreateRet(value);
  }

  BasicBlock* Block(const char* name) { return BasicBlock::Create(module_.getContext(), name, function_); }

  llvm::Module& module_;
  const Front& front_;
  llvm::IRBuilder<> b_;
  std::string symbol_;
  llvm::Function* function_ = nullptr;  // that is being made
  llvm::Function* version_ = nullptr;   // null: nobody has to ask
};

}  // namespace

std::string BodySymbol(llvm::StringRef symbol, size_t version) {
  return (symbol + ".body." + std::to_string(version)).str();
}
std::string ProgramSymbol(llvm::StringRef symbol, size_t version) {
  return (symbol + ".program." + std::to_string(version)).str();
}

void EmitFront(llvm::Module& module, const Front& front) {
  FrontEmitter(module, front).Run();
  if (front.features.size() > 1) ShareConstants(module);
}

}  // namespace hlo::codegen
