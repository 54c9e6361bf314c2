// The register that says how the calling thread rounds, and what it does with subnormal numbers.
#pragma once
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hlo {

/// Bits of the register by which subnormal operands and results of arithmetic are taken as zeros.
#if defined(__x86_64__)
inline constexpr uint64_t kSubnormalsAreZero = 0x8040;  // MXCSR: flush to zero, denormals are zero
#elif defined(__aarch64__)
inline constexpr uint64_t kSubnormalsAreZero = uint64_t{1} << 24;  // FPCR: FZ
#else
inline constexpr uint64_t kSubnormalsAreZero = 0;
#endif

inline uint64_t FloatControl() {
#if defined(__x86_64__)
  return _mm_getcsr();
#elif defined(__aarch64__)
  uint64_t bits;
  __asm__ volatile("mrs %0, fpcr" : "=r"(bits) : : "memory");
  return bits;
#else
  return 0;
#endif
}

inline void SetFloatControl([[maybe_unused]] uint64_t bits) {
#if defined(__x86_64__)
  _mm_setcsr(static_cast<unsigned>(bits));
#elif defined(__aarch64__)
  __asm__ volatile("msr fpcr, %0" : : "r"(bits) : "memory");
#endif
}

}  // namespace hlo
