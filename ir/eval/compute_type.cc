#include "ir/eval/compute_type.h"

#include <complex>
#include <limits>
#include <type_traits>

#include "ir/numeric/narrow_float.h"
#include "ir/support/parallel.h"

namespace hlo {
namespace {

constexpr int64_t kChunk = 1 << 15;

bool Is64BitFloat(ElementType t) { return t == ElementType::F64 || t == ElementType::C128; }

/// Calls f(pointer to the first element) with the C++ integer type in which integers and PRED are stored.
template <class F>
void VisitIntegers(ElementType type, const void* data, F&& f) {
  const bool is_signed = IsSigned(type);
  switch (Info(type).host_bytes()) {
    case 1: return is_signed ? f(static_cast<const int8_t*>(data)) : f(static_cast<const uint8_t*>(data));
    case 2: return is_signed ? f(static_cast<const int16_t*>(data)) : f(static_cast<const uint16_t*>(data));
    case 4: return is_signed ? f(static_cast<const int32_t*>(data)) : f(static_cast<const uint32_t*>(data));
    default: return is_signed ? f(static_cast<const int64_t*>(data)) : f(static_cast<const uint64_t*>(data));
  }
}

/// A floating value as an element of an integer type or PRED.
template <class T>
T FloatToInteger(double value, ElementType to) {
  if (IsPred(to)) return value != 0 ? 1 : 0;
  const int bits = Info(to).bits;
  if (IsSigned(to)) {
    const auto max = static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1);  // of s1 it is 0
    return static_cast<T>(SaturateToSigned(value, -max - 1, max));
  }
  return static_cast<T>(SaturateToUnsigned(value, ~uint64_t{0} >> (64 - bits)));
}

/// Real elements to one value each.
template <class T>
void ConvertReal(ElementType from, const void* in, ElementType to, int64_t count, T* out) {
  if (IsFloat(from)) {
    if constexpr (std::is_same_v<T, float>) {
      WidenToFloat(from, in, out, static_cast<size_t>(count));
    } else if constexpr (std::is_same_v<T, double>) {
      WidenToDouble(from, in, out, static_cast<size_t>(count));
    } else {
      double values[256];
      const auto size = static_cast<int64_t>(Info(from).host_bytes());
      for (int64_t i = 0; i < count; i += 256) {
        const int64_t n = std::min<int64_t>(256, count - i);
        WidenToDouble(from, static_cast<const uint8_t*>(in) + i * size, values, static_cast<size_t>(n));
        for (int64_t j = 0; j < n; ++j) out[i + j] = FloatToInteger<T>(values[j], to);
      }
    }
    return;
  }
  const bool to_pred = IsPred(to), from_pred = IsPred(from);
  VisitIntegers(from, in, [&](const auto* elements) {
    for (int64_t i = 0; i < count; ++i)
      out[i] = to_pred || from_pred ? static_cast<T>(elements[i] != 0) : static_cast<T>(elements[i]);
  });
}

template <class T, class Part>
void ConvertComplex(const Part* in, ElementType to, int64_t count, T* out) {
  if constexpr (std::is_floating_point_v<T>) {
    if (IsComplex(to)) {
      for (int64_t i = 0; i < 2 * count; ++i) out[i] = static_cast<T>(in[i]);
    } else {
      for (int64_t i = 0; i < count; ++i) out[i] = static_cast<T>(in[2 * i]);
    }
  } else {
    for (int64_t i = 0; i < count; ++i) out[i] = FloatToInteger<T>(static_cast<double>(in[2 * i]), to);
  }
}

template <class T, class E>
void StoreIntegers(const T* in, ElementType type, int64_t count, E* out) {
  const int unused = static_cast<int>(sizeof(E)) * 8 - Info(type).bits;
  if (unused == 0 && !IsPred(type)) {
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<E>(in[i]);
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    if (IsPred(type)) {
      out[i] = static_cast<E>(in[i] != 0);
    } else {
      // Shifts up and down extend sub-byte values by their sign or by zeros.
      const auto raised = static_cast<E>(static_cast<uint64_t>(in[i]) << unused);
      out[i] = static_cast<E>(raised >> unused);
    }
  }
}

}  // namespace

ComputeType ComputeTypeFor(ElementType result, ElementType a, ElementType b) {
  if (IsFloat(result) || IsComplex(result))
    return Is64BitFloat(result) || Is64BitFloat(a) || Is64BitFloat(b) ? ComputeType::F64 : ComputeType::F32;
  return Info(result).bits > 32 ? ComputeType::U64 : ComputeType::U32;
}

bool IsStoredAs(ElementType type, ComputeType compute) {
  const ElementType real = RealPartType(type);
  switch (compute) {
    case ComputeType::F32: return real == ElementType::F32;
    case ComputeType::F64: return real == ElementType::F64;
    case ComputeType::U32: return real == ElementType::U32 || real == ElementType::S32;
    case ComputeType::U64: break;
  }
  return real == ElementType::U64 || real == ElementType::S64;
}

template <class T>
void ConvertToCompute(ElementType from, const void* in, ElementType to, int64_t count, T* out) {
  if (from == ElementType::C64) return ConvertComplex(static_cast<const float*>(in), to, count, out);
  if (from == ElementType::C128) return ConvertComplex(static_cast<const double*>(in), to, count, out);
  ConvertReal(from, in, to, count, out);
  if (!IsComplex(to)) return;
  for (int64_t i = count; i-- > 0;) {
    out[2 * i] = out[i];
    out[2 * i + 1] = T(0);
  }
}

template <class T>
void ConvertFromCompute(const T* in, ElementType type, int64_t count, void* out) {
  const ElementType real = RealPartType(type);
  if (IsComplex(type)) count *= 2;
  if constexpr (std::is_same_v<T, float>) {
    NarrowFromFloat(real, in, out, static_cast<size_t>(count));
  } else if constexpr (std::is_same_v<T, double>) {
    NarrowFromDouble(real, in, out, static_cast<size_t>(count));
  } else {
    VisitIntegers(type, out, [&](const auto* element) {
      using E = std::remove_cv_t<std::remove_pointer_t<decltype(element)>>;
      StoreIntegers(in, type, count, static_cast<E*>(out));
    });
  }
}

ComputeBuffer ToCompute(const Literal& from, ElementType to, ComputeType type, bool allow_bf16) {
  ComputeBuffer result;
  const ElementType element = from.shape().element_type();
  const bool is_bf16 =
      allow_bf16 && element == ElementType::BF16 && type == ComputeType::F32 && !IsComplex(to);
  if (is_bf16 || (IsStoredAs(element, type) && IsComplex(element) == IsComplex(to))) {
    result.data = from.data();
    result.bf16 = is_bf16;
    result.keep = from;
    return result;
  }
  const int64_t count = from.shape().ElementCount(), pairs = IsComplex(to) ? 2 : 1,
                size = Info(element).host_bytes();
  VisitComputeType(type, [&](auto tag) {
    using T = decltype(tag);
    auto storage = AllocateAligned<T>(count * pairs);
    T* out = storage.get();
    ParallelFor(0, count, kChunk, [&](int64_t begin, int64_t end) {
      ConvertToCompute(element, from.data() + begin * size, to, end - begin, out + begin * pairs);
    });
    result.data = out;
    result.storage = std::move(storage);
  });
  return result;
}

#define HLO_INSTANTIATE(T)                                                               \
  template void ConvertToCompute<T>(ElementType, const void*, ElementType, int64_t, T*); \
  template void ConvertFromCompute<T>(const T*, ElementType, int64_t, void*);
HLO_INSTANTIATE(float)
HLO_INSTANTIATE(double)
HLO_INSTANTIATE(uint16_t)
HLO_INSTANTIATE(uint32_t)
HLO_INSTANTIATE(uint64_t)
#undef HLO_INSTANTIATE

}  // namespace hlo
