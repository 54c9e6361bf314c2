// cholesky (ops-structured §6.2): small matrices in lanes, others with LAPACK where one is installed; and the
// factors that LAPACK's calls ask for.
#include <cmath>
#include <cstring>

#include "backends/structured/factors.h"
#include "backends/structured/lane_systems.h"
#include "backends/structured/lapack.h"
#include "backends/structured/plan.h"
#include "ir/numeric/dense.h"
#include "ir/support/guarded_memory.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo::structured {
namespace {

using lapack::Real;
using lapack::Routine;

/// Matrices of so many rows are factored in blocks, whose products all threads share.
constexpr int64_t kLeastRows = 256;
constexpr int kBlock = 64;

struct Factor {
  int64_t batch, n;
  bool lower;
  template <class T>
  void Run(lapack::Function<Routine::Potrf, T>* potrf, void* const* arrays) const;
  template <class T>
  void RunOne(lapack::Function<Routine::Potrf, T>* potrf, const T* from, T* to) const;
};

/// Copies the triangle that is read, its diagonal as real numbers, and clears the other one.
template <class T>
void CopyTriangle(const Factor& f, const T* from, T* to) {
  for (int64_t i = 0; i < f.n; ++i, from += f.n, to += f.n) {
    const int64_t begin = f.lower ? 0 : i, end = f.lower ? i + 1 : f.n;
    std::fill(to, to + begin, T{});
    std::memmove(to + begin, from + begin, static_cast<size_t>(end - begin) * sizeof(T));
    std::fill(to + end, to + f.n, T{});
    if constexpr (lapack::kIsComplex<T>) to[i] = to[i].real();
  }
}

/// Not all libraries call a matrix with NaN on its diagonal indefinite.
template <class T>
bool HasFactor(const Factor& f, int info, const T* l) {
  bool finite = info == 0;
  for (int64_t i = 0; finite && i < f.n; ++i) finite = !std::isnan(std::real(l[i * f.n + i]));
  return finite;
}

template <class T>
T NotANumber() {
  constexpr auto kNan = std::numeric_limits<Real<T>>::quiet_NaN();
  if constexpr (lapack::kIsComplex<T>)
    return {kNan, kNan};
  else
    return kNan;
}

/// Rows in LAPACK's sense: column by column the arrays are their transposes, hence the other triangle.
template <class T>
class BlockedFactor {
 public:
  BlockedFactor(char triangle, int n, T* a, lapack::Function<Routine::Potrf, T>* potrf)
      : upper_(triangle == 'U'),
        triangle_(triangle),
        n_(n),
        a_(a),
        potrf_(potrf),
        trsm_(lapack::Find<Routine::Trsm, T>(n)),
        gemm_(lapack::Find<Routine::Gemm, T>(n)) {}

  /// As potrf; within blocks on the diagonal the other triangle changes too.
  int Run() {
    for (int k = 0; k < n_ && !Interrupted(); k += kBlock) {
      const int width = std::min(kBlock, n_ - k), next = k + width;
      int info = 0;
      potrf_(&triangle_, &width, At(k, k), &n_, &info);
      if (info != 0) return k + info;
      const int pieces = (n_ - next + kBlock - 1) / kBlock;
      ParallelFor(0, pieces, 1, [&](int64_t begin, int64_t end) {
        for (auto p = static_cast<int>(begin); p < end; ++p) SolvePiece(k, width, next + p * kBlock);
      });
      // The largest first.
      ParallelFor(0, pieces, 1, [&](int64_t begin, int64_t end) {
        for (auto p = static_cast<int>(begin); p < end; ++p)
          UpdatePiece(k, width, next, next + (upper_ ? pieces - 1 - p : p) * kBlock);
      });
    }
    return 0;
  }

 private:
  static constexpr const char* kConjugated = lapack::kIsComplex<T> ? "C" : "T";
  [[nodiscard]] T* At(int row, int column) const { return a_ + static_cast<int64_t>(column) * n_ + row; }

  /// The block of the factor beside the one at (k, k), from row or column `at` on.
  void SolvePiece(int k, int width, int at) const {
    const int count = std::min(kBlock, n_ - at);
    const T one(1);
    if (upper_)
      trsm_("L", "U", kConjugated, "N", &width, &count, &one, At(k, k), &n_, At(k, at), &n_);
    else
      trsm_("R", "L", kConjugated, "N", &count, &width, &one, At(k, k), &n_, At(at, k), &n_);
  }

  /// Takes its products off the columns from `at` on.
  void UpdatePiece(int k, int width, int next, int at) const {
    const int count = std::min(kBlock, n_ - at), above = at + count - next, below = n_ - at;
    const T one(1), minus_one(-1);
    if (upper_)
      gemm_(kConjugated, "N", &above, &count, &width, &minus_one, At(k, next), &n_, At(k, at), &n_, &one,
            At(next, at), &n_);
    else
      gemm_("N", kConjugated, &below, &count, &width, &minus_one, At(at, k), &n_, At(at, k), &n_, &one,
            At(at, at), &n_);
  }

  bool upper_;
  char triangle_;
  int n_;
  T* a_;
  lapack::Function<Routine::Potrf, T>* potrf_;
  lapack::Function<Routine::Trsm, T>* trsm_;
  lapack::Function<Routine::Gemm, T>* gemm_;
};

/// Clears the triangle that has nothing of the factor.
template <class T>
void ClearOther(const Factor& f, T* l) {
  for (int64_t i = 0; i < f.n; ++i, l += f.n)
    std::fill(l + (f.lower ? i + 1 : 0), l + (f.lower ? f.n : i), T{});
}

template <class T>
void Factor::RunOne(lapack::Function<Routine::Potrf, T>* potrf, const T* from, T* l) const {
  CopyTriangle(*this, from, l);
  const char triangle = lower ? 'U' : 'L';
  const int rows = static_cast<int>(n);
  int info = 0;
  if (n < kLeastRows) {
    potrf(&triangle, &rows, l, &rows, &info);
  } else {
    info = BlockedFactor<T>(triangle, rows, l, potrf).Run();
    ClearOther(*this, l);
  }
  if (!HasFactor(*this, info, l)) std::fill(l, l + n * n, NotANumber<T>());
}

template <class T>
void Factor::Run(lapack::Function<Routine::Potrf, T>* potrf, void* const* arrays) const {
  const auto* from = static_cast<const T*>(arrays[0]);
  auto* to = static_cast<T*>(arrays[1]);
  const int64_t work = n * n * n / 3, size = n * n;
  const auto run = [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end && !Interrupted(); ++k) RunOne(potrf, from + k * size, to + k * size);
  };
  constexpr int64_t kWorthThread = 200000;  // products
  // Matrices or the blocks of one: where threads share does not change what they compute.
  if (n >= kLeastRows && batch < ThreadCount())
    run(0, batch);
  else
    ParallelFor(0, batch, std::max<int64_t>(1, kWorthThread / work), run);
}

/// The same for LAPACK's call, which has its triangle alone and tells where it fails.
struct CalledFactor {
  /// Larger matrices are LAPACK's; work of a piece for a thread.
  static constexpr int64_t kSmall = 16, kPiece = 20000;
  int64_t batch, n;
  bool lower;

  template <class T>
  void Run(lapack::Function<Routine::Potrf, T>* potrf, void* const* arrays) const {
    const auto* from = static_cast<const T*>(arrays[0]);
    auto* to = static_cast<T*>(arrays[1]);
    auto* info = static_cast<int*>(arrays[2]);
    const int64_t size = n * n;
    const auto run = [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end && !Interrupted(); ++k) {
        if (from != to) std::copy_n(from + k * size, size, to + k * size);
        info[k] = n <= kSmall ? FactorSmall(to + k * size) : FactorLarge(potrf, to + k * size);
      }
    };
    if (n >= kLeastRows && batch < ThreadCount())
      run(0, batch);
    else
      ParallelFor(0, batch, std::max<int64_t>(1, kPiece / (size * (n / 6 + 8))), run);
  }

 private:
  template <class T>
  int FactorSmall(T* a) const {
    using W = typename Working<T>::W;
    W place[kSmall * kSmall];
    const dense::Matrix<W> l{place, n, n, n};
    // An upper triangle is the lower one of the conjugate matrix.
    const int64_t row = lower ? n : 1, column = lower ? 1 : n;
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = j; i < n; ++i) l(i, j) = Working<T>::Load(a[i * row + j * column]);
    const int64_t info = dense::FactorCholesky(l);
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = j; i < n; ++i) a[i * row + j * column] = Working<T>::Store(l(i, j));
    return static_cast<int>(info);
  }

  template <class T>
  int FactorLarge(lapack::Function<Routine::Potrf, T>* potrf, T* a) const {
    const char triangle = lower ? 'U' : 'L';
    const int rows = static_cast<int>(n);
    int info = 0;
    if (n < kLeastRows) {
      potrf(&triangle, &rows, a, &rows, &info);
      return info;
    }
    // Blocks on the diagonal are factored and updated whole.
    const GuardedArray<T> work("potrf", static_cast<size_t>(n * n));
    std::copy_n(a, n * n, work.data());
    info = BlockedFactor<T>(triangle, rows, work.data(), potrf).Run();
    for (int64_t i = 0; i < n; ++i) {
      const int64_t begin = lower ? 0 : i, end = lower ? i + 1 : n;
      std::copy(work.data() + i * n + begin, work.data() + i * n + end, a + i * n + begin);
    }
    return info;
  }
};

}  // namespace

Result<Plan> PlanCholeskyFactor(const Instruction& inst, const Matrices& matrices, bool lower) {
  const int64_t n = matrices.rows;
  if (matrices.batch * n == 0) return Unsupported(inst, "empty arrays");
  if (n > kLapackMax) return Unsupported(inst, "dimensions beyond 32 bits");
  const CalledFactor factor{matrices.batch, n, lower};
  const char prefix = LapackPrefix(matrices.type);
  if (n > CalledFactor::kSmall)
    return PlanWithLibrary<Routine::Potrf>(inst, prefix, n, factor, /*in_place=*/0);
  auto run = [factor, prefix](void* const* arrays) {
    VisitLapackType(prefix, [&]<class T>() { factor.Run<T>(nullptr, arrays); });
  };
  return Plan{"factors in double precision", std::move(run), /*in_place=*/0};
}

Result<Plan> PlanCholesky(const Instruction& inst, gemm::Isa isa) {
  if (std::optional<Plan> lanes = PlanLaneCholesky(inst, isa)) return *std::move(lanes);
  const Shape& shape = inst.operand(0)->shape();
  const char prefix = LapackPrefix(shape.element_type());
  if (prefix == 0) return Unsupported(inst, "element types of factorisations");
  Factor f{.batch = 1, .n = shape.dims().back(), .lower = inst.attr<CholeskyAttrs>().lower};
  for (const int64_t d : shape.dims().drop_back(2)) f.batch *= d;
  if (f.batch * f.n == 0) return Unsupported(inst, "empty arrays");
  if (f.n > kLapackMax) return Unsupported(inst, "dimensions beyond 32 bits");
  return PlanWithLibrary<Routine::Potrf>(inst, prefix, f.n, f, /*in_place=*/0);
}

}  // namespace hlo::structured
