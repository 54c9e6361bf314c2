// What the linear-algebra custom calls share: the library, matrix buffers, the attribute dictionary.
#pragma once
#include <complex>
#include <vector>

#include "ir/eval/custom_call.h"
#include "ir/eval/lapack_library.h"
#include "ir/support/guarded_memory.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo::lapack {

/// Whether any array of a result has elements. Without, any number of matrices of a batch may have none
/// either.
bool HasElements(const Shape& shape);

/// An operand or result while a routine works on it: a batch of column-major matrices (or vectors, or
/// numbers), each in a block of its own, in the order of the shape's layout.
struct Buffer {
  Shape shape;
  GuardedMemory memory;
  /// Dimension counted from the last: rows = Dim(1), columns = Dim(0) of a matrix.
  [[nodiscard]] int Dim(int64_t from_last) const {
    return from_last < shape.rank() ? static_cast<int>(shape.dim(shape.rank() - 1 - from_last)) : 1;
  }
  /// Batch entry b.
  template <class T>
  T* At(int64_t b) const {
    return reinterpret_cast<T*>(memory.block(static_cast<size_t>(b)));
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
  /// Entries of the batch; 0 if the results have no elements.
  [[nodiscard]] int64_t batch() const { return batch_; }
  /// The name of the target.
  [[nodiscard]] llvm::StringRef target() const { return inst_.attr<CustomCallAttrs>().custom_call_target; }
  /// Of the dictionary of the call, as the table says if it is left out.
  [[nodiscard]] int Attribute(llvm::StringRef key) const {
    return static_cast<int>(CustomCallAttribute(inst_, key));
  }
  [[nodiscard]] char Letter(llvm::StringRef key) const { return static_cast<char>(Attribute(key)); }
  [[nodiscard]] bool Flag(llvm::StringRef key) const { return Attribute(key) != 0; }
  Result<Literal> Finish();

  /// The routine for element type T and matrices of the size of operand 0. Where an array has no elements it
  /// is one of our own: those of libraries may write an element all the same.
  template <Routine routine, class T>
  Function<routine, T>* Load() {
    const auto is_empty = [](const Buffer& buffer) { return buffer.memory.block_bytes() == 0; };
    const bool empty = llvm::any_of(in_, is_empty) || llvm::any_of(out_, is_empty);
    return Find<routine, T>(empty ? 0 : SizeOf(in_[0].shape));
  }
  /// Calls run(entry, work) for all entries of the batch, with work of Space(target()); threads share them.
  template <class Space, class F>
  void ForEachEntry(F run) const {
    if (batch_ == 0) return;
    const int64_t elements = std::max<int64_t>(1, in_[0].shape.ElementCount() / batch_);
    const int64_t grain = kEntryWork / (elements * SizeOf(in_[0].shape));
    ParallelFor(0, batch_, grain, [&](int64_t begin, int64_t end) {
      Space work(target());
      for (int64_t b = begin; b < end && !Interrupted(); ++b) run(b, work);
    });
  }
  /// The larger dimension of matrices.
  static int64_t SizeOf(const Shape& shape);

 private:
  static constexpr int64_t kEntryWork = 20000;  // operations of a piece for a thread
  const Instruction& inst_;
  int64_t batch_ = 0;
  std::vector<Buffer> in_, out_;
};

/// Operand `i` becomes result `o`, which the routine overwrites.
inline void Alias(Call& call, size_t i, size_t o) { call.out(o).memory = std::move(call.in(i).memory); }

/// A routine's work space. The first call of `run` has lwork = -1 and learns the size.
template <class T>
struct Work {
  explicit Work(llvm::StringRef target) : user(target), data(target, 1) {}
  llvm::StringRef user;
  GuardedArray<T> data;
  int size = -1;
  T* get() { return data.data(); }
  void Grow() {
    size = std::max(1, static_cast<int>(std::real(std::complex<double>(data[0]))));
    data = GuardedArray<T>(user, static_cast<size_t>(size));
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
struct NoWork {
  explicit NoWork(llvm::StringRef) {}
};

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
