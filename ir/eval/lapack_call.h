// What the linear-algebra custom calls share: the library, matrix buffers, the attribute dictionary.
#pragma once
#include <complex>
#include <vector>

#include "ir/eval/custom_call.h"
#include "ir/eval/lapack_library.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo::lapack {

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
  /// Of the dictionary of the call, as the table says if it is left out.
  [[nodiscard]] int Attribute(llvm::StringRef key) const {
    return static_cast<int>(CustomCallAttribute(inst_, key));
  }
  [[nodiscard]] char Letter(llvm::StringRef key) const { return static_cast<char>(Attribute(key)); }
  [[nodiscard]] bool Flag(llvm::StringRef key) const { return Attribute(key) != 0; }
  Result<Literal> Finish();

  /// The routine for element type T and matrices of the size of operand 0.
  template <Routine routine, class T>
  Function<routine, T>* Load() {
    return Find<routine, T>(SizeOf(in_[0].shape));
  }
  /// Calls run(entry, work) for all entries of the batch, which have `core` dimensions; threads share them.
  template <class Space, class F>
  void ForEachEntry(int64_t core, F run) const {
    int64_t elements = 1;
    for (int64_t d = 0; d < core; ++d) elements *= std::max(1, in_[0].Dim(d));
    const int64_t grain = kEntryWork / (elements * SizeOf(in_[0].shape));
    ParallelFor(0, Batch(core), grain, [&](int64_t begin, int64_t end) {
      Space work;
      for (int64_t b = begin; b < end && !Interrupted(); ++b) run(b, work);
    });
  }
  /// The larger dimension of matrices.
  static int64_t SizeOf(const Shape& shape);

 private:
  static constexpr int64_t kEntryWork = 20000;  // operations of a piece for a thread
  const Instruction& inst_;
  std::vector<Buffer> in_, out_;
};

/// Operand `i` becomes result `o`, which the routine overwrites.
inline void Alias(Call& call, size_t i, size_t o) { call.out(o).bytes = std::move(call.in(i).bytes); }

/// A routine's work space. The first call of `run` has lwork = -1 and learns the size.
template <class T>
struct Work {
  std::vector<T> data = std::vector<T>(1);
  int size = -1;
  T* get() { return data.data(); }
  void Grow() {
    size = std::max(1, static_cast<int>(std::real(std::complex<double>(data[0]))));
    data.resize(static_cast<size_t>(size));
  }
  template <class F>
  void Run(F run) {
    if (size < 0) {
      run();
      Grow();
    }
    run();
  }
};
/// For routines without.
struct NoWork {};

/// Where the routine of a call comes from, for --explain-codegen.
template <Routine routine, class T>
std::string Explain(const Instruction& inst) {
  const Shape none;
  const Shape& shape = inst.operand_count() > 0 ? inst.operand(0)->shape() : none;
  return FindRoutine(routine, Traits<T>::kPrefix, shape.IsArray() ? Call::SizeOf(shape) : 0).how;
}

// The targets of ir/custom_calls.def (lapack_factor.cc, lapack_eigen.cc, lapack_hermitian.cc), with an
// instance for each element type.
#define LAPACK_CALL(Id, ...) \
  template <class T>         \
  Result<Literal> Id(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal> operands);
#include "ir/custom_calls.def"

// clang-format off
#define HLO_LAPACK_INSTANCES(Id)                                                                                       \
  template Result<Literal> Id<float>(EvalContext&, const Instruction&, llvm::MutableArrayRef<Literal>);                \
  template Result<Literal> Id<double>(EvalContext&, const Instruction&, llvm::MutableArrayRef<Literal>);               \
  template Result<Literal> Id<std::complex<float>>(EvalContext&, const Instruction&, llvm::MutableArrayRef<Literal>);  \
  template Result<Literal> Id<std::complex<double>>(EvalContext&, const Instruction&, llvm::MutableArrayRef<Literal>);
// clang-format on

}  // namespace hlo::lapack
