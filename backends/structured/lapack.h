// LAPACK routines as plans use them.
#pragma once
#include <limits>

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

}  // namespace hlo::structured
