// LAPACK routines as plans use them.
#pragma once
#include <limits>

#include "backends/structured/plan.h"
#include "ir/eval/lapack_library.h"
#include "ir/types.h"

namespace hlo::structured {

/// The largest dimension of LAPACK's interface.
inline constexpr int64_t kLapackMax = std::numeric_limits<int>::max();

/// s, d, c or z; 0 for other types.
inline char LapackPrefix(ElementType type) {
  switch (type) {
    case ElementType::F32: return 's';
    case ElementType::F64: return 'd';
    case ElementType::C64: return 'c';
    case ElementType::C128: return 'z';
    default: return 0;
  }
}

/// Calls f.template operator()<T>() for the type of a prefix.
template <class F>
void VisitLapackType(char prefix, F f) {
  switch (prefix) {
    case 's': return f.template operator()<float>();
    case 'd': return f.template operator()<double>();
    case 'c': return f.template operator()<std::complex<float>>();
    default: return f.template operator()<std::complex<double>>();
  }
}

/// A plan that calls problem.Run<T>(function, arrays) with the library's routine for elements of this prefix
/// and matrices of this size; declined where loops of our own are to be taken.
template <lapack::Routine routine, class Problem>
Result<Plan> PlanWithLibrary(const Instruction& inst, char prefix, int64_t size, const Problem& problem,
                             int64_t in_place) {
  const lapack::Found found = lapack::FindRoutine(routine, prefix, size);
  if (!found.uses_library) return Unsupported(inst, found.how);
  auto run = [problem, prefix, function = found.function](void* const* arrays) {
    VisitLapackType(prefix, [&]<class T>() {
      problem.template Run<T>(reinterpret_cast<lapack::Function<routine, T>*>(function), arrays);
    });
  };
  return Plan{found.how, std::move(run), in_place, /*uses_library=*/true};
}

}  // namespace hlo::structured
