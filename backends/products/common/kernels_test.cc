#include "backends/products/common/kernels.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <vector>

#include "backends/products/common/vnni_kernels.h"

namespace hlo::gemm {
namespace {

std::vector<Isa> Isas() {
  std::vector<Isa> isas = {Isa::Baseline};
  if (HostIsa() >= Isa::Avx2) isas.push_back(Isa::Avx2);
  if (HostIsa() >= Isa::Avx512) isas.push_back(Isa::Avx512);
  return isas;
}

/// Small whole numbers, so that sums are exact in every type.
template <class T>
std::vector<T> Numbers(size_t count, uint32_t seed) {
  std::vector<T> numbers(count);
  for (T& x : numbers) {
    seed = seed * 1664525 + 1013904223;
    x = static_cast<T>((seed >> 20) % 17);
  }
  return numbers;
}

/// What no result may be made of: NaN, or a number that shows.
template <class T>
T Poison() {
  if constexpr (std::is_floating_point_v<T>) return std::numeric_limits<T>::quiet_NaN();
  return static_cast<T>(0x5a5a5a5a);
}

enum class InRuns : uint8_t { No, ByOffsets, ByPointers };

struct TileCase {
  int rows, columns;
  int64_t depth, a_step;
  bool padded, accumulate;
  InRuns in_runs = InRuns::No;
};

/// Runs one tile between poisoned neighbours and compares every element.
template <class T>
void CheckTile(const Tiles<T>& tiles, const TileCase& t) {
  const int64_t width = tiles.columns, stride = t.padded ? width : t.columns;
  // Row i of the left factor begins at i (steps far apart) or at i * depth (steps side by side).
  auto a = Numbers<T>(static_cast<size_t>(t.rows * t.depth + t.a_step * t.depth + t.rows), 1);
  auto b = Numbers<T>(static_cast<size_t>(stride * t.depth), 2);
  if (t.padded)
    for (int64_t k = 0; k < t.depth; ++k)
      for (int64_t j = t.columns; j < width; ++j) b[static_cast<size_t>(k * stride + j)] = Poison<T>();
  const int64_t c_stride = width + 5;
  std::vector<T> c(static_cast<size_t>(t.rows * c_stride), Poison<T>());
  std::vector<const T*> a_rows;
  std::vector<T*> c_rows;
  std::vector<T> expected = c;
  for (int64_t i = 0; i < t.rows; ++i) {
    a_rows.push_back(a.data() + (t.a_step == 1 ? i * t.depth : i));
    c_rows.push_back(c.data() + i * c_stride);
    for (int64_t j = 0; j < t.columns; ++j) {
      T sum = T(0);
      for (int64_t k = 0; k < t.depth; ++k)
        sum += a_rows.back()[k * t.a_step] * b[static_cast<size_t>(k * stride + j)];
      if (t.accumulate) c_rows.back()[j] = static_cast<T>(i + j);
      expected[static_cast<size_t>(i * c_stride + j)] = t.accumulate ? sum + static_cast<T>(i + j) : sum;
    }
  }
  // The same steps in two runs: at offsets of all rows, or by a pointer for each row and run.
  const int64_t cut = t.depth / 2, lengths[] = {cut, t.depth - cut}, offsets[] = {0, cut * t.a_step};
  if (t.in_runs == InRuns::ByPointers)
    for (int64_t i = 0; i < t.rows; ++i) a_rows.push_back(a_rows[static_cast<size_t>(i)] + offsets[1]);
  TileArgs<T> args{t.depth,       a_rows.data(), t.a_step, b.data(),    stride,
                   c_rows.data(), t.columns,     t.padded, t.accumulate};
  if (t.in_runs != InRuns::No) {
    args.run_lengths = lengths;
    args.runs = 2;
  }
  if (t.in_runs == InRuns::ByOffsets) args.run_offsets = offsets;
  if (t.in_runs == InRuns::ByPointers) args.run_stride = t.rows;
  tiles.run[t.rows - 1](args);
  for (size_t i = 0; i < c.size(); ++i)
    ASSERT_TRUE(c[i] == expected[i] || (c[i] != c[i] && expected[i] != expected[i]))
        << "element " << i << ": rows " << t.rows << " columns " << t.columns << " depth " << t.depth
        << " step " << t.a_step << " padded " << t.padded << " accumulate " << t.accumulate;
}

template <class T>
void CheckTiles() {
  for (const Isa isa : Isas()) {
    const Tiles<T>& tiles = KernelsFor(isa).tiles<T>();
    for (int rows = 1; rows <= tiles.rows; ++rows)
      for (int columns = 1; columns <= tiles.columns; ++columns)
        for (const bool padded : {false, true}) {
          if (!padded && !tiles.exact_columns && columns % tiles.lanes != 0) continue;
          CheckTile<T>(tiles, {rows, columns, 5, 1, padded, false});
          CheckTile<T>(tiles, {rows, columns, 7, 48, padded, true});
          CheckTile<T>(tiles, {rows, columns, 1, 1, padded, true});
          CheckTile<T>(tiles, {rows, columns, 7, 1, padded, true, InRuns::ByOffsets});
          CheckTile<T>(tiles, {rows, columns, 6, 1, padded, false, InRuns::ByPointers});
        }
  }
}

TEST(GemmKernels, TilesOfFloat) { CheckTiles<float>(); }
TEST(GemmKernels, TilesOfDouble) { CheckTiles<double>(); }
TEST(GemmKernels, TilesOfUint32) { CheckTiles<uint32_t>(); }
TEST(GemmKernels, TilesOfUint64) { CheckTiles<uint64_t>(); }

/// Batches of products side by side, and with gaps between rows and factors, between poisoned neighbours.
template <class T>
void CheckBatch(const Tiles<T>& tiles, int rows, int columns, int64_t gap) {
  constexpr int64_t kCount = 5, kDepth = 3;
  const int64_t a_row = kDepth + gap, b_row = columns + gap, c_row = columns + gap,
                a_batch = rows * a_row + gap, b_batch = kDepth * b_row + gap, c_batch = rows * c_row + gap;
  const auto a = Numbers<T>(static_cast<size_t>(kCount * a_batch), 1),
             b = Numbers<T>(static_cast<size_t>(kCount * b_batch), 2);
  std::vector<T> c(static_cast<size_t>(kCount * c_batch + tiles.columns), Poison<T>()), expected = c;
  for (int64_t p = 0; p < kCount; ++p)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        T sum = T(0);
        for (int64_t k = 0; k < kDepth; ++k)
          sum += a[static_cast<size_t>(p * a_batch + i * a_row + k)] *
                 b[static_cast<size_t>(p * b_batch + k * b_row + j)];
        expected[static_cast<size_t>(p * c_batch + i * c_row + j)] = sum;
      }
  tiles.batch[rows - 1]({kCount, kDepth, columns, a.data(), a_batch, a_row, 1, b.data(), b_batch, b_row,
                         c.data(), c_batch, c_row});
  for (size_t i = 0; i < c.size(); ++i)
    ASSERT_TRUE(c[i] == expected[i] || (c[i] != c[i] && expected[i] != expected[i]))
        << "element " << i << ": rows " << rows << " columns " << columns << " gap " << gap;
}

template <class T>
void CheckBatches() {
  for (const Isa isa : Isas()) {
    const Tiles<T>& tiles = KernelsFor(isa).tiles<T>();
    for (int rows = 1; rows <= tiles.rows; ++rows)
      for (int columns = 1; columns <= tiles.columns; ++columns)
        if (tiles.exact_columns || columns % tiles.lanes == 0)
          for (const int64_t gap : {0, 2}) CheckBatch<T>(tiles, rows, columns, gap);
  }
}

TEST(GemmKernels, Batches) {
  CheckBatches<float>();
  CheckBatches<double>();
  CheckBatches<uint32_t>();
  CheckBatches<uint64_t>();
}

TEST(GemmKernels, TilesPropagateInfinityAndNan) {
  const float inf = std::numeric_limits<float>::infinity();
  for (const Isa isa : Isas()) {
    const Tiles<float>& tiles = KernelsFor(isa).f32;
    const std::vector<float> a = {0, 1, inf, 2};  // two rows
    std::vector<float> b(static_cast<size_t>(2 * tiles.columns), 1.0F);
    b[1] = inf;
    std::vector<float> c(static_cast<size_t>(2 * tiles.columns));
    const float* a_rows[] = {a.data(), a.data() + 2};
    float* c_rows[] = {c.data(), c.data() + tiles.columns};
    tiles.run[1]({2, a_rows, 1, b.data(), tiles.columns, c_rows, tiles.columns, true, false});
    EXPECT_EQ(c[0], 1);
    EXPECT_NE(c[1], c[1]);  // 0 * inf
    EXPECT_EQ(c_rows[1][0], inf);
    EXPECT_EQ(c_rows[1][1], inf);
  }
}

/// W is how the large factor is stored: numbers as they are, or bytes of any value.
template <class T, class W>
void CheckThin(const ThinKernels<T, W>& thin) {
  for (const int64_t count : {1, 3, 16, 31, 64, 131, 200})
    for (int rows = 1; rows <= 4; ++rows) {
      const int64_t depth = count % 7 + 1;
      const auto x = Numbers<T>(static_cast<size_t>(4 * count + 32), 3);
      auto w = Numbers<W>(static_cast<size_t>(depth * count), 4);
      if constexpr (sizeof(W) == 1)
        for (W& code : w) code = static_cast<W>(code * 15);
      T dots[4] = {};
      thin.dot(w.data(), count, x.data(), count, rows, dots);
      std::vector<T> sums(static_cast<size_t>(4 * count), T(1)), expected = sums;
      thin.add(w.data(), count, depth, count, x.data(), 5, rows, sums.data(), count);
      for (int64_t p = 0; p < rows; ++p) {
        T dot = T(0);
        for (int64_t k = 0; k < count; ++k)
          dot += static_cast<T>(w[static_cast<size_t>(k)]) * x[static_cast<size_t>(p * count + k)];
        EXPECT_EQ(dots[p], dot);
        for (int64_t j = 0; j < count; ++j)
          for (int64_t k = 0; k < depth; ++k)
            expected[static_cast<size_t>(p * count + j)] +=
                x[static_cast<size_t>(p * 5 + k)] * static_cast<T>(w[static_cast<size_t>(k * count + j)]);
      }
      EXPECT_EQ(sums, expected);
    }
}

TEST(GemmKernels, ThinProducts) {
  for (const Isa isa : Isas()) {
    const KernelSet& kernels = KernelsFor(isa);
    CheckThin(kernels.thin_f32);
    CheckThin(kernels.thin_f64);
    CheckThin(kernels.thin_u32);
    CheckThin(kernels.thin_u64);
    CheckThin(kernels.thin_s8);
    CheckThin(kernels.thin_u8);
  }
}

template <class T>
void CheckShifts() {
  for (const Isa isa : Isas()) {
    const ShiftKernels<T>& shift = KernelsFor(isa).shift<T>();
    if (shift.weigh == nullptr) continue;
    const auto in = Numbers<T>(1000, 6), w = Numbers<T>(600, 7);
    const std::vector<int64_t> offsets = {0, 1, 2, 31, 32, 33, 62, 63, 64, 100, 7};
    for (const int64_t count : {1, 7, 16, 50, 64, 130}) {
      std::vector<T> out(static_cast<size_t>(count + kShiftPadding));
      shift.weigh(in.data(), offsets.data(), w.data(), 11, count, out.data());
      for (int64_t j = 0; j < count; ++j) {
        T sum = T(0);
        for (size_t t = 0; t < 11; ++t)
          sum = static_cast<T>(sum + w[t] * in[static_cast<size_t>(offsets[t] + j)]);
        EXPECT_EQ(out[static_cast<size_t>(j)], sum);
      }
      const int64_t lines[] = {0, 200, 400};
      for (int64_t shifts = 1; shifts <= 11; ++shifts) {
        std::vector<T> sums(11, T(2));
        shift.correlate(w.data(), 3, count, in.data(), lines, offsets.data(), shifts, sums.data());
        for (int64_t s = 0; s < 11; ++s) {
          T sum = T(2);
          for (int64_t l = 0; s < shifts && l < 3; ++l)
            for (int64_t j = 0; j < count; ++j)
              sum = static_cast<T>(
                  sum + w[static_cast<size_t>(l * count + j)] *
                            in[static_cast<size_t>(lines[l] + offsets[static_cast<size_t>(s)] + j)]);
          EXPECT_EQ(sums[static_cast<size_t>(s)], sum) << shifts << " shifts, number " << s;
        }
      }
    }
  }
}

TEST(GemmKernels, ShiftedLines) {
  CheckShifts<float>();
  CheckShifts<double>();
  CheckShifts<uint16_t>();
  CheckShifts<uint32_t>();
  CheckShifts<uint64_t>();
}

/// BF16 codes of small whole numbers.
std::vector<uint16_t> Codes(size_t count, uint32_t seed) {
  std::vector<uint16_t> codes;
  for (const float x : Numbers<float>(count, seed))
    codes.push_back(static_cast<uint16_t>(std::bit_cast<uint32_t>(x) >> 16));
  return codes;
}
float Value(uint16_t code) { return std::bit_cast<float>(static_cast<uint32_t>(code) << 16); }

std::vector<const GroupKernels*> GroupKernelsHere(GroupKind kind) {
  std::vector<const GroupKernels*> here;
  for (const GroupKernels* kernels :
       {TileRegisterKernels(), kind == GroupKind::Bf16 ? PairKernels() : FourKernels()})
    if (kernels != nullptr) here.push_back(kernels);
  return here;
}

constexpr size_t kMostRows = 256;  // that any of these takes

/// Runs tiles of all heights over E's whose values are Value(left) and Value(right), with exact sums in T.
template <class E, class T, class Left, class Right>
void CheckGroups(GroupKind kind, const std::vector<E>& a, const std::vector<E>& b, Left left_value,
                 Right right_value) {
  constexpr int64_t kDepth = 70, kPadded = sizeof(E) == 2 ? 96 : 128, kColumns = kGroupColumns;
  for (const GroupKernels* kernels : GroupKernelsHere(kind))
    for (int64_t rows = 1; rows <= kernels->rows; rows += rows < kGroupRows ? 1 : 28)
      for (const int64_t count : {1, 31, 32}) {
        std::vector<E> left(static_cast<size_t>(rows * kPadded), E(0));
        for (int64_t i = 0; i < rows; ++i)
          std::copy_n(a.begin() + i * kDepth, kDepth, left.begin() + i * kPadded);
        if (kernels->moves_left != nullptr && kernels->moves_left(kind))
          for (E& x : left) x ^= 0x80;
        std::vector<E> right(kPadded * kColumns, E(0x7f));
        if constexpr (sizeof(E) == 2)
          Interleave16(b.data(), kColumns, kDepth, kPadded, count, right.data());
        else
          Interleave8(b.data(), kColumns, kDepth, kPadded, count, right.data());
        std::vector<T> sums(static_cast<size_t>(rows * kColumns), T(-3));
        for (const bool accumulate : {true, false}) {
          if (kernels->prepare != nullptr) kernels->prepare(rows);
          kernels->multiply(kind, rows,
                            {kPadded * static_cast<int64_t>(sizeof(E)) / kGroupStepBytes, left.data(),
                             kPadded * static_cast<int64_t>(sizeof(E)), right.data(), sums.data(),
                             kColumns * 4, accumulate, count});
          if (kernels->release != nullptr) kernels->release();
          for (int64_t i = 0; i < rows; ++i)
            for (int64_t j = 0; j < (count > kColumns / 2 ? kColumns : count); ++j) {
              T sum = accumulate ? T(-3) : T(0);
              for (int64_t k = 0; j < count && k < kDepth; ++k)
                sum += left_value(a[static_cast<size_t>(i * kDepth + k)]) *
                       right_value(b[static_cast<size_t>(k * kColumns + j)]);
              ASSERT_EQ(sums[static_cast<size_t>(i * kColumns + j)], sum)
                  << kernels->name << ' ' << rows << ' ' << count << ' ' << i << ' ' << j;
            }
        }
      }
}

TEST(GemmKernels, PairsOfBf16) {
  if (GroupKernelsHere(GroupKind::Bf16).empty()) GTEST_SKIP() << "no instructions for pairs";
  CheckGroups<uint16_t, float>(GroupKind::Bf16, Codes(kMostRows * 70, 8), Codes(kGroupColumns * 70, 9), Value,
                               Value);
}

TEST(GemmKernels, FoursOfBytes) {
  if (GroupKernelsHere(GroupKind::SS).empty()) GTEST_SKIP() << "no instructions for bytes";
  std::vector<uint8_t> a(kMostRows * 70), b(kGroupColumns * 70);
  uint32_t seed = 10;
  for (auto* bytes : {&a, &b})
    for (uint8_t& x : *bytes) x = static_cast<uint8_t>((seed = seed * 1664525 + 1013904223) >> 24);
  const auto s = [](uint8_t x) { return int32_t{static_cast<int8_t>(x)}; };
  const auto u = [](uint8_t x) { return int32_t{x}; };
  CheckGroups<uint8_t, int32_t>(GroupKind::SS, a, b, s, s);
  CheckGroups<uint8_t, int32_t>(GroupKind::SU, a, b, s, u);
  CheckGroups<uint8_t, int32_t>(GroupKind::US, a, b, u, s);
  CheckGroups<uint8_t, int32_t>(GroupKind::UU, a, b, u, u);
}

TEST(GemmKernels, NarrowingRoundsToEvenAndKeepsNan) {
  const std::vector<float> in = {1.0F, std::bit_cast<float>(0x3f808000U), std::bit_cast<float>(0x3f818000U),
                                 std::bit_cast<float>(0xff800001U), std::numeric_limits<float>::infinity()};
  for (const Isa isa : Isas()) {
    std::vector<uint16_t> out(in.size());
    KernelsFor(isa).narrow_bf16(in.data(), static_cast<int64_t>(in.size()), out.data());
    EXPECT_EQ(out, (std::vector<uint16_t>{0x3f80, 0x3f80, 0x3f82, 0xffc0, 0x7f80}));
  }
}

TEST(GemmKernels, TransposesAndCopies) {
  for (const Isa isa : Isas()) {
    const KernelSet& kernels = KernelsFor(isa);
    const auto in = Numbers<uint16_t>(40 * 23, 5);
    std::vector<const uint16_t*> rows;
    for (size_t i = 0; i < 40; ++i) rows.push_back(in.data() + i * 23);
    std::vector<uint16_t> out(23 * 44, 7);
    kernels.transpose16(rows.data(), 23, 40, out.data(), 44);
    for (size_t k = 0; k < 23; ++k)
      for (size_t i = 0; i < 44; ++i) EXPECT_EQ(out[k * 44 + i], i < 40 ? in[i * 23 + k] : 7);
    kernels.copy16(in.data(), 40, 23, 37, 44, out.data(), 44);
    for (size_t k = 0; k < 23; ++k)
      for (size_t i = 0; i < 44; ++i) EXPECT_EQ(out[k * 44 + i], i < 37 ? in[k * 40 + i] : 0);
  }
}

}  // namespace
}  // namespace hlo::gemm
