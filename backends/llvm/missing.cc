#include "backends/llvm/missing.h"

#include "backends/llvm/code_target.h"
#include "backends/llvm/math.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Target/TargetMachine.h"

namespace hlo::codegen {
namespace {

using llvm::Value;
using llvm::Intrinsic::ID;

/// x * y + z of f32: f64 holds the product, and their sum rounded to odd (the last bit is set if anything was
/// lost) has so many bits more that it rounds to f32 as the exact sum does (Boldo, Melquiond).
Value* FmaThrough64(Math& m, Value* x, Value* y, Value* z) {
  llvm::IRBuilderBase& b = m.b;
  Math wide = m.Wide();
  Value* product = wide.Mul(m.Widen(x), m.Widen(y));
  Value* addend = m.Widen(z);
  Value* sum = wide.Add(product, addend);
  Value* of_addend = wide.Sub(sum, product);
  Value* lost = wide.Add(wide.Sub(product, wide.Sub(sum, of_addend)), wide.Sub(addend, of_addend));
  Value* bits = wide.Bits(sum);
  Value* inexact = b.CreateFCmpONE(lost, wide.C(0));  // not of infinities and NaN
  Value* even = b.CreateICmpEQ(b.CreateAnd(bits, wide.I(1)), wide.I(0));
  Value* outwards = b.CreateICmpEQ(wide.Negative(lost), wide.Negative(sum));
  Value* odd = b.CreateAdd(bits, wide.Select(outwards, wide.I(1), wide.I(-1)));
  return m.Narrow(wide.FromBits(wide.Select(b.CreateAnd(inexact, even), odd, bits)));
}

/// x to an integer: numbers as large as 2^mantissa_bits have no fraction, and added to it others lose theirs.
Value* RoundBySum(Math& m, ID id, Value* x) {
  llvm::IRBuilderBase& b = m.b;
  Value* large = m.C(m.f64() ? kWhole64 : kWhole32);
  Value* magnitude = m.Abs(x);
  Value* nearest = m.Sub(m.Add(magnitude, large), large);
  Value* rounded = nearest;
  if (id == llvm::Intrinsic::trunc) {
    rounded = m.Select(b.CreateFCmpOGT(nearest, magnitude), m.Sub(nearest, m.C(1)), nearest);
  } else if (id != llvm::Intrinsic::roundeven) {
    const bool down = id == llvm::Intrinsic::floor;
    nearest = m.CopySign(nearest, x);
    Value* beyond = down ? b.CreateFCmpOGT(nearest, x) : b.CreateFCmpOLT(nearest, x);
    rounded = m.Select(beyond, m.Add(nearest, m.C(down ? -1 : 1)), nearest);
  }
  return m.Select(m.Less(magnitude, large), m.CopySign(rounded, x), x);
}

bool IsRounding(ID id) {
  return id == llvm::Intrinsic::trunc || id == llvm::Intrinsic::floor || id == llvm::Intrinsic::ceil ||
         id == llvm::Intrinsic::roundeven;
}

/// A function of the module that takes the place of an operation.
llvm::Function* Create(const llvm::Function& operation, llvm::FunctionType* type, llvm::Module& module) {
  auto* function =
      llvm::Function::Create(type, llvm::Function::InternalLinkage,
                             operation.getName().drop_front(llvm::StringRef("llvm.").size()), module);
  function->addFnAttr(llvm::Attribute::NoInline);
  function->setDoesNotThrow();
  return function;
}

/// Replaces arithmetic by a function that computes it.
void ReplaceArithmetic(llvm::Function& operation) {
  llvm::Module& module = *operation.getParent();
  llvm::Function* function = Create(operation, operation.getFunctionType(), module);
  operation.replaceAllUsesWith(function);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(module.getContext(), "", function));
  Math m(b, operation.getReturnType());
  const auto argument = [&](unsigned i) { return function->getArg(i); };
  if (IsRounding(operation.getIntrinsicID()))
    b.CreateRet(RoundBySum(m, operation.getIntrinsicID(), argument(0)));
  else if (m.f64())
    b.CreateRet(m.Fma(argument(0), argument(1), argument(2)));  // lane by lane, but once
  else
    b.CreateRet(FmaThrough64(m, argument(0), argument(1), argument(2)));
}

/// What moves elements where a mask says so; the operands of the intrinsic by their places.
struct Access {
  ID id;
  unsigned address, alignment, mask;
  bool loads, together;  // together: one pointer, not one for each lane
};
constexpr Access kAccesses[] = {{llvm::Intrinsic::masked_load, 0, 1, 2, true, true},
                                {llvm::Intrinsic::masked_store, 1, 2, 3, false, true},
                                {llvm::Intrinsic::masked_gather, 0, 1, 2, true, false},
                                {llvm::Intrinsic::masked_scatter, 1, 2, 3, false, false}};
constexpr llvm::Align kAnywhere = llvm::Align::Constant<1>();
constexpr unsigned kKept = 3, kStored = 0;  // operands: of loads what other lanes have, of stores the values

const Access* AccessOf(const llvm::Function& operation) {
  const auto* found =
      llvm::find_if(kAccesses, [&](const Access& a) { return a.id == operation.getIntrinsicID(); });
  return found == std::end(kAccesses) ? nullptr : found;
}

llvm::FixedVectorType* ElementsOf(const llvm::Function& operation, const Access& access) {
  llvm::Type* type = access.loads ? operation.getReturnType() : operation.getArg(kStored)->getType();
  return llvm::cast<llvm::FixedVectorType>(type);
}

bool IsLegal(const Access& access, llvm::FixedVectorType* type, llvm::Align align,
             const llvm::TargetTransformInfo& target) {
  if (access.together)
    return access.loads ? target.isLegalMaskedLoad(type, align) : target.isLegalMaskedStore(type, align);
  return access.loads
             ? target.isLegalMaskedGather(type, align) && !target.forceScalarizeMaskedGather(type, align)
             : target.isLegalMaskedScatter(type, align) && !target.forceScalarizeMaskedScatter(type, align);
}

/// f(pointers, mask as an integer, vector) with a loop over the lanes.
void EmitLanes(llvm::Function& function, const Access& access, llvm::FixedVectorType* type) {
  llvm::LLVMContext& context = function.getContext();
  const auto block = [&](const char* name) { return llvm::BasicBlock::Create(context, name, &function); };
  llvm::BasicBlock *entry = block(""), *loop = block("lane"), *chosen = block("chosen"),
                   *next = block("next"), *end = block("end");
  llvm::IRBuilder<> b(entry);
  Value *pointers = function.getArg(0), *mask = function.getArg(1);
  Value* vector = b.CreateAlloca(type);
  b.CreateStore(function.getArg(2), vector);
  Value* places = nullptr;
  if (!access.together) {
    places = b.CreateAlloca(pointers->getType());
    b.CreateStore(pointers, places);
  }
  b.CreateBr(loop);
  b.SetInsertPoint(loop);
  llvm::PHINode* lane = b.CreatePHI(b.getInt64Ty(), 2);
  lane->addIncoming(b.getInt64(0), entry);
  Value* bit = b.CreateLShr(mask, b.CreateZExtOrTrunc(lane, mask->getType()));
  b.CreateCondBr(b.CreateTrunc(bit, b.getInt1Ty()), chosen, next);
  b.SetInsertPoint(chosen);
  llvm::Type* element = type->getElementType();
  Value* place = access.together ? b.CreateGEP(element, pointers, lane)
                                 : b.CreateLoad(b.getPtrTy(), b.CreateGEP(b.getPtrTy(), places, lane));
  Value* own = b.CreateGEP(element, vector, lane);
  if (access.loads)
    b.CreateStore(b.CreateAlignedLoad(element, place, kAnywhere), own);
  else
    b.CreateAlignedStore(b.CreateLoad(element, own), place, kAnywhere);
  b.CreateBr(next);
  b.SetInsertPoint(next);
  Value* following = b.CreateAdd(lane, b.getInt64(1));
  lane->addIncoming(following, next);
  b.CreateCondBr(b.CreateICmpULT(following, b.getInt64(type->getNumElements())), loop, end);
  b.SetInsertPoint(end);
  if (access.loads)
    b.CreateRet(b.CreateLoad(type, vector));
  else
    b.CreateRetVoid();
}

/// Replaces accesses whose mask is only known when code runs: for each of their lanes LLVM makes a branch.
void ReplaceAccesses(llvm::Function& operation, const Access& access,
                     const llvm::TargetTransformInfo& target) {
  llvm::Module& module = *operation.getParent();
  llvm::FixedVectorType* type = ElementsOf(operation, access);
  llvm::Function* function = nullptr;
  for (llvm::User* user : llvm::make_early_inc_range(operation.users())) {
    auto* call = llvm::cast<llvm::CallInst>(user);
    const llvm::Align align = llvm::cast<llvm::ConstantInt>(call->getArgOperand(access.alignment))
                                  ->getMaybeAlignValue()
                                  .valueOrOne();
    Value* mask = call->getArgOperand(access.mask);
    if (llvm::isa<llvm::Constant>(mask) || IsLegal(access, type, align, target)) continue;
    llvm::IRBuilder<> b(call);
    Value* bits = b.CreateBitCast(mask, b.getIntNTy(type->getNumElements()));
    Value* pointers = call->getArgOperand(access.address);
    Value* vector = call->getArgOperand(access.loads ? kKept : kStored);
    if (function == nullptr) {
      llvm::Type* result = access.loads ? static_cast<llvm::Type*>(type) : b.getVoidTy();
      function = Create(operation,
                        llvm::FunctionType::get(result, {pointers->getType(), bits->getType(), type}, false),
                        module);
      EmitLanes(*function, access, type);
    }
    call->replaceAllUsesWith(b.CreateCall(function, {pointers, bits, vector}));
    call->eraseFromParent();
  }
}

}  // namespace

void CallMissing(llvm::Module& module, const llvm::TargetMachine& target) {
  const llvm::MCSubtargetInfo& has = *target.getMCSubtargetInfo();
  const CodeTarget& code_target = CodeTargetOf(module);
  const bool fma = code_target.HasFma(has), rounding = code_target.HasRounding(has);
  llvm::SmallVector<llvm::Function*> missing, accesses;
  llvm::Function* code = nullptr;
  for (llvm::Function& function : module) {
    const ID id = function.getIntrinsicID();
    if (!function.isDeclaration()) code = &function;
    if (function.use_empty()) continue;
    if (AccessOf(function) != nullptr) accesses.push_back(&function);
    if (function.getReturnType()->isVectorTy() &&
        (id == llvm::Intrinsic::fma ? !fma : IsRounding(id) && !rounding))
      missing.push_back(&function);
  }
  for (llvm::Function* operation : missing) ReplaceArithmetic(*operation);
  if (accesses.empty()) return;
  const llvm::TargetTransformInfo costs = target.getTargetTransformInfo(*code);
  for (llvm::Function* operation : accesses) ReplaceAccesses(*operation, *AccessOf(*operation), costs);
}

}  // namespace hlo::codegen
