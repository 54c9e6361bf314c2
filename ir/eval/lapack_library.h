// LAPACK routines: those of an installed library, or loops of our own with the same arguments.
#pragma once
#include <complex>
#include <cstdint>
#include <string>
#include <type_traits>

namespace hlo::lapack {

template <class T>
struct Traits;
template <>
struct Traits<float> {
  using Real = float;
  static constexpr char kPrefix = 's';
};
template <>
struct Traits<double> {
  using Real = double;
  static constexpr char kPrefix = 'd';
};
template <>
struct Traits<std::complex<float>> {
  using Real = float;
  static constexpr char kPrefix = 'c';
};
template <>
struct Traits<std::complex<double>> {
  using Real = double;
  static constexpr char kPrefix = 'z';
};
template <class T>
using Real = typename Traits<T>::Real;
template <class T>
inline constexpr bool kIsComplex = !std::is_same_v<T, Real<T>>;

enum class Routine {
#define LAPACK_ROUTINE(Id, ...) Id,
#include "ir/eval/lapack_routines.def"
};

/// The function type of a routine for elements of type T.
template <Routine routine, class T>
struct Prototype;
#define LAPACK_ROUTINE(Id, real, complex, own_to, real_arguments, complex_arguments)           \
  template <class T>                                                                           \
  struct Prototype<Routine::Id, T> {                                                           \
    using R = Real<T>;                                                                         \
    using Of = std::conditional_t<kIsComplex<T>, void complex_arguments, void real_arguments>; \
  };
#include "ir/eval/lapack_routines.def"
template <Routine routine, class T>
using Function = typename Prototype<routine, T>::Of;

/// Where a routine comes from.
struct Found {
  void* function;
  bool uses_library;
  std::string how;  // for --explain-codegen: "library: openblas spotrf", or "own loops: …" with the reason
};

/// The routine for elements with this prefix (s, d, c, z) and matrices of this size: of the library if that
/// is faster, else of our own. The library is loaded with its first use and works with one thread per call.
/// HLO_LAPACK in the environment names another library, or `none`.
Found FindRoutine(Routine routine, char prefix, int64_t size);

/// The same as a function.
template <Routine routine, class T>
Function<routine, T>* Find(int64_t size) {
  return reinterpret_cast<Function<routine, T>*>(FindRoutine(routine, Traits<T>::kPrefix, size).function);
}

/// The loops of our own for elements of type T (lapack_own.cc).
template <class T>
void* OwnRoutine(Routine routine);

}  // namespace hlo::lapack
