#include "backends/gpu/emulator/emit.h"
#include "backends/gpu/emulator/host_calls.h"
#include "backends/gpu/ptx/check.h"
#include "llvm/IR/Module.h"

namespace hlo::gpu {
namespace {

using ptx::InfoOf;
using ptx::Kind;
using ptx::Space;
using ptx::TypeClass;

std::array<EmitFn, ptx::kNumKinds> MakeTable() {
  std::array<EmitFn, ptx::kNumKinds> table{};
  for (const auto& rows : {IntegerRows(), BitRows(), CompareRows(), FloatRows(), ConvertRows(), MemoryRows(),
                           ControlRows(), GroupRows()})
    for (const EmitRow& row : rows) table[static_cast<size_t>(row.kind)] = row.emit;
  return table;
}

bool EndsBlock(const ptx::Instruction& inst) {
  static constexpr Kind kEnds[] = {Kind::Bra, Kind::Brx, Kind::Ret, Kind::Exit, Kind::Trap};
  return llvm::is_contained(kEnds, inst.kind());
}

/// What registers hold before they are written: any value, but always the same.
constexpr uint64_t kUnwritten = 0xbad0beefbad0beef;

}  // namespace

EmitFn EmitterOf(Kind kind) {
  static const auto table = MakeTable();
  return table[static_cast<size_t>(kind)];
}

ptx::Type ScalarOf(ptx::Type type) {
  using ptx::Type;
  static constexpr std::pair<Type, Type> kScalars[] = {{Type::F16x2, Type::F16},
                                                       {Type::BF16x2, Type::BF16},
                                                       {Type::U16x2, Type::U16},
                                                       {Type::S16x2, Type::S16}};
  for (const auto& [pair, scalar] : kScalars)
    if (pair == type) return scalar;
  return type;
}

FunctionEmitter::FunctionEmitter(llvm::Module& module, const ptx::Function& function, const Layout& layout,
                                 std::deque<Site>& sites)
    : module_(module), function_(function), layout_(layout), sites_(sites), b_(module.getContext()) {}

/// `void NAME(thread, parameter and result buffers …)`.
llvm::Function* FunctionEmitter::FunctionFor(const ptx::Function& function) {
  if (llvm::Function* known = module_.getFunction(function.name)) return known;
  llvm::SmallVector<llvm::Type*> types{b_.getPtrTy()};
  if (!function.entry) types.append(function.params.size() + function.results.size(), b_.getPtrTy());
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), types, false);
  return llvm::Function::Create(
      type, function.entry ? llvm::Function::ExternalLinkage : llvm::Function::InternalLinkage, function.name,
      module_);
}

llvm::BasicBlock* FunctionEmitter::NewBlock(const llvm::Twine& name) {
  return llvm::BasicBlock::Create(module_.getContext(), name, code_);
}

void FunctionEmitter::MakeRegisters() {
  for (const ptx::Register& reg : function_.registers) {
    llvm::IntegerType* type = IntOf(reg.type);
    llvm::AllocaInst* place = b_.CreateAlloca(type);
    b_.CreateStore(
        llvm::ConstantInt::get(type, llvm::APInt(128, {kUnwritten, kUnwritten}).trunc(type->getBitWidth())),
        place);
    registers_.push_back({place});
  }
  carry_ = b_.CreateAlloca(Int(1));
  b_.CreateStore(b_.getFalse(), carry_);
}

/// Blocks begin at labels and after what ends blocks.
void FunctionEmitter::MakeBlocks() {
  blocks_.assign(function_.code.size() + 1, nullptr);
  const auto begin = [&](size_t at) {
    if (blocks_[at] == nullptr) blocks_[at] = NewBlock("");
  };
  begin(0);
  begin(function_.code.size());
  for (size_t i = 0; i < function_.code.size(); ++i) {
    const Instruction& inst = function_.code[i];
    if (EndsBlock(inst)) begin(i + 1);
    for (const Operand& operand : inst.operands)
      if (operand.kind == Operand::Kind::Target) begin(operand.target);
    for (const uint32_t target : inst.targets) begin(target);
  }
}

Status FunctionEmitter::Emit() {
  code_ = FunctionFor(function_);
  thread_ = code_->getArg(0);
  llvm::BasicBlock* entry = NewBlock("entry");
  b_.SetInsertPoint(entry);
  MakeRegisters();
  unsigned argument = 1;
  for (const auto* list : {&function_.params, &function_.results})
    for (const ptx::Variable* variable : *list) {
      if (function_.entry) continue;
      Value* buffer = code_->getArg(argument++);
      buffers_[variable] = buffer;
      if (variable->reg != nullptr && list == &function_.params)
        WriteRegister(*variable->reg,
                      b_.CreateAlignedLoad(IntOf(variable->reg->type), buffer, llvm::Align(1)));
    }
  for (const ptx::Variable& variable : function_.variables)
    if (variable.space == Space::Param && !buffers_.contains(&variable) && !function_.entry)
      (void)BufferOf(variable);
  // Frames lie above those of callers.
  Value* top = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), thread_, offsetof(Thread, local_top));
  local_base_ = b_.CreateLoad(Int(64), top);
  MakeBlocks();
  b_.CreateBr(blocks_[0]);
  for (size_t i = 0; i < function_.code.size(); ++i) {
    if (blocks_[i] != nullptr) {
      ForgetValues();
      if (i != 0 && !terminated_) b_.CreateBr(blocks_[i]);
      b_.SetInsertPoint(blocks_[i]);
    }
    terminated_ = false;
    HLO_CHECK_OK(EmitInstruction(function_.code[i]));
  }
  if (!terminated_) b_.CreateBr(blocks_.back());
  b_.SetInsertPoint(blocks_.back());
  // Falling off the end.
  ptx::Instruction end;
  end.form = &ptx::FormsOf("ret").front();
  ForgetValues();
  EmitterOf(Kind::Ret)(*this, end);
  RemoveUnread();
  return {};
}

void FunctionEmitter::ForgetValues() {
  for (const uint32_t number : known_) registers_[number].known = nullptr;
  known_.clear();
}

/// Most registers are read in the block that writes them only: making values of their variables would take
/// long.
void FunctionEmitter::RemoveUnread() {
  for (const Place& place : registers_) {
    if (place.loaded) continue;
    for (llvm::User* user : llvm::make_early_inc_range(place.variable->users()))
      llvm::cast<llvm::Instruction>(user)->eraseFromParent();
    place.variable->eraseFromParent();
  }
}

Status FunctionEmitter::EmitInstruction(const Instruction& inst) {
  const EmitFn emit = EmitterOf(inst.kind());
  if (emit == nullptr)
    return Error("unsupported-op", inst.loc, "instruction '{0}' is not emulated", inst.form->opcode);
  if (inst.guard == nullptr) {
    emit(*this, inst);
    return {};
  }
  Value* guard = ReadRegister(*inst.guard);
  if (inst.guard_negated) guard = b_.CreateNot(guard);
  if (layout_.count_branches && inst.kind() == Kind::Bra) {
    const Site* site = NewSite(inst, Space::Generic, Site::Access::None, 0);
    CallHost(&HostBranch, b_.getVoidTy(), {thread_, HostPointer(site), b_.CreateZExt(guard, Int(32))});
  }
  llvm::BasicBlock* then = NewBlock("then");
  llvm::BasicBlock* next = NewBlock("next");
  b_.CreateCondBr(guard, then, next);
  b_.SetInsertPoint(then);
  guarded_ = true;
  emit(*this, inst);
  guarded_ = false;
  if (!std::exchange(terminated_, false)) b_.CreateBr(next);
  b_.SetInsertPoint(next);
  return {};
}

FunctionEmitter::Value* FunctionEmitter::ReadRegister(const ptx::Register& reg) {
  Place& place = registers_[reg.number];
  if (place.known != nullptr) return place.known;
  place.loaded = true;
  return b_.CreateLoad(IntOf(reg.type), place.variable);
}

void FunctionEmitter::WriteRegister(const ptx::Register& reg, Value* value) {
  Place& place = registers_[reg.number];
  b_.CreateStore(value, place.variable);
  place.known = guarded_ ? nullptr : value;
  known_.push_back(reg.number);
}

FunctionEmitter::Value* FunctionEmitter::Read(const Operand& operand, Type type) {
  llvm::IntegerType* wanted = IntOf(type);
  switch (operand.kind) {
    case Operand::Kind::Register: {
      Value* value = ReadRegister(*operand.reg);
      if (operand.negated) value = b_.CreateNot(value);
      return b_.CreateZExtOrTrunc(value, wanted);
    }
    case Operand::Kind::Integer:
      // Predicates are 0 or not.
      if (type == Type::Pred) return b_.getInt1(operand.integer != 0);
      return llvm::ConstantInt::get(
          wanted, llvm::APInt(64, static_cast<uint64_t>(operand.integer)).sextOrTrunc(wanted->getBitWidth()));
    case Operand::Kind::Float: {
      if (wanted->getBitWidth() == 64) return I(64, static_cast<uint64_t>(operand.integer));
      const auto narrow = static_cast<float>(llvm::bit_cast<double>(operand.integer));
      return I(wanted->getBitWidth(), operand.single ? operand.raw : llvm::bit_cast<uint32_t>(narrow));
    }
    case Operand::Kind::Special: return b_.CreateZExtOrTrunc(SpecialRegister(operand.special), wanted);
    case Operand::Kind::Symbol:
      if (operand.variable == nullptr) return I(wanted->getBitWidth(), 0);
      return b_.CreateZExtOrTrunc(AddressOf(*operand.variable, operand.integer), wanted);
    case Operand::Kind::Vector: {
      // Put together, the first element in the low bits.
      Value* whole = llvm::ConstantInt::get(wanted, 0);
      const unsigned each = wanted->getBitWidth() / static_cast<unsigned>(operand.elements.size());
      for (size_t i = 0; i < operand.elements.size(); ++i) {
        const Operand& element = operand.elements[i];
        Value* part = element.kind == Operand::Kind::Register
                          ? ReadRegister(*element.reg)
                          : static_cast<Value*>(I(each, static_cast<uint64_t>(element.integer)));
        part = b_.CreateShl(b_.CreateZExt(part, wanted), i * each);
        whole = b_.CreateOr(whole, part);
      }
      return whole;
    }
    default: llvm_unreachable("no source");
  }
}

FunctionEmitter::Value* FunctionEmitter::Source(const Instruction& inst, size_t i) {
  return Read(inst.operands[i], ptx::TypeOfOperand(inst, i));
}

void FunctionEmitter::Write(const Operand& operand, Value* value, Type type) {
  if (operand.kind == Operand::Kind::Sink) return;
  if (operand.kind == Operand::Kind::Vector) {
    const unsigned each =
        value->getType()->getIntegerBitWidth() / static_cast<unsigned>(operand.elements.size());
    for (size_t i = 0; i < operand.elements.size(); ++i)
      if (operand.elements[i].kind == Operand::Kind::Register)
        WriteRegister(*operand.elements[i].reg, b_.CreateTrunc(b_.CreateLShr(value, i * each), Int(each)));
    return;
  }
  llvm::IntegerType* wanted = IntOf(operand.reg->type);
  if (value->getType() != wanted)
    value = ptx::IsSigned(type) ? b_.CreateSExtOrTrunc(value, wanted) : b_.CreateZExtOrTrunc(value, wanted);
  WriteRegister(*operand.reg, value);
}

void FunctionEmitter::Result(const Instruction& inst, Value* value) {
  Write(inst.operands[0], value, ptx::TypeOfOperand(inst, 0));
}

void FunctionEmitter::PerLane(const Instruction& inst,
                              llvm::function_ref<Value*(Type scalar, llvm::ArrayRef<Value*> x)> f) {
  const Type type = inst.type(), scalar = ScalarOf(type);
  llvm::SmallVector<Value*> whole;
  for (size_t i = 1; i < inst.operands.size(); ++i) whole.push_back(Source(inst, i));
  if (scalar == type) return Result(inst, f(scalar, whole));
  Value* result = I(32, 0);
  for (uint64_t lane = 0; lane < 2; ++lane) {
    llvm::SmallVector<Value*> parts;
    for (Value* x : whole) parts.push_back(b_.CreateTrunc(b_.CreateLShr(x, 16 * lane), Int(16)));
    Value* part = b_.CreateZExt(f(scalar, parts), Int(32));
    result = b_.CreateOr(result, b_.CreateShl(part, 16 * lane));
  }
  Result(inst, result);
}

FunctionEmitter::Value* FunctionEmitter::HostPointer(const void* pointer) {
  return b_.CreateIntToPtr(I(64, reinterpret_cast<uint64_t>(pointer)), b_.getPtrTy());
}

FunctionEmitter::Value* FunctionEmitter::CallHost(void* function, llvm::Type* result,
                                                  llvm::ArrayRef<Value*> arguments) {
  llvm::SmallVector<llvm::Type*> types;
  for (Value* argument : arguments) types.push_back(argument->getType());
  return b_.CreateCall(llvm::FunctionType::get(result, types, false), HostPointer(function), arguments);
}

const Site* FunctionEmitter::NewSite(const Instruction& inst, Space space, Site::Access access,
                                     uint32_t bytes) {
  Site& site = sites_.emplace_back();
  site.inst = &inst;
  site.function = &function_;
  site.space = space;
  site.access = access;
  site.bytes = bytes;
  site.number = static_cast<uint32_t>(sites_.size() - 1);
  for (const ptx::Mod mod : {ptx::Mod::Volatile, ptx::Mod::Relaxed, ptx::Mod::Acquire, ptx::Mod::Release})
    site.strong |= inst.Has(mod);
  site.strong |= access == Site::Access::Atomic;
  site.read_only = inst.Has(ptx::Mod::Nc);
  return &site;
}

FunctionEmitter::Value* FunctionEmitter::Scratch(unsigned count) {
  if (scratch_ != nullptr && count <= scratch_size_) return scratch_;
  const llvm::IRBuilderBase::InsertPointGuard guard(b_);
  llvm::BasicBlock& entry = code_->getEntryBlock();
  b_.SetInsertPoint(&entry, entry.begin());
  scratch_size_ = std::max(count, 32U);
  return scratch_ = b_.CreateAlloca(Int(64), I(32, scratch_size_));
}

FunctionEmitter::Value* FunctionEmitter::SpecialRegister(ptx::Special special) {
  const size_t offset = offsetof(Thread, special) + 8 * static_cast<size_t>(special);
  Value* place = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), thread_, offset);
  return b_.CreateTrunc(b_.CreateLoad(Int(64), place), IntOf(InfoOf(special).type));
}

/// Buffers of calls are memory of the function.
FunctionEmitter::Value* FunctionEmitter::BufferOf(const ptx::Variable& variable) {
  if (const auto it = buffers_.find(&variable); it != buffers_.end()) return it->second;
  if (function_.entry && llvm::is_contained(function_.params, &variable)) return nullptr;
  const llvm::IRBuilderBase::InsertPointGuard guard(b_);
  llvm::BasicBlock& entry = code_->getEntryBlock();
  b_.SetInsertPoint(&entry, entry.begin());
  auto* place = b_.CreateAlloca(b_.getInt8Ty(), I(64, std::max<uint64_t>(variable.size, 1)));
  place->setAlignment(llvm::Align(16));
  return buffers_[&variable] = place;
}

FunctionEmitter::Value* FunctionEmitter::AddressOf(const ptx::Variable& variable, int64_t offset) {
  const auto at = static_cast<uint64_t>(offset);
  switch (variable.space) {
    case Space::Global: return I(64, layout_.global.lookup(&variable) + at);
    case Space::Shared: return I(64, (variable.external ? layout_.dynamic_shared : variable.offset) + at);
    case Space::Local: return b_.CreateAdd(local_base_, I(64, variable.offset + at));
    case Space::Const:
    default: return I(64, variable.offset + at);
  }
}

FunctionEmitter::Value* FunctionEmitter::Address(const Operand& operand, Space& space) {
  if (operand.variable != nullptr) {
    space = operand.variable->space;
    return AddressOf(*operand.variable, operand.integer);
  }
  const auto offset = static_cast<uint64_t>(operand.integer);
  if (operand.reg == nullptr) return I(64, offset);
  return b_.CreateAdd(b_.CreateZExtOrTrunc(ReadRegister(*operand.reg), Int(64)), I(64, offset));
}

}  // namespace hlo::gpu
