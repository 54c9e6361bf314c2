// cholesky (ops-structured §6.2): small matrices in lanes, others with LAPACK where one is installed.
#include <cmath>
#include <cstring>

#include "backends/structured/lane_systems.h"
#include "backends/structured/lapack.h"
#include "backends/structured/plan.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo::structured {
namespace {

using lapack::Real;
using lapack::Routine;

struct Factor {
  int64_t batch, n;
  bool lower;
  template <class T>
  void Run(lapack::Function<Routine::Potrf, T>* potrf, void* const* arrays) const;
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

template <class T>
void Factor::Run(lapack::Function<Routine::Potrf, T>* potrf, void* const* arrays) const {
  const auto* from = static_cast<const T*>(arrays[0]);
  auto* to = static_cast<T*>(arrays[1]);
  const int64_t work = n * n * n / 3, size = n * n;
  ParallelFor(0, batch, std::max<int64_t>(1, 200000 / work), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end && !Interrupted(); ++k) {
      T* l = to + k * size;
      CopyTriangle(*this, from + k * size, l);
      // Column by column the arrays are their transposes, hence the other triangle.
      const char triangle = lower ? 'U' : 'L';
      const int rows = static_cast<int>(n);
      int info = 0;
      potrf(&triangle, &rows, l, &rows, &info);
      if (!HasFactor(*this, info, l)) std::fill(l, l + size, NotANumber<T>());
    }
  });
}

}  // namespace

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
