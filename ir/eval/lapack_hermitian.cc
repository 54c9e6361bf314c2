// Eigenvalues of Hermitian matrices as custom calls.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "ir/eval/lapack_call.h"
#include "ir/support/buffer.h"

namespace hlo::lapack {
namespace {

using Operands = llvm::MutableArrayRef<Literal>;
/// Rows from which on the steps of syevd are called one by one, and eigenvectors transformed back at a time.
constexpr int kLeastRows = 128, kVectorsPerPiece = 128;
constexpr int kBlock = 64;  // reflectors that are applied at a time
/// And the tridiagonal matrix is taken in two halves, one for each of two threads.
constexpr int kLeastHalved = 256;

/// The work space of Hermitian eigenvalues.
template <class T>
struct HermitianWork {
  explicit HermitianWork(llvm::StringRef target) : main(target), real(target), integer(target) {}
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

/// A product of reflectors H(0) H(1) … = (I - V T V^H) …, a block of them at a time. Column i below the
/// diagonal of a is the vector of H(i) behind its leading one, as in LAPACK.
template <class T>
class ReflectorBlocks {
 public:
  ReflectorBlocks(int rows, const T* a, int stride, const T* tau)
      : rows_(rows),
        blocks_((rows + kBlock - 1) / kBlock),
        vectors_(MakeBuffer<T>(Count(blocks_) * kBlock * Count(rows))),
        factors_(MakeBuffer<T>(Count(blocks_) * kBlock * kBlock)),
        gemm_(Find<Routine::Gemm, T>(rows)) {
    ParallelFor(0, blocks_, 1, [&](int64_t begin, int64_t end) {
      for (auto b = static_cast<int>(begin); b < end; ++b) {
        CopyVectors(b, a, stride);
        MakeFactor(b, tau + Begin(b));
      }
    });
  }

  /// c := (H(0) H(1) …) c for so many columns.
  void MultiplyFromLeft(T* c, int stride, int columns) const {
    const auto products = MakeBuffer<T>(Count(columns) * 2 * kBlock);
    T *first = products.get(), *second = first + kBlock * columns;
    const T one(1), minus_one(-1), zero(0);
    for (int b = blocks_; b-- > 0;) {
      const int height = Height(b), width = Width(b);
      gemm_(kConjugated, "N", &width, &columns, &height, &one, Vectors(b), &height, c + Begin(b), &stride,
            &zero, first, &kBlock);
      gemm_("N", "N", &width, &columns, &width, &one, Factor(b), &kBlock, first, &kBlock, &zero, second,
            &kBlock);
      gemm_("N", "N", &height, &columns, &width, &minus_one, Vectors(b), &height, second, &kBlock, &one,
            c + Begin(b), &stride);
    }
  }

 private:
  static constexpr const char* kConjugated = kIsComplex<T> ? "C" : "T";
  static size_t Count(int n) { return static_cast<size_t>(n); }
  static int Begin(int block) { return block * kBlock; }
  [[nodiscard]] int Width(int block) const { return std::min(kBlock, rows_ - Begin(block)); }
  [[nodiscard]] int Height(int block) const { return rows_ - Begin(block); }
  [[nodiscard]] T* Vectors(int block) const { return vectors_.get() + Count(block) * kBlock * Count(rows_); }
  [[nodiscard]] T* Factor(int block) const { return factors_.get() + Count(block) * kBlock * kBlock; }

  /// With the ones and zeros that LAPACK leaves out.
  void CopyVectors(int block, const T* a, int stride) {
    for (int j = 0; j < Width(block); ++j) {
      T* v = Vectors(block) + static_cast<int64_t>(j) * Height(block);
      const T* from = a + static_cast<int64_t>(Begin(block) + j) * stride + Begin(block);
      std::fill_n(v, j, T(0));
      v[j] = T(1);
      std::copy(from + j + 1, from + Height(block), v + j + 1);
    }
  }

  /// Column j of T is -tau(j) T V^H v(j) above tau(j).
  void MakeFactor(int block, const T* tau) {
    const int height = Height(block), width = Width(block);
    const T one(1), zero(0);
    std::vector<T> overlaps(kBlock * Count(kBlock));
    gemm_(kConjugated, "N", &width, &width, &height, &one, Vectors(block), &height, Vectors(block), &height,
          &zero, overlaps.data(), &kBlock);
    T* factor = Factor(block);
    std::fill_n(factor, kBlock * kBlock, T(0));
    for (int j = 0; j < width; ++j) {
      for (int k = 0; k < j; ++k) {
        const T by = -tau[j] * overlaps[Count(j * kBlock + k)];
        for (int i = 0; i <= k; ++i) factor[j * kBlock + i] += factor[k * kBlock + i] * by;
      }
      factor[j * kBlock + j] = tau[j];
    }
  }

  int rows_, blocks_;
  hlo::Buffer<T> vectors_, factors_;
  Function<Routine::Gemm, T>* gemm_;
};

/// Eigenvalues and vectors of a matrix with three diagonals: by stedc of its halves at a time, which are then
/// joined as stedc would.
template <class R>
class Halves {
 public:
  explicit Halves(llvm::StringRef target) : target_(target) {}
  static bool Suits(int n, const R* values, const R* beside) {
    bool finite = n >= kLeastHalved && FindRoutine(Routine::Laed1, Traits<R>::kPrefix, n).uses_library;
    for (int i = 0; finite && i < n; ++i)
      finite = std::isfinite(values[i]) && (i + 1 == n || std::isfinite(beside[i]));
    return finite;
  }

  /// As stedc, but in the order that order() tells; the numbers are changed. n x n vectors.
  void Run(int n, R* values, R* beside, R* vectors, int* info) {
    const int first = n / 2;
    const R scale = Scale(n, values, beside);
    std::fill_n(vectors, static_cast<int64_t>(n) * n, R(0));
    R coupling = beside[first - 1];
    values[first - 1] -= std::abs(coupling);
    values[first] -= std::abs(coupling);
    int infos[2] = {};
    ParallelFor(0, 2, 1, [&](int64_t begin, int64_t end) {
      for (int64_t half = begin; half < end; ++half) {
        const int at = half == 0 ? 0 : first, rows = half == 0 ? first : n - first;
        Part(rows, values + at, beside + at, vectors + static_cast<int64_t>(at) * n + at, n, &infos[half]);
      }
    });
    for (int j = 0; j < n; ++j) order_.push_back(j < first ? j + 1 : j - first + 1);
    const GuardedArray<R> work(target_, static_cast<size_t>(n) * static_cast<size_t>(n + 4));
    const GuardedArray<int> integers(target_, static_cast<size_t>(n) * 4);
    Find<Routine::Laed1, R>(n)(&n, values, vectors, &n, order_.data(), &coupling, &first, work.data(),
                               integers.data(), info);
    *info = std::max({*info, infos[0], infos[1]});
    for (int j = 0; j < n; ++j) values[j] /= scale;
  }
  /// By place in ascending order: the column, from 1 on.
  [[nodiscard]] const std::vector<int>& order() const { return order_; }

 private:
  /// Brings the largest number below 1 by a power of 2, as the routine that joins expects; by which.
  static R Scale(int n, R* values, R* beside) {
    R largest = 0;
    for (int i = 0; i < n; ++i)
      largest = std::max({largest, std::abs(values[i]), i + 1 < n ? std::abs(beside[i]) : R(0)});
    if (largest == 0) return 1;
    int exponent = 0;
    std::frexp(largest, &exponent);
    const R scale = std::ldexp(R(1), -exponent);
    for (int i = 0; i < n; ++i) {
      values[i] *= scale;
      if (i + 1 < n) beside[i] *= scale;
    }
    return scale;
  }

  void Part(int n, R* values, R* beside, R* vectors, int stride, int* info) const {
    auto* const stedc = Find<Routine::Stedc, R>(n);
    HermitianWork<R> work(target_);
    work.Run([&] {
      stedc("I", &n, values, beside, vectors, &stride, work.main.get(), &work.main.size, work.integer.get(),
            &work.integer.size, info);
    });
  }

  llvm::StringRef target_;
  std::vector<int> order_;
};

/// What syevd does for the lower half with vectors, step by step, so that all threads bring the vectors of
/// the reduced matrix back to those of the matrix: two fifths of its time.
template <class T>
class SyevdInSteps {
 public:
  /// True if there are routines for all steps that are worth it.
  static bool Suits(char mode, char uplo, int n) {
    return mode == 'V' && uplo == 'L' && n >= kLeastRows && Has(Routine::Sytrd, n) &&
           Has(Routine::Stedc, n) && Has(Routine::Gemm, n);
  }

  SyevdInSteps(llvm::StringRef target, int n)
      : target_(target), n_(n), vectors_(target, Square()), tau_(target, Rows()), beside_(target, Rows()) {}

  void Run(T* a, Real<T>* values, int* info) {
    const Real<T> scale = Scale(a);
    Reduce(a, values, info);
    Diagonalise(values, info);
    TransformBack(a);
    TakeInOrder(a, values);
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
    Work<T> work(target_);
    work.Run(
        [&] { sytrd("L", &n_, a, &n_, values, beside_.data(), tau_.data(), work.get(), &work.size, info); });
  }

  void Diagonalise(Real<T>* values, int* info) {
    if (!Halves<Real<T>>::Suits(n_, values, beside_.data())) return DiagonaliseAtOnce(values, info);
    Halves<Real<T>> halves(target_);
    if constexpr (kIsComplex<T>) {
      const GuardedArray<Real<T>> real(target_, Square());
      halves.Run(n_, values, beside_.data(), real.data(), info);
      std::copy_n(real.data(), Square(), vectors_.data());
    } else {
      halves.Run(n_, values, beside_.data(), vectors_.data(), info);
    }
    order_ = halves.order();
  }

  void DiagonaliseAtOnce(Real<T>* values, int* info) {
    auto* const stedc = Find<Routine::Stedc, T>(n_);
    HermitianWork<T> work(target_);
    work.Run([&] {
      if constexpr (kIsComplex<T>)
        stedc("I", &n_, values, beside_.data(), vectors_.data(), &n_, work.main.get(), &work.main.size,
              work.real.get(), &work.real.size, work.integer.get(), &work.integer.size, info);
      else
        stedc("I", &n_, values, beside_.data(), vectors_.data(), &n_, work.main.get(), &work.main.size,
              work.integer.get(), &work.integer.size, info);
    });
  }

  /// Multiplies the vectors by the reflectors, which leave the first row as it is.
  void TransformBack(const T* a) {
    const ReflectorBlocks<T> reflectors(n_ - 1, a + 1, n_, tau_.data());
    const int pieces = (n_ + kVectorsPerPiece - 1) / kVectorsPerPiece;
    ParallelFor(0, n_, (n_ + pieces - 1) / pieces, [&](int64_t begin, int64_t end) {
      reflectors.MultiplyFromLeft(vectors_.data() + begin * n_ + 1, n_, static_cast<int>(end - begin));
    });
  }

  /// The vectors, and their values, ascending.
  void TakeInOrder(T* a, Real<T>* values) const {
    if (order_.empty()) {
      std::memcpy(a, vectors_.data(), Square() * sizeof(T));
      return;
    }
    const std::vector<Real<T>> found(values, values + n_);
    for (int j = 0; j < n_; ++j) {
      const int from = order_[static_cast<size_t>(j)] - 1;
      values[j] = found[static_cast<size_t>(from)];
      std::copy_n(vectors_.data() + static_cast<int64_t>(from) * n_, n_, a + static_cast<int64_t>(j) * n_);
    }
  }

  llvm::StringRef target_;
  int n_;
  GuardedArray<T> vectors_;
  GuardedArray<T> tau_;
  GuardedArray<Real<T>> beside_;
  std::vector<int> order_;  // of the vectors, from 1 on; empty: as they are
};

}  // namespace

/// a -> (vectors, ascending values, info)
template <class T>
Result<Literal> Syevd(EvalContext&, const Instruction& inst, Operands operands) {
  Call call(inst, operands);
  auto* const syevd = call.Load<Routine::Syevd, T>();
  Alias(call, 0, 0);
  const char mode = call.Letter("mode"), uplo = call.Letter("uplo");
  const int n = call.in(0).Dim(0), ld = std::max(1, n);
  call.ForEachEntry<HermitianWork<T>>([&](int64_t b, HermitianWork<T>& work) {
    T* a = call.out(0).At<T>(b);
    Real<T>* w = call.out(1).At<Real<T>>(b);
    int* info = call.out(2).At<int>(b);
    if (SyevdInSteps<T>::Suits(mode, uplo, n)) return SyevdInSteps<T>(call.target(), n).Run(a, w, info);
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
  auto* const sytrd = call.Load<Routine::Sytrd, T>();
  Alias(call, 0, 0);
  const char uplo = call.Letter("uplo");
  const int n = call.in(0).Dim(0), ld = std::max(1, n);
  call.ForEachEntry<Work<T>>([&](int64_t b, Work<T>& work) {
    work.Run([&] {
      sytrd(&uplo, &n, call.out(0).At<T>(b), &ld, call.out(1).At<Real<T>>(b), call.out(2).At<Real<T>>(b),
            call.out(3).At<T>(b), work.get(), &work.size, call.out(4).At<int>(b));
    });
  });
  return call.Finish();
}

HLO_LAPACK_INSTANCES(Syevd)
HLO_LAPACK_INSTANCES(Sytrd)

}  // namespace hlo::lapack
