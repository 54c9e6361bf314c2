// Operations on complex numbers, and those that make or take them apart.
#include "backends/llvm/complex_ops.h"

#include "backends/llvm/complex_math.h"

namespace hlo::codegen {
namespace {

using llvm::Value;

Value* Part(const OpContext& c, size_t operand, bool imaginary) {
  Value* x = c.x(operand);
  return imaginary ? ImaginaryPart(c.b, x) : RealPart(c.b, x);
}

/// In f64 parts, rounded once.
class InDoubles {
 public:
  explicit InDoubles(const OpContext& c)
      : narrow_(c.b, PartType(c.x()->getType())),
        wide_(narrow_.Wide()),
        range_(narrow_.f64() ? PartRange::OfF64 : PartRange::OfF32) {}
  Parts Widen(const OpContext& c, size_t operand) {
    return {Widen(Part(c, operand, false)), Widen(Part(c, operand, true))};
  }
  Value* Round(Value* x) { return narrow_.f64() ? x : narrow_.Narrow(x); }
  Math& math() { return wide_; }
  [[nodiscard]] PartRange range() const { return range_; }

 private:
  Value* Widen(Value* x) { return narrow_.f64() ? x : narrow_.Widen(x); }

  Math narrow_, wide_;
  PartRange range_;
};

/// Both parts by themselves.
using EmitPart = Value* (*)(llvm::IRBuilderBase& b, llvm::ArrayRef<Value*> x);
constexpr struct {
  OpKind kind;
  EmitPart emit;
} kByParts[] = {
    {OpKind::Add, [](llvm::IRBuilderBase& b, llvm::ArrayRef<Value*> x) { return b.CreateFAdd(x[0], x[1]); }},
    {OpKind::Subtract,
     [](llvm::IRBuilderBase& b, llvm::ArrayRef<Value*> x) { return b.CreateFSub(x[0], x[1]); }},
    {OpKind::Negate, [](llvm::IRBuilderBase& b, llvm::ArrayRef<Value*> x) { return b.CreateFNeg(x[0]); }},
};

Emitted EmitComplexConvert(const OpContext& c) {
  const ElementType from = c.type(), to = c.op.type;
  const auto part = [&](Value* x, ElementType x_type, ElementType type) {
    kernel::OpStmt op = c.op;
    op.type = type;
    const Emitted operands[] = {FromCompute(c.b, x_type, x)};
    const ElementType types[] = {x_type};
    return EmitOp({c.b, op, operands, types});
  };
  if (!IsComplex(from)) {
    const Emitted real =
        EmitOp({c.b, kernel::OpStmt{c.op.result, c.op.kind, RealPartType(to), c.op.operands, c.op.attrs},
                c.operands, c.types});
    Value* zero = llvm::Constant::getNullValue(real.compute->getType());
    return FromCompute(c.b, to, MakeComplex(c.b, real.compute, zero));
  }
  const Emitted real = part(Part(c, 0, false), RealPartType(from), RealPartType(to));
  if (!IsComplex(to)) return real;
  const Emitted imaginary = part(Part(c, 0, true), RealPartType(from), RealPartType(to));
  return FromCompute(c.b, to, MakeComplex(c.b, real.compute, imaginary.compute));
}

Emitted EmitComplexCompare(const OpContext& c) {
  const Direction direction = c.op.attrs.Get<CompareAttrs>().direction;
  Value* equal = c.b.CreateAnd(c.b.CreateFCmpOEQ(Part(c, 0, false), Part(c, 1, false)),
                               c.b.CreateFCmpOEQ(Part(c, 0, true), Part(c, 1, true)));
  return FromCompute(c.b, ElementType::Pred, direction == Direction::EQ ? equal : c.b.CreateNot(equal));
}

Emitted EmitReal(const OpContext& c) { return FromCompute(c.b, c.op.type, Part(c, 0, false)); }
Emitted EmitImag(const OpContext& c) { return FromCompute(c.b, c.op.type, Part(c, 0, true)); }
Emitted EmitMake(const OpContext& c) { return FromCompute(c.b, c.op.type, MakeComplex(c.b, c.x(0), c.x(1))); }
Emitted EmitAbs(const OpContext& c) {
  InDoubles wide(c);
  return FromCompute(c.b, c.op.type, wide.Round(EmitComplexAbs(wide.math(), wide.Widen(c, 0), wide.range())));
}

constexpr struct {
  OpKind kind;
  Emitted (*emit)(const OpContext& c);
} kOwn[] = {
    {OpKind::Convert, EmitComplexConvert},
    {OpKind::Compare, EmitComplexCompare},
    {OpKind::Real, EmitReal},
    {OpKind::Imag, EmitImag},
    {OpKind::Complex, EmitMake},
    {OpKind::Abs, EmitAbs},
};

}  // namespace

bool HasComplexCode(OpKind kind, ElementType operand, ElementType result) {
  if (kind == OpKind::Convert) return !IsPred(result) && result != ElementType::F8E8M0FNU;
  for (const auto& row : kOwn)
    if (row.kind == kind) return true;
  if (!IsComplex(operand) || result != operand) return false;
  for (const auto& row : kByParts)
    if (row.kind == kind) return true;
  const auto range = operand == ElementType::C128 ? PartRange::OfF64 : PartRange::OfF32;
  return FindComplexMath(kind, range) != nullptr;
}

Emitted EmitComplexOp(const OpContext& c) {
  for (const auto& [kind, emit] : kOwn)
    if (kind == c.op.kind) return emit(c);
  llvm::SmallVector<Value*, 2> operands;
  for (const Emitted& operand : c.operands) operands.push_back(operand.compute);
  for (const auto& [kind, emit] : kByParts)
    if (kind == c.op.kind)
      return FromCompute(
          c.b, c.op.type,
          ForEachPart(c.b, operands, [&, fn = emit](llvm::ArrayRef<Value*> part) { return fn(c.b, part); }));
  InDoubles wide(c);
  const ComplexFn fn = FindComplexMath(c.op.kind, wide.range());
  llvm::SmallVector<Parts, 2> parts;
  for (size_t i = 0; i < operands.size(); ++i) parts.push_back(wide.Widen(c, i));
  const Parts result = fn(wide.math(), parts, wide.range());
  return FromCompute(c.b, c.op.type, MakeComplex(c.b, wide.Round(result.re), wide.Round(result.im)));
}

}  // namespace hlo::codegen
