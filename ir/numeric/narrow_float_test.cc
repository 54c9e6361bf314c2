// Conversions of floating codes: every code of the narrow types, every rounding boundary between them.
#include "ir/numeric/narrow_float.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace hlo {
namespace {

using enum ElementType;
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

constexpr ElementType kNarrowTypes[] = {F16,    BF16,       F4E2M1FN, F6E2M3FN,   F6E3M2FN,
                                        F8E3M4, F8E4M3,     F8E4M3FN, F8E4M3FNUZ, F8E4M3B11FNUZ,
                                        F8E5M2, F8E5M2FNUZ, F8E8M0FNU};

uint64_t CodeCount(ElementType t) { return uint64_t{1} << Info(t).bits; }

/// The value by the textbook formula, independent of bit tricks.
double ValueByFormula(ElementType t, uint64_t code) {
  const FloatFormat f = Format(t);
  const double sign = (code & f.sign_mask()) != 0 ? -1 : 1;
  const uint64_t magnitude = code & ~f.sign_mask();
  const auto exponent = static_cast<int>(magnitude >> f.mantissa_bits);
  const auto mantissa = static_cast<double>(magnitude & f.mantissa_mask());
  const double scale = std::ldexp(1.0, -f.mantissa_bits);
  if (exponent == 0 && f.has_sign()) return sign * std::ldexp(mantissa * scale, 1 - f.bias);
  return sign * std::ldexp(1 + mantissa * scale, exponent - f.bias);
}

bool IsFiniteCode(ElementType t, uint64_t code) {
  const FloatFormat f = Format(t);
  return !f.is_nan(code) && (code & ~f.sign_mask()) <= f.max_finite_code();
}

TEST(NarrowFloat, EveryCodeHasItsValueAndRoundTrips) {
  for (ElementType t : kNarrowTypes) {
    for (uint64_t code = 0; code < CodeCount(t); ++code) {
      const double value = ToDouble(t, code);
      if (IsNanCode(t, code)) {
        EXPECT_TRUE(std::isnan(value)) << ToString(t).str() << " " << code;
        EXPECT_TRUE(IsNanCode(t, FromDouble(t, value)));
        continue;
      }
      if (IsFiniteCode(t, code))
        EXPECT_EQ(value, ValueByFormula(t, code)) << ToString(t).str() << " " << code;
      else
        EXPECT_TRUE(std::isinf(value));
      EXPECT_EQ(FromDouble(t, value), code) << ToString(t).str();
      EXPECT_EQ(FromFloat(t, ToFloat(t, code)), code);
    }
  }
}

// Between two neighbours: the middle goes to the even code, everything else to the nearer one.
TEST(NarrowFloat, RoundsToNearestEvenAtEveryMidpoint) {
  for (ElementType t : kNarrowTypes) {
    if (t == F8E8M0FNU) continue;
    const FloatFormat f = Format(t);
    for (uint64_t code = 0; code < f.max_finite_code(); ++code) {
      const double low = ToDouble(t, code);
      const double high = ToDouble(t, code + 1);
      const double middle = low + (high - low) / 2;
      const uint64_t even = code + (code & 1);
      for (double sign : {1.0, -1.0}) {
        const auto with_sign = [&](uint64_t c) {
          return sign < 0 && (c != 0 || f.has_negative_zero()) ? c | f.sign_mask() : c;
        };
        // BF16 goes through F32, whose neighbours are these.
        const double below =
            t == BF16 ? std::nextafterf(static_cast<float>(middle), -1) : std::nextafter(middle, -1);
        const double above = t == BF16 ? std::nextafterf(static_cast<float>(middle), static_cast<float>(kInf))
                                       : std::nextafter(middle, kInf);
        ASSERT_EQ(FromDouble(t, sign * middle), with_sign(even)) << ToString(t).str() << " " << code;
        ASSERT_EQ(FromDouble(t, sign * below), with_sign(code)) << ToString(t).str() << " " << code;
        ASSERT_EQ(FromDouble(t, sign * above), with_sign(code + 1)) << ToString(t).str() << " " << code;
      }
    }
  }
}

TEST(NarrowFloat, OverflowByFormat) {
  struct Case {
    ElementType type;
    double value;
    uint64_t code;
  };
  const Case cases[] = {
      {F16, 65519.9999968, 0x7BFF}, {F16, 65520, 0x7C00},
      {F16, -kInf, 0xFC00},         {BF16, 3.396177527901232e38, 0x7F80},
      {F8E4M3FN, 464, 0x7E},        {F8E4M3FN, 464.0001, 0x7F},
      {F8E4M3FN, -kInf, 0xFF},      {F8E4M3, 247.9, 0x77},
      {F8E4M3, 248, 0x78},          {F8E5M2, -61440, 0xFC},
      {F8E3M4, 15.75, 0x70},        {F8E4M3FNUZ, 248, 0x80},
      {F8E4M3FNUZ, 247, 0x7F},      {F8E4M3B11FNUZ, -31, 0x80},
      {F8E5M2FNUZ, kInf, 0x80},     {F4E2M1FN, 1e300, 0x7},
      {F4E2M1FN, -kInf, 0xF},       {F6E2M3FN, kInf, 0x1F},
      {F6E3M2FN, -100, 0x3F},       {F4E2M1FN, 0.25, 0x0},
      {F4E2M1FN, -0.25, 0x8},
  };
  for (const Case& c : cases)
    EXPECT_EQ(FromDouble(c.type, c.value), c.code) << ToString(c.type).str() << " " << c.value;
}

TEST(NarrowFloat, PowersOfTwoRoundHalvesUp) {
  const auto code = [](double v) { return FromDouble(F8E8M0FNU, v); };
  EXPECT_EQ(code(1.5), 128U);
  EXPECT_EQ(code(1.4999999), 127U);
  EXPECT_EQ(code(0.75), 127U);
  EXPECT_EQ(code(0x1p-127), 0U);
  EXPECT_EQ(code(5e-324), 0U);
  EXPECT_EQ(code(0x1.000001p-127), 1U);
  EXPECT_EQ(code(0x1.7ffffp-126), 1U);
  EXPECT_EQ(code(0x1.8p-126), 2U);
  EXPECT_EQ(code(0x1.7fffffp127), 0xFEU);
  for (double bad : {0x1.8p127, 0.0, -0.0, -1.0, kInf, -kInf, kNan}) EXPECT_EQ(code(bad), 0xFFU) << bad;
}

TEST(NarrowFloat, NanForms) {
  EXPECT_EQ(FromDouble(F8E5M2, -kNan), 0xFEU);
  EXPECT_EQ(FromDouble(F8E4M3FN, kNan), 0x7FU);
  EXPECT_EQ(FromDouble(BF16, -kNan), 0xFFC0U);
  EXPECT_EQ(FromDouble(F16, kNan), 0x7E00U);
  EXPECT_EQ(FromDouble(F8E4M3FNUZ, kNan), 0x80U);
  EXPECT_EQ(FromDouble(F4E2M1FN, -kNan), 0x8U);
  EXPECT_EQ(NanWithPayload(F8E5M2, true, 1), 0xFDU);
  EXPECT_EQ(MantissaField(F16, 0x7C05), 5U);
}

TEST(NarrowFloat, Facts) {
  EXPECT_EQ(MaxFinite(F8E4M3FN), 448);
  EXPECT_EQ(MaxFinite(F8E4M3B11FNUZ), 30);
  EXPECT_EQ(MaxFinite(F6E3M2FN), 28);
  EXPECT_EQ(MaxFinite(F64), std::numeric_limits<double>::max());
  EXPECT_EQ(MaxFinite(C64), static_cast<double>(std::numeric_limits<float>::max()));
  EXPECT_EQ(MaxFinite(F8E8M0FNU), 0x1p127);
  EXPECT_EQ(MinNormal(F8E8M0FNU), 0x1p-127);
  EXPECT_EQ(MinNormal(F8E5M2FNUZ), 0x1p-15);
  EXPECT_EQ(Epsilon(BF16), 0x1p-7);
}

TEST(NarrowFloat, IntegersRoundOnce) {
  EXPECT_EQ(FromSigned(F8E5M2, 9217), 0x71U);
  EXPECT_EQ(FromSigned(BF16, 16842753), 0x4B80U);
  EXPECT_EQ(FromSigned(F8E8M0FNU, 25165823), 0x98U);
  EXPECT_EQ(FromSigned(F16, -2049), FromDouble(F16, -2048.0));
  EXPECT_EQ(FromUnsigned(F8E5M2, ~uint64_t{0}), 0x7CU);
  EXPECT_EQ(FromUnsigned(F32, ~uint64_t{0}), FromDouble(F32, 0x1p64));
  EXPECT_EQ(FromSigned(F64, std::numeric_limits<int64_t>::min()), FromDouble(F64, -0x1p63));
}

TEST(NarrowFloat, FloatToIntegerSaturates) {
  EXPECT_EQ(SaturateToSigned(kNan, -8, 7), 0);
  EXPECT_EQ(SaturateToSigned(-8.9, -8, 7), -8);
  EXPECT_EQ(SaturateToSigned(1e300, INT64_MIN, INT64_MAX), INT64_MAX);
  EXPECT_EQ(SaturateToSigned(-kInf, INT64_MIN, INT64_MAX), INT64_MIN);
  EXPECT_EQ(SaturateToUnsigned(-1, 255), 0U);
  EXPECT_EQ(SaturateToUnsigned(255.9, 255), 255U);
  EXPECT_EQ(SaturateToUnsigned(kInf, UINT64_MAX), UINT64_MAX);
}

// Long and short arrays take different routes (vector code, tables); all agree with the scalar one.
TEST(NarrowFloat, BulkAgreesWithScalar) {
  std::vector<float> floats;
  for (uint32_t i = 0; i < 65536; i += 3)
    for (uint32_t low : {0x0000U, 0x0001U, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFFU, 0x1000U, 0x1001U})
      floats.push_back(std::bit_cast<float>(i << 16 | low));
  for (ElementType t : kNarrowTypes) {
    const auto bytes = static_cast<size_t>(Info(t).host_bytes());
    const std::vector<double> doubles(floats.begin(), floats.end());
    std::vector<uint16_t> codes(floats.size() + 8);
    std::vector<uint16_t> from_double(doubles.size());
    std::vector<uint16_t> some(13);
    NarrowFromFloat(t, floats.data(), codes.data(), floats.size());
    NarrowFromDouble(t, doubles.data(), from_double.data(), doubles.size());
    NarrowFromFloat(t, floats.data() + 3, some.data(), 13);
    for (size_t i = 0; i < floats.size(); ++i) {
      uint16_t code = 0;
      uint16_t code2 = 0;
      std::memcpy(&code, reinterpret_cast<const char*>(codes.data()) + i * bytes, bytes);
      std::memcpy(&code2, reinterpret_cast<const char*>(from_double.data()) + i * bytes, bytes);
      ASSERT_EQ(code, FromFloat(t, floats[i])) << ToString(t).str() << " " << floats[i];
      ASSERT_EQ(code2, code) << ToString(t).str() << " " << floats[i];
    }
    EXPECT_EQ(0,
              std::memcmp(some.data(), reinterpret_cast<const char*>(codes.data()) + 3 * bytes, 13 * bytes));
  }
}

TEST(NarrowFloat, BulkWidening) {
  for (ElementType t : kNarrowTypes) {
    const size_t n = CodeCount(t);
    std::vector<uint8_t> bytes(n);
    std::vector<uint16_t> words(n);
    for (size_t i = 0; i < n; ++i) bytes[i] = static_cast<uint8_t>(i), words[i] = static_cast<uint16_t>(i);
    const void* in = Info(t).bits <= 8 ? static_cast<const void*>(bytes.data()) : words.data();
    std::vector<float> floats(n);
    std::vector<double> doubles(n);
    WidenToFloat(t, in, floats.data(), n);
    WidenToDouble(t, in, doubles.data(), n);
    for (size_t i = 0; i < n; ++i) {
      const float want = ToFloat(t, i);
      ASSERT_EQ(std::bit_cast<uint32_t>(floats[i]), std::bit_cast<uint32_t>(want))
          << ToString(t).str() << " " << i;
      ASSERT_TRUE(doubles[i] == static_cast<double>(want) || std::isnan(want));
    }
  }
}

TEST(NarrowFloat, ReducePrecision) {
  const auto f32 = [](uint64_t code, int e, int m) { return ReducePrecision(F32, code, e, m); };
  EXPECT_EQ(f32(0x3F800001, 8, 23), 0x3F800001U);
  EXPECT_EQ(f32(0x3F803000, 5, 10), 0x3F804000U);  // tie to even, up
  EXPECT_EQ(f32(0x3F801000, 5, 10), 0x3F800000U);  // tie to even, down
  EXPECT_EQ(f32(0x477FF000, 5, 10), 0x7F800000U);  // 65520 overflows
  EXPECT_EQ(f32(0x387FC000, 5, 10), 0U);           // below the smallest normal half
  EXPECT_EQ(f32(0xB87FC000, 5, 10), 0x80000000U);
  EXPECT_EQ(f32(0x7F800001, 8, 0), 0x7F800001U);  // NaN unchanged
  EXPECT_EQ(ReducePrecision(F16, 0x0001, 5, 10), 1U);
}

}  // namespace
}  // namespace hlo
