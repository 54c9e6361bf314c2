#include "passes/rewrite/matrix.h"

#include <limits>

namespace hlo {

Expr AsMatrices(Maker& make, Instruction* array) {
  const Shape& shape = array->shape();
  int64_t batch = 1;
  for (const int64_t d : shape.dims().drop_back(2)) batch *= d;
  const ElementType type = shape.element_type();
  const bool keep = IsComplex(type) || type == ElementType::F64;
  return Expr(make, array)
      .To(keep ? type : ElementType::F32)
      .Reshape({batch, shape.dim(shape.rank() - 2), shape.dim(shape.rank() - 1)});
}

Instruction* FromMatrices(const Expr& x, const Shape& shape) {
  return x.Reshape(shape.dims()).To(shape.element_type());
}

Expr Transposed(const Expr& x) { return x.Transpose({0, 2, 1}); }
Expr Adjoint(const Expr& x) { return Conj(Transposed(x)); }

Expr RowNumbers(const Expr& x) { return IotaOf(x.make(), ElementType::S32, x.shape().dims(), 1); }
Expr ColumnNumbers(const Expr& x) { return IotaOf(x.make(), ElementType::S32, x.shape().dims(), 2); }

Expr IdentityLike(const Expr& x) { return Eq(RowNumbers(x), ColumnNumbers(x)).To(x.type()); }

Expr Diagonal(const Expr& x) {
  const Expr masked = Select(Eq(RowNumbers(x), ColumnNumbers(x)), x, 0);
  return masked.Reduce(OpKind::Add, 0, {2});
}

Expr PerRow(const Expr& vector, const Expr& x) { return vector.Broadcast(x.shape().dims(), {0, 1}); }
Expr PerColumn(const Expr& vector, const Expr& x) { return vector.Broadcast(x.shape().dims(), {0, 2}); }

Expr RealPart(const Expr& x) { return IsComplex(x.type()) ? x.Unary(OpKind::Real) : x; }
Expr Modulus(const Expr& x) { return x.Unary(OpKind::Abs); }

Expr LowerSolve(const Expr& a, const Expr& b, bool left_side, bool adjoint) {
  TriangularSolveAttrs attrs;
  attrs.left_side = left_side;
  attrs.lower = true;
  attrs.transpose_a = adjoint ? TransposeA::Adjoint : TransposeA::NoTranspose;
  return {a.make(), a.make().Add(OpKind::TriangularSolve, {a, b}, attrs)};
}

Expr NanLike(const Expr& x) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Expr real = FullOf(x.make(), RealPartType(x.type()), x.shape().dims(), nan);
  return IsComplex(x.type()) ? Binary(OpKind::Complex, real, real) : real;
}

}  // namespace hlo
