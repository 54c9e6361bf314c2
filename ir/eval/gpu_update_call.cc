// Updates of matrices by custom calls that JAX makes for GPUs and has no like of for CPUs.
#include <cmath>

#include "ir/eval/custom_call.h"

namespace hlo {
namespace {

using Operands = llvm::MutableArrayRef<Literal>;

/// A result, and the call's, which may be a tuple of it.
Shape OnlyResult(const Instruction& inst) {
  return inst.shape().IsTuple() ? inst.shape().tuple_shape(0) : inst.shape();
}

/// alpha op(a) op(a)^T + beta c for each matrix; a library fills one triangle alone, and the other has c.
template <class T>
void AddSymmetricProduct(Operands operands, bool transpose, Literal& product) {
  const Shape &a = operands[0].shape(), &c = operands[1].shape();
  const int64_t n = c.dim(c.rank() - 1), k = a.dim(a.rank() - (transpose ? 2 : 1));
  const T *x = operands[0].Data<T>().data(), *y = operands[1].Data<T>().data();
  const T alpha = operands[2].Data<T>()[0], beta = operands[3].Data<T>()[0];
  T* const out = reinterpret_cast<T*>(product.MutableData());
  const int64_t row = transpose ? 1 : k, step = transpose ? n : 1;
  for (int64_t i = 0; i < c.ElementCount(); ++i) {
    const T* const matrix = x + i / (n * n) * n * k;
    const T *left = matrix + i / n % n * row, *right = matrix + i % n * row;
    T sum = 0;
    for (int64_t p = 0; p < k; ++p) sum += left[p * step] * right[p * step];
    out[i] = alpha * sum + beta * y[i];
  }
}

/// R' with R'^T R' = R^T R + w w^T by rotations of each row of R and w; what is left of w is 0.
template <class T>
void UpdateCholesky(int64_t n, T* r, T* w) {
  for (int64_t k = 0; k < n; ++k) {
    if (w[k] == 0) continue;
    const T length = std::hypot(r[k * n + k], w[k]);
    const T cosine = r[k * n + k] / length, sine = w[k] / length;
    for (int64_t j = 0; j < n; ++j) {
      const T upper = r[k * n + j], lower = w[j];
      r[k * n + j] = cosine * upper + sine * lower;
      w[j] = cosine * lower - sine * upper;
    }
  }
}

}  // namespace

Result<Literal> EvalGpuSyrkTarget(EvalContext&, const Instruction& inst, Operands operands) {
  Literal product = Literal::Make(OnlyResult(inst));
  const bool transpose = CustomCallAttribute(inst, "transpose") != 0;
  product.shape().element_type() == ElementType::F32
      ? AddSymmetricProduct<float>(operands, transpose, product)
      : AddSymmetricProduct<double>(operands, transpose, product);
  if (!inst.shape().IsTuple()) return product;
  std::vector<Literal> elements = {std::move(product)};
  return Literal::MakeTuple(std::move(elements)).WithShape(inst.shape());
}

/// (R, w) -> (R', what is left of w); R is upper triangular.
Result<Literal> EvalCholeskyUpdateTarget(EvalContext&, const Instruction& inst, Operands operands) {
  std::vector<Literal> results = {operands[0].WithShape(inst.shape().tuple_shape(0)),
                                  operands[1].WithShape(inst.shape().tuple_shape(1))};
  const int64_t n = results[1].shape().dim(0);
  uint8_t *r = results[0].MutableData(), *w = results[1].MutableData();
  results[0].shape().element_type() == ElementType::F32
      ? UpdateCholesky(n, reinterpret_cast<float*>(r), reinterpret_cast<float*>(w))
      : UpdateCholesky(n, reinterpret_cast<double*>(r), reinterpret_cast<double*>(w));
  return Literal::MakeTuple(std::move(results)).WithShape(inst.shape());
}

}  // namespace hlo
