// For tests that compare our declarations of libraries with those of CUDA.
#pragma once

namespace hlo::gpu {

template <auto ours, auto theirs>
constexpr bool kSame = static_cast<int>(ours) == static_cast<int>(theirs);

/// Parameters of the same number and sizes.
template <class R, class... X, class S2, class... Y>
constexpr bool IsAlike(R (*)(X...), S2 (*)(Y...)) {
  if constexpr (sizeof...(X) != sizeof...(Y))
    return false;
  else
    // NOLINTNEXTLINE(bugprone-sizeof-expression): pointers are compared as such.
    return sizeof(R) == sizeof(S2) && ((sizeof(X) == sizeof(Y)) && ...);
}

}  // namespace hlo::gpu
