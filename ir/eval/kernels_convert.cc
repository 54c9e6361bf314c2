// Kernels of convert, reduce-precision and stochastic-convert.
#include <array>
#include <cmath>
#include <limits>

#include "ir/eval/kernel_loops.h"
#include "ir/numeric/narrow_float.h"

namespace hlo::kernels {
namespace {

template <class T>
constexpr bool kIsComplex = false;
template <class T>
constexpr bool kIsComplex<std::complex<T>> = true;

/// Truncates toward zero and saturates to `bits` bits; NaN becomes 0.
template <class Out, class Real>
Out Saturate(Real x, int bits) {
  // 2^bits or 2^(bits-1): exact, and the first value out of range.
  const int magnitude_bits = std::is_signed_v<Out> ? bits - 1 : bits;
  const auto limit =
      magnitude_bits == 0 ? Real{1} : static_cast<Real>(uint64_t{1} << (magnitude_bits - 1)) * 2;
  const auto max =
      static_cast<Out>(std::numeric_limits<Out>::max() >> (static_cast<int>(sizeof(Out)) * 8 - bits));
  const auto min = static_cast<Out>(std::is_signed_v<Out> ? -max - 1 : 0);
  if constexpr (std::is_signed_v<Out>)
    return x >= limit ? max : x < -limit ? min : x == x ? static_cast<Out>(x) : Out{0};
  else
    return x >= limit ? max : x > 0 ? static_cast<Out>(x) : Out{0};
}

template <class Out>
struct Convert {
  template <class In>
  static Out Apply(In x, const KernelParam& param) {
    if constexpr (kIsComplex<Out> && kIsComplex<In>)
      return {static_cast<typename Out::value_type>(x.real()),
              static_cast<typename Out::value_type>(x.imag())};
    else if constexpr (kIsComplex<In>)
      return Apply(x.real(), param);
    else if constexpr (kIsComplex<Out>)
      return {static_cast<typename Out::value_type>(x), 0};
    else if constexpr (std::is_floating_point_v<In> && std::is_integral_v<Out>)
      return Saturate<Out>(x, param.bits);
    else
      return static_cast<Out>(x);
  }
};
/// Subnormals count as zero, as in comparisons, but for BF16.
struct ToPred {
  template <class In>
  static uint8_t Apply(In x, const KernelParam& param) {
    if constexpr (std::is_floating_point_v<In>)
      return !(std::fabs(x) < (param.from == ElementType::BF16 ? std::numeric_limits<In>::denorm_min()
                                                               : std::numeric_limits<In>::min()));
    else
      return x != 0;
  }
};

template <class In>
KernelFn ConvertRealTo(ElementType to) {
  // Integers to integers: only the width of the target counts.
  using S8 = std::conditional_t<std::is_integral_v<In>, uint8_t, int8_t>;
  using S16 = std::conditional_t<std::is_integral_v<In>, uint16_t, int16_t>;
  using S32 = std::conditional_t<std::is_integral_v<In>, uint32_t, int32_t>;
  using S64 = std::conditional_t<std::is_integral_v<In>, uint64_t, int64_t>;
  const TypeInfo& info = Info(to);
  const auto make = []<class Out>() { return Vector<Convert<Out>, Out, In>(); };
  if (info.type_class == TypeClass::Pred) return Pick(Vector<ToPred, uint8_t, In>());
  if (to == ElementType::F32) return Pick(make.template operator()<float>());
  if (to == ElementType::F64) return Pick(make.template operator()<double>());
  if (to == ElementType::C64) return &BaseLoop<Convert<std::complex<float>>, std::complex<float>, In>;
  if (to == ElementType::C128) return &BaseLoop<Convert<std::complex<double>>, std::complex<double>, In>;
  const bool is_signed = info.type_class == TypeClass::Signed;
  if (info.bits <= 8)
    return Pick(is_signed ? make.template operator()<S8>() : make.template operator()<uint8_t>());
  if (info.bits == 16)
    return Pick(is_signed ? make.template operator()<S16>() : make.template operator()<uint16_t>());
  if (info.bits == 32)
    return Pick(is_signed ? make.template operator()<S32>() : make.template operator()<uint32_t>());
  return Pick(is_signed ? make.template operator()<S64>() : make.template operator()<uint64_t>());
}

template <class In>
KernelFn ConvertComplexTo(ElementType to) {
  const TypeInfo& info = Info(to);
  const auto make = []<class Out>() { return &BaseLoop<Convert<Out>, Out, In>; };
  if (to == ElementType::F32) return make.template operator()<float>();
  if (to == ElementType::F64) return make.template operator()<double>();
  if (to == ElementType::C64) return make.template operator()<std::complex<float>>();
  if (to == ElementType::C128) return make.template operator()<std::complex<double>>();
  if (info.type_class == TypeClass::Pred) return nullptr;
  const bool is_signed = info.type_class == TypeClass::Signed;
  if (info.bits <= 8)
    return is_signed ? make.template operator()<int8_t>() : make.template operator()<uint8_t>();
  if (info.bits == 16)
    return is_signed ? make.template operator()<int16_t>() : make.template operator()<uint16_t>();
  if (info.bits == 32)
    return is_signed ? make.template operator()<int32_t>() : make.template operator()<uint32_t>();
  return is_signed ? make.template operator()<int64_t>() : make.template operator()<uint64_t>();
}

template <class In>
void LongToNarrow(void* out, const void* const* in, int64_t n, const KernelParam& param) {
  const auto* x = static_cast<const In*>(in[0]);
  const bool one_byte = Info(param.to).bits <= 8;
  for (int64_t i = 0; i < n; ++i) {
    uint64_t code;
    if constexpr (std::is_signed_v<In>)
      code = FromSigned(param.to, x[i]);
    else
      code = FromUnsigned(param.to, x[i]);
    if (one_byte)
      static_cast<uint8_t*>(out)[i] = static_cast<uint8_t>(code);
    else
      static_cast<uint16_t*>(out)[i] = static_cast<uint16_t>(code);
  }
}

/// F4 to integers: XLA takes the largest values, +-6, for an overflow.
void Float4ToInteger(void* out, const void* const* in, int64_t n, const KernelParam& param) {
  const TypeInfo& target = Info(param.to);
  const bool is_signed = target.type_class == TypeClass::Signed;
  const int magnitude_bits = target.bits - (is_signed ? 1 : 0);
  const auto max = magnitude_bits == 0 ? 0 : static_cast<int64_t>(~uint64_t{0} >> (64 - magnitude_bits));
  std::array<int64_t, 16> table{};
  for (uint64_t code = 0; code < table.size(); ++code) {
    const double value = ToDouble(ElementType::F4E2M1FN, code);
    const int64_t whole = value < 0 && !is_signed ? 0 : static_cast<int64_t>(value);
    // The unsigned maximum of 64 bits is -1 here: bounds are compared as numbers of the target type.
    const bool fits_above = (!is_signed && target.bits == 64) || whole <= max;
    table[code] = value == MaxFinite(ElementType::F4E2M1FN) || !fits_above                        ? max
                  : is_signed && (value == -MaxFinite(ElementType::F4E2M1FN) || whole < -max - 1) ? -max - 1
                                                                                                  : whole;
  }
  const auto* codes = static_cast<const uint8_t*>(in[0]);
  const auto width = static_cast<size_t>(target.host_bytes());
  for (int64_t i = 0; i < n; ++i)
    std::memcpy(static_cast<uint8_t*>(out) + static_cast<size_t>(i) * width, &table[codes[i] & 15], width);
}

struct ReduceCode {
  template <class T>
  static T Apply(T code, const KernelParam& param) {
    return static_cast<T>(ReducePrecision(param.from, code, param.exponent_bits, param.mantissa_bits));
  }
};

uint64_t LoadBits(const void* data, int64_t i, int width) {
  uint64_t bits = 0;
  std::memcpy(&bits, static_cast<const uint8_t*>(data) + i * width, static_cast<size_t>(width));
  return bits;
}

}  // namespace

KernelFn ConvertKernel(ElementType from, ElementType to) {
  const TypeInfo& info = Info(from);
  if (from == ElementType::F4E2M1FN) return &Float4ToInteger;
  if (from == ElementType::C64) return ConvertComplexTo<std::complex<float>>(to);
  if (from == ElementType::C128) return ConvertComplexTo<std::complex<double>>(to);
  if (from == ElementType::F32) return ConvertRealTo<float>(to);
  if (from == ElementType::F64) return ConvertRealTo<double>(to);
  const bool is_signed = info.type_class == TypeClass::Signed;
  if (info.bits <= 8) return is_signed ? ConvertRealTo<int8_t>(to) : ConvertRealTo<uint8_t>(to);
  if (info.bits == 16) return is_signed ? ConvertRealTo<int16_t>(to) : ConvertRealTo<uint16_t>(to);
  if (info.bits == 32) return is_signed ? ConvertRealTo<int32_t>(to) : ConvertRealTo<uint32_t>(to);
  return is_signed ? ConvertRealTo<int64_t>(to) : ConvertRealTo<uint64_t>(to);
}

KernelFn LongToNarrowKernel(ElementType from) {
  return from == ElementType::S64 ? &LongToNarrow<int64_t> : &LongToNarrow<uint64_t>;
}

KernelFn ReducePrecisionKernel(ElementType type) {
  const int bits = Info(type).bits;
  return bits <= 8    ? &BaseLoop<ReduceCode, uint8_t, uint8_t>
         : bits == 16 ? &BaseLoop<ReduceCode, uint16_t, uint16_t>
         : bits == 32 ? &BaseLoop<ReduceCode, uint32_t, uint32_t>
                      : &BaseLoop<ReduceCode, uint64_t, uint64_t>;
}

void StochasticConvert(void* out, const void* const* in, int64_t n, const KernelParam& param) {
  const auto* values = static_cast<const double*>(in[0]);
  const TypeInfo& random = Info(param.from);
  const TypeInfo& target = Info(param.to);
  const auto max = static_cast<int64_t>((uint64_t{1} << (target.bits - 1)) - 1), min = -max - 1;
  for (int64_t i = 0; i < n; ++i) {
    const double x = values[i], magnitude = std::fabs(x);
    int64_t result = SaturateToSigned(x, min, max);
    if (magnitude < 0x1p63 && x < static_cast<double>(max) && x > static_cast<double>(min)) {
      const double whole = std::trunc(magnitude);
      const auto threshold = static_cast<uint64_t>(std::ldexp(magnitude - whole, random.bits));
      const auto rounded =
          static_cast<int64_t>(whole) + (LoadBits(in[1], i, random.host_bytes()) < threshold ? 1 : 0);
      result = x < 0 ? -rounded : rounded;
    }
    const auto width = static_cast<size_t>(target.host_bytes());
    std::memcpy(static_cast<uint8_t*>(out) + static_cast<size_t>(i) * width, &result, width);
  }
}

}  // namespace hlo::kernels
