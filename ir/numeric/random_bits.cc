// ThreeFry and Philox, their packings into arrays, and distributions over a Philox stream.
#include "ir/numeric/random_bits.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <numbers>

#include "ir/numeric/narrow_float.h"

namespace hlo::rng {
namespace {

/// Blocks computed side by side, so that the compiler can use vector registers.
constexpr size_t kLanes = 16;
using Lanes = std::array<uint32_t, kLanes>;

uint32_t Low(uint64_t x) { return static_cast<uint32_t>(x); }
uint32_t High(uint64_t x) { return static_cast<uint32_t>(x >> 32); }

template <size_t N>
void ThreeFryRounds(const std::array<uint32_t, 2>& key, std::array<uint32_t, N>& x0,
                    std::array<uint32_t, N>& x1) {
  constexpr std::array<std::array<int, 4>, 2> kRotations = {{{13, 15, 26, 6}, {17, 29, 16, 24}}};
  const std::array<uint32_t, 3> k = {key[0], key[1], key[0] ^ key[1] ^ 0x1BD11BDA};
  for (size_t i = 0; i < N; ++i) x0[i] += k[0], x1[i] += k[1];
  for (uint32_t group = 1; group <= 5; ++group) {
    for (const int r : kRotations[(group - 1) % 2]) {
      for (size_t i = 0; i < N; ++i) {
        x0[i] += x1[i];
        x1[i] = std::rotl(x1[i], r) ^ x0[i];
      }
    }
    for (size_t i = 0; i < N; ++i) x0[i] += k[group % 3], x1[i] += k[(group + 1) % 3] + group;
  }
}

template <size_t N>
void PhiloxRounds(std::array<uint32_t, 2> key, std::array<std::array<uint32_t, N>, 4>& c) {
  for (int round = 0; round < 10; ++round) {
    for (size_t i = 0; i < N; ++i) {
      const uint64_t p0 = uint64_t{c[0][i]} * 0xD2511F53;
      const uint64_t p1 = uint64_t{c[2][i]} * 0xCD9E8D57;
      c[0][i] = High(p1) ^ c[1][i] ^ key[0];
      c[1][i] = Low(p1);
      c[2][i] = High(p0) ^ c[3][i] ^ key[1];
      c[3][i] = Low(p0);
    }
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
}

/// Calls emit(i, x0, x1) for blocks 0 <= i < n of the 64-bit counter `first` + i.
template <class Emit>
void ThreeFryBlocks(uint64_t key, uint64_t first, size_t n, Emit emit) {
  for (size_t begin = 0; begin < n; begin += kLanes) {
    Lanes x0;
    Lanes x1;
    for (size_t i = 0; i < kLanes; ++i) {
      const uint64_t counter = first + begin + i;
      x0[i] = Low(counter);
      x1[i] = High(counter);
    }
    ThreeFryRounds<kLanes>({Low(key), High(key)}, x0, x1);
    for (size_t i = 0; i < kLanes && begin + i < n; ++i) emit(begin + i, x0[i], x1[i]);
  }
}

/// Calls emit(i, words) for blocks 0 <= i < n of the counter `first` + i.
template <class Emit>
void PhiloxBlocks(uint64_t key, Counter128 first, size_t n, Emit emit) {
  for (size_t begin = 0; begin < n; begin += kLanes) {
    std::array<Lanes, 4> c;
    for (size_t i = 0; i < kLanes; ++i) {
      Counter128 counter = first;
      counter.Add(static_cast<int64_t>(begin + i));
      c[0][i] = Low(counter.low);
      c[1][i] = High(counter.low);
      c[2][i] = Low(counter.high);
      c[3][i] = High(counter.high);
    }
    PhiloxRounds<kLanes>({Low(key), High(key)}, c);
    for (size_t i = 0; i < kLanes && begin + i < n; ++i)
      emit(begin + i, std::array<uint32_t, 4>{c[0][i], c[1][i], c[2][i], c[3][i]});
  }
}

/// Stores the low bits of 32-bit words as elements of at most 32 bits.
class NarrowWriter {
 public:
  NarrowWriter(void* out, int element_bits)
      : out_(static_cast<char*>(out)),
        bytes_(static_cast<size_t>((element_bits + 7) / 8)),
        mask_(element_bits >= 32 ? ~uint32_t{0} : (uint32_t{1} << element_bits) - 1) {}
  void Write(size_t index, uint32_t word) const {
    word &= mask_;
    std::memcpy(out_ + index * bytes_, &word, bytes_);
  }

 private:
  char* out_;
  size_t bytes_;
  uint32_t mask_;
};

void GenerateThreeFry(std::span<uint64_t> state, int element_bits, std::span<const int64_t> dims, void* out) {
  assert(state.size() == 2);
  const SplitDims s = SplitForPairs(dims);
  if (element_bits == 64) {
    const size_t n = s.outer * s.split * s.inner;
    auto* words = static_cast<uint64_t*>(out);
    ThreeFryBlocks(state[0], state[1], n,
                   [&](size_t i, uint32_t x0, uint32_t x1) { words[i] = x0 | uint64_t{x1} << 32; });
    state[1] += n;
    return;
  }
  const NarrowWriter writer(out, element_bits);
  const size_t blocks = s.blocks();
  ThreeFryBlocks(state[0], state[1], blocks, [&](size_t i, uint32_t x0, uint32_t x1) {
    const size_t row = i / s.inner;
    const size_t position = 2 * (row % s.half());
    const size_t at = ((row / s.half()) * s.split + position) * s.inner + i % s.inner;
    writer.Write(at, x0);
    if (position + 1 < s.split) writer.Write(at + s.inner, x1);
  });
  state[1] += blocks;
}

void GeneratePhilox(std::span<uint64_t> state, int element_bits, std::span<const int64_t> dims, void* out) {
  assert(state.size() == 2 || state.size() == 3);
  size_t n = 1;
  for (const int64_t d : dims) n *= static_cast<size_t>(d);
  const bool wide = element_bits == 64;
  const size_t per_block = wide ? 2 : 4;
  const size_t blocks = n / per_block + (n % per_block != 0 ? 1 : 0);
  Counter128 counter{state[1], state.size() == 3 ? state[2] : state[0]};
  if (wide) {
    auto* words = static_cast<uint64_t*>(out);
    PhiloxBlocks(state[0], counter, blocks, [&](size_t i, const std::array<uint32_t, 4>& w) {
      words[2 * i] = w[0] | uint64_t{w[1]} << 32;
      if (2 * i + 1 < n) words[2 * i + 1] = w[2] | uint64_t{w[3]} << 32;
    });
  } else {
    const NarrowWriter writer(out, element_bits);
    PhiloxBlocks(state[0], counter, blocks, [&](size_t i, const std::array<uint32_t, 4>& w) {
      const size_t count = std::min<size_t>(4, n - 4 * i);
      for (size_t k = 0; k < count; ++k) writer.Write(4 * i + k, w[k]);
    });
  }
  counter.Add(static_cast<int64_t>(blocks));
  state[1] = counter.low;
  if (state.size() == 3) state[2] = counter.high;
}

/// (bits >> 9) * 2^-23, in [0, 1).
float UnitFloat(Stream& stream) { return static_cast<float>(stream.Next32() >> 9) * 0x1p-23F; }
double UnitDouble(Stream& stream) { return static_cast<double>(stream.Next64() >> 12) * 0x1p-52; }

void StoreElement(ElementType type, void* out, size_t index, uint64_t code) {
  const auto bytes = static_cast<size_t>(Info(type).host_bytes());
  std::memcpy(static_cast<char*>(out) + index * bytes, &code, bytes);
}

/// low + d modulo 2^bits, with d in [0, high - low); extended to 64 bits by its sign if it has one.
uint64_t UniformInteger(Stream& stream, ElementType type, uint64_t low, uint64_t high) {
  const int unused = 64 - Info(type).bits;
  const uint64_t range = (high - low) << unused >> unused;
  const uint64_t word = unused == 0 ? stream.Next64() : stream.Next32();
  const uint64_t raised = (low + (range == 0 ? 0 : word % range)) << unused;
  return IsSigned(type) ? static_cast<uint64_t>(static_cast<int64_t>(raised) >> unused) : raised >> unused;
}

}  // namespace

std::array<uint32_t, 2> ThreeFry2x32(std::array<uint32_t, 2> key, std::array<uint32_t, 2> counter) {
  std::array<uint32_t, 1> x0 = {counter[0]};
  std::array<uint32_t, 1> x1 = {counter[1]};
  ThreeFryRounds<1>(key, x0, x1);
  return {x0[0], x1[0]};
}

std::array<uint32_t, 4> Philox4x32(std::array<uint32_t, 2> key, std::array<uint32_t, 4> counter) {
  std::array<std::array<uint32_t, 1>, 4> c = {{{counter[0]}, {counter[1]}, {counter[2]}, {counter[3]}}};
  PhiloxRounds<1>(key, c);
  return {c[0][0], c[1][0], c[2][0], c[3][0]};
}

SplitDims SplitForPairs(std::span<const int64_t> dims) {
  if (dims.empty()) return {};
  auto split = std::find_if(dims.begin(), dims.end(), [](int64_t d) { return d % 2 == 0; });
  if (split == dims.end()) split = std::max_element(dims.begin(), dims.end());
  SplitDims s;
  s.split = static_cast<size_t>(*split);
  for (auto d = dims.begin(); d != dims.end(); ++d)
    if (d != split) (d < split ? s.outer : s.inner) *= static_cast<size_t>(*d);
  return s;
}

void Counter128::Add(int64_t delta) {
  const uint64_t before = low;
  low += static_cast<uint64_t>(delta);
  if (delta >= 0)
    high += low < before ? 1 : 0;
  else
    high -= low > before ? 1 : 0;
}

void GenerateBits(Algorithm algorithm, std::span<uint64_t> state, int element_bits,
                  std::span<const int64_t> dims, void* out) {
  if (algorithm == Algorithm::ThreeFry)
    GenerateThreeFry(state, element_bits, dims, out);
  else
    GeneratePhilox(state, element_bits, dims, out);
}

uint32_t Stream::Next32() {
  if (used_ == words_.size()) {
    words_ = Philox4x32({Low(key_), High(key_)},
                        {Low(counter_.low), High(counter_.low), Low(counter_.high), High(counter_.high)});
    counter_.Add(1);
    used_ = 0;
  }
  return words_[used_++];
}

uint64_t Stream::Next64() {
  const uint64_t low = Next32();
  return low | uint64_t{Next32()} << 32;
}

void FillUniform(Stream& stream, ElementType type, uint64_t low, uint64_t high, void* out, size_t n) {
  if (!IsFloat(type)) {
    for (size_t i = 0; i < n; ++i) StoreElement(type, out, i, UniformInteger(stream, type, low, high));
    return;
  }
  // Rounding may reach the upper bound, which is out of range: the lower one stands in for it.
  const double bound = ToDouble(type, high);
  const auto store = [&](size_t i, uint64_t code) {
    StoreElement(type, out, i, ToDouble(type, code) < bound ? code : low);
  };
  if (type == ElementType::F64) {
    const double a = ToDouble(type, low);
    for (size_t i = 0; i < n; ++i) store(i, FromDouble(type, UnitDouble(stream) * (bound - a) + a));
  } else {
    const float a = ToFloat(type, low);
    const float width = ToFloat(type, high) - a;
    for (size_t i = 0; i < n; ++i) store(i, FromFloat(type, UnitFloat(stream) * width + a));
  }
}

void FillNormal(Stream& stream, ElementType type, uint64_t mean, uint64_t deviation, void* out, size_t n) {
  assert(IsFloat(type));
  const double mu = ToDouble(type, mean);
  const double sigma = ToDouble(type, deviation);
  const bool wide = type == ElementType::F64;
  const auto unit = [&] { return wide ? UnitDouble(stream) : static_cast<double>(UnitFloat(stream)); };
  for (size_t i = 0; i < n; i += 2) {
    const double radius = std::sqrt(-2 * std::log(std::max(unit(), 1e-7)));
    const double angle = 2 * std::numbers::pi * unit();
    StoreElement(type, out, i, FromDouble(type, mu + sigma * radius * std::sin(angle)));
    if (i + 1 < n) StoreElement(type, out, i + 1, FromDouble(type, mu + sigma * radius * std::cos(angle)));
  }
}

}  // namespace hlo::rng
