#include "backends/llvm/missing.h"

#include "backends/llvm/math.h"
#include "llvm/IR/Module.h"

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
  Value* large = m.C(m.f64() ? 0x1p52 : 0x1p23);
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

/// Replaces the operation by a function that computes it.
void Replace(llvm::Function& operation) {
  llvm::Module& module = *operation.getParent();
  auto* function = llvm::Function::Create(operation.getFunctionType(), llvm::Function::InternalLinkage,
                                          operation.getName().drop_front(llvm::StringRef("llvm.").size()), module);
  function->addFnAttr(llvm::Attribute::NoInline);
  function->setDoesNotThrow();
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

}  // namespace

void CallMissing(llvm::Module& module, VectorInstructions has) {
  llvm::SmallVector<llvm::Function*> missing;
  for (llvm::Function& function : module) {
    if (!function.getReturnType()->isVectorTy() || function.use_empty()) continue;
    const ID id = function.getIntrinsicID();
    if (id == llvm::Intrinsic::fma ? !has.fma : IsRounding(id) && !has.rounding) missing.push_back(&function);
  }
  for (llvm::Function* operation : missing) Replace(*operation);
}

}  // namespace hlo::codegen
