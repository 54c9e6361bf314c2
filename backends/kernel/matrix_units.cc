#include "backends/kernel/matrix_units.h"

#include <climits>
#include <cmath>
#include <cstring>

#include "ir/numeric/narrow_float.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace hlo::kernel {
namespace {

struct Row {
  MatrixUnit unit;
  ElementType sum;
};
constexpr Row kUnits[] = {
    {{ElementType::BF16, 16, 8, 16}, ElementType::F32}, {{ElementType::F16, 16, 8, 16}, ElementType::F32},
    {{ElementType::F32, 16, 8, 8}, ElementType::F32},  // rounded to tf32
    {{ElementType::S8, 16, 8, 32}, ElementType::S32},   {{ElementType::F64, 8, 8, 4}, ElementType::F64},
    {{ElementType::F32, 8, 4, 4}, ElementType::F32},    {{ElementType::F64, 8, 4, 2}, ElementType::F64},
    {{ElementType::S32, 8, 4, 4}, ElementType::S32},    {{ElementType::U32, 8, 4, 4}, ElementType::U32},
    {{ElementType::S64, 8, 4, 2}, ElementType::S64},    {{ElementType::U64, 8, 4, 2}, ElementType::U64},
};

const Row* Find(const MatrixUnit& unit) {
  const auto* row = llvm::find_if(kUnits, [&](const Row& r) { return r.unit == unit; });
  return row == std::end(kUnits) ? nullptr : row;
}

constexpr int64_t kWordBits = 32;
constexpr int64_t kParts = kMatrixParts, kGroups = kMatrixLanes / kParts;

uint64_t Element(const MatrixUnit& unit, uint64_t word, int64_t number) {
  const int64_t bits = Info(unit.type).bits;
  return bits >= kWordBits ? word : word >> (number * bits) & ((uint64_t{1} << bits) - 1);
}

/// Bits of f32 as tf32 has them: to nearest, halves away from zero. NaNs and infinities stay what they are.
uint64_t RoundedToTf32(uint64_t bits) {
  constexpr uint64_t kLost = 13, kExponent = 0x7f800000;
  if ((bits & kExponent) == kExponent) return bits;
  return (bits + (uint64_t{1} << (kLost - 1))) >> kLost << kLost;
}

/// The sum of one element: factors in the order of depth.
uint64_t Sum(const MatrixUnit& unit, uint64_t sum, llvm::ArrayRef<uint64_t> left,
             llvm::ArrayRef<uint64_t> right) {
  const ElementType type = unit.type, sums = SumTypeOf(unit);
  if (!IsFloat(type)) {
    const auto widened = [&](uint64_t x) {
      const auto unused = static_cast<unsigned>(sizeof x * CHAR_BIT) - static_cast<unsigned>(Info(type).bits);
      if (IsUnsigned(type)) return x << unused >> unused;
      return static_cast<uint64_t>(static_cast<int64_t>(x << unused) >> unused);
    };
    for (size_t i = 0; i < left.size(); ++i) sum += widened(left[i]) * widened(right[i]);
    return Info(sums).bits == kWordBits ? static_cast<uint32_t>(sum) : sum;
  }
  if (type == ElementType::F32 && IsOfLanes(unit)) {
    const auto f32 = [](uint64_t bits) { return static_cast<float>(ToDouble(ElementType::F32, bits)); };
    float total = f32(sum);
    for (size_t i = 0; i < left.size(); ++i) total = std::fma(f32(left[i]), f32(right[i]), total);
    return FromDouble(sums, static_cast<double>(total));
  }
  double total = ToDouble(sums, sum);
  const auto factor = [&](uint64_t bits) {
    return ToDouble(type, type == ElementType::F32 ? RoundedToTf32(bits) : bits);
  };
  for (size_t i = 0; i < left.size(); ++i) total = std::fma(factor(left[i]), factor(right[i]), total);
  return FromDouble(sums, total);
}

}  // namespace

bool IsKnown(const MatrixUnit& unit) { return Find(unit) != nullptr; }

MatrixUnit UnitOfLanes(ElementType type) {
  for (const Row& row : kUnits)
    if (row.unit.type == type && IsOfLanes(row.unit)) return row.unit;
  return {type};
}

std::string ToString(const MatrixUnit& unit) {
  return llvm::formatv("{0} {1}x{2}x{3}", ToString(unit.type), unit.rows, unit.columns, unit.depth).str();
}

ElementType SumTypeOf(const MatrixUnit& unit) { return Find(unit)->sum; }
ElementType WordTypeOf(const MatrixUnit& unit) {
  return Info(unit.type).bits < kWordBits ? ElementType::U32 : unit.type;
}
int64_t ElementsOfWord(const MatrixUnit& unit) {
  return std::max<int64_t>(kWordBits / Info(unit.type).bits, 1);
}
int64_t LeftWords(const MatrixUnit& unit) {
  if (IsOfLanes(unit)) return unit.depth;
  return int64_t{unit.rows} * unit.depth / kMatrixLanes / ElementsOfWord(unit);
}
int64_t RightWords(const MatrixUnit& unit) {
  if (IsOfLanes(unit)) return unit.depth;
  return int64_t{unit.columns} * unit.depth / kMatrixLanes / ElementsOfWord(unit);
}
int64_t SumWords(const MatrixUnit& unit) { return int64_t{unit.rows} * unit.columns / kMatrixLanes; }

FactorPlace LeftPlace(const MatrixUnit& unit, int64_t lane, int64_t word) {
  const int64_t group = lane / kParts, part = lane % kParts, each = ElementsOfWord(unit);
  if (IsOfLanes(unit)) return {group, word};
  const int64_t halves = unit.rows / kGroups;
  return {group + kGroups * (word % halves), each * (part + kParts * (word / halves))};
}
FactorPlace RightPlace(const MatrixUnit& unit, int64_t lane, int64_t word) {
  const int64_t group = lane / kParts, part = lane % kParts;
  if (IsOfLanes(unit)) return {part, word};
  return {group, ElementsOfWord(unit) * (part + kParts * word)};
}
SumPlace SumPlaceOf(const MatrixUnit& unit, int64_t lane, int64_t word) {
  const int64_t group = lane / kParts, part = lane % kParts, neighbours = unit.columns / kParts;
  return {group + kGroups * (word / neighbours), part * neighbours + word % neighbours};
}

void MultiplyWords(const MatrixUnit& unit, llvm::ArrayRef<uint64_t> left, llvm::ArrayRef<uint64_t> right,
                   llvm::MutableArrayRef<uint64_t> sums) {
  const auto depth = static_cast<size_t>(unit.depth);
  const auto gather = [&](llvm::ArrayRef<uint64_t> words, int64_t of_lane, int64_t lines, auto place) {
    std::vector<uint64_t> elements(static_cast<size_t>(lines) * depth);
    for (int64_t lane = 0; lane < kMatrixLanes; ++lane)
      for (int64_t word = 0; word < of_lane; ++word) {
        const FactorPlace at = place(unit, lane, word);
        for (int64_t e = 0; e < ElementsOfWord(unit); ++e)
          elements[static_cast<size_t>(at.line * unit.depth + at.depth + e)] =
              Element(unit, words[static_cast<size_t>(lane * of_lane + word)], e);
      }
    return elements;
  };
  const auto rows = gather(left, LeftWords(unit), unit.rows, LeftPlace);
  const auto columns = gather(right, RightWords(unit), unit.columns, RightPlace);
  const int64_t of_lane = SumWords(unit);
  for (int64_t lane = 0; lane < kMatrixLanes; ++lane)
    for (int64_t word = 0; word < of_lane; ++word) {
      const SumPlace at = SumPlaceOf(unit, lane, word);
      uint64_t& sum = sums[static_cast<size_t>(lane * of_lane + word)];
      sum = Sum(unit, sum, llvm::ArrayRef(rows).slice(static_cast<size_t>(at.row) * depth, depth),
                llvm::ArrayRef(columns).slice(static_cast<size_t>(at.column) * depth, depth));
    }
}

}  // namespace hlo::kernel
