// Functions of PTX as LLVM IR (design §2.9): registers are variables that LLVM makes values of, and whatever
// needs the emulator is a call of it.
#pragma once
#include <deque>

#include "backends/gpu/emulator/device_memory.h"
#include "backends/gpu/emulator/thread.h"
#include "backends/gpu/ptx/module.h"
#include "ir/support/result.h"
#include "llvm/IR/IRBuilder.h"

namespace llvm {
class Module;
}

namespace hlo::gpu {

/// Where variables lie that have one place for all launches.
struct Layout {
  llvm::DenseMap<const ptx::Variable*, uint64_t> global;  // addresses in device memory
  uint64_t const_base = 0;                                // of constant memory, in device memory
  uint64_t dynamic_shared = 0;                            // offset where .extern .shared begins
  bool count_branches = false;                            // the emulator is told of them
  /// Set: accesses of bytes of it, and of shared memory, that are written are nothing to tell of.
  const DeviceMemory* unwatched = nullptr;
};

class FunctionEmitter {
 public:
  using Value = llvm::Value;
  using Instruction = ptx::Instruction;
  using Operand = ptx::Operand;
  using Type = ptx::Type;

  FunctionEmitter(llvm::Module& module, const ptx::Function& function, const Layout& layout,
                  std::deque<Site>& sites);
  /// Errors: unsupported-op, for what the emulator does not know.
  Status Emit();

  // What emitters of instructions use.
  llvm::IRBuilder<>& b() { return b_; }
  llvm::IntegerType* Int(unsigned bits) { return b_.getIntNTy(bits); }
  llvm::IntegerType* IntOf(Type type) { return Int(ptx::BitsOf(type)); }
  Value* I(unsigned bits, uint64_t value) { return llvm::ConstantInt::get(Int(bits), value); }
  /// An operand as an integer of the type's bits.
  Value* Read(const Operand& operand, Type type);
  Value* Source(const Instruction& inst, size_t i);
  /// Writes a register, which may be wider: extended by the sign of the type.
  void Write(const Operand& operand, Value* value, Type type);
  void Result(const Instruction& inst, Value* value);
  void WriteRegister(const ptx::Register& reg, Value* value);
  Value* ReadRegister(const ptx::Register& reg);
  /// For each element of a pair, or the one there is: `f` of the sources from `first` on, which have the type
  /// of the instruction, gives the result.
  void PerLane(const Instruction& inst, llvm::function_ref<Value*(Type scalar, llvm::ArrayRef<Value*> x)> f);

  /// Calls a function of the emulator. Arguments are pointers and integers.
  Value* CallHost(void* function, llvm::Type* result, llvm::ArrayRef<Value*> arguments);
  template <class R, class... A>
  Value* CallHost(R (*function)(A...), llvm::Type* result, llvm::ArrayRef<Value*> arguments) {
    return CallHost(reinterpret_cast<void*>(function), result, arguments);
  }
  Value* HostPointer(const void* pointer);
  Value* thread() { return thread_; }
  const Site* NewSite(const Instruction& inst, ptx::Space space, Site::Access access, uint32_t bytes);

  /// The address that an operand names, in the instruction's space (which becomes what it says if it was
  /// generic).
  Value* Address(const Operand& operand, ptx::Space& space);
  Value* AddressOf(const ptx::Variable& variable, int64_t offset);
  /// A pointer of the host to memory that may be accessed.
  Value* Access(const Instruction& inst, const Operand& operand, ptx::Space space, Site::Access access,
                uint32_t bytes);
  /// What makes an address of a space a generic one.
  uint64_t WindowOf(ptx::Space space) const;
  Value* SpecialRegister(ptx::Special special);
  /// Memory of the function itself for a few numbers that calls take and give.
  Value* Scratch(unsigned count);
  Value* carry() { return carry_; }
  /// The block of code of an instruction.
  llvm::BasicBlock* BlockAt(uint32_t target) { return blocks_[target]; }
  llvm::BasicBlock* NewBlock(const llvm::Twine& name);
  /// Ends the block; what follows in the text starts a new one.
  void Terminated() { terminated_ = true; }
  const ptx::Function& function() const { return function_; }
  llvm::Module& module() { return module_; }
  llvm::Function* FunctionFor(const ptx::Function& function);
  /// Where a parameter or call buffer lies; null for parameters of entries.
  Value* BufferOf(const ptx::Variable& variable);
  llvm::Function* code() { return code_; }

 private:
  Status EmitInstruction(const Instruction& inst);
  /// Memory as code sees it: pointers of the host to its bytes and to what is known of them.
  struct Watched {
    Value *bytes, *states, *size;
  };
  Watched WatchedMemory(ptx::Space space);
  Value* AccessWritten(const Watched& memory, Value* at, uint32_t bytes,
                       llvm::function_ref<Value*()> otherwise);
  void MakeBlocks();
  void MakeRegisters();
  void ForgetValues();
  void RemoveUnread();

  llvm::Module& module_;
  const ptx::Function& function_;
  const Layout& layout_;
  std::deque<Site>& sites_;
  llvm::IRBuilder<> b_;
  llvm::Function* code_ = nullptr;
  Value* thread_ = nullptr;
  Value* local_base_ = nullptr;
  Value* carry_ = nullptr;
  Value* scratch_ = nullptr;
  unsigned scratch_size_ = 0;
  /// A register: a variable, and the value that it is known to have within a block of code.
  struct Place {
    llvm::AllocaInst* variable;
    Value* known = nullptr;
    bool loaded = false;
  };
  std::vector<Place> registers_;
  llvm::SmallVector<uint32_t> known_;  // registers whose values are known
  bool guarded_ = false;               // what is written may not be
  llvm::DenseMap<const ptx::Variable*, Value*> buffers_;
  std::vector<llvm::BasicBlock*> blocks_;  // by instruction; null: none begins there
  bool terminated_ = false;
};

using EmitFn = void (*)(FunctionEmitter& e, const ptx::Instruction& inst);
struct EmitRow {
  ptx::Kind kind;
  EmitFn emit;
};
// The rows of each file.
llvm::ArrayRef<EmitRow> IntegerRows();
llvm::ArrayRef<EmitRow> BitRows();
llvm::ArrayRef<EmitRow> CompareRows();
llvm::ArrayRef<EmitRow> FloatRows();
llvm::ArrayRef<EmitRow> ConvertRows();
llvm::ArrayRef<EmitRow> MemoryRows();
llvm::ArrayRef<EmitRow> ControlRows();
llvm::ArrayRef<EmitRow> GroupRows();
/// Null: the emulator does not know it.
EmitFn EmitterOf(ptx::Kind kind);

/// The element type of a pair; others as they are.
ptx::Type ScalarOf(ptx::Type type);

// Floats, shared by their emitters: values in registers of the host (f32 for narrower types).
llvm::Value* ToFloat(FunctionEmitter& e, ptx::Type scalar, llvm::Value* bits);
/// Rounded to the type to nearest even, NaNs made the one of the type (but of f64).
llvm::Value* FromFloat(FunctionEmitter& e, ptx::Type scalar, llvm::Value* value);
/// Bits of a float without subnormals, which become zeros of their sign.
llvm::Value* Flush(FunctionEmitter& e, ptx::Type scalar, llvm::Value* bits);
llvm::Value* SaturateBits(FunctionEmitter& e, ptx::Type scalar, llvm::Value* bits);
llvm::Value* ReluBits(FunctionEmitter& e, ptx::Type scalar, llvm::Value* bits);
llvm::Value* CompareFloats(FunctionEmitter& e, const ptx::Instruction& inst, ptx::Type scalar, llvm::Value* x,
                           llvm::Value* y);

}  // namespace hlo::gpu
