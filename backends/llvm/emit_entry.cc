#include "backends/llvm/emit_entry.h"

#include "backends/llvm/emit_front.h"
#include "backends/llvm/types.h"
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
    // Seen by EmitFront() alone, which may be in another module.
    Begin(b_.getInt32Ty(), llvm::Function::ExternalLinkage, BodySymbol(entry_.symbol, entry_.version));
    AddProgram();
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

  /// What the archive is told, which calls `body`.
  void FillProgram(llvm::Function* body, llvm::ArrayRef<llvm::Function*> kernels) {
    const EntryPoint::Archive& archive = *entry_.archive;
    llvm::Constant* nothing = llvm::ConstantPointerNull::get(b_.getPtrTy());
    llvm::Constant* table = nothing;
    if (!kernels.empty()) {
      std::vector<llvm::Constant*> rows;
      for (const auto& [kernel, function] : llvm::zip_equal(archive.kernels, kernels))
        rows.push_back(llvm::ConstantStruct::getAnon(
            {function, Number(kernel.call), Number(kernel.extent), Number(kernel.grain)}));
      table = Data(llvm::ConstantArray::get(llvm::ArrayType::get(rows.front()->getType(), rows.size()), rows),
                   "kernels");
    }
    llvm::Constant* steps = Data(llvm::ConstantDataArray::get(module_.getContext(), archive.steps), "steps");
    program_->setInitializer(llvm::ConstantStruct::get(
        llvm::cast<llvm::StructType>(program_->getValueType()),
        {steps, Number(archive.steps.size()), body, Number(archive.temp_bytes), Number(entry_.alignment),
         table, Number(kernels.size()), Number(archive.weights.bytes), Number(archive.weights.hash), nothing,
         nothing}));
  }

 private:
  BasicBlock* Block(const char* name) { return BasicBlock::Create(module_.getContext(), name, function_); }

  /// Behind args, results and temp.
  static constexpr unsigned kHelpers = 3;

  /// A function of args, results, temp and perhaps what the routines call, in which what follows is put.
  void Begin(llvm::Type* result, llvm::Function::LinkageTypes linkage, llvm::StringRef name) {
    llvm::SmallVector<llvm::Type*, 4> arguments(kHelpers + (entry_.archive ? 1 : 0), b_.getPtrTy());
    auto* type = llvm::FunctionType::get(result, arguments, false);
    function_ = llvm::Function::Create(type, linkage, name, module_);
    function_->addFnAttr(llvm::Attribute::NoUnwind);
    b_.SetInsertPoint(Block("entry"));
  }

  /// A function of its own that is called here and returns what `emit` does: its result.
  Value* Part(llvm::Type* result, llvm::function_ref<Value*()> emit) {
    const llvm::IRBuilder<>::InsertPoint here = b_.saveIP();
    llvm::Function* outside = function_;
    Begin(result, llvm::Function::InternalLinkage, entry_.symbol + ".part");
    b_.CreateRet(emit());
    llvm::Function* part = std::exchange(function_, outside);
    b_.restoreIP(here);
    llvm::SmallVector<Value*, 4> arguments;
    for (llvm::Argument& argument : function_->args()) arguments.push_back(&argument);
    return b_.CreateCall(part, arguments);
  }
  void Part(llvm::function_ref<void()> emit) {
    Part(b_.getVoidTy(), [&]() -> Value* {
      emit();
      return nullptr;
    });
  }

  void CallRoutine(size_t number) {
    llvm::Type* pointer = b_.getPtrTy();
    const std::vector<EntryPoint::Place>& places = entry_.slots[number];
    Value* slots = b_.CreateAlloca(llvm::ArrayType::get(pointer, places.size()));
    for (size_t i = 0; i < places.size(); ++i)
      b_.CreateStore(At(places[i]), b_.CreateConstInBoundsGEP1_64(pointer, slots, i));
    Value* nothing = llvm::ConstantPointerNull::get(b_.getPtrTy());
    b_.CreateCall(routines_[number],
                  {slots, nothing, entry_.archive ? function_->getArg(kHelpers) : nothing});
  }

  void CopyAll(llvm::ArrayRef<EntryPoint::Copy> copies) {
    for (const EntryPoint::Copy& copy : copies)
      b_.CreateMemMove(At(copy.to), llvm::Align(1), At(copy.from), llvm::Align(1),
                       static_cast<uint64_t>(copy.bytes));
  }

  llvm::Constant* Number(auto number) { return b_.getInt64(static_cast<uint64_t>(number)); }
  /// Data of the module that nobody changes.
  llvm::GlobalVariable* Data(llvm::Constant* value, const char* name) {
    return new llvm::GlobalVariable(module_, value->getType(), /*isConstant=*/true,
                                    llvm::GlobalValue::InternalLinkage, value, name);
  }

  /// What the archive is told of the function and keeps there: runtime::Program.
  void AddProgram() {
    if (!entry_.archive) return;
    llvm::Type *pointer = b_.getPtrTy(), *number = b_.getInt64Ty();
    auto* type = llvm::StructType::get(
        module_.getContext(),
        {pointer, number, pointer, number, number, pointer, number, number, number, pointer, pointer});
    program_ = new llvm::GlobalVariable(
        module_, type, /*isConstant=*/false, llvm::GlobalValue::ExternalLinkage,
        llvm::Constant::getNullValue(type), ProgramSymbol(entry_.symbol, entry_.version));
  }
  /// Where the file of constants was mapped.
  Value* Weights() {
    constexpr unsigned kWeights = 9;  // member of Program
    return b_.CreateLoad(b_.getPtrTy(), b_.CreateStructGEP(program_->getValueType(), program_, kWeights));
  }

  void AddConstants() {
    for (const llvm::ArrayRef<uint8_t> bytes : entry_.constants) {
      if (InWeights(constants_.size()) >= 0) {
        constants_.push_back(nullptr);
        continue;
      }
      llvm::Constant* data = llvm::ConstantDataArray::get(module_.getContext(), bytes);
      auto* global = new llvm::GlobalVariable(module_, data->getType(), /*isConstant=*/true,
                                              llvm::GlobalValue::InternalLinkage, data, "constant");
      global->setAlignment(llvm::Align(kArrayAlignment));
      constants_.push_back(global);
    }
  }

  /// -1: the constant is in the module.
  [[nodiscard]] int64_t InWeights(size_t constant) const {
    return entry_.in_weights.empty() ? -1 : entry_.in_weights[constant];
  }

  /// Of one of the arrays, or the temporary memory itself.
  struct Pointer {
    unsigned from;  // which argument of the function
    size_t i;
  };

  Value* Load(const Pointer& p) { return p.from == 2 ? function_->getArg(2) : Load(p.from, p.i); }
  Value* Load(unsigned from, size_t i) {
    return b_.CreateLoad(b_.getPtrTy(),
                         b_.CreateConstInBoundsGEP1_64(b_.getPtrTy(), function_->getArg(from), i));
  }

  /// Tells of pointers that cannot be right, before anything is written: first of those that are null.
  void Check() {
    ForEachPointer(
        true,
        [&](llvm::ArrayRef<Pointer> some) {
          Value* wrong = b_.getFalse();
          for (const Pointer& p : some) wrong = b_.CreateOr(wrong, b_.CreateIsNull(Load(p)));
          return wrong;
        },
        EntryPoint::kNullPointer);
    ForEachPointer(
        false,
        [&](llvm::ArrayRef<Pointer> some) {
          Value* bits = b_.getInt64(0);
          for (const Pointer& p : some) bits = b_.CreateOr(bits, b_.CreatePtrToInt(Load(p), b_.getInt64Ty()));
          return b_.CreateIsNotNull(
              b_.CreateAnd(bits, b_.getInt64(static_cast<uint64_t>(entry_.alignment) - 1)));
        },
        EntryPoint::kMisaligned);
  }

  /// Of what has bytes. LLVM makes of each null pointer a block with a branch, and places the blocks of a
  /// function in time with the square of their number: so many are asked for by functions of their own.
  void ForEachPointer(bool with_arguments, llvm::function_ref<Value*(llvm::ArrayRef<Pointer>)> is_wrong,
                      EntryPoint::Code code) {
    std::vector<Pointer> pointers;
    const auto add = [&](unsigned from, const std::vector<bool>& used) {
      for (size_t i = 0; i < used.size(); ++i)
        if (used[i]) pointers.push_back({from, i});
    };
    if (with_arguments) add(0, entry_.arguments);
    add(1, entry_.results);
    if (entry_.temporary) pointers.push_back({2, 0});
    const bool in_parts = pointers.size() > kMostTogether;
    for (llvm::ArrayRef<Pointer> rest = pointers; !rest.empty();) {
      const auto some = rest.take_front(kMostTogether);
      rest = rest.drop_front(some.size());
      ReturnIf(in_parts ? Part(b_.getInt1Ty(), [&] { return is_wrong(some); }) : is_wrong(some), code);
    }
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
    int64_t offset = place.offset;
    Value* base = nullptr;
    switch (place.base) {
      case Base::Argument: base = Load(0, place.number); break;
      case Base::Result: base = Load(1, place.number); break;
      case Base::Constant:
        base = constants_[place.number];
        if (base != nullptr) break;
        base = Weights();
        offset += InWeights(place.number);
        break;
      default: base = function_->getArg(2); break;
    }
    return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), base, static_cast<uint64_t>(offset));
  }

  const EntryPoint& entry_;
  llvm::ArrayRef<llvm::Function*> routines_;
  llvm::Module& module_;
  llvm::IRBuilder<> b_;
  llvm::Function* function_ = nullptr;       // that is being made
  std::vector<Value*> constants_;            // null: in the file
  llvm::GlobalVariable* program_ = nullptr;  // for the archive
};

}  // namespace

llvm::Function* EmitEntryPoint(const EntryPoint& entry, llvm::ArrayRef<llvm::Function*> routines,
                               llvm::ArrayRef<llvm::Function*> kernels) {
  EntryEmitter emitter(entry, routines);
  llvm::Function* function = emitter.Run();
  if (entry.archive) emitter.FillProgram(function, kernels);
  return function;
}

}  // namespace hlo::codegen
