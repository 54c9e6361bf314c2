// What the archive does without: libraries that are loaded.
#include "ir/eval/lapack_library.h"

namespace hlo::lapack {

Found FindRoutine(Routine routine, char prefix, int64_t) {
  constexpr const char* kHow = "own loops";
  switch (prefix) {
    case 's': return {OwnRoutine<float>(routine), false, kHow};
    case 'd': return {OwnRoutine<double>(routine), false, kHow};
    case 'c': return {OwnRoutine<std::complex<float>>(routine), false, kHow};
    default: return {OwnRoutine<std::complex<double>>(routine), false, kHow};
  }
}

}  // namespace hlo::lapack
