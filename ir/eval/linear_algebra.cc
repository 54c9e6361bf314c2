// fft, cholesky and triangular-solve on literals; ir/numeric does the work.
#include "ir/eval/elementwise.h"
#include "ir/eval/eval.h"
#include "ir/numeric/fft.h"
#include "ir/numeric/linalg.h"
#include "ir/support/parallel.h"

namespace hlo {
namespace {

/// The type to compute in: narrow floats compute in F32.
ElementType ComputeType(ElementType type) {
  return IsComplex(type) || type == ElementType::F64 ? type : ElementType::F32;
}

/// Calls f.template operator()<T>() for F32, F64, C64 or C128.
template <class F>
void VisitType(ElementType type, F f) {
  if (type == ElementType::F32)
    f.template operator()<float>();
  else if (type == ElementType::F64)
    f.template operator()<double>();
  else if (type == ElementType::C64)
    f.template operator()<std::complex<float>>();
  else
    f.template operator()<std::complex<double>>();
}

/// Pieces of a batch of items of `work` operations each.
int64_t BatchGrain(int64_t work) { return std::max<int64_t>(1, 20000 / std::max<int64_t>(work, 1)); }

template <class Real>
void RunFft(FftType type, llvm::ArrayRef<int64_t> lengths, const Literal& in, Literal& out) {
  using Complex = std::complex<Real>;
  const auto count = [](const Literal& l, int64_t batch) {
    return batch == 0 ? 0 : l.shape().ElementCount() / batch;
  };
  int64_t batch = 1;
  for (int64_t d = 0; d < in.shape().rank() - static_cast<int64_t>(lengths.size()); ++d)
    batch *= in.shape().dim(d);
  if (out.shape().ElementCount() == 0) return;
  const int64_t in_size = count(in, batch), out_size = count(out, batch);
  const uint8_t* from = in.data();
  uint8_t* to = out.MutableData();
  const std::span<const int64_t> sizes(lengths.data(), lengths.size());
  ParallelFor(0, batch, BatchGrain(out_size), [&](int64_t begin, int64_t end) {
    const auto n = static_cast<size_t>(end - begin);
    if (type == FftType::RFFT)
      RealFft<Real>(n, sizes, reinterpret_cast<const Real*>(from) + begin * in_size,
                    reinterpret_cast<Complex*>(to) + begin * out_size);
    else if (type == FftType::IRFFT)
      InverseRealFft<Real>(n, sizes, reinterpret_cast<const Complex*>(from) + begin * in_size,
                           reinterpret_cast<Real*>(to) + begin * out_size);
    else
      Fft<Real>(type == FftType::IFFT, n, sizes, reinterpret_cast<const Complex*>(from) + begin * in_size,
                reinterpret_cast<Complex*>(to) + begin * out_size);
  });
}

/// Product of all dimensions but the last two.
int64_t MatrixCount(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t d : shape.dims().drop_back(2)) count *= d;
  return count;
}

}  // namespace

Result<Literal> EvalFft(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal> operands) {
  const auto& [type, written] = inst.attr<FftAttrs>();
  const Shape& from = operands[0].shape();
  // Written sizes of 0 and 1 need not be those of dimensions of size 0 or 1, where there is nothing to do.
  Dims lengths = written;
  for (size_t i = 0; i < lengths.size(); ++i)
    if (const int64_t size = from.dim(from.rank() - static_cast<int64_t>(lengths.size() - i));
        lengths[i] <= 1 && size <= 1 && !(type == FftType::IRFFT && i + 1 == lengths.size()))
      lengths[i] = size;
  if (from.ElementCount() == 0) return Literal::Zeros(inst.shape());
  Literal result = Literal::Make(inst.shape());
  if (RealPartType(inst.shape().element_type()) == ElementType::F64)
    RunFft<double>(type, lengths, operands[0], result);
  else
    RunFft<float>(type, lengths, operands[0], result);
  return result;
}

Result<Literal> EvalCholesky(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal> operands) {
  const ElementType type = inst.shape().element_type();
  const bool lower = inst.attr<CholeskyAttrs>().lower;
  const Literal a = ConvertLiteral(std::move(operands[0]), ComputeType(type));
  Literal result = Literal::Make(a.shape());
  const int64_t n = a.shape().dims().back();
  VisitType(ComputeType(type), [&]<class T>() {
    const T* from = a.Data<T>().data();
    T* to = result.MutableSpan<T>().data();
    ParallelFor(0, MatrixCount(a.shape()), BatchGrain(n * n * n / 3), [&](int64_t begin, int64_t end) {
      Cholesky<T>(static_cast<size_t>(end - begin), static_cast<size_t>(n), lower, from + begin * n * n,
                  to + begin * n * n);
    });
  });
  return ConvertLiteral(std::move(result), type).WithShape(inst.shape());
}

Result<Literal> EvalTriangularSolve(EvalContext&, const Instruction& inst,
                                    llvm::MutableArrayRef<Literal> operands) {
  const ElementType type = inst.shape().element_type();
  const auto& attrs = inst.attr<TriangularSolveAttrs>();
  if (attrs.transpose_a == TransposeA::Invalid)
    return Error("verify-attribute", inst.loc(), "'transpose_a' of triangular-solve must be given");
  TriangularSolveOptions options;
  options.left_side = attrs.left_side;
  options.lower = attrs.lower;
  options.unit_diagonal = attrs.unit_diagonal;
  options.transpose = attrs.transpose_a != TransposeA::NoTranspose;
  options.conjugate = attrs.transpose_a == TransposeA::Adjoint;
  const Literal a = ConvertLiteral(std::move(operands[0]), ComputeType(type));
  const Literal b = ConvertLiteral(std::move(operands[1]), ComputeType(type));
  Literal result = Literal::Make(b.shape());
  const int64_t m = a.shape().dims().back();
  const int64_t n = options.left_side ? b.shape().dims().back() : b.shape().dim(b.shape().rank() - 2);
  VisitType(ComputeType(type), [&]<class T>() {
    const T* matrix = a.Data<T>().data();
    const T* from = b.Data<T>().data();
    T* to = result.MutableSpan<T>().data();
    ParallelFor(0, MatrixCount(a.shape()), BatchGrain(m * m * n), [&](int64_t begin, int64_t end) {
      TriangularSolve<T>(static_cast<size_t>(end - begin), static_cast<size_t>(m), static_cast<size_t>(n),
                         options, matrix + begin * m * m, from + begin * m * n, to + begin * m * n);
    });
  });
  return ConvertLiteral(std::move(result), type).WithShape(inst.shape());
}

}  // namespace hlo
