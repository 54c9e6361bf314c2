// Counter-based random bits: the rng-bit-generator algorithms and the stream behind the stateful ops.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ir/types.h"

namespace hlo::rng {

/// 20 rounds of ThreeFry-2x32 (ops-structured §8.3).
std::array<uint32_t, 2> ThreeFry2x32(std::array<uint32_t, 2> key, std::array<uint32_t, 2> counter);
/// 10 rounds of Philox-4x32.
std::array<uint32_t, 4> Philox4x32(std::array<uint32_t, 2> key, std::array<uint32_t, 4> counter);

/// A 128-bit counter that wraps.
struct Counter128 {
  uint64_t low = 0;
  uint64_t high = 0;
  /// Adds `delta`, read as a signed number.
  void Add(int64_t delta);
  bool operator==(const Counter128&) const = default;
};

enum class Algorithm : uint8_t { ThreeFry, Philox };

/// rng-bit-generator: writes the bits of an array of `dims` (row-major, elements of `element_bits` in
/// {1, 2, 4, 8, 16, 32, 64} bits; those below 8 take a byte each) to `out` and advances `state`.
/// `state` is [key, counter] for ThreeFry; [key, counter low, counter high] or [key, counter low] for
/// Philox, the latter generating with counter high = key and keeping only the low word.
void GenerateBits(Algorithm algorithm, std::span<uint64_t> state, int element_bits,
                  std::span<const int64_t> dims, void* out);

/// How ThreeFry fills an array with elements of at most 32 bits: the array seen as [outer, split, inner]
/// around the dimension that is halved, the first of even size, else the first of the largest. Block
/// (o * half + s) * inner + i gives its first word to element (o, 2s, i) and its second to (o, 2s + 1, i).
struct SplitDims {
  size_t outer = 1, split = 1, inner = 1;
  [[nodiscard]] size_t half() const { return (split + 1) / 2; }
  [[nodiscard]] size_t blocks() const { return outer * half() * inner; }
};
SplitDims SplitForPairs(std::span<const int64_t> dims);

/// Words of consecutive Philox blocks: what `rng` draws from. The same key and counter give the same
/// words on every machine.
class Stream {
 public:
  explicit Stream(uint64_t key, Counter128 counter = {kInitialCounter, 0}) : key_(key), counter_(counter) {}
  uint32_t Next32();
  /// Two words, the first one low.
  uint64_t Next64();

  /// Where rng-get-and-update-state starts.
  static constexpr uint64_t kInitialCounter = 0x7012395;

 private:
  uint64_t key_;
  Counter128 counter_;
  std::array<uint32_t, 4> words_{};
  size_t used_ = 4;
};

/// `rng` with rng_uniform over [low, high) (ops-structured §8.1): `n` elements of a real floating type,
/// integer type or PRED, one element per host byte at least. Bounds are codes of `type`; an empty
/// range gives `low`.
void FillUniform(Stream& stream, ElementType type, uint64_t low, uint64_t high, void* out, size_t n);
/// `rng` with rng_normal (Box-Muller): floating types only; mean and deviation are codes of `type`.
void FillNormal(Stream& stream, ElementType type, uint64_t mean, uint64_t deviation, void* out, size_t n);

}  // namespace hlo::rng
