// Custom-call targets named after the decomposition (`Qr`, `Eigh`, …), by way of the LAPACK ones.
#include "ir/eval/lapack_call.h"
#include "ir/eval/lapack_delegate.h"

namespace hlo {
namespace lapack {
namespace {

using Operands = llvm::MutableArrayRef<Literal>;

/// The same shape with column-major matrices, as LAPACK wants them.
Shape ColumnMajor(const Shape& shape) {
  if (shape.rank() < 2) return shape;
  Layout layout = Layout::Default(shape.rank());
  std::swap(layout.minor_to_major[0], layout.minor_to_major[1]);
  return shape.WithLayout(std::move(layout));
}

/// Runs `lapack_?<base>_ffi` on the operands and gives its results, layouts aside.
Result<Literal> Delegate(EvalContext& context, const Instruction& inst, Operands operands,
                         llvm::StringRef real_base, llvm::StringRef complex_base, std::vector<Shape> results,
                         llvm::StringRef config) {
  // Vectors of factors, eigenvalues, pivots lie row by row.
  const auto laid_out = [rank = operands[0].shape().rank()](const Shape& shape) {
    if (!shape.IsArray()) return shape;
    return shape.rank() == rank ? ColumnMajor(shape) : shape.WithLayout(Layout::Default(shape.rank()));
  };
  llvm::SmallVector<Shape, 4> shapes;
  for (const Literal& operand : operands) shapes.push_back(laid_out(operand.shape()));
  for (Shape& s : results) s = laid_out(s);
  return RunNamed(context, inst, operands, shapes, {real_base, complex_base, config.str()},
                  results.size() == 1 ? results[0] : Shape::MakeTuple(results));
}

/// Leading (batch) dimensions of an array of matrices as an s32 shape, for `info`.
Shape InfoShape(const Shape& matrices) {
  return Shape::ArrayWithDefaultLayout(ElementType::S32, matrices.dims().drop_back(2));
}

}  // namespace
}  // namespace lapack

Result<Literal> EvalQrTarget(EvalContext& context, const Instruction& inst,
                             llvm::MutableArrayRef<Literal> operands) {
  return lapack::Delegate(context, inst, operands, "geqrf", "geqrf",
                          {inst.shape().tuple_shape(0), inst.shape().tuple_shape(1)}, "{}");
}

Result<Literal> EvalHouseholderProductTarget(EvalContext& context, const Instruction& inst,
                                             llvm::MutableArrayRef<Literal> operands) {
  return lapack::Delegate(context, inst, operands, "orgqr", "ungqr", {inst.shape()}, "{}");
}

/// opaque "lower,sort,max_iter,tol" -> (vectors, values)
Result<Literal> EvalEighTarget(EvalContext& context, const Instruction& inst,
                               llvm::MutableArrayRef<Literal> operands) {
  if (!lapack::HasElements(inst.shape())) return Literal::Zeros(inst.shape());
  const bool lower = !inst.extras().backend_config.starts_with("0");
  const Shape info = lapack::InfoShape(operands[0].shape());
  HLO_TRY(Literal all, lapack::Delegate(context, inst, operands, "syevd", "heevd",
                                        {inst.shape().tuple_shape(0), inst.shape().tuple_shape(1), info},
                                        lower ? "{mode = 86 : ui8, uplo = 76 : ui8}"
                                              : "{mode = 86 : ui8, uplo = 85 : ui8}"));
  return Literal::MakeTuple({all.element(0), all.element(1)});
}

/// a -> (lu, 0-based pivots, row permutation)
Result<Literal> EvalLuDecompositionTarget(EvalContext& context, const Instruction& inst,
                                          llvm::MutableArrayRef<Literal> operands) {
  if (!lapack::HasElements(inst.shape())) return Literal::Zeros(inst.shape());
  const Shape& matrices = operands[0].shape();
  const int64_t rows = matrices.dim(matrices.rank() - 2), batch = lapack::InfoShape(matrices).ElementCount();
  HLO_TRY(Literal all,
          lapack::Delegate(
              context, inst, operands, "getrf", "getrf",
              {inst.shape().tuple_shape(0), inst.shape().tuple_shape(1), lapack::InfoShape(matrices)}, "{}"));
  Literal pivots = all.element(1);
  Literal permutation = Literal::Make(inst.shape().tuple_shape(2));
  auto p = pivots.MutableSpan<int32_t>();
  auto rows_of = permutation.MutableSpan<int32_t>();
  const int64_t per_matrix = batch > 0 ? static_cast<int64_t>(p.size()) / batch : 0;
  for (int64_t b = 0; b < batch; ++b) {
    auto order = rows_of.slice(static_cast<size_t>(b * rows), static_cast<size_t>(rows));
    for (int64_t i = 0; i < rows; ++i) order[static_cast<size_t>(i)] = static_cast<int32_t>(i);
    for (int64_t i = 0; i < per_matrix; ++i) {
      int32_t& pivot = p[static_cast<size_t>(b * per_matrix + i)];
      --pivot;
      std::swap(order[static_cast<size_t>(i)], order[static_cast<size_t>(pivot)]);
    }
  }
  return Literal::MakeTuple({all.element(0), std::move(pivots), std::move(permutation)});
}

}  // namespace hlo
