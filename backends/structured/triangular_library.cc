// triangular-solve of complex numbers with LAPACK's trsm, right-hand sides by threads.
#include "backends/structured/lapack.h"
#include "backends/structured/triangular.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo::structured {
namespace {

using lapack::Routine;

/// op(a) x = b, or x op(a) = b.
struct System {
  int64_t batch, m, n;  // a is m x m; n right-hand sides
  bool left;            // b is m x n; else n x m
  // Column by column the arrays are their transposes: the sides and triangles change places.
  char side, triangle, op, diagonal;
  template <class T>
  void Run(lapack::Function<Routine::Trsm, T>* trsm, void* const* arrays) const;
};

template <class T>
void System::Run(lapack::Function<Routine::Trsm, T>* trsm, void* const* arrays) const {
  const T *a = static_cast<const T*>(arrays[0]), *b = static_cast<const T*>(arrays[1]);
  T* out = static_cast<T*>(arrays[2]);
  const int64_t size = m * n;
  // Enough work for each piece, and vectors that are not cut.
  constexpr int64_t kLeastPiece = 64, kWorthThread = 400000, kUnit = 16;
  const int64_t grain = std::max(kLeastPiece, (kWorthThread / (m * m) + kUnit - 1) / kUnit * kUnit);
  const int64_t pieces = (n + grain - 1) / grain;
  ParallelFor(0, batch * pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end && !Interrupted(); ++p) {
      const int64_t k = p / pieces, first = p % pieces * grain, count = std::min(grain, n - first);
      const int rows = static_cast<int>(m), columns = static_cast<int>(n), some = static_cast<int>(count);
      const T one(1);
      T* x = out + k * size + first * (left ? 1 : m);
      const T* from = b + (x - out);
      for (int64_t row = 0; row < (left ? m : count); ++row)
        std::copy_n(from + row * (left ? n : m), left ? count : m, x + row * (left ? n : m));
      trsm(&side, &triangle, &op, &diagonal, left ? &some : &rows, left ? &rows : &some, &one, a + k * m * m,
           &rows, x, left ? &columns : &rows);
    }
  });
}

}  // namespace

Result<Plan> PlanComplexSystem(const Instruction& inst, const TriangularSystem& system) {
  System s{};
  s.batch = system.batch;
  s.m = system.m;
  s.n = system.n;
  s.left = system.left;
  s.side = s.left ? 'R' : 'L';
  s.triangle = system.lower ? 'U' : 'L';
  s.op = system.op == TransposeA::Adjoint ? 'C' : system.op == TransposeA::Transpose ? 'T' : 'N';
  s.diagonal = system.unit ? 'U' : 'N';
  if (std::max(s.m, s.n) > kLapackMax) return Unsupported(inst, "dimensions beyond 32 bits");
  return PlanWithLibrary<Routine::Trsm>(inst, LapackPrefix(system.type), s.m, s, /*in_place=*/1);
}

}  // namespace hlo::structured
