// Eigenvalues of Hermitian matrices as custom calls.
#include <cmath>
#include <cstring>
#include <limits>

#include "ir/eval/lapack_call.h"
#include "ir/support/buffer.h"

namespace hlo::lapack {
namespace {

using Operands = llvm::MutableArrayRef<Literal>;
constexpr int64_t kMatrix = 2, kVector = 1;
/// Rows from which on the steps of syevd are called one by one, and eigenvectors transformed back at a time.
constexpr int kLeastRows = 128, kVectorsPerPiece = 256;

/// The work space of Hermitian eigenvalues.
template <class T>
struct HermitianWork {
  Work<T> main;
  Work<Real<T>> real;
  Work<int> integer;
  template <class F>
  void Run(F run) {
    const bool first = main.size < 0;
    main.Run([&] {
      if (first && main.size > 0) {
        real.Grow();
        integer.Grow();
      }
      run();
    });
  }
};

/// What syevd does for the lower half with vectors, step by step, so that all threads bring the vectors of
/// the reduced matrix back to those of the matrix: two fifths of its time.
template <class T>
class SyevdInSteps {
 public:
  /// True if there are routines for all steps that are worth it.
  static bool Suits(char mode, char uplo, int n) {
    return mode == 'V' && uplo == 'L' && n >= kLeastRows && Has(Routine::Sytrd, n) &&
           Has(Routine::Stedc, n) && Has(Routine::Ormqr, n);
  }

  explicit SyevdInSteps(int n) : n_(n), vectors_(MakeBuffer<T>(Square())), tau_(Rows()), beside_(Rows()) {}

  void Run(T* a, Real<T>* values, int* info) {
    const Real<T> scale = Scale(a);
    Reduce(a, values, info);
    Diagonalise(values, info);
    TransformBack(a);
    std::memcpy(a, vectors_.get(), Square() * sizeof(T));
    if (scale != 1)
      for (int i = 0; i < n_; ++i) values[i] /= scale;
  }

 private:
  static bool Has(Routine routine, int n) { return FindRoutine(routine, Traits<T>::kPrefix, n).uses_library; }
  [[nodiscard]] size_t Rows() const { return static_cast<size_t>(n_); }
  [[nodiscard]] size_t Square() const { return Rows() * Rows(); }

  /// Brings the largest element into the range where squares neither overflow nor vanish; by which factor.
  Real<T> Scale(T* a) const {
    using R = Real<T>;
    const R least = std::sqrt(std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon());
    R largest = 0;
    for (int j = 0; j < n_; ++j)
      for (int i = j; i < n_; ++i) largest = std::max(largest, std::abs(a[static_cast<int64_t>(j) * n_ + i]));
    R scale = 1;
    if (largest > 0 && largest < least) scale = least / largest;
    if (largest > 1 / least && std::isfinite(largest)) scale = 1 / least / largest;
    if (scale != 1)
      for (size_t i = 0; i < Square(); ++i) a[i] *= scale;
    return scale;
  }

  void Reduce(T* a, Real<T>* values, int* info) {
    auto* const sytrd = Find<Routine::Sytrd, T>(n_);
    Work<T> work;
    work.Run(
        [&] { sytrd("L", &n_, a, &n_, values, beside_.data(), tau_.data(), work.get(), &work.size, info); });
  }

  void Diagonalise(Real<T>* values, int* info) {
    auto* const stedc = Find<Routine::Stedc, T>(n_);
    HermitianWork<T> work;
    work.Run([&] {
      if constexpr (kIsComplex<T>)
        stedc("I", &n_, values, beside_.data(), vectors_.get(), &n_, work.main.get(), &work.main.size,
              work.real.get(), &work.real.size, work.integer.get(), &work.integer.size, info);
      else
        stedc("I", &n_, values, beside_.data(), vectors_.get(), &n_, work.main.get(), &work.main.size,
              work.integer.get(), &work.integer.size, info);
    });
  }

  /// The reflectors leave the first row as it is.
  void TransformBack(const T* a) {
    auto* const ormqr = Find<Routine::Ormqr, T>(n_);
    const int pieces = (n_ + kVectorsPerPiece - 1) / kVectorsPerPiece, rows = n_ - 1;
    ParallelFor(0, n_, (n_ + pieces - 1) / pieces, [&](int64_t begin, int64_t end) {
      const int count = static_cast<int>(end - begin);
      Work<T> work;
      int info = 0;
      work.Run([&] {
        ormqr("L", "N", &rows, &count, &rows, a + 1, &n_, tau_.data(), vectors_.get() + begin * n_ + 1, &n_,
              work.get(), &work.size, &info);
      });
    });
  }

  int n_;
  hlo::Buffer<T> vectors_;
  std::vector<T> tau_;
  std::vector<Real<T>> beside_;
};

/// a -> (vectors, ascending values, info)
template <class T>
Result<Literal> Syevd(EvalContext&, const Instruction& inst, Operands operands) {
  Call call(inst, operands);
  HLO_CHECK_OK(call.Expect(1, 3, kMatrix));
  auto* const syevd = call.Load<Routine::Syevd, T>();
  Alias(call, 0, 0);
  const char mode = call.Letter("mode", 'V'), uplo = call.Letter("uplo", 'L');
  const int n = call.in(0).Dim(0), ld = std::max(1, n);
  call.ForEachEntry<HermitianWork<T>>(kMatrix, [&](int64_t b, HermitianWork<T>& work) {
    T* a = call.out(0).At<T>(b, kMatrix);
    Real<T>* w = call.out(1).At<Real<T>>(b, kVector);
    int* info = call.out(2).At<int>(b, 0);
    if (SyevdInSteps<T>::Suits(mode, uplo, n)) return SyevdInSteps<T>(n).Run(a, w, info);
    work.Run([&] {
      if constexpr (kIsComplex<T>)
        syevd(&mode, &uplo, &n, a, &ld, w, work.main.get(), &work.main.size, work.real.get(), &work.real.size,
              work.integer.get(), &work.integer.size, info);
      else
        syevd(&mode, &uplo, &n, a, &ld, w, work.main.get(), &work.main.size, work.integer.get(),
              &work.integer.size, info);
    });
  });
  return call.Finish();
}

/// a -> (packed, d, e, tau, info)
template <class T>
Result<Literal> Sytrd(EvalContext&, const Instruction& inst, Operands operands) {
  Call call(inst, operands);
  HLO_CHECK_OK(call.Expect(1, 5, kMatrix));
  auto* const sytrd = call.Load<Routine::Sytrd, T>();
  Alias(call, 0, 0);
  const char uplo = call.Letter("uplo", 'L');
  const int n = call.in(0).Dim(0), ld = std::max(1, n);
  call.ForEachEntry<Work<T>>(kMatrix, [&](int64_t b, Work<T>& work) {
    work.Run([&] {
      sytrd(&uplo, &n, call.out(0).At<T>(b, kMatrix), &ld, call.out(1).At<Real<T>>(b, kVector),
            call.out(2).At<Real<T>>(b, kVector), call.out(3).At<T>(b, kVector), work.get(), &work.size,
            call.out(4).At<int>(b, 0));
    });
  });
  return call.Finish();
}

constexpr CustomCallTarget kTargets[] = {
    HLO_LAPACK_ROWS("syevd", "heevd", Syevd),
    HLO_LAPACK_ROWS("sytrd", "hetrd", Sytrd),
};

}  // namespace

llvm::ArrayRef<CustomCallTarget> HermitianTargets() { return kTargets; }

}  // namespace hlo::lapack
