// Elements of arrays for libraries that stand in for NVIDIA's: read and written as doubles.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

namespace numbers {

enum class Kind : int { F32, F64, F16, BF16, S8, S32 };

inline size_t BytesOf(Kind kind) {
  switch (kind) {
    case Kind::F64: return sizeof(double);
    case Kind::F16:
    case Kind::BF16: return sizeof(uint16_t);
    case Kind::S8: return sizeof(int8_t);
    default: return sizeof(float);
  }
}

template <class T>
T Read(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T>
void Write(char* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

inline double Load(Kind kind, const char* from) {
  switch (kind) {
    case Kind::F32: return double{Read<float>(from)};
    case Kind::F64: return Read<double>(from);
    case Kind::F16: return static_cast<double>(Read<_Float16>(from));
    case Kind::S8: return double{1} * Read<int8_t>(from);
    case Kind::S32: return Read<int32_t>(from);
    case Kind::BF16: {
      const uint32_t bits = uint32_t{Read<uint16_t>(from)} << 16;
      return double{Read<float>(reinterpret_cast<const char*>(&bits))};
    }
  }
  return 0;
}
inline void Store(Kind kind, char* to, double value) {
  switch (kind) {
    case Kind::F32: return Write(to, static_cast<float>(value));
    case Kind::F64: return Write(to, value);
    case Kind::F16: return Write(to, static_cast<_Float16>(value));
    case Kind::S8: return Write(to, static_cast<int8_t>(value));
    case Kind::S32: return Write(to, static_cast<int32_t>(value));
    case Kind::BF16: {
      const auto wide = static_cast<float>(value);
      uint32_t bits = 0;
      std::memcpy(&bits, &wide, sizeof bits);
      // To nearest, halves to even; NaNs stay as they are.
      if (!std::isnan(wide)) bits += 0x7fff + ((bits >> 16) & 1);
      return Write(to, static_cast<uint16_t>(bits >> 16));
    }
  }
}

}  // namespace numbers
