#include "backends/products/dot/packed_gemm.h"

#include <algorithm>

#include "backends/products/common/sums.h"
#include "backends/products/dot/packed_gemm_run.h"
#include "ir/support/parallel.h"

namespace hlo::gemm {
namespace {

/// Of a row of the left factor, multiplied at a time. The panel that this makes of the right one comes from
/// the second cache, which feeds tiles as well as the first; longer ones begin and end fewer tiles.
constexpr int64_t kBlockBytes = 2048;
/// The same where the right factor is read as it lies, whose rows may share few sets of the caches.
constexpr int64_t kStepsInPlace = 192;
constexpr int64_t kRowPiece = 256;        // rows of the result done at a time
constexpr int64_t kWindowRowPiece = 512;  // the same where rows of windows are read as they lie
/// The latter if rows are cut, of a right factor whose columns lie side by side as tiles read them.
constexpr int64_t kPanelsPerPiece = 8, kPanelsPerCutPiece = 16, kPanelsPerWidePiece = 64;
constexpr int64_t kFewSums = 16 << 10;  // results that are worth cutting their sums, if those have
constexpr size_t kManyBlocks = 16, kBlocksPerPart = 8, kMostParts = 16;  // so many blocks
constexpr size_t kBlocksKept = 16;                                       // whose steps a plan has found
constexpr int64_t kLongChannels = 64;                                    // of windows, read where they lie
constexpr int64_t kFewPiecesPerThread = 24;                              // as many for each thread
// So that all end at about the same time; the latter if rows are cut. Sums do not depend on it.
constexpr int64_t kPiecesPerThread = 3, kCutPiecesPerThread = 2;
constexpr int64_t kFewestRows = 8;       // or columns, of products of windows for each of several batches
constexpr int64_t kPackedTogether = 4;   // steps and columns
constexpr int64_t kLeastTiles = 6;       // of the rows of pieces that are still cut
constexpr int64_t kPartIdle = 8;         // of all threads together, at most, where windows are cut by columns
constexpr double kWorthThreads = 2.5e5;  // products

int64_t RoundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

TileShape TileShapeOf(const KernelSet& kernels, ComputeType type) {
  return VisitComputeType(type, [&](auto tag) {
    const auto& tiles = kernels.tiles<decltype(tag)>();
    return TileShape{tiles.rows, tiles.columns, tiles.lanes, sizeof tag};
  });
}

Fit FitTiles(const Problem& problem, const Target&) {
  Fit fit;
  fit.Suits(
      problem.batches() == 1 || problem.taps() == 1 ||
          std::min(problem.rows(), problem.columns()) * (IsComplex(problem.type) ? 2 : 1) >= kFewestRows,
      "many small products of windows");
  return fit;
}

TilePlan::TilePlan(Problem problem, const Target& target)
    : problem_(std::move(problem)), kernels_(KernelsFor(target.isa)) {
  if (IsComplex(problem_.type)) parts_ = 2;
  blocks_ = CutSteps(problem_, StepsPerBlock(), kPackedTogether);
  blocks_per_part_ = blocks_.size();
  if (blocks_.size() >= kManyBlocks && problem_.rows() * problem_.columns() * problem_.batches() <= kFewSums)
    blocks_per_part_ = std::max(kBlocksPerPart, (blocks_.size() + kMostParts - 1) / kMostParts);
  CutResult();
  for (size_t b = 0; b < std::min(blocks_.size(), kBlocksKept); ++b) {
    left_steps_.emplace_back(problem_.lhs, blocks_[b], problem_.channels_outer);
    right_steps_.emplace_back(problem_.rhs, blocks_[b], problem_.channels_outer);
  }
}

bool TilePlan::Run(const void* lhs, const void* rhs, void* out) const {
  VisitComputeType(problem_.compute, [&](auto tag) { TileRun<decltype(tag)>(*this, lhs, rhs, out).Run(); });
  return true;
}

bool TilePlan::RunsByRows() const { return !problem_.windows && blocks_per_part_ == blocks_.size(); }

void TilePlan::RunRows(const Rows& rows, const void* lhs, const void* rhs, void* out) const {
  VisitComputeType(problem_.compute,
                   [&](auto tag) { TileRun<decltype(tag)>(*this, lhs, rhs, out).RunRows(rows); });
}

std::string TilePlan::Detail() const {
  const TileShape shape = TileShapeOf(kernels_, problem_.compute);
  return "tiles of " + std::to_string(shape.rows) + "x" + std::to_string(shape.columns);
}

int64_t TilePlan::StepsPerBlock() const {
  const TileShape shape = TileShapeOf(kernels_, problem_.compute);
  const int64_t widest = shape.columns / shape.lanes, columns = problem_.columns() * parts_,
                vectors = std::clamp<int64_t>((columns + shape.lanes - 1) / shape.lanes, 1, widest);
  const int64_t steps = problem_.rows() <= kDirectRows ? kStepsInPlace : kBlockBytes / shape.bytes;
  return std::min(steps / parts_ * widest / vectors, kMaxDepth);
}

void TilePlan::CutResult() {
  const TileShape shape = TileShapeOf(kernels_, problem_.compute);
  const int64_t rows = problem_.rows(), columns = problem_.columns(), batches = problem_.batches();
  if (rows == 0 || columns == 0 || batches == 0) return;
  // Panels of nearly equal widths.
  const int64_t panels = (columns * parts_ + shape.columns - 1) / shape.columns;
  panel_ = RoundUp((columns * parts_ + panels - 1) / panels, shape.lanes) / parts_;
  // Packing goes by fours, but for elements of two doubles, four of which may be more than a tile has.
  if (problem_.type != ElementType::C128) panel_ = RoundUp(panel_, kPackedTogether);
  const auto pieces = [&](int64_t row_piece, int64_t column_piece) {
    return ((rows + row_piece - 1) / row_piece) * ((columns + column_piece - 1) / column_piece) * batches;
  };
  const auto even = [](int64_t count, int64_t most, int64_t unit) {
    const int64_t parts = (count + most - 1) / most;
    return RoundUp((count + parts - 1) / parts, unit);
  };
  // Each piece but the first of its rows meets the left factor in the second cache or beyond: wide ones do so
  // less often. The right factor is packed once for all pieces.
  const Operand& left = problem_.lhs;
  const int64_t most_rows =
      problem_.windows && left.channel_stride == 1 && IsPlain(problem_, left) ? kWindowRowPiece : kRowPiece;
  const bool cut = rows > most_rows + most_rows / 2;
  const Operand& right = problem_.rhs;
  const bool wide =
      IsPlain(problem_, right) && right.bounds.empty() && right.rows.IsUniform() && right.rows.stride() == 1;
  int64_t row_most = cut ? most_rows : rows, panels_most = kPanelsPerPiece;
  if (cut) panels_most = wide ? kPanelsPerWidePiece : kPanelsPerCutPiece;
  const bool large = static_cast<double>(rows) * static_cast<double>(columns) *
                         static_cast<double>(problem_.depth()) * static_cast<double>(batches) >
                     kWorthThreads;
  if (large && !cut && CutWindowsByColumns(shape.lanes, shape.columns)) return;
  const int64_t wanted =
      ThreadCount() > 1 ? (cut ? kCutPiecesPerThread : kPiecesPerThread) * ThreadCount() : 1;
  while (large && pieces(row_most, panels_most * panel_) < wanted) {
    const bool by_columns =
        !cut && panels_most > 2 && columns > rows / 2 && batches == 1 && problem_.taps() == 1;
    if (!by_columns && row_most > kLeastTiles * shape.rows)
      row_most = (row_most + 1) / 2;
    else if (panels_most > 2)
      panels_most /= 2;
    else if (row_most > kLeastTiles * shape.rows)
      row_most = (row_most + 1) / 2;
    else
      break;
  }
  row_piece_ = even(rows, row_most, shape.rows);
  column_piece_ = even(columns, panels_most * panel_, panel_);
  const int64_t threads = ThreadCount(), all = pieces(row_piece_, column_piece_);
  if (large && cut && all % threads != 0 && all < kFewPiecesPerThread * threads) {
    const int64_t parts = RoundUp((rows + row_piece_ - 1) / row_piece_, threads);
    row_piece_ = RoundUp((rows + parts - 1) / parts, shape.rows);
  }
}

bool TilePlan::CutWindowsByColumns(int64_t lanes, int64_t widest) {
  const int64_t columns = problem_.columns(), threads = ThreadCount();
  if (threads == 1 || !problem_.windows || problem_.batches() > 1 || parts_ > 1 ||
      columns < problem_.rows() / 2 || problem_.lhs.channel_stride != 1 || problem_.channels < kLongChannels)
    return false;
  int64_t least = columns + 1;
  for (int64_t per_thread = 1; per_thread <= kPiecesPerThread; ++per_thread) {
    const int64_t parts = per_thread * threads,
                  piece = std::max(RoundUp((columns + parts - 1) / parts, lanes), 2 * lanes),
                  pieces = (columns + piece - 1) / piece,
                  share = (pieces + threads - 1) / threads * piece;  // of the thread that has most
    if (share >= least) continue;
    least = share;
    column_piece_ = piece;
  }
  if (least * threads - columns > columns / kPartIdle) return false;
  row_piece_ = problem_.rows();
  const int64_t panels = (column_piece_ + widest - 1) / widest;
  panel_ = RoundUp((column_piece_ + panels - 1) / panels, lanes);
  return true;
}

}  // namespace hlo::gemm
