// Transcendental functions as LLVM IR: the table, and arithmetic that they share.
#include "backends/llvm/math.h"

#include "backends/llvm/emit_ops.h"
#include "backends/llvm/floats.h"
#include "backends/llvm/narrow.h"
#include "llvm/IR/MDBuilder.h"

namespace hlo::codegen {

using llvm::Value;

llvm::Type* Math::IntType() { return SameWidth(f64() ? b.getInt64Ty() : b.getInt32Ty(), type_); }

Value* Math::Poly(Value* x, llvm::ArrayRef<double> c) {
  Value* sum = C(c.back());
  for (size_t i = c.size() - 1; i-- > 0;) sum = Fma(sum, x, C(c[i]));
  return sum;
}

Value* Math::PolyByPairs(Value* x, Value* square, llvm::ArrayRef<double> c) {
  Value* sum = nullptr;
  for (size_t i = c.size(); i > 0; i -= 2) {
    Value* pair = Fma(x, c[i - 1], C(c[i - 2]));
    sum = sum == nullptr ? pair : Fma(sum, square, pair);
  }
  return sum;
}

Math::Rounded Math::RoundProduct(Value* x, double factor, int more) {
  // Adding 1.5 * 2^mantissa_bits leaves the integer in the low bits.
  const double magic = f64() ? kRounding64 : kRounding32;
  Value* sum = Fma(x, factor, C(magic + more));
  return {Sub(sum, C(magic + more)), b.CreateSub(Bits(sum), Bits(C(magic)))};
}

Value* Math::Scale(Value* x, Value* k) {
  Value* half = b.CreateAShr(k, I(1));
  return Mul(Mul(x, PowerOfTwo(half)), PowerOfTwo(b.CreateSub(k, half)));
}

llvm::SmallVector<Value*, 2> Math::InRareCase(Value* condition, llvm::ArrayRef<Value*> usual,
                                              llvm::function_ref<llvm::SmallVector<Value*, 2>()> rare) {
  Value* any = condition->getType()->isVectorTy() ? target_.AnyLane(b, condition) : condition;
  llvm::BasicBlock* from = b.GetInsertBlock();
  llvm::Function* function = from->getParent();
  auto* inside = llvm::BasicBlock::Create(b.getContext(), "rare", function);
  auto* next = llvm::BasicBlock::Create(b.getContext(), "next", function);
  b.CreateCondBr(any, inside, next, llvm::MDBuilder(b.getContext()).createUnlikelyBranchWeights());
  b.SetInsertPoint(inside);
  llvm::SmallVector<Value*, 2> values = rare();
  for (size_t i = 0; i < values.size(); ++i) values[i] = b.CreateSelect(condition, values[i], usual[i]);
  llvm::BasicBlock* to = b.GetInsertBlock();
  b.CreateBr(next);
  b.SetInsertPoint(next);
  for (size_t i = 0; i < values.size(); ++i) {
    llvm::PHINode* phi = b.CreatePHI(values[i]->getType(), 2);
    phi->addIncoming(usual[i], from);
    phi->addIncoming(values[i], to);
    values[i] = phi;
  }
  return values;
}

namespace {

using EmitMath = Value* (*)(Math&, llvm::ArrayRef<Value*>);

template <EmitMath emit>
Value* Direct(llvm::IRBuilderBase& b, llvm::ArrayRef<Value*> operands) {
  Math m(b, operands[0]->getType());
  return emit(m, operands);
}
/// f32 through f64.
template <EmitMath emit>
Value* Through64(llvm::IRBuilderBase& b, llvm::ArrayRef<Value*> operands) {
  Math m(b, operands[0]->getType());
  llvm::SmallVector<Value*, 2> wide;
  for (Value* operand : operands) wide.push_back(m.Widen(operand));
  Math wide_math = m.Wide();
  return m.Narrow(emit(wide_math, wide));
}

struct Row {
  OpKind kind;
  MathFn f32, f64;
  bool through64 = false;  // f32
};
constexpr Row kRows[] = {
#define HLO_MATH_BOTH(Kind)      {OpKind::Kind, Direct<Emit##Kind>, Direct<Emit##Kind>},
#define HLO_MATH_EACH(Kind)      {OpKind::Kind, Direct<Emit##Kind##32>, Direct<Emit##Kind##64>},
#define HLO_MATH_THROUGH64(Kind) {OpKind::Kind, Through64<Emit##Kind##64>, Direct<Emit##Kind##64>, true},
#include "backends/llvm/math.def"
};

const Row* FindRow(OpKind kind) {
  for (const Row& row : kRows)
    if (row.kind == kind) return &row;
  return nullptr;
}

}  // namespace

MathFn FindMath(OpKind kind, bool f64) {
  const Row* row = FindRow(kind);
  return row == nullptr ? nullptr : f64 ? row->f64 : row->f32;
}

Value* EmitMathFor(ElementType narrow, OpKind kind, llvm::IRBuilderBase& b, llvm::ArrayRef<Value*> operands) {
  const Row& row = *FindRow(kind);
  Math m(b, operands[0]->getType());
  auto precise = [&]() -> llvm::SmallVector<Value*, 2> {
    llvm::SmallVector<Value*, 2> wide;
    for (Value* operand : operands) wide.push_back(m.Widen(operand));
    return {RoundToOdd(b, row.f64(b, wide))};
  };
  if (row.through64) return precise()[0];
  Value* result = row.f32(b, operands);
  // What f32's errors may move across the middle of two narrow numbers, half of the last place of their
  // mantissas: 9 of 8192 (f16) or of 65536 codes (bf16).
  const bool f16 = narrow == ElementType::F16;
  constexpr int64_t kError = 4;  // units in the last place of f32, to either side
  const int64_t middle = int64_t{1} << (kF32.mantissa_bits - Format(narrow).mantissa_bits - 1);
  Value* bits = m.Bits(result);
  Value* distance = b.CreateAnd(b.CreateSub(bits, m.I(middle - kError)), m.I(2 * middle - 1));
  Value* close = b.CreateICmpULE(distance, m.I(2 * kError));
  if (f16) {
    // Subnormals of f16 have their middles elsewhere; below 2^-26 they are 0.
    Value* magnitude = b.CreateAnd(bits, m.I(INT32_MAX));
    constexpr int64_t kLeast = 0x32800000, kNormal = 0x38800000;  // 2^-26, 2^-14
    close = b.CreateOr(close, b.CreateICmpULT(b.CreateSub(magnitude, m.I(kLeast)), m.I(kNormal - kLeast)));
  }
  return m.InRareCase(close, {result}, precise)[0];
}

}  // namespace hlo::codegen
