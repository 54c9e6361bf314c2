// The functions that enqueue operations, as the newer documents write them: `Add(x, y)`, `Parameter(&builder,
// 0, …)`.
#pragma once
#include "hlo/builder.h"

namespace hlo_toolkit {

#define HLO_UNARY(Name, Kind)                                                       \
  inline XlaOp Name(XlaOp operand, Location location = SourceLocation::current()) { \
    return ops::Name(nullptr, operand, location);                                   \
  }
#define HLO_BINARY(Name, Kind)                                                           \
  inline XlaOp Name(XlaOp lhs, XlaOp rhs, Span<const int64_t> broadcast_dimensions = {}, \
                    Location location = SourceLocation::current()) {                     \
    return ops::Name(nullptr, lhs, rhs, broadcast_dimensions, location);                 \
  }
#define HLO_COMPARE(Name, direction, total) HLO_BINARY(Name, Compare)
#include "hlo/elementwise.def"
#define HLO_FUNCTION(Name, parameters, arguments)                                               \
  inline XlaOp Name(HLO_UNWRAP_MORE parameters Location location = SourceLocation::current()) { \
    return ops::Name(nullptr, HLO_UNWRAP_MORE arguments location);                              \
  }
#define HLO_SOURCE(Name, parameters, arguments)                                                 \
  inline XlaOp Name(XlaBuilder* builder,                                                        \
                    HLO_UNWRAP_MORE parameters Location location = SourceLocation::current()) { \
    return ops::Name(builder, HLO_UNWRAP_MORE arguments location);                              \
  }
#include "hlo/functions.def"
#undef HLO_FUNCTION
#undef HLO_SOURCE

// Constants of native types; without a builder they are nothing.
template <class T>
XlaOp ConstantR0(XlaBuilder* builder, T value, Location location = SourceLocation::current()) {
  return ConstantLiteral(builder, LiteralUtil::CreateR0<T>(value), location);
}
template <class T>
XlaOp ConstantR1(XlaBuilder* builder, Span<const T> values, Location location = SourceLocation::current()) {
  return ConstantLiteral(builder, LiteralUtil::CreateR1<T>(values), location);
}
template <class T>
XlaOp ConstantR1(XlaBuilder* builder, int64_t length, T value,
                 Location location = SourceLocation::current()) {
  return Broadcast(ConstantR0<T>(builder, value, location), {length}, location);
}
template <class T>
XlaOp ConstantR2(XlaBuilder* builder, internal::List2<T> values,
                 Location location = SourceLocation::current()) {
  return ConstantLiteral(builder, LiteralUtil::CreateR2<T>(values), location);
}
template <class T>
XlaOp ConstantR3(XlaBuilder* builder, internal::List3<T> values,
                 Location location = SourceLocation::current()) {
  return ConstantLiteral(builder, LiteralUtil::CreateR3<T>(values), location);
}
template <class T>
XlaOp ConstantR4(XlaBuilder* builder, internal::List4<T> values,
                 Location location = SourceLocation::current()) {
  return ConstantLiteral(builder, LiteralUtil::CreateR4<T>(values), location);
}
template <class T>
XlaOp ConstantR2FromArray2D(XlaBuilder* builder, const Array2D<T>& values,
                            Location location = SourceLocation::current()) {
  return ConstantLiteral(builder, LiteralUtil::CreateR2FromArray2D<T>(values), location);
}
template <class T>
XlaOp ConstantR3FromArray3D(XlaBuilder* builder, const Array3D<T>& values,
                            Location location = SourceLocation::current()) {
  return ConstantLiteral(builder, LiteralUtil::CreateR3FromArray3D<T>(values), location);
}
template <class T>
XlaOp ConstantR4FromArray4D(XlaBuilder* builder, const Array4D<T>& values,
                            Location location = SourceLocation::current()) {
  return ConstantLiteral(builder, LiteralUtil::CreateR4FromArray4D<T>(values), location);
}

/// The instructions behind Send and Recv, by the documents' names.
class HloInstruction {
 public:
  static XlaOp CreateSend(XlaOp operand, XlaOp token, int64_t channel_id, bool is_host_transfer = false,
                          Location location = SourceLocation::current()) {
    return ops::CreateSend(nullptr, operand, token, channel_id, is_host_transfer, location);
  }
  static XlaOp CreateSendDone(XlaOp send, Location location = SourceLocation::current()) {
    return ops::CreateSendDone(nullptr, send, location);
  }
  static XlaOp CreateRecv(XlaOp token, const Shape& shape, int64_t channel_id, bool is_host_transfer = false,
                          Location location = SourceLocation::current()) {
    return ops::CreateRecv(nullptr, token, shape, channel_id, is_host_transfer, location);
  }
  static XlaOp CreateRecvDone(XlaOp recv, Location location = SourceLocation::current()) {
    return ops::CreateRecvDone(nullptr, recv, location);
  }
};

/// An operand of an operator, with the place where it stands.
struct PlacedOp {
  // NOLINTNEXTLINE(google-explicit-constructor): made of operands as they are written
  PlacedOp(XlaOp op_, SourceLocation where_ = SourceLocation::current()) : op(op_), where(where_) {}
  XlaOp op;
  Location where;
};
#define HLO_OPERATOR(symbol, Name) \
  inline XlaOp operator symbol(PlacedOp a, PlacedOp b) { return ops::Name(nullptr, a.op, b.op, {}, a.where); }
HLO_OPERATOR(+, Add)
HLO_OPERATOR(-, Sub)
HLO_OPERATOR(*, Mul)
HLO_OPERATOR(/, Div)
HLO_OPERATOR(%, Rem)
HLO_OPERATOR(&, And)
HLO_OPERATOR(|, Or)
HLO_OPERATOR(^, Xor)
HLO_OPERATOR(<<, ShiftLeft)
#undef HLO_OPERATOR
/// Of signed integers arithmetic, else logical.
XlaOp operator>>(PlacedOp a, PlacedOp b);
inline XlaOp operator-(PlacedOp a) { return ops::Neg(nullptr, a.op, a.where); }
inline XlaOp operator~(PlacedOp a) { return ops::Not(nullptr, a.op, a.where); }

}  // namespace hlo_toolkit
