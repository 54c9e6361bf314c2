// What the linear-algebra custom calls share: the library, matrix buffers, the attribute dictionary.
#pragma once
#include <complex>
#include <vector>

#include "ir/eval/custom_call.h"

namespace hlo::lapack {

/// The LAPACK routine `name` (Fortran spelling, e.g. "dpotrf_"), loaded on first use; null if no
/// LAPACK library is installed or it lacks the routine.
void* FindRoutine(llvm::StringRef name);

template <class T>
struct Traits;
template <>
struct Traits<float> {
  using Real = float;
  static constexpr char kPrefix = 's';
};
template <>
struct Traits<double> {
  using Real = double;
  static constexpr char kPrefix = 'd';
};
template <>
struct Traits<std::complex<float>> {
  using Real = float;
  static constexpr char kPrefix = 'c';
};
template <>
struct Traits<std::complex<double>> {
  using Real = double;
  static constexpr char kPrefix = 'z';
};
template <class T>
using Real = typename Traits<T>::Real;
template <class T>
inline constexpr bool kIsComplex = !std::is_same_v<T, Real<T>>;

/// Elements of a literal in the order of its shape's layout, as a custom call sees them.
std::vector<uint8_t> ToPhysical(const Literal& literal, const Shape& layout_shape);
Literal FromPhysical(const std::vector<uint8_t>& bytes, const Shape& shape);

/// An operand or result while a routine works on it: a batch of column-major matrices (or vectors).
struct Buffer {
  Shape shape;
  std::vector<uint8_t> bytes;
  /// Dimension counted from the last: rows = Dim(1), columns = Dim(0) of a matrix.
  [[nodiscard]] int Dim(int64_t from_last) const {
    return from_last < shape.rank() ? static_cast<int>(shape.dim(shape.rank() - 1 - from_last)) : 1;
  }
  /// Start of batch entry b, when one entry has `core` trailing dimensions.
  template <class T>
  T* At(int64_t b, int64_t core) {
    int64_t size = 1;
    for (int64_t d = 0; d < core; ++d) size *= Dim(d);
    return reinterpret_cast<T*>(bytes.data()) + b * size;
  }
};

/// One execution of a target: operands as buffers, results to be filled in.
class Call {
 public:
  Call(const Instruction& inst, llvm::MutableArrayRef<Literal> operands);
  Buffer& in(size_t i) { return in_[i]; }
  Buffer& out(size_t i) { return out_[i]; }
  [[nodiscard]] size_t in_count() const { return in_.size(); }
  [[nodiscard]] size_t out_count() const { return out_.size(); }
  /// Product of the leading dimensions of operand 0, whose entries have `core` dimensions.
  [[nodiscard]] int64_t Batch(int64_t core) const;
  /// Letter or number of the dictionary `{uplo = 76 : ui8}`; `otherwise` if absent.
  [[nodiscard]] int64_t Attribute(llvm::StringRef key, int64_t otherwise) const;
  [[nodiscard]] char Letter(llvm::StringRef key, char otherwise) const {
    return static_cast<char>(Attribute(key, otherwise));
  }
  [[nodiscard]] bool Flag(llvm::StringRef key) const;
  /// Requires so many operands and results of these ranks or more; names the target otherwise.
  [[nodiscard]] Status Expect(size_t operands, size_t results, int64_t core) const;
  Result<Literal> Finish();

  /// Loads `?name_` for element type T; the error names the routine.
  template <class T>
  Status Load(llvm::StringRef name) {
    return LoadRoutine((llvm::Twine(Traits<T>::kPrefix) + name + "_").str());
  }
  /// Calls the loaded routine.
  template <class... Args>
  void Run(Args... args) {
    reinterpret_cast<void (*)(Args...)>(routine_)(args...);
  }

 private:
  Status LoadRoutine(const std::string& name);
  const Instruction& inst_;
  std::vector<Buffer> in_, out_;
  void* routine_ = nullptr;
};

/// Copies operand `i` to result `o` (declared as aliased).
inline void Alias(Call& call, size_t i, size_t o) { call.out(o).bytes = call.in(i).bytes; }

/// A routine's work space: run once with lwork = -1 to learn the size, then again.
template <class T>
struct Work {
  std::vector<T> data = std::vector<T>(1);
  int size = -1;
  void Grow() {
    size = std::max(1, static_cast<int>(std::real(std::complex<double>(data[0]))));
    data.resize(static_cast<size_t>(size));
  }
};

/// Rows of a table of targets, one per element type; real and complex routines may have other names.
// clang-format off
#define HLO_LAPACK_ROWS(real_name, complex_name, Function)           \
  {"lapack_s" real_name "_ffi", Function<float>},                    \
  {"lapack_d" real_name "_ffi", Function<double>},                   \
  {"lapack_c" complex_name "_ffi", Function<std::complex<float>>},   \
  {"lapack_z" complex_name "_ffi", Function<std::complex<double>>}
// clang-format on

llvm::ArrayRef<CustomCallTarget> FactorTargets();  // lapack_factor.cc
llvm::ArrayRef<CustomCallTarget> EigenTargets();   // lapack_eigen.cc
llvm::ArrayRef<CustomCallTarget> NamedTargets();   // lapack_named.cc

}  // namespace hlo::lapack
