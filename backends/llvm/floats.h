// The formats that emitters compute in: what their bits mean, and numbers that follow from it.
#pragma once
#include "ir/numeric/float_format.h"

namespace hlo::codegen {

inline constexpr FloatFormat kF16 = Format(ElementType::F16), kBf16 = Format(ElementType::BF16),
                             kF32 = Format(ElementType::F32), kF64 = Format(ElementType::F64);

/// The least normal numbers, and the least that are not 0.
inline constexpr double kLeastNormal32 = 0x1p-126, kLeastNormal64 = 0x1p-1022;
inline constexpr double kLeast32 = 0x1p-149;
/// From here on numbers have no fraction.
inline constexpr double kWhole32 = 0x1p23, kWhole64 = 0x1p52;
/// Added to a number that is much smaller it leaves the nearest integer in the low bits of the sum.
inline constexpr double kRounding32 = 0x1.8p23, kRounding64 = 0x1.8p52;
/// Powers of two that make subnormals normal.
inline constexpr int64_t kUp32 = 25, kUp64 = 54;
inline constexpr double kPowerUp32 = 0x1p25, kPowerUp64 = 0x1p54;
/// The bits of sqrt(1/2) of f64, and of 3/4 of f32: where mantissas around 1 begin.
inline constexpr int64_t kBitsOfRootOfHalf64 = 0x3fe6a09e667f3bcd, kBitsOfThreeQuarters32 = 0x3f400000;
/// Of f32: sign, and a NaN that has nothing in its lower half, which bf16 lacks.
inline constexpr uint64_t kSign32 = uint64_t{1} << 31, kNan32 = 0x7fc00000;
/// What f32 has below bf16.
inline constexpr int kBelowBf16 = 16;
inline constexpr uint64_t kHalfBelowBf16 = 0x7fff;  // a little less than half of the last place

}  // namespace hlo::codegen
