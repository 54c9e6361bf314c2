#include "backends/gemm/product.h"

#include <algorithm>
#include <cstring>

#include "backends/gemm/channelwise_run.h"
#include "backends/gemm/column_run.h"
#include "backends/gemm/feature_run.h"
#include "backends/gemm/lane_run.h"
#include "backends/gemm/plane_gradient.h"
#include "backends/gemm/plane_run.h"
#include "backends/gemm/position_run.h"
#include "backends/gemm/sums.h"
#include "backends/gemm/thin_run.h"
#include "backends/gemm/tile_run.h"
#include "backends/gemm/window_run.h"
#include "backends/gemm/word_run.h"
#include "ir/support/parallel.h"

namespace hlo::gemm {
namespace {

/// Of a row of the left factor, multiplied at a time. The panel that this makes of the right one comes from
/// the second cache, which feeds tiles as well as the first; longer ones begin and end fewer tiles.
constexpr int64_t kBlockBytes = 2048;
/// The same where the right factor is read as it lies, whose rows may share few sets of the caches.
constexpr int64_t kStepsInPlace = 192;
constexpr int64_t kRowPiece = 256;  // rows of the result done at a time
/// The latter if rows are cut, of a right factor whose columns lie side by side as tiles read them.
constexpr int64_t kPanelsPerPiece = 8, kPanelsPerCutPiece = 16, kPanelsPerWidePiece = 64;
constexpr int64_t kFewSums = 16 << 10;  // results that are worth cutting their sums, if those have
constexpr size_t kManyBlocks = 16, kBlocksPerPart = 8, kMostParts = 16;  // so many blocks
constexpr int64_t kFewColumns = 32;         // not worth turning the left factor round
constexpr int64_t kManyChannels = 16;       // of bytes, which instructions multiply by fours
constexpr int64_t kLongChannels = 64;       // of windows, read where they lie
constexpr int64_t kFewPiecesPerThread = 8;  // as many for each thread
// So that all end at about the same time; the latter if rows are cut. Sums do not depend on it.
constexpr int64_t kPiecesPerThread = 3, kCutPiecesPerThread = 2;

int64_t RoundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

/// The rows, columns and lanes of tiles of a compute type.
struct TileShape {
  int64_t rows, columns, lanes, bytes;
};
TileShape TileShapeOf(const KernelSet& kernels, ComputeType type) {
  return VisitComputeType(type, [&](auto tag) {
    const auto& tiles = kernels.tiles<decltype(tag)>();
    return TileShape{tiles.rows, tiles.columns, tiles.lanes, sizeof tag};
  });
}

/// Steps that are neighbours in memory become channels, where both operands have them so.
void OrderSteps(Problem& p) {
  if (!p.lhs.bounds.empty() || !p.rhs.bounds.empty() || p.taps() == 1) return;
  if (!p.lhs.taps.IsUniform() || !p.rhs.taps.IsUniform()) return;
  const auto near = [](int64_t a, int64_t b) { return (a == 1 ? 1 : 0) + (b == 1 ? 1 : 0); };
  if (p.channels > 1 &&
      near(p.lhs.channel_stride, p.rhs.channel_stride) >= near(p.lhs.taps.stride(), p.rhs.taps.stride()))
    return;
  const int64_t channels = p.channels;
  p.channels = p.taps();
  p.channels_outer = !p.channels_outer;
  for (Operand* operand : {&p.lhs, &p.rhs}) {
    const int64_t stride = operand->taps.stride();
    operand->taps = Index({Axis{channels, operand->channel_stride}});
    operand->channel_stride = stride;
  }
}

}  // namespace

bool IsSupported(ElementType lhs, ElementType rhs, ElementType result) {
  const auto real_or = [&](ElementType t) {
    return t != ElementType::F8E8M0FNU && (t == result || !IsComplex(t));
  };
  const auto compute = result == ElementType::C128 ? ComputeType::F64 : ComputeType::F32;
  return real_or(lhs) && real_or(rhs) && (!IsComplex(result) || ComputeTypeFor(result, lhs, rhs) == compute);
}

Product::Product(Problem problem, const Target& target)
    : problem_(std::move(problem)), target_(target), kernels_(KernelsFor(target.isa)) {
  if (IsComplex(problem_.type)) parts_ = 2;
  ChooseMethod();
  blocks_ = method_ == Method::Groups
                ? CutSteps(problem_, kGroupDepthBytes / Info(problem_.lhs.type).host_bytes(), 64)
                : CutSteps(problem_, StepsPerBlock(), 4);
  blocks_per_part_ = blocks_.size();
  if (method_ == Method::Tiles && blocks_.size() >= kManyBlocks &&
      problem_.rows() * problem_.columns() * problem_.batches() <= kFewSums)
    blocks_per_part_ = std::max(kBlocksPerPart, (blocks_.size() + kMostParts - 1) / kMostParts);
  CutResult();
}

int64_t Product::StepsPerBlock() const {
  const TileShape shape = TileShapeOf(kernels_, problem_.compute);
  const int64_t widest = shape.columns / shape.lanes, columns = problem_.columns() * parts_,
                vectors = std::clamp<int64_t>((columns + shape.lanes - 1) / shape.lanes, 1, widest);
  const int64_t steps = problem_.rows() <= kDirectRows ? kStepsInPlace : kBlockBytes / shape.bytes;
  return std::min(steps / parts_ * widest / vectors, kMaxDepth);
}

void Product::ChooseMethod() {
  if (problem_.depth() == 0) return;
  words_ = WordWayFor(problem_, target_);
  if (words_) {
    method_ = Method::Words;
    return;
  }
  words_ = PositionWayFor(problem_, target_);
  if (words_) {
    method_ = Method::Positions;
    return;
  }
  if (IsPlaneGradient(problem_, target_)) {
    method_ = Method::PlaneGradient;
    return;
  }
  if (IsOfPlanes(problem_, target_)) {
    method_ = Method::Planes;
    return;
  }
  if (IsOfLanes(problem_, target_)) {
    method_ = Method::Lanes;
    return;
  }
  if (!IsBetterInGroups() && IsFeaturewise(problem_, kernels_)) {
    method_ = Method::Featurewise;
    return;
  }
  if (IsChannelwise(problem_, kernels_)) {
    method_ = Method::Channelwise;
    return;
  }
  if (IsOfFewColumns(problem_, kernels_)) {
    method_ = Method::FewColumns;
    return;
  }
  if (IsWindowed(problem_)) {
    method_ = Method::Windowed;
    return;
  }
  OrderSteps(problem_);
  if (IsThin(problem_)) {
    method_ = Method::Thin;
    return;
  }
  Exchange();
  if (IsThin(problem_)) {
    method_ = Method::Thin;
    return;
  }
  if (!IsBetterExchanged()) Exchange();
  kind_ = GroupKindFor(problem_);
  if (kind_) groups_ = GroupKernelsFor(*kind_, target_);
  if (groups_ != nullptr) method_ = Method::Groups;
}

bool Product::IsBetterInGroups() const {
  if (problem_.batches() > 1 || problem_.channels < kManyChannels) return false;
  const auto kind = GroupKindFor(problem_);
  return kind && *kind != GroupKind::Bf16 && GroupKernelsFor(*kind, target_) != nullptr;
}

void Product::Exchange() {
  problem_.Exchange();
  exchanged_ = !exchanged_;
}

bool Product::IsBetterExchanged() const {
  // Asked with the factors exchanged. Columns are best neighbours in the result, and enough to fill vectors.
  const Index &rows = problem_.out_columns, &columns = problem_.out_rows;
  const int64_t lanes = TileShapeOf(kernels_, problem_.compute).lanes;
  if (columns.stride() != 1) return rows.stride() == 1 && rows.run() >= 4;
  // A left factor of steps far apart would be turned round; as the right one it is read as it lies.
  const Operand& left = problem_.rhs;
  if (problem_.taps() == 1 && left.bounds.empty() && columns.count() * parts_ <= kFewColumns &&
      rows.count() >= 4 * lanes && left.rows.stride() == 1 && left.rows.run() >= lanes &&
      left.channel_stride > 1)
    return true;
  return columns.count() * parts_ < lanes / 2 && rows.count() >= 4 * lanes;
}

void Product::CutResult() {
  const TileShape shape = TileShapeOf(kernels_, problem_.compute);
  const int64_t rows = problem_.rows(), columns = problem_.columns(), batches = problem_.batches();
  if (rows == 0 || columns == 0 || batches == 0) return;
  // Panels of nearly equal widths.
  const int64_t panels = (columns * parts_ + shape.columns - 1) / shape.columns;
  panel_ = RoundUp((columns * parts_ + panels - 1) / panels, shape.lanes) / parts_;
  // Packing goes by fours, but for elements of two doubles, four of which may be more than a tile has.
  if (problem_.type != ElementType::C128) panel_ = RoundUp(panel_, 4);
  const auto pieces = [&](int64_t row_piece, int64_t column_piece) {
    return ((rows + row_piece - 1) / row_piece) * ((columns + column_piece - 1) / column_piece) * batches;
  };
  const auto even = [](int64_t count, int64_t most, int64_t unit) {
    const int64_t parts = (count + most - 1) / most;
    return RoundUp((count + parts - 1) / parts, unit);
  };
  // Each piece but the first of its rows meets the left factor in the second cache or beyond: wide ones do so
  // less often. The right factor is packed once for all pieces.
  const bool cut = rows > kRowPiece * 3 / 2;
  const Operand& right = problem_.rhs;
  const bool wide =
      IsPlain(problem_, right) && right.bounds.empty() && right.rows.IsUniform() && right.rows.stride() == 1;
  int64_t row_most = cut ? kRowPiece : rows, panels_most = kPanelsPerPiece;
  if (cut) panels_most = wide ? kPanelsPerWidePiece : kPanelsPerCutPiece;
  const bool large = static_cast<double>(rows) * static_cast<double>(columns) *
                         static_cast<double>(problem_.depth()) * static_cast<double>(batches) >
                     2.5e5;
  if (large && !cut && CutWindowsByColumns(shape.lanes, shape.columns)) return;
  const int64_t wanted =
      ThreadCount() > 1 ? (cut ? kCutPiecesPerThread : kPiecesPerThread) * ThreadCount() : 1;
  while (large && pieces(row_most, panels_most * panel_) < wanted) {
    const bool by_columns =
        !cut && panels_most > 2 && columns > rows / 2 && batches == 1 && problem_.taps() == 1;
    if (!by_columns && row_most > 6 * shape.rows)
      row_most = (row_most + 1) / 2;
    else if (panels_most > 2)
      panels_most /= 2;
    else if (row_most > 6 * shape.rows)
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

bool Product::CutWindowsByColumns(int64_t lanes, int64_t widest) {
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
  if (least * threads > columns * 9 / 8) return false;
  row_piece_ = problem_.rows();
  const int64_t panels = (column_piece_ + widest - 1) / widest;
  panel_ = RoundUp((column_piece_ + panels - 1) / panels, lanes);
  return true;
}

void Product::Run(const void* lhs, const void* rhs, void* out) const {
  if (problem_.rows() == 0 || problem_.columns() == 0 || problem_.batches() == 0) return;
  if (exchanged_) std::swap(lhs, rhs);
  if (method_ == Method::Words) return RunByWords(problem_, *words_, kernels_, lhs, rhs, out);
  if (method_ == Method::Positions) return RunByPositions(problem_, *words_, kernels_, lhs, rhs, out);
  if (method_ == Method::PlaneGradient) return RunPlaneGradient(problem_, lhs, rhs, out);
  if (method_ == Method::Planes) return RunOfPlanes(problem_, kernels_, lhs, rhs, out);
  if (method_ == Method::Lanes) return RunOfLanes(problem_, lhs, rhs, out);
  if (method_ == Method::Featurewise) return RunFeaturewise(problem_, kernels_, lhs, rhs, out);
  if (method_ == Method::Channelwise) return RunChannelwise(problem_, kernels_, lhs, rhs, out);
  if (method_ == Method::FewColumns) return RunFewColumns(problem_, kernels_, lhs, rhs, out);
  if (method_ == Method::Thin) return RunThin(problem_, kernels_, lhs, rhs, out);
  if (method_ == Method::Windowed) return RunWindowed(problem_, kernels_, lhs, rhs, out);
  if (method_ == Method::Groups)
    return RunGroups(problem_, *kind_, *groups_, blocks_, kernels_, lhs, rhs, out);
  VisitComputeType(problem_.compute, [&](auto tag) { TileRun<decltype(tag)>(*this, lhs, rhs, out).Run(); });
}

bool Product::RunsByRows() const {
  return !exchanged_ && (method_ == Method::Tiles || method_ == Method::Groups) && !problem_.windows &&
         blocks_per_part_ == blocks_.size();
}

void Product::RunRows(const Rows& rows, const void* lhs, const void* rhs, void* out) const {
  if (method_ == Method::Groups)
    return RunGroupRows(problem_, *kind_, *groups_, blocks_, kernels_, rows, lhs, rhs, out);
  VisitComputeType(problem_.compute,
                   [&](auto tag) { TileRun<decltype(tag)>(*this, lhs, rhs, out).RunRows(rows); });
}

bool Product::IsSlow() const {
  return method_ == Method::Tiles && problem_.batches() > 1 && problem_.taps() > 1 &&
         std::min(problem_.rows(), problem_.columns()) * parts_ < 8;
}

bool Product::MultipliesPadding() const {
  return method_ != Method::Thin && method_ != Method::Channelwise &&
         (!problem_.lhs.bounds.empty() || !problem_.rhs.bounds.empty());
}

std::string Product::Describe() const {
  constexpr const char* kNames[] = {"f32", "f64", "32-bit integers", "64-bit integers"};
  std::string text = kNames[static_cast<size_t>(problem_.compute)];
  const TileShape shape = TileShapeOf(kernels_, problem_.compute);
  switch (method_) {
    case Method::Thin: return text + ", few rows";
    case Method::Words: return text + ", words of features";
    case Method::Positions: return text + ", words of positions";
    case Method::PlaneGradient: return text + ", products of planes";
    case Method::Planes: return text + ", planes";
    case Method::Lanes: return text + ", lanes of features, staged";
    case Method::Featurewise: return text + ", lanes of features";
    case Method::Channelwise: return text + ", channel by channel";
    case Method::FewColumns: return text + ", lanes of input features";
    case Method::Windowed: return text + ", shifted lines";
    case Method::Groups: return text + ", " + groups_->name;
    case Method::Tiles: break;
  }
  return text + ", tiles of " + std::to_string(shape.rows) + "x" + std::to_string(shape.columns);
}

}  // namespace hlo::gemm
