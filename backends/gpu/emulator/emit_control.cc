// Branches, calls, ends (ptx.md §1.2).
#include "backends/gpu/emulator/emit.h"
#include "backends/gpu/emulator/host_calls.h"
#include "llvm/IR/Module.h"

namespace hlo::gpu {
namespace {

using llvm::Value;
using ptx::Instruction;
using ptx::Operand;
using ptx::Space;
using E = FunctionEmitter;

void EmitBra(E& e, const Instruction& inst) {
  e.b().CreateBr(e.BlockAt(inst.operands[0].target));
  e.Terminated();
}

/// An index beyond the targets is a mistake.
void EmitBrx(E& e, const Instruction& inst) {
  auto& b = e.b();
  llvm::BasicBlock* wrong = e.NewBlock("wrong");
  llvm::SwitchInst* jump =
      b.CreateSwitch(e.Source(inst, 0), wrong, static_cast<unsigned>(inst.targets.size()));
  for (size_t i = 0; i < inst.targets.size(); ++i)
    jump->addCase(llvm::cast<llvm::ConstantInt>(e.I(32, i)), e.BlockAt(inst.targets[i]));
  b.SetInsertPoint(wrong);
  e.CallHost(&HostTrap, b.getVoidTy(),
             {e.thread(), e.HostPointer(e.NewSite(inst, Space::Generic, Site::Access::None, 0))});
  b.CreateUnreachable();
  e.Terminated();
}

/// Results that are registers go into their buffers.
void EmitRet(E& e, const Instruction&) {
  auto& b = e.b();
  if (!e.function().entry)
    for (const ptx::Variable* result : e.function().results)
      if (result->reg != nullptr)
        b.CreateAlignedStore(e.ReadRegister(*result->reg), e.BufferOf(*result), llvm::Align(1));
  b.CreateRetVoid();
  e.Terminated();
}

void EmitExit(E& e, const Instruction& inst) {
  if (e.function().entry) return EmitRet(e, inst);
  e.CallHost(&HostExit, e.b().getVoidTy(), {e.thread()});
  e.b().CreateUnreachable();
  e.Terminated();
}

void EmitTrap(E& e, const Instruction& inst) {
  e.CallHost(&HostTrap, e.b().getVoidTy(),
             {e.thread(), e.HostPointer(e.NewSite(inst, Space::Generic, Site::Access::None, 0))});
  e.b().CreateUnreachable();
  e.Terminated();
}

/// A buffer for an argument that is a register or a number.
Value* Buffered(E& e, const Operand& operand, const ptx::Variable& param) {
  auto& b = e.b();
  const llvm::IRBuilderBase::InsertPointGuard guard(b);
  b.SetInsertPoint(&e.code()->getEntryBlock(), e.code()->getEntryBlock().begin());
  auto* buffer = b.CreateAlloca(b.getInt8Ty(), e.I(64, std::max<uint64_t>(param.size, 8)));
  buffer->setAlignment(llvm::Align(16));
  (void)operand;
  return buffer;
}

/// The driver defines it for kernels of graphs: (condition, value).
bool SetsCondition(const ptx::Function& callee) {
  return callee.name == "cudaGraphSetConditional" && callee.params.size() == 2 &&
         callee.params[0]->size == sizeof(uint64_t) && callee.params[1]->size == sizeof(uint32_t);
}
void EmitSetCondition(E& e, const Instruction& inst) {
  auto& b = e.b();
  llvm::SmallVector<Value*, 2> values;
  for (size_t i = 0; i < 2; ++i) {
    const Operand& operand = inst.call->arguments[i];
    const ptx::Variable& param = *inst.call->callee->params[i];
    values.push_back(
        operand.variable != nullptr
            ? b.CreateAlignedLoad(e.IntOf(param.type), e.BufferOf(*operand.variable), llvm::Align(1))
            : e.Read(operand, param.type));
  }
  e.CallHost(&HostSetCondition, b.getVoidTy(),
             {e.thread(), e.HostPointer(e.NewSite(inst, Space::Generic, Site::Access::None, 0)), values[0],
              values[1]});
}

void EmitCall(E& e, const Instruction& inst) {
  auto& b = e.b();
  const ptx::CallInfo& call = *inst.call;
  if (!call.callee->prototype && !call.callee->defined && SetsCondition(*call.callee))
    return EmitSetCondition(e, inst);
  if (call.callee->prototype || !call.callee->defined) return EmitTrap(e, inst);
  llvm::SmallVector<Value*> arguments{e.thread()};
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const Operand& operand = call.arguments[i];
    if (operand.variable != nullptr) {
      arguments.push_back(e.BufferOf(*operand.variable));
      continue;
    }
    Value* buffer = Buffered(e, operand, *call.callee->params[i]);
    b.CreateAlignedStore(e.Read(operand, call.callee->params[i]->type), buffer, llvm::Align(1));
    arguments.push_back(buffer);
  }
  llvm::SmallVector<std::pair<const ptx::Register*, Value*>> registers;
  for (size_t i = 0; i < call.results.size(); ++i) {
    const Operand& operand = call.results[i];
    if (operand.variable != nullptr) {
      arguments.push_back(e.BufferOf(*operand.variable));
      continue;
    }
    arguments.push_back(Buffered(e, operand, *call.callee->results[i]));
    if (operand.reg != nullptr) registers.emplace_back(operand.reg, arguments.back());
  }
  // The callee's frame lies above this one.
  Value* top = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), e.thread(), offsetof(Thread, local_top));
  Value* old = b.CreateLoad(e.Int(64), top);
  b.CreateStore(b.CreateAdd(old, e.I(64, llvm::alignTo(e.function().local_bytes, 16))), top);
  b.CreateCall(e.FunctionFor(*call.callee), arguments);
  b.CreateStore(old, top);
  for (const auto& [reg, buffer] : registers)
    e.WriteRegister(*reg, b.CreateAlignedLoad(e.IntOf(reg->type), buffer, llvm::Align(1)));
}

constexpr EmitRow kRows[] = {
    {ptx::Kind::Bra, EmitBra},   {ptx::Kind::Brx, EmitBrx},   {ptx::Kind::Ret, EmitRet},
    {ptx::Kind::Exit, EmitExit}, {ptx::Kind::Trap, EmitTrap}, {ptx::Kind::Call, EmitCall},
};

}  // namespace

llvm::ArrayRef<EmitRow> ControlRows() { return kRows; }

}  // namespace hlo::gpu
