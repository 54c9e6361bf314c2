// Large angles of f64: x = k pi/2 + r by as many digits of 2/pi as count (Payne, Hanek).
#include "backends/llvm/math.h"
#include "backends/llvm/thread_target.h"
#include "llvm/IR/Module.h"

namespace hlo::codegen {
namespace {

using llvm::Value;

/// 2/pi, 64 bits each, behind a word of zeros.
constexpr uint64_t kTwoOverPi[] = {0,
                                   0xa2f9836e4e441529,
                                   0xfc2757d1f534ddc0,
                                   0xdb6295993c439041,
                                   0xfe5163abdebbc561,
                                   0xb7246e3a424dd2e0,
                                   0x06492eea09d1921c,
                                   0xfe1deb1cb129a73e,
                                   0xe88235f52ebb4484,
                                   0xe99c7026b45f7e41,
                                   0x3991d639835339f4,
                                   0x9c845f8bbdf9283b,
                                   0x1ff897ffde05980f,
                                   0xef2f118b5a0a6d1f,
                                   0x6d367ecf27cb09b7,
                                   0x4f463f669e5fea2d,
                                   0x7527bac7ebe5f17b,
                                   0x3d0739f78a5292ea,
                                   0x6bfb5fb11f8d5d08,
                                   0x56033046fc7b6bab,
                                   0xf0cfbc209af4361d};
constexpr int64_t kWord = 64;
/// Words of digits that count.
constexpr size_t kDigits = 3;
// pi/2 in two parts.
constexpr double kP1 = 0x1.921fb54442d18p+0, kP2 = 0x1.1a62633145c07p-54;

/// The body of the function that ReduceLargeAngle() calls: of one number of at least 2^30.
class LargeAngle {
 public:
  explicit LargeAngle(llvm::Function& function)
      : b_(llvm::BasicBlock::Create(function.getContext(), "", &function)),
        m_(b_, b_.getDoubleTy()),
        module_(*function.getParent()) {}

  void Run(Value* x) {
    Value* bits = m_.Bits(m_.Abs(x));
    Value* biased = b_.CreateLShr(bits, m_.I(kF64.mantissa_bits));
    const int64_t one = int64_t{1} << kF64.mantissa_bits;
    Value* mantissa = b_.CreateOr(b_.CreateAnd(bits, m_.I(one - 1)), m_.I(one));
    // |x| = mantissa 2^e. What digits before the (e - 1)th make are multiples of four quadrants. In the table
    // the first digit is behind as many bits as a word has.
    Value* e = b_.CreateSub(biased, m_.I(kF64.bias + kF64.mantissa_bits));
    Value* first = b_.CreateAdd(e, m_.I(kWord - 2));
    // Two bits of quadrants and their fraction.
    const auto [high, low] = TopBits(mantissa, first);
    Value* quadrant = b_.CreateLShr(high, m_.I(kWord - 2));
    Value* top = b_.CreateOr(b_.CreateShl(high, m_.I(2)), b_.CreateLShr(low, m_.I(kWord - 2)));
    Value* rest = b_.CreateShl(low, m_.I(2));
    // More than half of a quadrant is the next one less something.
    Value* beyond = b_.CreateICmpSLT(top, m_.I(0));
    quadrant = b_.CreateAdd(quadrant, b_.CreateZExt(beyond, b_.getInt64Ty()));
    Value* borrow = b_.CreateZExt(b_.CreateICmpEQ(rest, m_.I(0)), b_.getInt64Ty());
    top = m_.Select(beyond, b_.CreateAdd(b_.CreateNot(top), borrow), top);
    rest = m_.Select(beyond, b_.CreateNeg(rest), rest);
    const auto [r, r_low] = TimesHalfPi(top, rest);
    Value* negative = b_.CreateXor(beyond, m_.Negative(x));
    const auto with_sign = [&](Value* v) { return m_.Select(negative, m_.Neg(v), v); };
    quadrant = m_.Select(m_.Negative(x), b_.CreateNeg(quadrant), quadrant);
    // Of infinities and NaN there is none.
    Value* finite = b_.CreateICmpNE(biased, m_.I((int64_t{1} << (kF64.bits - 1 - kF64.mantissa_bits)) - 1));
    Value* none = m_.Sub(x, x);
    const std::array results = {m_.Select(finite, with_sign(r), none), with_sign(r_low), quadrant};
    b_.CreateAggregateRet(results.data(), results.size());
  }

 private:
  /// The highest 128 bits of the lower 192 of mantissa * (192 bits of 2/pi from bit `first` of the table on).
  std::pair<Value*, Value*> TopBits(Value* mantissa, Value* first) {
    Value* word = b_.CreateUDiv(first, m_.I(kWord));
    Value* shift = b_.CreateAnd(first, m_.I(kWord - 1));
    std::array<Value*, kDigits + 1> words{};
    for (size_t i = 0; i < words.size(); ++i)
      words[i] = Word(b_.CreateAdd(word, m_.I(static_cast<int64_t>(i))));
    const auto digits = [&](size_t i) {
      return b_.CreateIntrinsic(llvm::Intrinsic::fshl, {b_.getInt64Ty()}, {words[i], words[i + 1], shift});
    };
    llvm::Type* wide = b_.getInt128Ty();
    const auto product = [&](Value* y) {
      return b_.CreateMul(b_.CreateZExt(mantissa, wide), b_.CreateZExt(y, wide));
    };
    const auto high_half = [&](Value* v) { return b_.CreateLShr(v, llvm::ConstantInt::get(wide, kWord)); };
    const auto narrow = [&](Value* v) { return b_.CreateTrunc(v, b_.getInt64Ty()); };
    Value* middle = b_.CreateAdd(product(digits(1)), high_half(product(digits(2))));
    Value* upper = b_.CreateAdd(b_.CreateMul(mantissa, digits(0)), narrow(high_half(middle)));
    return {upper, narrow(middle)};
  }

  Value* Word(Value* index) {
    if (table_ == nullptr) {
      llvm::Constant* data = llvm::ConstantDataArray::get(b_.getContext(), llvm::ArrayRef(kTwoOverPi));
      const ThreadTarget* threads = CodeTargetOf(b_).threads();
      table_ = new llvm::GlobalVariable(module_, data->getType(), true, llvm::GlobalValue::PrivateLinkage,
                                        data, "two_over_pi", nullptr, llvm::GlobalValue::NotThreadLocal,
                                        threads == nullptr ? 0 : threads->facts().global_space);
    }
    Value* last = m_.I(static_cast<int64_t>(std::size(kTwoOverPi)) - 1);
    Value* place = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, index, last);
    return b_.CreateLoad(b_.getInt64Ty(), b_.CreateGEP(b_.getInt64Ty(), table_, place));
  }

  /// The fraction high:low / 2^128 times pi/2, in two parts.
  std::pair<Value*, Value*> TimesHalfPi(Value* high, Value* low) {
    constexpr int64_t kCut = 11;  // of 64 bits, beyond those of a mantissa
    const auto whole = [&](Value* v) { return b_.CreateUIToFP(v, b_.getDoubleTy()); };
    Value* first = m_.Mul(whole(b_.CreateLShr(high, m_.I(kCut))), 0x1p-53);
    Value* rest =
        b_.CreateOr(b_.CreateShl(b_.CreateAnd(high, m_.I((int64_t{1} << kCut) - 1)), m_.I(kWord - 2 * kCut)),
                    b_.CreateLShr(low, m_.I(2 * kCut)));
    Value* second = m_.Mul(whole(rest), 0x1p-106);
    Value* third = m_.Mul(whole(b_.CreateAnd(low, m_.I((int64_t{1} << (2 * kCut)) - 1))), 0x1p-128);
    Value* sum = m_.Add(first, second);
    Value* lost = m_.Add(m_.Sub(second, m_.Sub(sum, first)), third);
    Value* r = m_.Mul(sum, kP1);
    Value* error = m_.Fma(sum, kP1, m_.Neg(r));
    error = m_.Add(error, m_.Fma(sum, kP2, m_.Mul(lost, kP1)));
    Value* rounded = m_.Add(r, error);
    return {rounded, m_.Add(m_.Sub(r, rounded), error)};
  }

  llvm::IRBuilder<> b_;
  Math m_;
  llvm::Module& module_;
  llvm::GlobalVariable* table_ = nullptr;
};

llvm::Function* FunctionOf(llvm::Module& module) {
  constexpr llvm::StringLiteral kName = "large_angle";
  if (llvm::Function* known = module.getFunction(kName)) return known;
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* f64 = llvm::Type::getDoubleTy(context);
  auto* result = llvm::StructType::get(context, {f64, f64, llvm::Type::getInt64Ty(context)});
  auto* function = llvm::Function::Create(llvm::FunctionType::get(result, {f64}, false),
                                          llvm::Function::InternalLinkage, kName, module);
  function->addFnAttr(llvm::Attribute::NoInline);
  function->setDoesNotThrow();
  LargeAngle(*function).Run(function->getArg(0));
  return function;
}

}  // namespace

LargeAngleParts ReduceLargeAngle(Math& m, Value* x) {
  llvm::Function* function = FunctionOf(*m.b.GetInsertBlock()->getModule());
  const auto part = [&](Value* all, unsigned i) { return m.b.CreateExtractValue(all, i); };
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  if (type == nullptr) {
    Value* all = m.b.CreateCall(function, {x});
    return {part(all, 0), part(all, 1), part(all, 2)};
  }
  Value* parts[] = {llvm::PoisonValue::get(type), llvm::PoisonValue::get(type),
                    llvm::PoisonValue::get(m.IntType())};
  for (unsigned lane = 0; lane < type->getNumElements(); ++lane) {
    Value* all = m.b.CreateCall(function, {m.b.CreateExtractElement(x, uint64_t{lane})});
    for (unsigned i = 0; i < std::size(parts); ++i)
      parts[i] = m.b.CreateInsertElement(parts[i], part(all, i), uint64_t{lane});
  }
  return {parts[0], parts[1], parts[2]};
}

}  // namespace hlo::codegen
