// Hashing and comparing names: inline and quick for the short ones that most are.
#pragma once
#include <cstdint>
#include <cstring>

#include "llvm/ADT/StringRef.h"

namespace hlo {

/// 64 bits that depend on all bytes of the name. Not stable between versions: for tables in memory only.
inline uint64_t HashName(llvm::StringRef name) {
  // Every byte of the keys has its high bit set, which no byte of a word has: no factor below is zero.
  constexpr uint64_t kFirst = 0xa5c9'b3d1'e78b'9fd7, kSecond = 0xc3b1'98e5'd2ab'f98d,
                     kLength = 0x9e37'79b9'7f4a'7c15;
  const auto read = [](const char* p, auto value) -> uint64_t {
    memcpy(&value, p, sizeof value);
    return value;
  };
  const auto mix = [](uint64_t a, uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  };
  const char* p = name.data();
  size_t n = name.size();
  // Added to a key, the length could make up for a difference of bytes: n1000 and n10000 would be one.
  const uint64_t length = n * kLength;
  uint64_t state = kSecond;
  for (; n > 16; p += 16, n -= 16) state = mix(read(p, uint64_t{}) ^ kFirst, read(p + 8, uint64_t{}) ^ state);
  uint64_t a = 0, b = 0;
  if (n >= 8) {
    a = read(p, uint64_t{});
    b = read(p + n - 8, uint64_t{});
  } else if (n >= 4) {
    a = read(p, uint32_t{});
    b = read(p + n - 4, uint32_t{});
  } else if (n > 0) {
    a = read(p, uint8_t{}) << 16 | read(p + n / 2, uint8_t{}) << 8 | read(p + n - 1, uint8_t{});
  }
  return mix(a ^ kFirst, b ^ state) ^ length;
}

/// Equality without a call, as names are short.
inline bool SameName(llvm::StringRef a, llvm::StringRef b) {
  if (a.size() != b.size()) return false;
  const auto differ = [&](size_t at, auto x) {
    auto y = x;
    memcpy(&x, a.data() + at, sizeof x);
    memcpy(&y, b.data() + at, sizeof y);
    return x != y;
  };
  const size_t n = a.size();
  if (n >= 8) {
    for (size_t at = 0; at + 8 < n; at += 8)
      if (differ(at, uint64_t{})) return false;
    return !differ(n - 8, uint64_t{});
  }
  if (n >= 4) return !differ(0, uint32_t{}) && !differ(n - 4, uint32_t{});
  for (size_t at = 0; at < n; ++at)
    if (a[at] != b[at]) return false;
  return true;
}

}  // namespace hlo
