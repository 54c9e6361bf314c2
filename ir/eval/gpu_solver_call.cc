// Custom calls that JAX makes for GPUs, by way of those that it makes for CPUs.
#include <cstring>
#include <limits>
#include <numeric>

#include "ir/eval/lapack_delegate.h"
#include "ir/eval/physical_order.h"
#include "ir/numeric/random_bits.h"

namespace hlo {
namespace {

using Operands = llvm::MutableArrayRef<Literal>;

using lapack::NamedRoutine;

/// Runs a routine of LAPACK with results of shape `result`: arrays lie in memory as they do for the call, or
/// as in `shapes`.
Result<Literal> AsLapack(EvalContext& context, const Instruction& inst, Operands operands,
                         const NamedRoutine& routine, const Shape& result,
                         llvm::ArrayRef<Shape> shapes = {}) {
  llvm::SmallVector<Shape, 4> as_called;
  for (size_t i = 0; shapes.empty() && i < operands.size(); ++i)
    as_called.push_back(CustomCallOperandShape(inst, static_cast<int64_t>(i)));
  return RunNamed(context, inst, operands, shapes.empty() ? as_called : shapes, routine, result);
}
Result<Literal> AsLapack(EvalContext& context, const Instruction& inst, Operands operands,
                         const NamedRoutine& routine) {
  return AsLapack(context, inst, operands, routine, inst.shape());
}

std::string Letter(llvm::StringRef name, char letter) {
  return llvm::formatv("{0} = {1} : ui8", name, static_cast<int>(letter));
}
/// `uplo` of a call that says whether it reads the lower triangle.
std::string Triangle(const Instruction& inst) {
  return Letter("uplo", CustomCallAttribute(inst, "lower") != 0 ? 'L' : 'U');
}
std::string Flag(const Instruction& inst, llvm::StringRef name) {
  return llvm::formatv("{0} = {1}", name, CustomCallAttribute(inst, name) != 0 ? "true" : "false");
}
/// Which eigenvectors a call wants.
std::string Sides(const Instruction& inst) {
  const auto side = [&](llvm::StringRef name) { return CustomCallAttribute(inst, name) != 0 ? 'V' : 'N'; };
  return "{" + Letter("compute_left", side("left")) + ", " + Letter("compute_right", side("right")) + "}";
}

/// The only result of a call, which may be a tuple of it.
Shape OnlyResult(const Instruction& inst) {
  return inst.shape().IsTuple() ? inst.shape().tuple_shape(0) : inst.shape();
}
Literal AsResult(const Instruction& inst, Literal only) {
  if (!inst.shape().IsTuple()) return only;
  std::vector<Literal> elements;
  elements.push_back(std::move(only));
  return Literal::MakeTuple(std::move(elements)).WithShape(inst.shape());
}

/// Leading sizes of an array, all but the last `count`.
Dims Leading(const Shape& shape, size_t count) { return Dims(shape.dims().drop_back(count)); }
Shape ArrayOf(ElementType type, Dims leading, llvm::ArrayRef<int64_t> sizes) {
  leading.append(sizes.begin(), sizes.end());
  return Shape::ArrayWithDefaultLayout(type, leading);
}
/// An array of matrices that lie in memory column by column.
Shape Matrices(ElementType type, const Dims& leading, int64_t rows, int64_t columns) {
  const Shape shape = ArrayOf(type, leading, {rows, columns});
  Layout layout = shape.layout();
  std::swap(layout.minor_to_major[0], layout.minor_to_major[1]);
  return shape.WithLayout(layout);
}
/// The array that has, in the layout of `shape`, the memory that `value` has in its own.
Literal InMemoryOf(const Literal& value, const Shape& shape) {
  std::vector<uint8_t> bytes(value.byte_size());
  CopyToPhysical(value.data(), value.shape(), bytes.data());
  Literal result = Literal::Make(shape);
  CopyFromPhysical(bytes.data(), shape, result.MutableData());
  return result;
}

/// The conjugate transpose of each matrix; numbers consist of `parts` reals of type R.
template <class R>
void Adjoint(const Literal& from, int64_t parts, Literal& to) {
  const Shape& shape = from.shape();
  const int64_t rows = shape.dim(shape.rank() - 2), columns = shape.dim(shape.rank() - 1);
  const int64_t matrix = rows * columns;
  const llvm::ArrayRef<R> x(reinterpret_cast<const R*>(from.data()), from.byte_size() / sizeof(R));
  auto* const y = reinterpret_cast<R*>(to.MutableData());
  for (int64_t i = 0; i < shape.ElementCount(); ++i) {
    const int64_t entry = i / matrix, row = i % matrix / columns, column = i % columns;
    const int64_t target = entry * matrix + column * rows + row;
    for (int64_t p = 0; p < parts; ++p) {
      const R part = x[static_cast<size_t>(i * parts + p)];
      y[target * parts + p] = p == 0 ? part : -part;
    }
  }
}
Literal Adjoint(const Literal& from) {
  const Shape& shape = from.shape();
  const ElementType type = shape.element_type();
  Literal to = Literal::Make(
      Matrices(type, Leading(shape, 2), shape.dim(shape.rank() - 1), shape.dim(shape.rank() - 2)));
  const int64_t parts = IsComplex(type) ? 2 : 1;
  if (RealPartType(type) == ElementType::F32)
    Adjoint<float>(from, parts, to);
  else
    Adjoint<double>(from, parts, to);
  return to;
}

/// Eigenvectors of a real matrix in LAPACK's real form: of a pair of complex ones, which are conjugate, a
/// column of real parts and one of imaginary parts. R is the type of both.
template <class R>
Literal PackEigenvectors(const Literal& wi, const Literal& vectors) {
  const Shape& shape = vectors.shape();
  const int64_t n = shape.dim(shape.rank() - 1);
  Literal packed = Literal::Make(Matrices(wi.shape().element_type(), Leading(shape, 2), n, n));
  auto* const to = reinterpret_cast<R*>(packed.MutableData());
  const auto* const from = reinterpret_cast<const R*>(vectors.data());
  for (int64_t at = 0; at < shape.ElementCount(); ++at) {
    const int64_t column = at % n, row_of_values = at / (n * n) * n;
    // A column of imaginary parts follows an odd number of columns that are not real.
    int64_t complex_before = 0;
    for (int64_t j = 0; j < column; ++j)
      if (wi.Data<R>()[static_cast<size_t>(row_of_values + j)] != 0) ++complex_before;
    const bool imaginary =
        wi.Data<R>()[static_cast<size_t>(row_of_values + column)] != 0 && complex_before % 2 == 1;
    to[at] = imaginary ? from[2 * (at - 1) + 1] : from[2 * at];
  }
  return packed;
}

/// Numbers of two arrays of type R as complex ones.
template <class R>
Literal Complex(const Literal& re, const Literal& im) {
  const Shape& shape = re.shape();
  Literal result =
      Literal::Make(Shape::ArrayWithDefaultLayout(*ComplexType(shape.element_type()), Leading(shape, 0)));
  auto* const to = reinterpret_cast<R*>(result.MutableData());
  for (size_t i = 0; i < re.Data<R>().size(); ++i) {
    to[2 * i] = re.Data<R>()[i];
    to[2 * i + 1] = im.Data<R>()[i];
  }
  return result;
}

template <class T>
void FillWithNan(Literal& array, size_t begin, size_t end) {
  auto* const numbers = reinterpret_cast<T*>(array.MutableData());
  std::fill(numbers + begin, numbers + end, std::numeric_limits<T>::quiet_NaN());
}

/// What cuSOLVER makes of eigenvalues and vectors of real matrices: complex values, packed vectors.
template <class R>
std::vector<Literal> RealEigenResults(const Literal& found) {
  const auto& e = found.elements();
  return {Complex<R>(e[0], e[1]), PackEigenvectors<R>(e[1], e[2]), PackEigenvectors<R>(e[1], e[3]), e[4]};
}

}  // namespace

Result<Literal> EvalGpuPotrfTarget(EvalContext& context, const Instruction& inst, Operands operands) {
  return AsLapack(context, inst, operands, {"potrf", "potrf", "{" + Triangle(inst) + "}"});
}
Result<Literal> EvalGpuGetrfTarget(EvalContext& context, const Instruction& inst, Operands operands) {
  return AsLapack(context, inst, operands, {"getrf", "getrf"});
}
Result<Literal> EvalGpuGeqrfTarget(EvalContext& context, const Instruction& inst, Operands operands) {
  return AsLapack(context, inst, operands, {"geqrf", "geqrf"});
}
Result<Literal> EvalGpuGeqp3Target(EvalContext& context, const Instruction& inst, Operands operands) {
  return AsLapack(context, inst, operands, {"geqp3", "geqp3"});
}
Result<Literal> EvalGpuOrgqrTarget(EvalContext& context, const Instruction& inst, Operands operands) {
  return AsLapack(context, inst, operands, {"orgqr", "ungqr"});
}
Result<Literal> EvalGpuOrmqrTarget(EvalContext& context, const Instruction& inst, Operands operands) {
  return AsLapack(context, inst, operands,
                  {"ormqr", "unmqr", "{" + Flag(inst, "left") + ", " + Flag(inst, "transpose") + "}"});
}
Result<Literal> EvalGpuSyevdTarget(EvalContext& context, const Instruction& inst, Operands operands) {
  return AsLapack(context, inst, operands,
                  {"syevd", "heevd", "{" + Letter("mode", 'V') + ", " + Triangle(inst) + "}"});
}
Result<Literal> EvalGpuSytrdTarget(EvalContext& context, const Instruction& inst, Operands operands) {
  return AsLapack(context, inst, operands, {"sytrd", "hetrd", "{" + Triangle(inst) + "}"});
}
Result<Literal> EvalGpuEigTarget(EvalContext& context, const Instruction& inst, Operands operands) {
  return AsLapack(context, inst, operands, {"geev", "geev", Sides(inst)});
}

/// a -> (a, s, U, V, info); V is not transposed.
Result<Literal> EvalGpuGesvdjTarget(EvalContext& context, const Instruction& inst, Operands operands) {
  const bool full = CustomCallAttribute(inst, "full_matrices") != 0;
  llvm::SmallVector<Shape, 5> results(inst.shape().tuple_shapes());
  const Shape v = results[3];
  const int64_t n = v.dim(v.rank() - 2), k = v.dim(v.rank() - 1);
  results[3] = Matrices(v.element_type(), Leading(v, 2), k, n);
  HLO_TRY(const Literal found,
          AsLapack(context, inst, operands, {"gesdd", "gesdd", "{" + Letter("mode", full ? 'A' : 'S') + "}"},
                   Shape::MakeTuple(results)));
  std::vector<Literal> elements = found.elements().vec();
  elements[3] = InMemoryOf(Adjoint(elements[3]), v);
  return Literal::MakeTuple(std::move(elements)).WithShape(inst.shape());
}

/// a -> (a, s, U, V^H, info), or where the call gets the transposed matrix, (a, s, V^H, U, info).
Result<Literal> EvalGpuGesvdTarget(EvalContext& context, const Instruction& inst, Operands operands) {
  const Shape& a = operands[0].shape();
  const ElementType type = a.element_type();
  const Dims leading = Leading(a, 2);
  const int64_t m = a.dim(a.rank() - 2), n = a.dim(a.rank() - 1), k = std::min(m, n);
  const bool full = CustomCallAttribute(inst, "full_matrices") != 0;
  const bool vectors = CustomCallAttribute(inst, "compute_uv") != 0;
  const int64_t columns = !vectors ? 0 : full ? m : k, rows = !vectors ? 0 : full ? n : k;
  const Shape matrices = Matrices(type, leading, m, n);
  const Shape results[] = {matrices, ArrayOf(RealPartType(type), leading, {k}),
                           Matrices(type, leading, m, columns), Matrices(type, leading, rows, n),
                           ArrayOf(ElementType::S32, leading, {})};
  HLO_TRY(const Literal found, AsLapack(context, inst, operands,
                                        {"gesdd", "gesdd",
                                         "{" +
                                             Letter("mode", !vectors ? 'N'
                                                            : full   ? 'A'
                                                                     : 'S') +
                                             "}"},
                                        Shape::MakeTuple(results), matrices));
  std::vector<Literal> elements = found.elements().vec();
  if (CustomCallAttribute(inst, "transposed") != 0) std::swap(elements[2], elements[3]);
  for (size_t i = 0; i < elements.size(); ++i) {
    const Shape& shape = inst.shape().tuple_shape(static_cast<int64_t>(i));
    const bool unwanted = !vectors && (i == 2 || i == 3);
    elements[i] = unwanted ? Literal::Zeros(shape) : elements[i].WithShape(shape);
  }
  return Literal::MakeTuple(std::move(elements)).WithShape(inst.shape());
}

/// a -> (a, w, VL, VR, info); vectors of real matrices are packed.
Result<Literal> EvalGpuGeevTarget(EvalContext& context, const Instruction& inst, Operands operands) {
  const Shape& a = operands[0].shape();
  const ElementType type = a.element_type();
  const Dims leading = Leading(a, 2);
  const int64_t n = a.dim(a.rank() - 1);
  const ElementType complex = ComplexType(type).value_or(type);
  const Shape vectors = Matrices(complex, leading, n, n);
  llvm::SmallVector<Shape, 5> results(IsComplex(type) ? 1 : 2, ArrayOf(type, leading, {n}));
  results.append({vectors, vectors, inst.shape().tuple_shape(4)});
  HLO_TRY(const Literal found,
          AsLapack(context, inst, operands, {"geev", "geev", Sides(inst)}, Shape::MakeTuple(results)));
  std::vector<Literal> parts = IsComplex(type)            ? found.elements().vec()
                               : type == ElementType::F32 ? RealEigenResults<float>(found)
                                                          : RealEigenResults<double>(found);
  std::vector<Literal> elements = {operands[0].WithShape(inst.shape().tuple_shape(0))};
  for (size_t i = 0; i < parts.size(); ++i)
    elements.push_back(InMemoryOf(parts[i], inst.shape().tuple_shape(static_cast<int64_t>(i) + 1)));
  return Literal::MakeTuple(std::move(elements)).WithShape(inst.shape());
}

/// (dl, d, du, b) -> x; NaN where the system has no solution that elimination finds.
Result<Literal> EvalGpuGtsvTarget(EvalContext& context, const Instruction& inst, Operands operands) {
  // Any number of systems may have no right-hand sides.
  if (OnlyResult(inst).ElementCount() == 0) return AsResult(inst, Literal::Make(OnlyResult(inst)));
  llvm::SmallVector<Shape, 5> results;
  for (int64_t i = 0; i < 3; ++i) results.push_back(CustomCallOperandShape(inst, i));
  results.push_back(OnlyResult(inst));
  results.push_back(ArrayOf(ElementType::S32, Leading(operands[0].shape(), 1), {}));
  HLO_TRY(const Literal found,
          AsLapack(context, inst, operands, {"gtsv", "gtsv"}, Shape::MakeTuple(results)));
  Literal x = found.element(3);
  const llvm::ArrayRef<int32_t> info = found.element(4).Data<int32_t>();
  for (size_t b = 0; b < info.size(); ++b) {
    if (info[b] == 0) continue;
    const bool is_float = RealPartType(x.shape().element_type()) == ElementType::F32;
    const size_t numbers = x.byte_size() / (is_float ? sizeof(float) : sizeof(double)) / info.size();
    is_float ? FillWithNan<float>(x, b * numbers, (b + 1) * numbers)
             : FillWithNan<double>(x, b * numbers, (b + 1) * numbers);
  }
  return AsResult(inst, std::move(x));
}

/// Random bits for each pair of keys and of counters.
Result<Literal> EvalThreeFryTarget(EvalContext&, const Instruction& inst, Operands operands) {
  std::vector<Literal> bits;
  for (const Shape& shape : inst.shape().tuple_shapes()) bits.push_back(Literal::Make(shape));
  const auto out0 = bits[0].MutableSpan<uint32_t>(), out1 = bits[1].MutableSpan<uint32_t>();
  const auto in = [&](size_t operand, size_t i) { return operands[operand].Data<uint32_t>()[i]; };
  for (size_t i = 0; i < out0.size(); ++i) {
    const auto [first, second] = rng::ThreeFry2x32({in(0, i), in(1, i)}, {in(2, i), in(3, i)});
    out0[i] = first;
    out1[i] = second;
  }
  return Literal::MakeTuple(std::move(bits)).WithShape(inst.shape());
}

/// The order of rows after exchanging each of the first with the one that its pivot says, from 0 on. Pivots
/// that are no row exchange nothing.
Result<Literal> EvalPivotsToPermutationTarget(EvalContext&, const Instruction& inst, Operands operands) {
  const Shape& from = operands[0].shape();
  const Shape shape = OnlyResult(inst);
  Literal result = Literal::Make(shape);
  const int64_t k = from.dim(from.rank() - 1), m = shape.dim(shape.rank() - 1);
  const int64_t entries = m == 0 ? 0 : shape.ElementCount() / m;
  const llvm::ArrayRef<int32_t> pivots = operands[0].Data<int32_t>();
  const llvm::MutableArrayRef<int32_t> rows = result.MutableSpan<int32_t>();
  for (int64_t b = 0; b < entries; ++b) {
    const auto order = rows.slice(static_cast<size_t>(b * m), static_cast<size_t>(m));
    std::iota(order.begin(), order.end(), 0);
    for (int64_t i = 0; i < k; ++i) {
      const int32_t pivot = pivots[static_cast<size_t>(b * k + i)];
      if (pivot >= 0 && pivot < m)
        std::swap(order[static_cast<size_t>(i)], order[static_cast<size_t>(pivot)]);
    }
  }
  return AsResult(inst, std::move(result));
}

}  // namespace hlo
