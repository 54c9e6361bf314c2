// LU factors of row-major matrices: small ones in double precision, others with LAPACK, transposed on the
// way.
#include "backends/structured/factors.h"
#include "backends/structured/lapack.h"
#include "backends/structured/transpose.h"
#include "ir/numeric/dense.h"
#include "ir/support/guarded_memory.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo::structured {
namespace {

using lapack::Routine;

/// Larger matrices are LAPACK's.
constexpr int64_t kSmall = 16;
/// Operations that are worth waking a thread for.
constexpr int64_t kPiece = 20000;

template <class T>
void FactorSmall(int64_t rows, int64_t columns, T* a, int* pivots, int* info) {
  using W = typename Working<T>::W;
  W place[kSmall * kSmall];
  const dense::Matrix<W> lu{place, rows, columns, rows};
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) lu(i, j) = Working<T>::Load(a[i * columns + j]);
  *info = static_cast<int>(dense::FactorLu(lu, pivots));
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) a[i * columns + j] = Working<T>::Store(lu(i, j));
}

struct Lu {
  Matrices matrices;
  gemm::Isa isa;

  template <class T>
  void Run(lapack::Function<Routine::Getrf, T>* getrf, void* const* arrays) const {
    const int64_t rows = matrices.rows, columns = matrices.columns, size = rows * columns,
                  least = std::min(rows, columns);
    const auto* from = static_cast<const T*>(arrays[0]);
    auto* to = static_cast<T*>(arrays[1]);
    auto *pivots = static_cast<int*>(arrays[2]), *info = static_cast<int*>(arrays[3]);
    const bool small = std::max(rows, columns) <= kSmall;
    ParallelFor(0, matrices.batch, std::max<int64_t>(1, kPiece / (size * (least / 3 + 4))),
                [&](int64_t begin, int64_t end) {
                  const GuardedArray<T> work("getrf", small ? 0 : static_cast<size_t>(size));
                  const Transposer<T> transposer(isa, small ? 0 : rows, small ? 0 : columns);
                  for (int64_t k = begin; k < end && !Interrupted(); ++k) {
                    T* out = to + k * size;
                    if (!small) {
                      FactorLarge(getrf, from + k * size, out, pivots + k * least, info + k, work.data(),
                                  transposer);
                      continue;
                    }
                    if (from != to) std::copy_n(from + k * size, size, out);
                    FactorSmall(rows, columns, out, pivots + k * least, info + k);
                  }
                });
  }

 private:
  template <class T>
  void FactorLarge(lapack::Function<Routine::Getrf, T>* getrf, const T* from, T* to, int* pivots, int* info,
                   T* work, const Transposer<T>& transposer) const {
    const int m = static_cast<int>(matrices.rows), n = static_cast<int>(matrices.columns);
    transposer.Run(from, m, n, work);
    getrf(&m, &n, work, &m, pivots, info);
    transposer.Run(work, n, m, to);
  }
};

}  // namespace

Result<Plan> PlanLuFactors(const Instruction& inst, const Matrices& matrices, gemm::Isa isa) {
  const int64_t largest = std::max(matrices.rows, matrices.columns);
  if (matrices.batch * matrices.rows * matrices.columns == 0) return Unsupported(inst, "empty arrays");
  if (largest > kLapackMax) return Unsupported(inst, "dimensions beyond 32 bits");
  const Lu lu{matrices, isa};
  const char prefix = LapackPrefix(matrices.type);
  if (largest > kSmall) return PlanWithLibrary<Routine::Getrf>(inst, prefix, largest, lu, /*in_place=*/0);
  auto run = [lu, prefix](void* const* arrays) {
    VisitLapackType(prefix, [&]<class T>() { lu.Run<T>(nullptr, arrays); });
  };
  return Plan{"factors in double precision", std::move(run), /*in_place=*/0};
}

}  // namespace hlo::structured
