// Known answers of the counter-based generators and of their packings.
#include "ir/numeric/random_bits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "ir/numeric/narrow_float.h"

namespace hlo::rng {
namespace {

constexpr uint64_t kMax = ~uint64_t{0};

TEST(RandomBits, Blocks) {
  using Pair = std::array<uint32_t, 2>;
  using Quad = std::array<uint32_t, 4>;
  EXPECT_EQ(ThreeFry2x32({0, 0}, {0, 0}), (Pair{0x6b200159, 0x99ba4efe}));
  EXPECT_EQ(ThreeFry2x32({~0U, ~0U}, {~0U, ~0U}), (Pair{0x1cb996fc, 0xbb002be7}));
  EXPECT_EQ(ThreeFry2x32({0x13198a2e, 0x03707344}, {0x243f6a88, 0x85a308d3}), (Pair{0xc4923a9c, 0x483df7a0}));
  EXPECT_EQ(Philox4x32({0, 0}, {0, 0, 0, 0}), (Quad{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox4x32({~0U, ~0U}, {~0U, ~0U, ~0U, ~0U}),
            (Quad{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox4x32({0xa4093822, 0x299f31d0}, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}),
            (Quad{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

struct PackingCase {
  Algorithm algorithm;
  std::vector<uint64_t> state;
  int bits;
  std::vector<int64_t> dims;
  std::vector<uint64_t> expected;  // the first elements
  std::vector<uint64_t> new_state;
};

template <class T>
std::vector<uint64_t> Generate(const PackingCase& c, std::vector<uint64_t>& state) {
  size_t n = 1;
  for (int64_t d : c.dims) n *= static_cast<size_t>(d);
  std::vector<T> out(n);
  GenerateBits(c.algorithm, state, c.bits, c.dims, out.data());
  out.resize(std::min(n, c.expected.size()));
  return {out.begin(), out.end()};
}

TEST(RandomBits, Packings) {
  constexpr auto tf = Algorithm::ThreeFry;
  constexpr auto ph = Algorithm::Philox;
  const PackingCase cases[] = {
      {tf, {7, 42}, 32, {4}, {0x6db8c8e3, 0x60f46ce2, 0x6a8c57eb, 0x63097c9b}, {7, 44}},
      {tf, {7, 42}, 32, {5}, {0x6db8c8e3, 0x60f46ce2, 0x6a8c57eb, 0x63097c9b, 0x8b06e2f7}, {7, 45}},
      {tf,
       {7, 42},
       32,
       {2, 3},
       {0x6db8c8e3, 0x6a8c57eb, 0x8b06e2f7, 0x60f46ce2, 0x63097c9b, 0x87341adc},
       {7, 45}},
      {tf, {7, 42}, 32, {}, {0x6db8c8e3}, {7, 43}},
      {tf, {7, 42}, 32, {3, 0}, {}, {7, 42}},
      {tf, {7, 42}, 64, {2}, {0x60f46ce26db8c8e3, 0x63097c9b6a8c57eb}, {7, 44}},
      {tf, {7, 42}, 16, {4}, {0xc8e3, 0x6ce2, 0x57eb, 0x7c9b}, {7, 44}},
      {tf, {7, 42}, 8, {4}, {0xe3, 0xe2, 0xeb, 0x9b}, {7, 44}},
      {tf, {7, 42}, 4, {4}, {0x3, 0x2, 0xb, 0xb}, {7, 44}},
      {tf, {kMax, kMax}, 32, {4}, {0x1cb996fc, 0xbb002be7, 0x413979c4, 0x4e58fb3f}, {kMax, 1}},
      {tf, {3, 3}, 64, {}, {0x2e7d605246aac5cf}, {3, 4}},
      {tf,
       {0x400000001, 0x100000000},
       64,
       {100, 100},
       {0xa3e974730835d3c1, 0x252e8081823789ce, 0xb4c691df7e36a68e},
       {0x400000001, 0x100002710}},
      {ph,
       {7, 42, 43},
       32,
       {6},
       {0x90d90725, 0x8b24a7b6, 0xfa9e8c2a, 0x772b4325, 0x788af1bd, 0xc90abd14},
       {7, 44, 43}},
      {ph, {7, 42, 43}, 64, {3}, {0x8b24a7b690d90725, 0x772b4325fa9e8c2a, 0xc90abd14788af1bd}, {7, 44, 43}},
      {ph, {7, 42, 43}, 16, {4}, {0x0725, 0xa7b6, 0x8c2a, 0x4325}, {7, 43, 43}},
      {ph, {7, 42, 43}, 8, {4}, {0x25, 0xb6, 0x2a, 0x25}, {7, 43, 43}},
      {ph, {7, 42}, 32, {4}, {0x44aaef62, 0xa136c6f5, 0xc5a4e945, 0x4d8b0097}, {7, 43}},
      {ph,
       {1, kMax, 5},
       32,
       {8},
       {0x91ad2ca8, 0x6c7d6771, 0xdc00bbe9, 0x1b90ce00, 0x5642b3eb, 0xc6f8b326, 0x66ac855d, 0x7a25e9fe},
       {1, 1, 6}},
      {ph,
       {0x2cb205e300000000, 0x2cb205e300000000},
       32,
       {5},
       {0x34dd46c3, 0x7eedced6, 0x045c5772, 0x15edc0f5, 0x4ab61828},
       {0x2cb205e300000000, 0x2cb205e300000002}},
  };
  for (size_t i = 0; i < std::size(cases); ++i) {
    const PackingCase& c = cases[i];
    std::vector<uint64_t> state = c.state;
    const auto got = c.bits == 64   ? Generate<uint64_t>(c, state)
                     : c.bits == 32 ? Generate<uint32_t>(c, state)
                     : c.bits == 16 ? Generate<uint16_t>(c, state)
                                    : Generate<uint8_t>(c, state);
    EXPECT_EQ(got, c.expected) << "case " << i;
    EXPECT_EQ(state, c.new_state) << "case " << i;
  }
}

TEST(RandomBits, CounterCarriesAndBorrows) {
  Counter128 c{kMax, 7};
  c.Add(2);
  EXPECT_EQ(c, (Counter128{1, 8}));
  c.Add(-2);
  EXPECT_EQ(c, (Counter128{kMax, 7}));
}

TEST(RandomBits, UniformStaysInRangeAndFillsIt) {
  Stream stream(42);
  std::vector<float> f(20000);
  FillUniform(stream, ElementType::F32, FromFloat(ElementType::F32, -2), FromFloat(ElementType::F32, 3),
              f.data(), f.size());
  double sum = 0;
  for (float x : f) {
    ASSERT_GE(x, -2);
    ASSERT_LT(x, 3);
    sum += static_cast<double>(x);
  }
  EXPECT_NEAR(sum / 20000, 0.5, 0.05);
  std::vector<int8_t> s(5000);
  FillUniform(stream, ElementType::S8, static_cast<uint8_t>(-100), 100, s.data(), s.size());
  EXPECT_EQ(*std::min_element(s.begin(), s.end()), -100);
  EXPECT_EQ(*std::max_element(s.begin(), s.end()), 99);
  std::vector<int8_t> nibbles(500);
  FillUniform(stream, ElementType::S4, 0x8, 3, nibbles.data(), nibbles.size());
  EXPECT_EQ(*std::min_element(nibbles.begin(), nibbles.end()), -8);
  EXPECT_EQ(*std::max_element(nibbles.begin(), nibbles.end()), 2);
  std::vector<uint16_t> halves(5000);  // a range of two values: 1024 and 1025
  FillUniform(stream, ElementType::F16, FromDouble(ElementType::F16, 1024),
              FromDouble(ElementType::F16, 1026), halves.data(), halves.size());
  EXPECT_LT(ToDouble(ElementType::F16, *std::max_element(halves.begin(), halves.end())), 1026);
  uint64_t empty = 0;
  FillUniform(stream, ElementType::U64, 9, 9, &empty, 1);
  EXPECT_EQ(empty, 9U);
}

TEST(RandomBits, NormalHasItsMoments) {
  Stream stream(1);
  std::vector<double> x(30001);
  FillNormal(stream, ElementType::F64, FromDouble(ElementType::F64, 5), FromDouble(ElementType::F64, 2),
             x.data(), x.size());
  double sum = 0;
  double squares = 0;
  for (double v : x) sum += v, squares += v * v;
  const double n = static_cast<double>(x.size());
  EXPECT_NEAR(sum / n, 5, 0.05);
  EXPECT_NEAR(std::sqrt(squares / n - sum / n * (sum / n)), 2, 0.05);
}

}  // namespace
}  // namespace hlo::rng
