// The product of a sparse matrix by rows with a dense one, as JAX calls it on CPUs.
#include <complex>

#include "ir/eval/custom_call.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo {
namespace {

using Operands = llvm::MutableArrayRef<Literal>;

/// Rows [begin, end) of the product. Places and columns that there are none of count for nothing: padding has
/// such.
template <class T, class Index>
void MultiplyRows(Operands operands, int64_t columns, int64_t begin, int64_t end, T* product) {
  const llvm::ArrayRef<T> numbers = operands[0].Data<T>(), dense = operands[3].Data<T>();
  const llvm::ArrayRef<Index> starts = operands[1].Data<Index>(), places = operands[2].Data<Index>();
  const auto count = static_cast<int64_t>(numbers.size());
  const int64_t rows_of_dense = operands[3].shape().dim(0);
  for (int64_t row = begin; row < end && !Interrupted(); ++row) {
    T* const sums = product + row * columns;
    std::fill(sums, sums + columns, T{});
    const auto from = std::max<int64_t>(0, starts[static_cast<size_t>(row)]);
    const auto to = std::min<int64_t>(count, starts[static_cast<size_t>(row) + 1]);
    for (int64_t at = from; at < to; ++at) {
      const int64_t place = places[static_cast<size_t>(at)];
      if (place < 0 || place >= rows_of_dense) continue;
      const T number = numbers[static_cast<size_t>(at)];
      for (int64_t c = 0; c < columns; ++c)
        sums[c] += number * dense[static_cast<size_t>(place * columns + c)];
    }
  }
}

template <class T>
void Multiply(Operands operands, const Shape& shape, Literal& product) {
  if (shape.ElementCount() == 0) return;
  const int64_t rows = shape.dim(0), columns = shape.ElementCount() / rows;
  constexpr int64_t kPiece = 20000;  // operations of a piece for a thread
  const int64_t work = static_cast<int64_t>(operands[0].Data<T>().size()) / rows * columns + columns;
  auto* const to = reinterpret_cast<T*>(product.MutableData());
  const bool wide = operands[1].shape().element_type() == ElementType::S64;
  ParallelFor(0, rows, std::max<int64_t>(1, kPiece / work), [&](int64_t begin, int64_t end) {
    wide ? MultiplyRows<T, int64_t>(operands, columns, begin, end, to)
         : MultiplyRows<T, int32_t>(operands, columns, begin, end, to);
  });
}

}  // namespace

Result<Literal> EvalCsrProductTarget(EvalContext&, const Instruction& inst, Operands operands) {
  const bool tuple = inst.shape().IsTuple();
  const Shape shape = tuple ? inst.shape().tuple_shape(0) : inst.shape();
  Literal product = Literal::Make(shape);
  switch (shape.element_type()) {
    case ElementType::S32: Multiply<uint32_t>(operands, shape, product); break;
    case ElementType::S64: Multiply<uint64_t>(operands, shape, product); break;
    case ElementType::F32: Multiply<float>(operands, shape, product); break;
    case ElementType::F64: Multiply<double>(operands, shape, product); break;
    case ElementType::C64: Multiply<std::complex<float>>(operands, shape, product); break;
    default: Multiply<std::complex<double>>(operands, shape, product); break;
  }
  if (!tuple) return product;
  std::vector<Literal> elements;
  elements.push_back(std::move(product));
  return Literal::MakeTuple(std::move(elements)).WithShape(inst.shape());
}

}  // namespace hlo
