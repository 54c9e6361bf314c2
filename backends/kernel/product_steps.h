// Products of matrices that the warps of a block sum up in tiles, from shared memory.
#pragma once
#include "backends/kernel/kernel.h"
#include "backends/kernel/target.h"

namespace hlo::kernel {

/// How a product is gone through: tiles of so many rows and columns, each the work of a block, whose factors
/// come to shared memory in pieces of so much depth, several of them at once; warps side by side in both
/// directions; the tiles that a warp multiplies at once.
struct ProductShape {
  int64_t rows = 0, columns = 0, depth = 0;
  int64_t warp_rows = 1, warp_columns = 1;
  MatrixUnit unit;
  int64_t stages = 2;
  [[nodiscard]] int64_t threads() const { return warp_rows * warp_columns * kMatrixLanes; }
  bool operator==(const ProductShape&) const = default;
};
/// More pieces are never under way.
constexpr int64_t kMostStages = 8;

/// What a nest of loops computes: a sum of products for each of its iterations, and from that what it stores.
struct Product {
  struct Factor {
    ValueId value = -1;                     // as it is multiplied
    llvm::SmallVector<Dimension, 2> loops;  // of the nest, that it goes along and the other does not
  };
  Factor left, right;                     // the right one goes along the innermost loop
  llvm::SmallVector<Dimension, 2> batch;  // loops of the nest that both go along
  llvm::SmallVector<Dimension, 2> depth;  // that are summed over
  ElementType sum = ElementType::F32;
  /// Some products are zero whatever the factors are, which floats tell from products of zeros.
  bool padded = false;
};
int64_t ExtentOf(llvm::ArrayRef<Dimension> loops);

/// The product of a nest of which `innermost` is the body; nothing for what is none. Where values are
/// computed is looked up in the whole kernel.
std::optional<Product> FindProduct(const Kernel& kernel, llvm::ArrayRef<Dimension> nest,
                                   const Region& innermost);
/// The factor before it was converted from `type`, exactly; -1 if it was not.
ValueId FactorOf(const Kernel& kernel, ValueId factor, ElementType type);

/// The tiles that suit the product and the machine; nothing where the product is too small for any.
std::optional<ProductShape> ChooseProduct(const Kernel& kernel, const Product& product, const Target& target);

/// Other tiles for the same unit that the machine has room for, largest first.
std::vector<ProductShape> AlternativeProducts(const ProductShape& chosen, const Target& target);

/// Whether there are tiles like these. Errors: kernel-schedule.
Status CheckProduct(const ProductShape& shape);
/// Bytes that a thread moves at once.
constexpr int64_t kProductAccess = 16;
/// Lines of `run` of all elements of a factor, whose pieces change places by the line, so that lanes which
/// load words of several lines find them in several banks: pieces of 16 bytes, or of two of them where a
/// group of lanes has so much of a line.
Buffer::Swizzle SwizzleOfFactor(const MatrixUnit& unit, int64_t elements, int64_t run);
/// Elements behind each row of the sums that warps hand on: lanes that store together meet in no bank.
int64_t GapOfSums(const MatrixUnit& unit);
/// Of so many sums, of which each thread takes `width` neighbours: nor do those that take more than 16 bytes.
Buffer::Swizzle SwizzleOfSums(ElementType type, int64_t elements, int64_t width);
/// Bytes of shared memory that tiles take.
int64_t BytesOfProduct(const ProductShape& shape);

/// Makes one loop `into` over the tiles, which is for blocks, of a perfect nest that computes a product.
/// Errors: kernel-schedule, with the kernel spoilt.
Status TileProduct(Kernel& kernel, llvm::ArrayRef<LoopStmt*> nest, const ProductShape& shape, LoopId into);

}  // namespace hlo::kernel
