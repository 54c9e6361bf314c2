#include "backends/gpu/codegen/remainder.h"

#include "backends/llvm/types.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"

namespace hlo::gpu {
namespace {

using llvm::BasicBlock;
using llvm::Type;
using llvm::Value;

/// Writes `T fmod(T x, T y)`: the significand of x, shifted bit by bit as far as its exponent is above that
/// of y, modulo that of y.
class Writer {
 public:
  Writer(llvm::Function& function, Type* type) : function_(function), b_(function.getContext()), type_(type) {
    const bool wide = type->isDoubleTy();
    bits_ = wide ? 64 : 32;
    mantissa_ = wide ? 52 : 23;
    integer_ = b_.getIntNTy(bits_);
  }

  void Run() {
    BasicBlock *entry = Block("entry"), *usual = Block("usual"), *small = Block("small"),
               *work = Block("work");
    b_.SetInsertPoint(entry);
    Value *x = function_.getArg(0), *y = function_.getArg(1);
    Value* sign = b_.CreateAnd(Bits(x), b_.CreateShl(I(1), I(bits_ - 1)));
    Value *a = b_.CreateXor(Bits(x), sign), *c = b_.CreateAnd(Bits(y), b_.CreateNot(SignMask()));
    const uint64_t infinity = ((uint64_t{1} << (bits_ - 1 - mantissa_)) - 1) << mantissa_;
    // y = 0 or NaN, x infinite or NaN: not a number.
    Value* bad = b_.CreateOr(b_.CreateICmpEQ(c, I(0)), b_.CreateICmpUGT(c, I(infinity)));
    bad = b_.CreateOr(bad, b_.CreateICmpUGE(a, I(infinity)));
    BasicBlock* none = Block("none");
    b_.CreateCondBr(bad, none, usual);
    b_.SetInsertPoint(none);
    b_.CreateRet(llvm::ConstantFP::getNaN(type_));
    b_.SetInsertPoint(usual);
    b_.CreateCondBr(b_.CreateICmpULT(a, c), small, work);
    b_.SetInsertPoint(small);
    b_.CreateRet(x);
    b_.SetInsertPoint(work);
    Divide(a, c, sign);
  }

 private:
  BasicBlock* Block(const char* name) { return BasicBlock::Create(function_.getContext(), name, &function_); }
  Value* I(uint64_t n) { return llvm::ConstantInt::get(integer_, n); }
  Value* SignMask() { return I(uint64_t{1} << (bits_ - 1)); }
  Value* Bits(Value* v) { return b_.CreateBitCast(v, integer_); }

  /// Exponent (of subnormals 1) and significand of positive bits.
  std::pair<Value*, Value*> Parts(Value* bits) {
    Value* exponent = b_.CreateLShr(bits, I(mantissa_));
    Value* fraction = b_.CreateAnd(bits, I((uint64_t{1} << mantissa_) - 1));
    Value* subnormal = b_.CreateICmpEQ(exponent, I(0));
    Value* whole = b_.CreateOr(fraction, I(uint64_t{1} << mantissa_));
    return {b_.CreateSelect(subnormal, I(1), exponent), b_.CreateSelect(subnormal, fraction, whole)};
  }

  /// `a` and `c` are positive, and a is not less.
  void Divide(Value* a, Value* c, Value* sign) {
    const auto [ea, ma] = Parts(a);
    const auto [ec, mc] = Parts(c);
    BasicBlock *before = b_.GetInsertBlock(), *loop = Block("loop"), *shift = Block("shift"),
               *done = Block("done");
    b_.CreateBr(loop);
    b_.SetInsertPoint(loop);
    llvm::PHINode *e = b_.CreatePHI(integer_, 2), *m = b_.CreatePHI(integer_, 2);
    e->addIncoming(ea, before);
    m->addIncoming(ma, before);
    // The first time m may be much larger than mc, if that is subnormal; then less than 2 mc.
    Value* rest = b_.CreateURem(m, mc);
    b_.CreateCondBr(b_.CreateICmpUGT(e, ec), shift, done);
    b_.SetInsertPoint(shift);
    e->addIncoming(b_.CreateSub(e, I(1)), shift);
    m->addIncoming(b_.CreateShl(rest, I(1)), shift);
    b_.CreateBr(loop);
    b_.SetInsertPoint(done);
    // rest * 2^(ec - 1) in units of the smallest number.
    Value* zeros = b_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, rest, b_.getFalse());
    Value* above = b_.CreateSub(zeros, I(bits_ - 1 - mantissa_));  // shifts that make it normal
    Value* most = b_.CreateSub(ec, I(1));
    Value* by = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, above, most);
    Value* shifted = b_.CreateShl(rest, by);
    Value* exponent = b_.CreateSub(ec, by);
    // Of normal numbers the highest bit adds one to the exponent.
    Value* bits = b_.CreateAdd(shifted, b_.CreateShl(b_.CreateSub(exponent, I(1)), I(mantissa_)));
    bits = b_.CreateSelect(b_.CreateICmpEQ(rest, I(0)), I(0), bits);
    b_.CreateRet(b_.CreateBitCast(b_.CreateOr(bits, sign), type_));
  }

  llvm::Function& function_;
  llvm::IRBuilder<> b_;
  Type* type_;
  Type* integer_;
  unsigned bits_, mantissa_;
};

llvm::Function* FunctionFor(llvm::Module& module, Type* type) {
  const char* name = type->isDoubleTy() ? "hlo_fmod_f64" : "hlo_fmod_f32";
  if (llvm::Function* known = module.getFunction(name)) return known;
  auto* function = llvm::Function::Create(llvm::FunctionType::get(type, {type, type}, false),
                                          llvm::Function::InternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::AlwaysInline);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->setDoesNotAccessMemory();
  Writer(*function, type).Run();
  return function;
}

}  // namespace

Value* ExactRemainder(llvm::IRBuilderBase& b, Value* x, Value* y) {
  llvm::Function* function = FunctionFor(*b.GetInsertBlock()->getModule(), x->getType()->getScalarType());
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  if (vector == nullptr) return b.CreateCall(function, {x, y});
  Value* result = llvm::PoisonValue::get(x->getType());
  for (unsigned i = 0; i < vector->getNumElements(); ++i) {
    Value* one = b.CreateCall(function, {b.CreateExtractElement(x, i), b.CreateExtractElement(y, i)});
    result = b.CreateInsertElement(result, one, i);
  }
  return result;
}

}  // namespace hlo::gpu
