// Products by register tiles, cut into pieces for caches and threads.
#pragma once
#include <vector>

#include "backends/products/common/pack.h"
#include "backends/products/common/way.h"

namespace hlo::gemm {

/// The rows, columns and lanes of tiles of a compute type.
struct TileShape {
  int64_t rows, columns, lanes, bytes;
};
TileShape TileShapeOf(const KernelSet& kernels, ComputeType type);

/// Tiles compute every problem; many small products of windows they are slow at.
Fit FitTiles(const Problem& problem, const Target& target);

class TilePlan final : public Plan {
 public:
  TilePlan(Problem problem, const Target& target);
  bool Run(const void* lhs, const void* rhs, void* out) const override;
  [[nodiscard]] bool RunsByRows() const override;
  void RunRows(const Rows& rows, const void* lhs, const void* rhs, void* out) const override;
  [[nodiscard]] std::string Detail() const override;

 private:
  /// Steps multiplied at a time by tiles; more where the right factor has few columns.
  [[nodiscard]] int64_t StepsPerBlock() const;
  void CutResult();
  /// Cuts windows of few positions into columns alone, the same for all threads: each part of the weights is
  /// read once. False if that is no better.
  bool CutWindowsByColumns(int64_t lanes, int64_t widest);

  template <class T>
  friend class TileRun;

  Problem problem_;
  const KernelSet& kernels_;
  std::vector<Block> blocks_;
  std::vector<BlockSteps> left_steps_, right_steps_;  // of the first blocks: all if they are few
  /// Long sums of few elements are made of parts, one per so many blocks, that are added in order.
  size_t blocks_per_part_ = 0;
  int parts_ = 1;                             // 2 for complex elements
  int64_t panel_ = 1;                         // columns of a panel of the right factor
  int64_t row_piece_ = 1, column_piece_ = 1;  // of the result, done at a time
};

}  // namespace hlo::gemm
