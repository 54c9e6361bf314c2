// Barriers and what warps do together (ptx.md §4, §6): values go to the emulator and come back.
#include "backends/gpu/emulator/emit.h"
#include "backends/gpu/emulator/host_calls.h"
#include "backends/gpu/ptx/check.h"

namespace hlo::gpu {
namespace {

using llvm::Value;
using ptx::Instruction;
using ptx::Operand;
using ptx::Space;
using ptx::Type;
using E = FunctionEmitter;

class Slots {
 public:
  Slots(E& e, unsigned count) : e_(e), base_(e.Scratch(count)) {}
  Value* At(unsigned i) { return e_.b().CreateConstInBoundsGEP1_64(e_.Int(64), base_, i); }
  void Put(Value* value) { e_.b().CreateStore(e_.b().CreateZExt(value, e_.Int(64)), At(count_++)); }
  Value* Take(unsigned i, Type type) {
    return e_.b().CreateTrunc(e_.b().CreateLoad(e_.Int(64), At(i)), e_.IntOf(type));
  }
  [[nodiscard]] Value* base() const { return base_; }

 private:
  E& e_;
  Value* base_;
  unsigned count_ = 0;
};

/// All sources in their order, elements of vectors one by one; missing ones are all ones. Results come back
/// in the same memory, from its beginning: those of the destination, then the second predicate.
void EmitGroup(E& e, const Instruction& inst) {
  auto& b = e.b();
  Slots slots(e, 32);
  const bool has_result =
      !inst.operands.empty() && inst.form->operands[0].role == ptx::OperandSpec::Role::Destination;
  Space space = Space::Shared;
  for (size_t i = has_result ? 1 : 0; i < inst.operands.size(); ++i) {
    const Operand& operand = inst.operands[i];
    const Type type = ptx::TypeOfOperand(inst, i);
    if (operand.kind == Operand::Kind::None) {
      slots.Put(e.I(64, ~uint64_t{0}));
    } else if (operand.kind == Operand::Kind::Address) {
      space = inst.space();
      slots.Put(e.Address(operand, space));
    } else if (operand.kind == Operand::Kind::Vector) {
      for (const Operand& element : operand.elements) slots.Put(e.Read(element, type));
    } else {
      slots.Put(e.Read(operand, type));
    }
  }
  const auto access = inst.kind() == ptx::Kind::Stmatrix ? Site::Access::Store : Site::Access::Load;
  const Site* site = e.NewSite(inst, space, access, 16);
  e.CallHost(&HostGroup, b.getVoidTy(), {e.thread(), e.HostPointer(site), slots.base()});
  if (!has_result) return;
  const Operand& to = inst.operands[0];
  const Type type = ptx::TypeOfOperand(inst, 0);
  unsigned next = 0;
  if (to.kind == Operand::Kind::Vector)
    for (const Operand& element : to.elements) e.Write(element, slots.Take(next++, type), type);
  else
    e.Write(to, slots.Take(next++, type), type);
  if (to.second != nullptr) e.WriteRegister(*to.second, slots.Take(1, Type::Pred));
}

constexpr EmitRow kRows[] = {
    {ptx::Kind::Bar, EmitGroup},        {ptx::Kind::BarRed, EmitGroup},   {ptx::Kind::BarWarp, EmitGroup},
    {ptx::Kind::Shfl, EmitGroup},       {ptx::Kind::Vote, EmitGroup},     {ptx::Kind::Ballot, EmitGroup},
    {ptx::Kind::Match, EmitGroup},      {ptx::Kind::Redux, EmitGroup},    {ptx::Kind::Elect, EmitGroup},
    {ptx::Kind::Activemask, EmitGroup}, {ptx::Kind::Ldmatrix, EmitGroup}, {ptx::Kind::Stmatrix, EmitGroup},
    {ptx::Kind::Movmatrix, EmitGroup},  {ptx::Kind::Mma, EmitGroup},
};

}  // namespace

llvm::ArrayRef<EmitRow> GroupRows() { return kRows; }

}  // namespace hlo::gpu
