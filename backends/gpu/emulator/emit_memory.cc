// Loads, stores, atomics, addresses (ptx.md §3).
#include "backends/gpu/emulator/emit.h"
#include "backends/gpu/emulator/host_calls.h"
#include "backends/gpu/ptx/check.h"

namespace hlo::gpu {
namespace {

using llvm::Value;
using ptx::Instruction;
using ptx::Mod;
using ptx::Operand;
using ptx::Space;
using ptx::Type;
using E = FunctionEmitter;

/// Elements of an operand in braces, or itself.
llvm::ArrayRef<Operand> ElementsOf(const Operand& operand) {
  return operand.kind == Operand::Kind::Vector ? llvm::ArrayRef(operand.elements) : llvm::ArrayRef(operand);
}

void EmitLd(E& e, const Instruction& inst) {
  auto& b = e.b();
  const Type type = inst.type();
  const unsigned bytes = ptx::InfoOf(type).bytes();
  const llvm::ArrayRef<Operand> to = ElementsOf(inst.operands[0]);
  Value* from = e.Access(inst, inst.operands[1], inst.space(), Site::Access::Load,
                         bytes * static_cast<unsigned>(to.size()));
  llvm::SmallVector<Value*> loaded;
  for (size_t i = 0; i < to.size(); ++i)
    loaded.push_back(b.CreateAlignedLoad(
        e.IntOf(type), b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), from, bytes * i), llvm::Align(1)));
  for (size_t i = 0; i < to.size(); ++i) e.Write(to[i], loaded[i], type);
}

void EmitSt(E& e, const Instruction& inst) {
  auto& b = e.b();
  const Type type = inst.type();
  const unsigned bytes = ptx::InfoOf(type).bytes();
  const llvm::ArrayRef<Operand> from = ElementsOf(inst.operands[1]);
  llvm::SmallVector<Value*> values;
  for (const Operand& element : from) values.push_back(e.Read(element, type));
  Value* to = e.Access(inst, inst.operands[0], inst.space(), Site::Access::Store,
                       bytes * static_cast<unsigned>(from.size()));
  for (size_t i = 0; i < from.size(); ++i)
    b.CreateAlignedStore(values[i], b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), to, bytes * i),
                         llvm::Align(1));
}

Value* Widened(E& e, Value* x) { return e.b().CreateZExt(x, e.Int(64)); }

/// Each element by itself: vectors are not atomic as a whole.
void EmitAtomic(E& e, const Instruction& inst, const Operand* to, size_t address) {
  auto& b = e.b();
  const Type type = inst.type();
  const unsigned bytes = ptx::InfoOf(type).bytes();
  const llvm::ArrayRef<Operand> x = ElementsOf(inst.operands[address + 1]);
  Space space = inst.space();
  Value* at = e.Address(inst.operands[address], space);
  const Site* site = e.NewSite(inst, space, Site::Access::Atomic, bytes);
  llvm::SmallVector<Value*> olds;
  for (size_t i = 0; i < x.size(); ++i) {
    Value* y = inst.operands.size() > address + 2 ? Widened(e, e.Read(inst.operands[address + 2], type))
                                                  : e.I(64, 0);
    olds.push_back(e.CallHost(&HostAtomic, e.Int(64),
                              {e.thread(), b.CreateAdd(at, e.I(64, bytes * i)), e.HostPointer(site),
                               Widened(e, e.Read(x[i], type)), y}));
  }
  if (to == nullptr) return;
  const llvm::ArrayRef<Operand> results = ElementsOf(*to);
  for (size_t i = 0; i < results.size(); ++i)
    e.Write(results[i], b.CreateTrunc(olds[i], e.IntOf(type)), type);
}
void EmitAtom(E& e, const Instruction& inst) { EmitAtomic(e, inst, inst.operands.data(), 1); }
void EmitRed(E& e, const Instruction& inst) { EmitAtomic(e, inst, nullptr, 0); }

void EmitFence(E& e, const Instruction& inst) {
  e.CallHost(&HostFence, e.b().getVoidTy(),
             {e.thread(), e.HostPointer(e.NewSite(inst, Space::Generic, Site::Access::None, 0))});
}

void EmitMov(E& e, const Instruction& inst) {
  const Operand& from = inst.operands[1];
  // Clocks go on.
  static constexpr ptx::Special kClocks[] = {ptx::Special::Clock, ptx::Special::ClockHi,
                                             ptx::Special::Clock64, ptx::Special::Globaltimer};
  if (from.kind == Operand::Kind::Special && llvm::is_contained(kClocks, from.special)) {
    Value* now =
        e.CallHost(&HostClock, e.Int(64), {e.thread(), e.I(32, static_cast<uint64_t>(from.special))});
    return e.Result(inst, e.b().CreateTrunc(now, e.IntOf(inst.type())));
  }
  e.Result(inst, e.Source(inst, 1));
}

void EmitCvta(E& e, const Instruction& inst) {
  Value* base = e.I(64, e.WindowOf(inst.space()));
  Value* address = e.b().CreateZExt(e.Source(inst, 1), e.Int(64));
  e.Result(inst, e.b().CreateTrunc(e.b().CreateAdd(address, base), e.IntOf(inst.type())));
}

void EmitCvtaTo(E& e, const Instruction& inst) {
  Value* base = e.I(64, e.WindowOf(inst.space()));
  Value* address = e.b().CreateZExt(e.Source(inst, 1), e.Int(64));
  e.Result(inst, e.b().CreateTrunc(e.b().CreateSub(address, base), e.IntOf(inst.type())));
}

void EmitIsspacep(E& e, const Instruction& inst) {
  auto& b = e.b();
  Value* address = e.Source(inst, 1);
  const uint64_t window = e.WindowOf(inst.space());
  if (inst.space() == Space::Global) return e.Result(inst, b.CreateICmpULT(address, e.I(64, kSharedWindow)));
  e.Result(inst, b.CreateICmpULT(b.CreateSub(address, e.I(64, window)), e.I(64, kWindowSize)));
}

void EmitCpAsync(E& e, const Instruction& inst) {
  auto& b = e.b();
  Space shared = Space::Shared, global = Space::Global;
  Value* to = e.Address(inst.operands[0], shared);
  Value* from = e.Address(inst.operands[1], global);
  const auto size = static_cast<uint64_t>(inst.operands[2].integer);
  Value* bytes = e.I(64, size);
  const Operand& limit = inst.operands[3];
  if (limit.kind != Operand::Kind::None && !inst.Has(Mod::L2CacheHint)) {
    if (inst.form->operands[3].type == Type::Pred)
      bytes = b.CreateSelect(e.Source(inst, 3), e.I(64, 0), bytes);
    else
      bytes = Widened(e, e.Source(inst, 3));
  }
  const Site* site = e.NewSite(inst, Space::Shared, Site::Access::Store, static_cast<uint32_t>(size));
  e.CallHost(&HostCopy, b.getVoidTy(), {e.thread(), e.HostPointer(site), to, from, bytes});
}

/// Commits and waits: how many groups may still be pending; all ones for what only commits.
void EmitCopyGroup(E& e, const Instruction& inst) {
  const bool commits = inst.kind() == ptx::Kind::CpCommit;
  const bool all = inst.kind() == ptx::Kind::CpWaitAll;
  const uint64_t pending = commits ? ~uint64_t{0} : all ? 0 : static_cast<uint64_t>(inst.operands[0].integer);
  e.CallHost(
      &HostCopyGroup, e.b().getVoidTy(),
      {e.thread(), e.HostPointer(e.NewSite(inst, Space::Generic, Site::Access::None, 0)), e.I(64, pending)});
}

void EmitMbarrier(E& e, const Instruction& inst) {
  auto& b = e.b();
  const bool gives = inst.kind() == ptx::Kind::MbarrierArrive || inst.kind() == ptx::Kind::MbarrierTest;
  const size_t at = gives ? 1 : 0;
  Space space = inst.space();
  Value* address = e.Address(inst.operands[at], space);
  Value* x = e.I(64, 1);
  if (inst.operands.size() > at + 1 && inst.operands[at + 1].kind != Operand::Kind::None)
    x = Widened(e, e.Source(inst, at + 1));
  const Site* site = e.NewSite(inst, space, Site::Access::Atomic, 8);
  Value* result = e.CallHost(&HostMbarrier, e.Int(64), {e.thread(), address, e.HostPointer(site), x});
  if (gives)
    e.Write(inst.operands[0], b.CreateTrunc(result, e.IntOf(ptx::TypeOfOperand(inst, 0))), Type::B64);
}

void EmitNothing(E&, const Instruction&) {}

constexpr EmitRow kRows[] = {
    {ptx::Kind::Ld, EmitLd},
    {ptx::Kind::St, EmitSt},
    {ptx::Kind::Atom, EmitAtom},
    {ptx::Kind::Red, EmitRed},
    {ptx::Kind::Fence, EmitFence},
    {ptx::Kind::Mov, EmitMov},
    {ptx::Kind::Cvta, EmitCvta},
    {ptx::Kind::CvtaTo, EmitCvtaTo},
    {ptx::Kind::Isspacep, EmitIsspacep},
    {ptx::Kind::CpAsync, EmitCpAsync},
    {ptx::Kind::CpCommit, EmitCopyGroup},
    {ptx::Kind::CpWait, EmitCopyGroup},
    {ptx::Kind::CpWaitAll, EmitCopyGroup},
    {ptx::Kind::MbarrierInit, EmitMbarrier},
    {ptx::Kind::MbarrierInval, EmitMbarrier},
    {ptx::Kind::MbarrierArrive, EmitMbarrier},
    {ptx::Kind::MbarrierTest, EmitMbarrier},
    {ptx::Kind::Nothing, EmitNothing},
};

}  // namespace

uint64_t FunctionEmitter::WindowOf(Space space) const {
  if (space == Space::Shared) return kSharedWindow;
  if (space == Space::Local) return kLocalWindow;
  if (space == Space::Param) return kParamWindow;
  return space == Space::Const ? layout_.const_base : 0;
}

/// Memory of parameters and call buffers needs no check at run time where its place is written.
Value* FunctionEmitter::Access(const Instruction& inst, const Operand& operand, Space space,
                               Site::Access access, uint32_t bytes) {
  if (operand.variable != nullptr && operand.variable->space == Space::Param) {
    const ptx::Variable& variable = *operand.variable;
    const auto offset = static_cast<uint64_t>(operand.integer);
    Value* buffer = BufferOf(variable);
    const bool inside = offset <= variable.size && bytes <= variable.size - offset;
    if (buffer != nullptr && inside) return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), buffer, offset);
  }
  Value* address = Address(operand, space);
  if (space == Space::Const) {
    address = b_.CreateAdd(address, I(64, layout_.const_base));
    space = Space::Global;
  }
  const Site* site = NewSite(inst, space, access, bytes);
  const auto call = [&] {
    return CallHost(&HostAccess, b_.getPtrTy(), {thread_, address, HostPointer(site)});
  };
  if (layout_.unwatched == nullptr || (space != Space::Global && space != Space::Shared)) return call();
  const Watched memory = WatchedMemory(space);
  Value* at = space == Space::Global ? b_.CreateSub(address, I(64, layout_.unwatched->base())) : address;
  return AccessWritten(memory, at, bytes, call);
}

FunctionEmitter::Watched FunctionEmitter::WatchedMemory(Space space) {
  if (space == Space::Global) {
    const DeviceMemory& memory = *layout_.unwatched;
    return {b_.CreateIntToPtr(I(64, memory.base()), b_.getPtrTy()), HostPointer(memory.states()),
            I(64, memory.size())};
  }
  const auto member = [&](llvm::Type* type, size_t offset) {
    return b_.CreateLoad(type, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), thread_, offset));
  };
  return {member(b_.getPtrTy(), offsetof(Thread, shared)),
          member(b_.getPtrTy(), offsetof(Thread, shared_states)),
          member(Int(64), offsetof(Thread, shared_bytes))};
}

/// Bytes that have been written are used without a call: it would find nothing.
Value* FunctionEmitter::AccessWritten(const Watched& memory, Value* at, uint32_t bytes,
                                      llvm::function_ref<Value*()> otherwise) {
  llvm::BasicBlock *inside = NewBlock("inside"), *slow = NewBlock("slow"), *next = NewBlock("next");
  Value* end = b_.CreateAdd(at, I(64, bytes));
  // Neither beyond the end nor so large that the sum begins anew; all accesses are powers of two.
  Value* is_inside = b_.CreateAnd(b_.CreateICmpULE(end, memory.size), b_.CreateICmpULT(at, end));
  Value* is_aligned = b_.CreateICmpEQ(b_.CreateAnd(at, I(64, bytes - 1)), I(64, 0));
  b_.CreateCondBr(b_.CreateAnd(is_inside, is_aligned), inside, slow);
  b_.SetInsertPoint(inside);
  llvm::IntegerType* states = Int(8 * bytes);
  Value* state =
      b_.CreateAlignedLoad(states, b_.CreateGEP(b_.getInt8Ty(), memory.states, at), llvm::Align(1));
  Value* written =
      llvm::ConstantInt::get(states, llvm::APInt::getSplat(8 * bytes, llvm::APInt(8, DeviceMemory::Written)));
  Value* pointer = b_.CreateGEP(b_.getInt8Ty(), memory.bytes, at);
  b_.CreateCondBr(b_.CreateICmpEQ(state, written), next, slow);
  b_.SetInsertPoint(slow);
  Value* other = otherwise();
  llvm::BasicBlock* from = b_.GetInsertBlock();
  b_.CreateBr(next);
  b_.SetInsertPoint(next);
  llvm::PHINode* result = b_.CreatePHI(b_.getPtrTy(), 2);
  result->addIncoming(pointer, inside);
  result->addIncoming(other, from);
  return result;
}

llvm::ArrayRef<EmitRow> MemoryRows() { return kRows; }

}  // namespace hlo::gpu
