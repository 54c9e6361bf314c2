// QR factors of row-major matrices, and the orthogonal ones made of them: small ones in double precision,
// others with LAPACK, transposed on the way.
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

/// A small matrix as the loops of our own want it.
template <class T>
class SmallMatrix {
 public:
  using W = typename Working<T>::W;
  SmallMatrix(const T* a, int64_t rows, int64_t columns) : view_{place_, rows, columns, rows} {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) view_(i, j) = Working<T>::Load(a[i * columns + j]);
  }
  SmallMatrix(const SmallMatrix&) = delete;
  SmallMatrix& operator=(const SmallMatrix&) = delete;
  [[nodiscard]] const dense::Matrix<W>& view() const { return view_; }
  void Store(T* a) const {
    for (int64_t i = 0; i < view_.rows; ++i)
      for (int64_t j = 0; j < view_.columns; ++j) a[i * view_.columns + j] = Working<T>::Store(view_(i, j));
  }

 private:
  W place_[kSmall * kSmall];
  dense::Matrix<W> view_;
};

/// Where a matrix is turned, and what a routine of that name works with.
template <class T>
struct TurnedWork {
  TurnedWork(llvm::StringRef routine, gemm::Isa isa, const Matrices& m)
      : transposer(isa, m.rows, m.columns),
        matrix(routine, static_cast<size_t>(m.rows) * static_cast<size_t>(m.columns)),
        room(routine, 1),
        user(routine) {}

  /// Calls run(room, size), first to learn the size.
  template <class F>
  void Run(F run) {
    int size = -1;
    run(room.data(), &size);
    size = std::max(1, static_cast<int>(std::real(std::complex<double>(room[0]))));
    if (room.size() < static_cast<size_t>(size)) room = GuardedArray<T>(user, static_cast<size_t>(size));
    run(room.data(), &size);
  }

  Transposer<T> transposer;
  GuardedArray<T> matrix, room;
  llvm::StringRef user;
};

/// Calls f(k, work) for the matrices; `work` is nothing for small ones.
template <class T, class F>
void ForEachMatrix(llvm::StringRef routine, const Matrices& m, gemm::Isa isa, F f) {
  const int64_t size = m.rows * m.columns, least = std::min(m.rows, m.columns);
  const bool small = std::max(m.rows, m.columns) <= kSmall;
  ParallelFor(0, m.batch, std::max<int64_t>(1, kPiece / (size * (least + 4))),
              [&](int64_t begin, int64_t end) {
                std::optional<TurnedWork<T>> work;
                if (!small) work.emplace(routine, isa, m);
                for (int64_t k = begin; k < end && !Interrupted(); ++k) f(k, work ? &*work : nullptr);
              });
}

/// On arrays (a, packed, tau).
struct Qr {
  Matrices matrices;
  gemm::Isa isa;

  template <class T>
  void Run(lapack::Function<Routine::Geqrf, T>* geqrf, void* const* arrays) const {
    const int64_t rows = matrices.rows, columns = matrices.columns, count = std::min(rows, columns);
    ForEachMatrix<T>("geqrf", matrices, isa, [&](int64_t k, TurnedWork<T>* work) {
      const T* a = static_cast<const T*>(arrays[0]) + k * rows * columns;
      T *packed = static_cast<T*>(arrays[1]) + k * rows * columns,
        *tau = static_cast<T*>(arrays[2]) + k * count;
      if (work == nullptr) {
        const SmallMatrix<T> qr(a, rows, columns);
        typename Working<T>::W factors[kSmall];
        dense::FactorQr(qr.view(), factors);
        qr.Store(packed);
        for (int64_t i = 0; i < count; ++i) tau[i] = Working<T>::Store(factors[i]);
        return;
      }
      const int m = static_cast<int>(rows), n = static_cast<int>(columns);
      T* turned = work->matrix.data();
      work->transposer.Run(a, rows, columns, turned);
      work->Run([&](T* room, const int* size) {
        int info = 0;
        geqrf(&m, &n, turned, &m, tau, room, size, &info);
      });
      work->transposer.Run(turned, columns, rows, packed);
    });
  }
};

/// On arrays (packed, tau, q).
struct Reflectors {
  Matrices matrices;
  int64_t count;
  gemm::Isa isa;

  template <class T>
  void Run(lapack::Function<Routine::Orgqr, T>* orgqr, void* const* arrays) const {
    const int64_t rows = matrices.rows, columns = matrices.columns;
    ForEachMatrix<T>("orgqr", matrices, isa, [&](int64_t k, TurnedWork<T>* work) {
      const T *packed = static_cast<const T*>(arrays[0]) + k * rows * columns,
              *tau = static_cast<const T*>(arrays[1]) + k * count;
      T* q = static_cast<T*>(arrays[2]) + k * rows * columns;
      if (work == nullptr) {
        const SmallMatrix<T> matrix(packed, rows, columns);
        typename Working<T>::W factors[kSmall];
        for (int64_t i = 0; i < count; ++i) factors[i] = Working<T>::Load(tau[i]);
        dense::GenerateQ(matrix.view(), count, factors);
        matrix.Store(q);
        return;
      }
      const int m = static_cast<int>(rows), n = static_cast<int>(columns),
                reflectors = static_cast<int>(count);
      T* turned = work->matrix.data();
      work->transposer.Run(packed, rows, columns, turned);
      work->Run([&](T* room, const int* size) {
        int info = 0;
        orgqr(&m, &n, &reflectors, turned, &m, tau, room, size, &info);
      });
      work->transposer.Run(turned, columns, rows, q);
    });
  }
};

template <Routine routine, class Problem>
Result<Plan> PlanMatrices(const Instruction& inst, const Matrices& matrices, const Problem& problem) {
  const int64_t largest = std::max(matrices.rows, matrices.columns);
  if (matrices.batch * matrices.rows * matrices.columns == 0) return Unsupported(inst, "empty arrays");
  if (largest > kLapackMax) return Unsupported(inst, "dimensions beyond 32 bits");
  const char prefix = LapackPrefix(matrices.type);
  if (largest > kSmall) return PlanWithLibrary<routine>(inst, prefix, largest, problem, /*in_place=*/0);
  auto run = [problem, prefix](void* const* arrays) {
    VisitLapackType(prefix, [&]<class T>() { problem.template Run<T>(nullptr, arrays); });
  };
  return Plan{"factors in double precision", std::move(run), /*in_place=*/0};
}

}  // namespace

Result<Plan> PlanQrFactors(const Instruction& inst, const Matrices& matrices, gemm::Isa isa) {
  return PlanMatrices<Routine::Geqrf>(inst, matrices, Qr{matrices, isa});
}

Result<Plan> PlanReflectors(const Instruction& inst, const Matrices& matrices, int64_t count, gemm::Isa isa) {
  if (count > std::min(matrices.rows, matrices.columns) || matrices.columns > matrices.rows)
    return Unsupported(inst, "more reflectors than columns");
  return PlanMatrices<Routine::Orgqr>(inst, matrices, Reflectors{matrices, count, isa});
}

}  // namespace hlo::structured
