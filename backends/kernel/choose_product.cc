// Tiles that suit a product and a machine.
#include "backends/kernel/product_steps.h"
#include "backends/kernel/schedule_steps.h"
#include "llvm/Support/MathExtras.h"

namespace hlo::kernel {
namespace {

/// Bytes of a line of a piece: two sectors of memory, and few enough that there is room for several pieces.
constexpr int64_t kLine = 64;
/// Products with fewer rows, columns or elements of depth are not worth a tile, nor are those of fewer
/// numbers.
constexpr int64_t kLeastEdge = 16, kLeastProducts = 1 << 14;
constexpr int64_t kStages = 3;

struct Tile {
  int64_t rows, columns, warp_rows, warp_columns;
};
/// Largest first: the larger, the less often factors are read.
constexpr Tile kTiles[] = {{128, 128, 2, 4}, {128, 64, 2, 2}, {64, 128, 2, 2}, {64, 64, 2, 2},
                           {32, 64, 1, 2},   {64, 32, 2, 1},  {32, 32, 1, 2},  {16, 32, 1, 1}};
/// Of products with few rows or columns, which are as fast as the larger factor is read: depth and numbers of
/// that from which on units are worth it although most of what they multiply is not there.
constexpr Tile kThinTiles[] = {{16, 64, 1, 2}, {64, 16, 2, 1}};
constexpr int64_t kThinEdge = 2, kWideEdge = 64, kThinDepth = 128;
/// Elements of more bytes: sums of larger tiles do not fit the registers.
constexpr int64_t kPlain = 4, kMostOfWide = int64_t{64} * 64;

/// The unit for the type of the factors before they were converted, or that of lanes for the sums'.
MatrixUnit UnitOf(const Kernel& kernel, const Product& product, const Target& target) {
  for (const MatrixUnit& unit : target.blocks.units) {
    if (!IsKnown(unit) || IsOfLanes(unit) || SumTypeOf(unit) != product.sum) continue;
    if (FactorOf(kernel, product.left.value, unit.type) >= 0 &&
        FactorOf(kernel, product.right.value, unit.type) >= 0)
      return unit;
  }
  return UnitOfLanes(product.sum);
}

/// The tile of a product with too few rows or columns for others, which reads the larger factor once.
std::optional<ProductShape> ThinProduct(const Product& product, const MatrixUnit& unit,
                                        const Target& target) {
  const int64_t rows = ExtentOf(product.left.loops), columns = ExtentOf(product.right.loops);
  if (std::min(rows, columns) < kThinEdge || std::max(rows, columns) < kWideEdge ||
      ExtentOf(product.depth) < kThinDepth || unit.rows == 0 || IsOfLanes(unit))
    return std::nullopt;
  const Tile& tile = kThinTiles[rows < columns ? 0 : 1];
  const ProductShape shape{tile.rows,      tile.columns,      kLine / Info(unit.type).host_bytes(),
                           tile.warp_rows, tile.warp_columns, unit,
                           kStages};
  const bool fits =
      BytesOfProduct(shape) <= target.blocks.shared && tile.rows % (tile.warp_rows * unit.rows) == 0;
  return fits ? std::optional(shape) : std::nullopt;
}

}  // namespace

std::optional<ProductShape> ChooseProduct(const Kernel& kernel, const Product& product,
                                          const Target& target) {
  const int64_t rows = ExtentOf(product.left.loops), columns = ExtentOf(product.right.loops),
                depth = ExtentOf(product.depth), batch = ExtentOf(product.batch);
  if (std::min(depth, std::max(rows, columns)) < kLeastEdge || rows * columns * depth < kLeastProducts ||
      target.blocks.lanes != kMatrixLanes)
    return std::nullopt;
  const MatrixUnit unit = UnitOf(kernel, product, target);
  if (std::min(rows, columns) < kLeastEdge) return ThinProduct(product, unit, target);
  if (unit.rows == 0) return std::nullopt;
  const int64_t bytes = Info(unit.type).host_bytes();
  // Two of the largest blocks keep a processor busy.
  constexpr int64_t kParts = 4, kBusy = 3;
  const int64_t processors = target.blocks.full / (2 * target.blocks.most_threads);
  std::optional<ProductShape> found, smallest;
  for (const Tile& tile : kTiles) {
    if (bytes > kPlain && tile.rows * tile.columns > kMostOfWide) continue;
    ProductShape shape{tile.rows,         tile.columns, kLine / bytes, tile.warp_rows,
                       tile.warp_columns, unit,         kStages};
    while (shape.stages > 2 && BytesOfProduct(shape) > target.blocks.shared) --shape.stages;
    if (BytesOfProduct(shape) > target.blocks.shared || tile.rows % (tile.warp_rows * unit.rows) != 0)
      continue;
    // More than half of a tile is there, and tiles keep three of four parts of the machine busy.
    const bool fits = tile.rows < 2 * rows && tile.columns < 2 * columns;
    smallest = shape;
    if (!fits) continue;
    found = shape;
    const int64_t tiles =
        ((rows + tile.rows - 1) / tile.rows) * ((columns + tile.columns - 1) / tile.columns) * batch;
    if (tiles * kParts >= processors * kBusy) return shape;
  }
  return found ? found : smallest;
}

std::vector<ProductShape> AlternativeProducts(const ProductShape& chosen, const Target& target) {
  std::vector<ProductShape> shapes;
  for (const Tile& tile : kTiles)
    for (int64_t stages = 2; stages <= kStages; ++stages) {
      const ProductShape shape{tile.rows,         tile.columns, chosen.depth, tile.warp_rows,
                               tile.warp_columns, chosen.unit,  stages};
      const bool wide =
          Info(chosen.unit.type).host_bytes() > kPlain && tile.rows * tile.columns > kMostOfWide;
      if (!wide && BytesOfProduct(shape) <= target.blocks.shared && shape != chosen && CheckProduct(shape))
        shapes.push_back(shape);
    }
  return shapes;
}

int64_t BytesOfProduct(const ProductShape& shape) {
  return shape.stages * (shape.rows + shape.columns) * shape.depth * Info(shape.unit.type).host_bytes();
}

Status CheckProduct(const ProductShape& shape) {
  const MatrixUnit& unit = shape.unit;
  if (!IsKnown(unit)) return ScheduleError("there are no tiles {0}", ToString(unit));
  for (const int64_t number : {shape.rows, shape.columns, shape.depth, shape.warp_rows, shape.warp_columns})
    if (!llvm::isPowerOf2_64(static_cast<uint64_t>(number)))
      return ScheduleError("tiles of {0} x {1} x {2} by {3} x {4} warps: expected powers of two", shape.rows,
                           shape.columns, shape.depth, shape.warp_rows, shape.warp_columns);
  if (shape.rows % (shape.warp_rows * unit.rows) != 0 ||
      shape.columns % (shape.warp_columns * unit.columns) != 0 || shape.depth % unit.depth != 0)
    return ScheduleError("tiles of {0} x {1} x {2} by {3} x {4} warps are not made of {5}", shape.rows,
                         shape.columns, shape.depth, shape.warp_rows, shape.warp_columns, ToString(unit));
  constexpr int64_t kMostWarps = 32, kMostUnits = 16;
  if (shape.warp_rows * shape.warp_columns > kMostWarps ||
      shape.rows / shape.warp_rows / unit.rows > kMostUnits ||
      shape.columns / shape.warp_columns / unit.columns > kMostUnits ||
      std::min(shape.rows, shape.columns) * shape.depth < shape.threads())
    return ScheduleError("tiles of {0} x {1} x {2} are too large or too small for {3} x {4} warps",
                         shape.rows, shape.columns, shape.depth, shape.warp_rows, shape.warp_columns);
  if (shape.stages < 2 || shape.stages > kMostStages)
    return ScheduleError("{0} stages: expected 2 to {1}", shape.stages, kMostStages);
  return {};
}

}  // namespace hlo::kernel
