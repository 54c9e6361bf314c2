// Functions that work element by element.
#include "hlo/ops.h"
#include "tools/library/builder_state.h"

namespace hlo_toolkit {

using internal::Emission;
using internal::Emit;
using internal::Wrong;
using InstructionOr = hlo::Result<hlo::Instruction*>;

namespace {

/// Both operands are arrays, with one shape of dimensions.
hlo::Result<std::pair<hlo::Instruction*, hlo::Instruction*>> Broadcast2(Emission& e,
                                                                        Span<const int64_t> dimensions) {
  HLO_CHECK_OK(e.Array(0));
  HLO_CHECK_OK(e.Array(1));
  return internal::BroadcastPair(e, e.operand(0), e.operand(1), dimensions);
}

/// Bits of an element among others: truths have a byte each.
int StorageBits(hlo::ElementType type) {
  const hlo::TypeInfo& info = hlo::Info(type);
  return info.is_packed() ? info.bits : info.host_bytes() * 8;
}

XlaOp Unary(XlaBuilder* builder, hlo::OpKind kind, XlaOp operand, const Location& location) {
  return Emit(builder, {operand}, location, [&](Emission& e) { return e.Add(kind, e.operands()); });
}

XlaOp Binary(XlaBuilder* builder, hlo::OpKind kind, XlaOp lhs, XlaOp rhs, Span<const int64_t> dimensions,
             const Location& location) {
  return Emit(builder, {lhs, rhs}, location, [&](Emission& e) -> InstructionOr {
    HLO_TRY(const auto pair, Broadcast2(e, dimensions));
    return e.Add(kind, {pair.first, pair.second});
  });
}

XlaOp Compare(XlaBuilder* builder, hlo::Direction direction, bool total, XlaOp lhs, XlaOp rhs,
              Span<const int64_t> dimensions, const Location& location) {
  return Emit(builder, {lhs, rhs}, location, [&](Emission& e) -> InstructionOr {
    HLO_TRY(const auto pair, Broadcast2(e, dimensions));
    hlo::CompareAttrs attrs;
    attrs.direction = direction;
    // The total order of types other than floats is their only one.
    if (total && hlo::IsFloat(pair.first->shape().element_type())) attrs.type = hlo::CompareType::TotalOrder;
    return e.Add(hlo::OpKind::Compare, {pair.first, pair.second}, attrs);
  });
}

/// `operand` to the power of an F32 number.
XlaOp PowerF32(XlaBuilder* builder, XlaOp operand, double exponent, const Location& location) {
  return Emit(builder, {operand}, location, [&](Emission& e) -> InstructionOr {
    HLO_TRY(const hlo::Shape* shape, e.Array(0));
    HLO_TRY(hlo::Instruction * number, e.Number(hlo::ElementType::F32, exponent));
    HLO_TRY(number, internal::BroadcastScalar(e, number, *shape));
    return e.Add(hlo::OpKind::Power, {e.operand(0), number});
  });
}

}  // namespace

namespace ops {

#define HLO_UNARY(Name, Kind)                                         \
  XlaOp Name(XlaBuilder* builder, XlaOp operand, Location location) { \
    return Unary(builder, hlo::OpKind::Kind, operand, location);      \
  }
#define HLO_BINARY(Name, Kind)                                                                    \
  XlaOp Name(XlaBuilder* builder, XlaOp lhs, XlaOp rhs, Span<const int64_t> broadcast_dimensions, \
             Location location) {                                                                 \
    return Binary(builder, hlo::OpKind::Kind, lhs, rhs, broadcast_dimensions, location);          \
  }
#define HLO_COMPARE(Name, direction, total)                                                              \
  XlaOp Name(XlaBuilder* builder, XlaOp lhs, XlaOp rhs, Span<const int64_t> broadcast_dimensions,        \
             Location location) {                                                                        \
    return Compare(builder, hlo::Direction::direction, total, lhs, rhs, broadcast_dimensions, location); \
  }
#include "hlo/elementwise.def"

XlaOp SqrtF32(XlaBuilder* builder, XlaOp operand, Location location) {
  return PowerF32(builder, operand, 0.5, location);
}
XlaOp SquareF32(XlaBuilder* builder, XlaOp operand, Location location) {
  return PowerF32(builder, operand, 2, location);
}
XlaOp ReciprocalF32(XlaBuilder* builder, XlaOp operand, Location location) {
  return PowerF32(builder, operand, -1, location);
}

XlaOp Square(XlaBuilder* builder, XlaOp operand, Location location) {
  return Mul(builder, operand, operand, {}, location);
}

XlaOp Reciprocal(XlaBuilder* builder, XlaOp operand, Location location) {
  return Emit(builder, {operand}, location, [&](Emission& e) -> InstructionOr {
    HLO_TRY(const hlo::Shape* shape, e.Array(0));
    HLO_TRY(hlo::Instruction * one, e.Number(shape->element_type(), 1));
    HLO_TRY(one, internal::BroadcastScalar(e, one, *shape));
    return e.Add(hlo::OpKind::Divide, {one, e.operand(0)});
  });
}

XlaOp Conj(XlaBuilder* builder, XlaOp operand, Location location) {
  return Emit(builder, {operand}, location, [&](Emission& e) -> InstructionOr {
    HLO_TRY(hlo::Instruction * real, e.Add(hlo::OpKind::Real, e.operands()));
    HLO_TRY(hlo::Instruction * imag, e.Add(hlo::OpKind::Imag, e.operands()));
    HLO_TRY(imag, e.Add(hlo::OpKind::Negate, {imag}));
    return e.Add(hlo::OpKind::Complex, {real, imag});
  });
}

XlaOp Clamp(XlaBuilder* builder, XlaOp min, XlaOp operand, XlaOp max, Location location) {
  return Emit(builder, {min, operand, max}, location,
              [&](Emission& e) { return e.Add(hlo::OpKind::Clamp, e.operands()); });
}

XlaOp ConvertElementType(XlaBuilder* builder, XlaOp operand, PrimitiveType type, Location location) {
  return Emit(builder, {operand}, location, [&](Emission& e) -> InstructionOr {
    HLO_TRY(const hlo::Shape* shape, e.Array(0));
    HLO_TRY(const hlo::ElementType to, internal::ToElementType(type));
    if (!hlo::IsArrayType(to)) return Wrong("{0} is no element type of arrays", hlo::ToString(to));
    hlo::Instruction* from = e.operand(0);
    // Of a complex number the real part counts.
    if (hlo::IsComplex(shape->element_type()) && !hlo::IsComplex(to)) {
      HLO_TRY(from, e.Add(hlo::OpKind::Real, {from}));
    }
    return e.AddWithShape(hlo::OpKind::Convert, from->shape().WithElementType(to), {from});
  });
}

XlaOp BitcastConvertType(XlaBuilder* builder, XlaOp operand, PrimitiveType type, Location location) {
  return Emit(builder, {operand}, location, [&](Emission& e) -> InstructionOr {
    HLO_TRY(const hlo::Shape* shape, e.Array(0));
    HLO_TRY(const hlo::ElementType to, internal::ToElementType(type));
    if (!hlo::IsArrayType(to)) return Wrong("{0} is no element type of arrays", hlo::ToString(to));
    // A wider element is made of the last dimension, a narrower one makes it.
    const int from_bits = StorageBits(shape->element_type()), to_bits = StorageBits(to);
    hlo::Dims sizes(shape->dims());
    llvm::SmallVector<bool, 8> dynamic(shape->dynamic_flags());
    if (from_bits < to_bits && !sizes.empty()) sizes.pop_back();
    if (from_bits > to_bits) sizes.push_back(from_bits / to_bits);
    if (!dynamic.empty()) dynamic.resize(sizes.size());
    return e.AddWithShape(hlo::OpKind::BitcastConvert, hlo::Shape::ArrayWithDefaultLayout(to, sizes, dynamic),
                          e.operands());
  });
}

XlaOp ReducePrecision(XlaBuilder* builder, XlaOp operand, int exponent_bits, int mantissa_bits,
                      Location location) {
  return Emit(builder, {operand}, location, [&](Emission& e) {
    hlo::ReducePrecisionAttrs attrs;
    attrs.exponent_bits = exponent_bits;
    attrs.mantissa_bits = mantissa_bits;
    return e.AddWithShape(hlo::OpKind::ReducePrecision, e.shape(0), e.operands(), attrs);
  });
}

}  // namespace ops

XlaOp operator>>(PlacedOp a, PlacedOp b) {
  const StatusOr<Shape> shape =
      a.op.builder() ? a.op.builder()->GetShape(a.op) : StatusOr<Shape>(Status(StatusCode::kInternal, ""));
  const bool logical = shape.ok() && !IsSigned(shape->element_type());
  return logical ? ops::ShiftRightLogical(nullptr, a.op, b.op, {}, a.where)
                 : ops::ShiftRightArithmetic(nullptr, a.op, b.op, {}, a.where);
}

}  // namespace hlo_toolkit
