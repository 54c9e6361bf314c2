// Formulas over batches of matrices, arrays [batch, rows, columns].
#pragma once
#include "passes/rewrite/expr.h"

namespace hlo {

/// An array [..., m, n] as [batch, m, n], in the type to compute in: f64 and complex types as they are, all
/// other floats as f32.
Expr AsMatrices(Maker& make, Instruction* array);
/// Back to the dimensions and type of `shape`.
Instruction* FromMatrices(const Expr& x, const Shape& shape);

Expr Adjoint(const Expr& x);
/// Columns to rows, without conjugation.
Expr Transposed(const Expr& x);
inline Expr Rows(const Expr& x, int64_t begin, int64_t end) { return x.Slice(1, begin, end); }
inline Expr Columns(const Expr& x, int64_t begin, int64_t end) { return x.Slice(2, begin, end); }
/// The s32 row and column numbers of the elements of x.
Expr RowNumbers(const Expr& x);
Expr ColumnNumbers(const Expr& x);
/// Ones where row = column.
Expr IdentityLike(const Expr& x);
/// [batch, n] of [batch, n, n].
Expr Diagonal(const Expr& x);
/// A value per row (column), [batch, rows] ([batch, columns]), for each element of x.
Expr PerRow(const Expr& vector, const Expr& x);
Expr PerColumn(const Expr& vector, const Expr& x);
/// Real part, and modulus, in the real type; real values themselves, and their absolute values.
Expr RealPart(const Expr& x);
Expr Modulus(const Expr& x);
/// The solution of a·x = b or x·a = b as instruction; a is lower triangular or `adjoint` of that.
Expr LowerSolve(const Expr& a, const Expr& b, bool left_side, bool adjoint);
/// NaN in all parts of all elements.
Expr NanLike(const Expr& x);

}  // namespace hlo
