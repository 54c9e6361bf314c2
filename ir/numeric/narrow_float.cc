// Conversions between codes of floating types and float or double.
#include "ir/numeric/narrow_float.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>

#include "ir/support/cpu_features.h"
#endif

namespace hlo {
namespace {

template <ElementType T>
constexpr FloatFormat kFormat = Format(T);

/// The unsigned type that holds one element in host memory.
template <ElementType T>
using Storage = std::conditional_t<(Info(T).bits <= 8), uint8_t, uint16_t>;

template <ElementType T>
constexpr std::array<float, 256> MakeFloatTable() {
  std::array<float, 256> table{};
  for (size_t code = 0; code < table.size(); ++code)
    table[code] = static_cast<float>(std::bit_cast<double>(DecodeToBinary64(kFormat<T>, code)));
  return table;
}
/// Values of all codes of a type of at most 8 bits; bits above the width do not matter.
template <ElementType T>
constexpr std::array<float, 256> kFloatTable = MakeFloatTable<T>();

uint16_t FloatToBf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  const uint32_t nan = (bits >> 31) << 15 | 0x7FC0;
  return static_cast<uint16_t>((bits & 0x7FFFFFFF) > 0x7F800000 ? nan : rounded);
}

float Bf16ToFloat(uint16_t code) {
  const uint32_t quiet = (code & 0x7FFF) > 0x7F80 ? 0x40 : 0;
  return std::bit_cast<float>((code | quiet) << 16);
}

float HalfToFloat(uint16_t code) {
  const uint32_t magnitude = code & 0x7FFF;
  // Scaling by 2^112 rebiases the exponent and normalises subnormals; the top codes need their own.
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112F;
  const uint32_t special = 0x7F800000 | magnitude << 13 | (magnitude > 0x7C00 ? 0x400000 : 0);
  const uint32_t bits = magnitude >= 0x7C00 ? special : std::bit_cast<uint32_t>(scaled);
  return std::bit_cast<float>(bits | static_cast<uint32_t>(code >> 15) << 31);
}

template <ElementType T>
Storage<T> Encode(double value) {
  if constexpr (T == ElementType::BF16)
    return FloatToBf16(static_cast<float>(value));
  else
    return static_cast<Storage<T>>(EncodeFromBinary64(kFormat<T>, std::bit_cast<uint64_t>(value)));
}

template <ElementType T>
float Decode(Storage<T> code) {
  if constexpr (T == ElementType::BF16)
    return Bf16ToFloat(code);
  else if constexpr (T == ElementType::F16)
    return HalfToFloat(code);
  else
    return kFloatTable<T>[code];
}

/// The code for every float whose low 16 bits are zero. Folding those bits into one sticky bit keeps
/// every rounding decision of a format with at most four mantissa bits.
template <ElementType T>
const std::array<uint8_t, 65536>& FloatHighHalfTable() {
  // Not on the heap: code compiled ahead of time takes none, however late it first needs this.
  static std::array<uint8_t, 65536> table;
  static const bool filled = [] {
    for (uint32_t i = 0; i < table.size(); ++i)
      table[i] = static_cast<uint8_t>(Encode<T>(static_cast<double>(std::bit_cast<float>(i << 16))));
    return true;
  }();
  (void)filled;
  return table;
}

/// Whether so many elements have been converted to T, n more included, that its table pays.
template <ElementType T>
bool WorthATable(size_t n) {
  constexpr size_t kElements = 16384;
  static std::atomic<size_t> converted = 0;
  const size_t before = converted.load(std::memory_order_relaxed);
  if (before < kElements) converted.store(before + n, std::memory_order_relaxed);
  return before + n >= kElements;
}

/// The canonical NaN in place of those whose payload the instruction keeps.
[[gnu::noinline]] void NarrowNans(const float* in, uint16_t* out, size_t n) {
  for (size_t k = 0; k < n; ++k)
    if (std::isnan(in[k]))
      out[k] = static_cast<uint16_t>(kFormat<ElementType::F16>.nan_code(std::signbit(in[k])));
}

/// Instructions convert between F16 and F32.
#if defined(__x86_64__)
bool ConvertsHalves() {
  static const bool has = HasCpuFeatures({"avx2", "f16c"});
  return has;
}

__attribute__((target("avx2,f16c"))) void WidenHalves(const uint16_t* in, float* out, size_t n) {
  const auto widen = [](const uint16_t* from, float* to) __attribute__((target("avx2,f16c"))) {
    _mm256_storeu_ps(to, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
  };
  size_t i = 0;
  for (; i + 8 <= n; i += 8) widen(in + i, out + i);
  if (i == n) return;
  uint16_t codes[8] = {};
  float numbers[8];
  std::copy(in + i, in + n, codes);
  widen(codes, numbers);
  std::copy_n(numbers, n - i, out + i);
}

/// Returns how many elements it converted.
__attribute__((target("avx512f"))) size_t NarrowHalvesByVectors(const float* in, uint16_t* out, size_t n) {
  size_t i = 0;
  for (; i + 32 <= n; i += 32) {
    const __m512 low = _mm512_loadu_ps(in + i), high = _mm512_loadu_ps(in + i + 16);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), _mm512_cvtps_ph(low, _MM_FROUND_TO_NEAREST_INT));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i + 16),
                        _mm512_cvtps_ph(high, _MM_FROUND_TO_NEAREST_INT));
    if (_mm512_cmp_ps_mask(low, high, _CMP_UNORD_Q) != 0) NarrowNans(in + i, out + i, 32);
  }
  return i;
}

__attribute__((target("avx2,f16c"))) void NarrowHalves(const float* in, uint16_t* out, size_t n) {
  const auto narrow = [](const float* from, uint16_t* to) __attribute__((target("avx2,f16c"))) {
    const __m256 low = _mm256_loadu_ps(from), high = _mm256_loadu_ps(from + 8);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_cvtps_ph(low, _MM_FROUND_TO_NEAREST_INT));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 8), _mm256_cvtps_ph(high, _MM_FROUND_TO_NEAREST_INT));
    if (_mm256_movemask_ps(_mm256_cmp_ps(low, high, _CMP_UNORD_Q)) != 0) NarrowNans(from, to, 16);
  };
  static const bool has_long_vectors = HasCpuFeatures({"avx512f"});
  size_t i = has_long_vectors ? NarrowHalvesByVectors(in, out, n) : 0;
  for (; i + 16 <= n; i += 16) narrow(in + i, out + i);
  if (i == n) return;
  float numbers[16] = {};
  uint16_t codes[16];
  std::copy(in + i, in + n, numbers);
  narrow(numbers, codes);
  std::copy_n(codes, n - i, out + i);
}
#elif defined(__aarch64__)
bool ConvertsHalves() { return true; }

void WidenHalves(const uint16_t* in, float* out, size_t n) {
  for (size_t i = 0; i < n; ++i) out[i] = static_cast<float>(std::bit_cast<_Float16>(in[i]));
}

void NarrowHalves(const float* in, uint16_t* out, size_t n) {
  bool has_nans = false;
  for (size_t i = 0; i < n; ++i) {
    out[i] = std::bit_cast<uint16_t>(static_cast<_Float16>(in[i]));
    has_nans |= std::isnan(in[i]);
  }
  if (has_nans) NarrowNans(in, out, n);
}
#else
bool ConvertsHalves() { return false; }
void WidenHalves(const uint16_t*, float*, size_t) {}
void NarrowHalves(const float*, uint16_t*, size_t) {}
#endif

template <ElementType T, class Real>
void Widen(const void* in, Real* out, size_t n) {
  const auto* codes = static_cast<const Storage<T>*>(in);
  if constexpr (T == ElementType::F16 && std::is_same_v<Real, float>)
    if (ConvertsHalves()) return WidenHalves(codes, out, n);
  for (size_t i = 0; i < n; ++i) out[i] = static_cast<Real>(Decode<T>(codes[i]));
}

template <ElementType T, class Real>
void Narrow(const Real* in, void* out, size_t n) {
  auto* codes = static_cast<Storage<T>*>(out);
  size_t i = 0;
  if constexpr (std::is_same_v<Real, float>) {
    if constexpr (T == ElementType::F16) {
      if (ConvertsHalves()) return NarrowHalves(in, codes, n);
    } else if constexpr (T != ElementType::BF16) {
      if (WorthATable<T>(n)) {
        const auto& table = FloatHighHalfTable<T>();
        for (; i < n; ++i) {
          const auto bits = std::bit_cast<uint32_t>(in[i]);
          codes[i] = table[bits >> 16 | static_cast<uint32_t>((bits & 0xFFFF) != 0)];
        }
      }
    }
  }
  for (; i < n; ++i) codes[i] = Encode<T>(static_cast<double>(in[i]));
}

/// The conversions of one type; F32 and F64 are handled before the table is asked.
struct Conversions {
  void (*widen_to_float)(const void*, float*, size_t) = nullptr;
  void (*widen_to_double)(const void*, double*, size_t) = nullptr;
  void (*narrow_from_float)(const float*, void*, size_t) = nullptr;
  void (*narrow_from_double)(const double*, void*, size_t) = nullptr;
  float (*decode)(uint64_t) = nullptr;
  uint64_t (*encode)(double) = nullptr;
};

template <ElementType T>
constexpr Conversions ConversionsOf() {
  if constexpr (IsFloat(T) && Info(T).bits <= 16) {
    return {Widen<T, float>,
            Widen<T, double>,
            Narrow<T, float>,
            Narrow<T, double>,
            [](uint64_t code) { return Decode<T>(static_cast<Storage<T>>(code)); },
            [](double value) -> uint64_t { return Encode<T>(value); }};
  } else {
    return {};
  }
}

constexpr std::array kConversions = {
#define HLO_TYPE(Kind, ...) ConversionsOf<ElementType::Kind>(),
#include "ir/types.def"
};

const Conversions& Narrowing(ElementType type) {
  const Conversions& c = kConversions[static_cast<size_t>(type)];
  assert(c.decode != nullptr && "a real floating type is wanted");
  return c;
}

template <class To, class From>
void Cast(const From* in, To* out, size_t n) {
  for (size_t i = 0; i < n; ++i) out[i] = static_cast<To>(in[i]);
}

template <class T>
void Copy(const void* in, void* out, size_t n) {
  if (n != 0) std::memcpy(out, in, n * sizeof(T));
}

/// The double next to a 64-bit magnitude that makes a later rounding to at most 52 bits correct:
/// truncated, with the last bit set if anything was lost.
double RoundToOdd(uint64_t magnitude) {
  const int lost = 11 - std::countl_zero(magnitude | 1);
  if (lost <= 0) return static_cast<double>(magnitude);
  const uint64_t kept = magnitude >> lost << lost;
  return static_cast<double>(kept | (kept != magnitude ? uint64_t{1} << lost : 0));
}

/// Types that integers reach through F32: rounding twice is part of their definition.
bool IntegersGoThroughFloat(ElementType type) { return Info(type).exponent_bits == 8; }

}  // namespace

double ToDouble(ElementType type, uint64_t code) {
  if (type == ElementType::F64) return std::bit_cast<double>(code);
  return static_cast<double>(ToFloat(type, code));
}

float ToFloat(ElementType type, uint64_t code) {
  if (type == ElementType::F32) return std::bit_cast<float>(static_cast<uint32_t>(code));
  if (type == ElementType::F64) return static_cast<float>(std::bit_cast<double>(code));
  return Narrowing(type).decode(code);
}

uint64_t FromDouble(ElementType type, double value) {
  if (type == ElementType::F64) return std::bit_cast<uint64_t>(value);
  if (type == ElementType::F32) return std::bit_cast<uint32_t>(static_cast<float>(value));
  return Narrowing(type).encode(value);
}

uint64_t FromFloat(ElementType type, float value) {
  if (type == ElementType::F32) return std::bit_cast<uint32_t>(value);
  return FromDouble(type, static_cast<double>(value));
}

uint64_t FromSigned(ElementType type, int64_t value) {
  if (type == ElementType::F64) return std::bit_cast<uint64_t>(static_cast<double>(value));
  if (IntegersGoThroughFloat(type)) return FromFloat(type, static_cast<float>(value));
  const bool negative = value < 0;
  const double magnitude =
      RoundToOdd(negative ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value));
  return FromDouble(type, negative ? -magnitude : magnitude);
}

uint64_t FromUnsigned(ElementType type, uint64_t value) {
  if (type == ElementType::F64) return std::bit_cast<uint64_t>(static_cast<double>(value));
  if (IntegersGoThroughFloat(type)) return FromFloat(type, static_cast<float>(value));
  return FromDouble(type, RoundToOdd(value));
}

int64_t SaturateToSigned(double value, int64_t min, int64_t max) {
  if (std::isnan(value)) return 0;
  // Bounds of 64 bits are not doubles: compare with 2^63 before converting.
  if (value >= 0x1p63) return max;
  if (value < -0x1p63) return min;
  return std::clamp(static_cast<int64_t>(value), min, max);
}

uint64_t SaturateToUnsigned(double value, uint64_t max) {
  if (!(value > 0)) return 0;
  if (value >= 0x1p64) return max;
  return std::min(static_cast<uint64_t>(value), max);
}

void WidenToFloat(ElementType type, const void* in, float* out, size_t n) {
  if (type == ElementType::F32) return Copy<float>(in, out, n);
  if (type == ElementType::F64) return Cast(static_cast<const double*>(in), out, n);
  Narrowing(type).widen_to_float(in, out, n);
}

void WidenToDouble(ElementType type, const void* in, double* out, size_t n) {
  if (type == ElementType::F64) return Copy<double>(in, out, n);
  if (type == ElementType::F32) return Cast(static_cast<const float*>(in), out, n);
  Narrowing(type).widen_to_double(in, out, n);
}

void NarrowFromFloat(ElementType type, const float* in, void* out, size_t n) {
  if (type == ElementType::F32) return Copy<float>(in, out, n);
  if (type == ElementType::F64) return Cast(in, static_cast<double*>(out), n);
  Narrowing(type).narrow_from_float(in, out, n);
}

void NarrowFromDouble(ElementType type, const double* in, void* out, size_t n) {
  if (type == ElementType::F64) return Copy<double>(in, out, n);
  if (type == ElementType::F32) return Cast(in, static_cast<float*>(out), n);
  Narrowing(type).narrow_from_double(in, out, n);
}

uint64_t ReducePrecision(ElementType type, uint64_t code, int exponent_bits, int mantissa_bits) {
  const FloatFormat f = Format(type);
  code &= f.code_mask();
  if (f.is_nan(code) || (f.has_infinity() && (code & ~f.sign_mask()) == f.exponent_mask())) return code;
  const bool negative = (code & f.sign_mask()) != 0;
  uint64_t magnitude = code & ~f.sign_mask();
  if (mantissa_bits < f.mantissa_bits) {
    const int drop = f.mantissa_bits - mantissa_bits;
    const uint64_t unit = uint64_t{1} << drop;
    magnitude += unit / 2 - 1 + ((magnitude >> drop) & 1);
    magnitude &= ~(unit - 1);
  }
  if (magnitude > f.max_finite_code()) return f.overflow_code(negative);
  if (exponent_bits < f.exponent_bits) {
    const int reach = (1 << (exponent_bits - 1)) - 1;
    const int exponent = static_cast<int>(magnitude >> f.mantissa_bits);
    if (exponent > f.bias + reach) return f.overflow_code(negative);
    if (exponent <= f.bias - reach) magnitude = 0;
  }
  if (magnitude == 0 && !f.has_negative_zero()) return 0;
  return negative ? magnitude | f.sign_mask() : magnitude;
}

}  // namespace hlo
