// Tiles of matrices that 32 lanes multiply together, and which lane has which of their elements.
#pragma once
#include <cstdint>
#include <string>

#include "ir/types.h"
#include "llvm/ADT/ArrayRef.h"

namespace hlo::kernel {

/// sums (rows x columns) += left (rows x depth) * right (depth x columns). Each lane has some elements of the
/// three in words: of 32 bits with as many neighbours of the depth as fit, or one element of 32 or 64 bits.
/// Tiles of four columns need no unit: each lane adds up one sum, fused, from a row and a column that it has
/// whole. Sums of others are those of exact products, rounded once for a tile; of f64 as if fused one by one,
/// integers wrap.
struct MatrixUnit {
  ElementType type = ElementType::F32;  // of the factors
  int32_t rows = 0, columns = 0, depth = 0;
  bool operator==(const MatrixUnit&) const = default;
};

/// Lanes that multiply a tile.
constexpr int64_t kMatrixLanes = 32;

/// Whether there are rules for the lanes of such a tile.
bool IsKnown(const MatrixUnit& unit);
/// The tile that lanes multiply without a unit; of no rows where they cannot.
MatrixUnit UnitOfLanes(ElementType type);
/// Lanes that share a row of a tile.
constexpr int64_t kMatrixParts = 4;
/// Whether each lane adds up sums of its own.
constexpr bool IsOfLanes(const MatrixUnit& unit) { return unit.columns == kMatrixParts; }
/// `bf16 16x8x16`
std::string ToString(const MatrixUnit& unit);

/// Of what a lane has of the sums, and of the words of the factors.
ElementType SumTypeOf(const MatrixUnit& unit);
ElementType WordTypeOf(const MatrixUnit& unit);
/// Words of a lane.
int64_t LeftWords(const MatrixUnit& unit);
int64_t RightWords(const MatrixUnit& unit);
int64_t SumWords(const MatrixUnit& unit);
/// Elements of a word, neighbours in depth.
int64_t ElementsOfWord(const MatrixUnit& unit);

/// An element of a factor: its row, or column of the right one, and its place in depth.
struct FactorPlace {
  int64_t line, depth;
};
/// The first element of a word. Lane = 4 * group + part, and all is linear in these.
FactorPlace LeftPlace(const MatrixUnit& unit, int64_t lane, int64_t word);
FactorPlace RightPlace(const MatrixUnit& unit, int64_t lane, int64_t word);
/// An element of the sums: neighbours of a lane are columns side by side.
struct SumPlace {
  int64_t row, column;
};
SumPlace SumPlaceOf(const MatrixUnit& unit, int64_t lane, int64_t word);

/// Words of all lanes, one lane after the other; changes the sums.
void MultiplyWords(const MatrixUnit& unit, llvm::ArrayRef<uint64_t> left, llvm::ArrayRef<uint64_t> right,
                   llvm::MutableArrayRef<uint64_t> sums);

}  // namespace hlo::kernel
