// Finding bytes in text, sixteen at a time where the machine can.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "llvm/ADT/StringRef.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace hlo::scan {

/// Classes of characters, as bits.
enum : uint8_t { kWordStart = 1, kWordChar = 2, kDigit = 4, kBlank = 8, kNumberTail = 16, kHex = 32 };

constexpr std::array<uint8_t, 256> MakeClasses() {
  std::array<uint8_t, 256> t{};
  for (int c = 'a'; c <= 'z'; ++c) t[c] = kWordStart | kWordChar;
  for (int c = 'A'; c <= 'Z'; ++c) t[c] = kWordStart | kWordChar;
  for (int c = '0'; c <= '9'; ++c) t[c] = kWordChar | kDigit | kHex;
  for (int c = 'a'; c <= 'f'; ++c) t[c] |= kHex;
  for (int c = 'A'; c <= 'F'; ++c) t[c] |= kHex;
  t['_'] = kWordStart | kWordChar;
  t['.'] |= kWordChar;
  t['-'] |= kWordChar;
  for (char c : {' ', '\t', '\n', '\r'}) t[static_cast<uint8_t>(c)] |= kBlank;
  // After the digits of an integer these may continue another number-like token.
  for (char c : {'.', 'e', 'E', 'x', '_', 'b', 'f', '?'}) t[static_cast<uint8_t>(c)] |= kNumberTail;
  return t;
}
inline constexpr std::array<uint8_t, 256> kClass = MakeClasses();
inline bool Is(char c, uint8_t classes) { return (kClass[static_cast<uint8_t>(c)] & classes) != 0; }

#if defined(__SSE2__)
inline __m128i Load(const char* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
inline __m128i Equal(__m128i bytes, char c) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); }
/// Bytes in [first, first + count).
inline __m128i InRange(__m128i bytes, int first, int count) {
  const __m128i shifted = _mm_add_epi8(bytes, _mm_set1_epi8(static_cast<char>(-128 - first)));
  return _mm_cmplt_epi8(shifted, _mm_set1_epi8(static_cast<char>(count - 128)));
}
/// One bit per byte.
inline uint32_t Bits(__m128i mask) { return static_cast<uint32_t>(_mm_movemask_epi8(mask)); }
#endif

/// End of the word characters at [p, end).
inline const char* EndOfWord(const char* p, const char* end) {
#if defined(__SSE2__)
  for (; end - p >= 16; p += 16) {
    const __m128i bytes = Load(p);
    const __m128i letter = InRange(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), 'a', 26);
    // '-' to '9' are - . / and the digits.
    const __m128i digit = _mm_andnot_si128(Equal(bytes, '/'), InRange(bytes, '-', '9' - '-' + 1));
    const uint32_t word = Bits(_mm_or_si128(_mm_or_si128(letter, digit), Equal(bytes, '_')));
    if (word != 0xffff) return p + std::countr_one(word);
  }
#endif
  while (p < end && Is(*p, kWordChar)) ++p;
  return p;
}

/// First `c` in [p, end), or end. For bytes that are expected to be near.
inline const char* FindByte(const char* p, const char* end, char c) {
#if defined(__SSE2__)
  for (; end - p >= 16; p += 16)
    if (const uint32_t found = Bits(Equal(Load(p), c))) return p + std::countr_zero(found);
#endif
  while (p < end && *p != c) ++p;
  return p;
}

/// First place from `at` on where `first` stands before one of at most four characters `next`; text.size() if
/// there is none.
inline size_t FindPair(llvm::StringRef text, size_t at, char first, llvm::StringRef next) {
#if defined(__SSE2__)
  const auto choice = [&](size_t i) { return next[std::min(i, next.size() - 1)]; };
  for (; at + 17 <= text.size(); at += 16) {
    const __m128i here = Equal(Load(text.data() + at), first);
    // Of several pairs to look for the first byte is rare enough for a branch.
    if (next.size() > 1 && Bits(here) == 0) continue;
    const __m128i behind = Load(text.data() + at + 1);
    const __m128i either = _mm_or_si128(_mm_or_si128(Equal(behind, choice(0)), Equal(behind, choice(1))),
                                        _mm_or_si128(Equal(behind, choice(2)), Equal(behind, choice(3))));
    if (const uint32_t found = Bits(_mm_and_si128(here, either)))
      return at + static_cast<size_t>(std::countr_zero(found));
  }
#endif
  for (; at + 1 < text.size(); ++at)
    if (text[at] == first && next.contains(text[at + 1])) return at;
  return text.size();
}

}  // namespace hlo::scan
