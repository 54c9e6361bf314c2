#include "backends/products/dot/packed_gemm_run.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "backends/products/common/pack.h"
#include "backends/products/common/scratch.h"
#include "backends/products/common/subnormals.h"
#include "backends/products/common/sums.h"
#include "ir/support/buffer.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo::gemm {
namespace {

constexpr int64_t kLeftPanel = 48;           // rows of a transposed block of the left factor
constexpr int64_t kDirectBytes = 256 << 10;  // or if it has at most so many bytes
constexpr size_t kFewBlocks = 4;
constexpr int64_t kRowsCopied = 8;        // of the right factor at a time
constexpr int64_t kPanelsPacked = 4;      // by a thread at a time
constexpr double kMostShared = 32 << 20;  // bytes of a right factor that is packed as a whole
constexpr double kWorkInPlace = 1e5;      // the same for small products of a batch
constexpr double kWorkPerTask = 1.2e5;    // products that are worth waking a thread for
constexpr int64_t kPage = 4096;           // bytes: lines so far apart take one another's place in a cache, …
constexpr int64_t kStepsOfPages = 8;      // … of which it has so many

int64_t RoundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

template <class T>
TileRun<T>::TileRun(const TilePlan& plan, const void* lhs, const void* rhs, void* out)
    : plan_(plan),
      problem_(plan.problem_),
      kernels_(plan.kernels_),
      tiles_(plan.kernels_.tiles<T>()),
      lhs_(static_cast<const uint8_t*>(lhs)),
      rhs_(static_cast<const uint8_t*>(rhs)),
      out_(static_cast<uint8_t*>(out)),
      row_pieces_((problem_.rows() + plan.row_piece_ - 1) / plan.row_piece_),
      column_pieces_((problem_.columns() + plan.column_piece_ - 1) / plan.column_piece_) {
  int64_t start = 0;
  for (const Block& block : plan.blocks_) {
    starts_.push_back(start);
    start += block.depth();
  }
}

template <class T>
void TileRun<T>::Run() {
  const int64_t pieces = problem_.batches() * row_pieces_ * column_pieces_;
  if (plan_.blocks_per_part_ < plan_.blocks_.size()) return RunInParts(pieces);
  if (pieces > 1 && pieces == problem_.batches() && RunInPlace()) return;
  ShareRight();
  const double work = static_cast<double>(std::min(problem_.rows(), plan_.row_piece_)) *
                      static_cast<double>(std::min(problem_.columns(), plan_.column_piece_)) *
                      static_cast<double>(problem_.depth());
  const auto grain = static_cast<int64_t>(std::clamp(kWorkPerTask / work, 1.0, static_cast<double>(pieces)));
  ParallelFor(0, pieces, grain, [&](int64_t begin, int64_t end) {
    const FlushSubnormals flush;
    Tables tables;
    for (int64_t i = begin; i < end && !Interrupted(); ++i) RunPiece(PieceAt(i), tables);
  });
}

template <class T>
void TileRun<T>::RunRows(const Rows& rows) {
  const FlushSubnormals flush;
  Tables tables;
  for (int64_t row = rows.begin; row < rows.end; row += plan_.row_piece_)
    for (int64_t column = 0; column < problem_.columns(); column += plan_.column_piece_)
      RunPiece({rows.batch, row, std::min(rows.end, row + plan_.row_piece_), column,
                std::min(problem_.columns(), column + plan_.column_piece_)},
               tables);
}

template <class T>
bool TileRun<T>::RunInPlace() const {
  if (plan_.blocks_.size() != 1 || plan_.parts_ != 1 || problem_.rows() > kDirectRows) return false;
  const Operand &lhs = problem_.lhs, &rhs = problem_.rhs;
  const Piece piece = PieceAt(0);
  const Block& block = plan_.blocks_[0];
  const auto left = BlockSteps(lhs, block, problem_.channels_outer).Uniform();
  const auto right = BlockSteps(rhs, block, problem_.channels_outer).Uniform();
  const bool side_by_side = rhs.rows.IsUniform() && (piece.columns() == 1 || rhs.rows.stride() == 1);
  if (!left || !right || !side_by_side || !IsPlain(problem_, lhs) || !IsPlain(problem_, rhs) ||
      !IsDirect(piece) || !(tiles_.exact_columns || piece.columns() % tiles_.lanes == 0))
    return false;
  const auto rows = static_cast<size_t>(piece.rows());
  llvm::SmallVector<int64_t, kDirectRows> left_offsets(rows), out_offsets(rows);
  lhs.rows.Fill(0, piece.rows(), left_offsets.data());
  problem_.out_rows.Fill(0, piece.rows(), out_offsets.data());
  const T* left_first = reinterpret_cast<const T*>(lhs_) + left->first;
  const T* right_first = reinterpret_cast<const T*>(rhs_) + right->first + rhs.rows.At(0);
  T* out_first = reinterpret_cast<T*>(out_) + problem_.out_base + problem_.out_columns.At(0);
  const double work = static_cast<double>(piece.rows() * piece.columns()) *
                      static_cast<double>(block.depth()) * static_cast<double>(problem_.batches());
  auto tasks = static_cast<int64_t>(std::ceil(work / kWorkInPlace));
  if (tasks > 1) tasks = RoundUp(tasks, ThreadCount());
  const int64_t grain = (problem_.batches() + tasks - 1) / tasks;
  if (RunBatch(piece, block.depth(), grain, left_first, left->second, right_first, right->second, out_first))
    return true;
  ParallelFor(0, problem_.batches(), grain, [&](int64_t begin, int64_t end) {
    const FlushSubnormals flush;
    const T* left_rows[kDirectRows];
    T* targets[kDirectRows];
    for (int64_t b = begin; b < end && !Interrupted(); ++b) {
      const int64_t left_batch = lhs.batch.At(b), out_batch = problem_.out_batch.At(b);
      for (size_t i = 0; i < rows; ++i) {
        left_rows[i] = left_first + left_batch + left_offsets[i];
        targets[i] = out_first + out_batch + out_offsets[i];
      }
      Multiply(piece, {left_rows, left->second},
               {right_first + rhs.batch.At(b), plan_.panel_, right->second, false}, block.depth(), false,
               targets);
    }
  });
  return true;
}

template <class T>
bool TileRun<T>::RunBatch(const Piece& piece, int64_t depth, int64_t grain, const T* left, int64_t left_step,
                          const T* right, int64_t right_step, T* out) const {
  const Index &left_rows = problem_.lhs.rows, &left_batch = problem_.lhs.batch,
              &right_batch = problem_.rhs.batch, &out_rows = problem_.out_rows,
              &out_batch = problem_.out_batch;
  for (const Index* index : {&left_rows, &left_batch, &right_batch, &out_rows, &out_batch})
    if (!index->IsUniform()) return false;
  if (piece.rows() > tiles_.rows || piece.columns() > tiles_.columns) return false;
  ParallelFor(0, problem_.batches(), grain, [&](int64_t begin, int64_t end) {
    const FlushSubnormals flush;
    tiles_.batch[piece.rows() - 1](
        {end - begin, depth, static_cast<int>(piece.columns()), left + left_rows.At(0) + left_batch.At(begin),
         left_batch.stride(), left_rows.stride(), left_step, right + right_batch.At(begin),
         right_batch.stride(), right_step, out + out_rows.At(0) + out_batch.At(begin), out_batch.stride(),
         out_rows.stride()});
  });
  return true;
}

template <class T>
typename TileRun<T>::Piece TileRun<T>::PieceAt(int64_t number) const {
  const int64_t row = number % row_pieces_ * plan_.row_piece_,
                column = number / row_pieces_ % column_pieces_ * plan_.column_piece_;
  return {number / row_pieces_ / column_pieces_, row, std::min(problem_.rows(), row + plan_.row_piece_),
          column, std::min(problem_.columns(), column + plan_.column_piece_)};
}

template <class T>
bool TileRun<T>::IsDirect(const Piece& piece) const {
  const Index& columns = problem_.out_columns;
  // Rows a multiple of pages apart would push one another out of the caches between blocks.
  if (plan_.blocks_.size() > kFewBlocks && piece.rows() > kDirectRows &&
      problem_.out_rows.stride() * static_cast<int64_t>(sizeof(T)) % kPage == 0)
    return false;
  return IsStoredAs(problem_.type, problem_.compute) &&
         (columns.IsUniform() ? columns.count() == 1 || columns.stride() == 1
                              : columns.stride() == 1 &&
                                    piece.column_begin % columns.run() + piece.columns() <= columns.run());
}

template <class T>
int64_t TileRun<T>::Stride(const Piece& piece) const {
  return RoundUp(piece.columns() * plan_.parts_, tiles_.lanes);
}

template <class T>
void TileRun<T>::StorePiece(const Piece& piece, const T* sums) const {
  StoreSums(problem_, kernels_,
            {piece.batch, piece.row_begin, piece.rows(), piece.column_begin, piece.columns()}, sums,
            Stride(piece), out_);
}

template <class T>
void TileRun<T>::Sum(const Piece& piece, size_t first, size_t end, Tables& tables) const {
  bool accumulate = false;
  for (size_t b = first; b < end; ++b) {
    const Block& block = plan_.blocks_[b];
    Left left{};
    Right right{};
    MakeLeft(piece, b, tables, left);
    MakeRight(piece, b, right);
    if (left.in_runs)
      MultiplyRuns(piece, right, block.depth() * plan_.parts_, accumulate, tables);
    else
      Multiply(piece, left, right, block.depth() * plan_.parts_, accumulate, tables.targets.data());
    accumulate = true;
  }
}

template <class T>
void TileRun<T>::RunPiece(const Piece& piece, Tables& tables) const {
  const int64_t rows = piece.rows(), parts = plan_.parts_, stride = Stride(piece);
  tables.targets.resize_for_overwrite(static_cast<size_t>(rows));
  if (IsDirect(piece) && !plan_.blocks_.empty()) {
    tables.offsets.resize_for_overwrite(static_cast<size_t>(rows));
    problem_.out_rows.Fill(piece.row_begin, rows, tables.offsets.data());
    T* base = reinterpret_cast<T*>(out_) + parts * (problem_.out_base + problem_.out_batch.At(piece.batch) +
                                                    problem_.out_columns.At(piece.column_begin));
    for (size_t i = 0; i < tables.targets.size(); ++i) tables.targets[i] = base + parts * tables.offsets[i];
    return Sum(piece, 0, plan_.blocks_.size(), tables);
  }
  T* sums = ScratchFor<T>(ScratchUse::Sums, rows * stride);
  for (size_t i = 0; i < tables.targets.size(); ++i)
    tables.targets[i] = sums + static_cast<int64_t>(i) * stride;
  if (plan_.blocks_.empty()) std::fill_n(sums, rows * stride, T(0));
  Sum(piece, 0, plan_.blocks_.size(), tables);
  StorePiece(piece, sums);
}

template <class T>
void TileRun<T>::RunInParts(int64_t pieces) const {
  const size_t blocks = plan_.blocks_.size(), per_part = plan_.blocks_per_part_;
  const auto parts = static_cast<int64_t>((blocks + per_part - 1) / per_part);
  const int64_t rows = plan_.row_piece_,
                size = rows * RoundUp(plan_.column_piece_ * plan_.parts_, tiles_.lanes);
  const auto sums = MakeBuffer<T>(static_cast<size_t>(pieces * parts * size));
  ParallelFor(0, pieces * parts, 1, [&](int64_t begin, int64_t end) {
    const FlushSubnormals flush;
    Tables tables;
    for (int64_t i = begin; i < end && !Interrupted(); ++i) {
      const Piece piece = PieceAt(i / parts);
      tables.targets.clear();
      for (int64_t r = 0; r < piece.rows(); ++r)
        tables.targets.push_back(sums.get() + i * size + r * Stride(piece));
      const auto first = static_cast<size_t>(i % parts) * per_part;
      Sum(piece, first, std::min(first + per_part, blocks), tables);
    }
  });
  const FlushSubnormals flush;
  for (int64_t p = 0; p < pieces && !Interrupted(); ++p) {
    const Piece piece = PieceAt(p);
    T* total = sums.get() + p * parts * size;
    for (int64_t part = 1; part < parts; ++part)
      for (int64_t i = 0; i < piece.rows() * Stride(piece); ++i) total[i] += total[part * size + i];
    StorePiece(piece, total);
  }
}

template <class T>
void TileRun<T>::MakeLeft(const Piece& piece, size_t block, Tables& tables, Left& left) const {
  if (block < plan_.left_steps_.size()) return MakeLeft(piece, plan_.left_steps_[block], tables, left);
  MakeLeft(piece, BlockSteps(problem_.lhs, plan_.blocks_[block], problem_.channels_outer), tables, left);
}

template <class T>
void TileRun<T>::MakeLeft(const Piece& piece, const BlockSteps& steps, Tables& tables, Left& left) const {
  const Operand& operand = problem_.lhs;
  const int64_t rows = piece.rows(), depth = steps.depth(), parts = plan_.parts_;
  const int bytes = Info(operand.type).host_bytes();
  const uint8_t* data = lhs_ + operand.batch.At(piece.batch) * bytes;
  const bool plain = IsPlain(problem_, operand);
  tables.rows.resize_for_overwrite(static_cast<size_t>(rows));
  left.rows = tables.rows.data();
  left.step = 1;
  const auto uniform = steps.Uniform();
  if (plain && uniform && (uniform->second == 1 || depth == 1)) {
    tables.offsets.resize_for_overwrite(static_cast<size_t>(rows));
    operand.rows.Fill(piece.row_begin, rows, tables.offsets.data());
    const T* first = reinterpret_cast<const T*>(data) + parts * uniform->first;
    for (size_t i = 0; i < tables.rows.size(); ++i) tables.rows[i] = first + parts * tables.offsets[i];
    return;
  }
  const Packer packer(kernels_, bytes);
  const bool neighbours =
                 operand.channel_stride != 1 && operand.rows.stride() == 1 && operand.rows.run() >= 4,
             transposed = neighbours && parts == 1;
  const int64_t stored = transposed ? RoundUp(rows, kLeftPanel) : rows,
                stride = neighbours && !transposed ? RoundUp(depth, 4) : depth;
  T* packed = ScratchFor<T>(ScratchUse::Left, stored * stride * parts);
  void* raw = plain ? static_cast<void*>(packed) : Scratch(ScratchUse::Raw, stored * stride * bytes);
  if (neighbours && !transposed) {
    packer.RowsByPanels(steps, data, piece.row_begin, rows, stride, raw);
    for (int64_t i = 0; i < rows; ++i) tables.rows[static_cast<size_t>(i)] = packed + i * stride * parts;
  } else if (transposed) {
    for (int64_t i = 0; i < rows; i += kLeftPanel)
      packer.Panel(steps, data, piece.row_begin + i, std::min(kLeftPanel, rows - i), kLeftPanel,
                   static_cast<uint8_t*>(raw) + i * depth * bytes);
    left.step = kLeftPanel;
    for (int64_t i = 0; i < rows; ++i)
      tables.rows[static_cast<size_t>(i)] = packed + i / kLeftPanel * kLeftPanel * depth + i % kLeftPanel;
  } else if (plain && steps.HasLongRuns()) {
    packer.RowsInPlace(steps, data, piece.row_begin, rows, packed, tables.runs);
    for (int64_t& length : tables.runs.lengths) length *= parts;
    for (int64_t& offset : tables.runs.offsets) offset *= parts;
    left.in_runs = true;
    SetEdgesApart(tables);
  } else {
    packer.Rows(steps, data, piece.row_begin, rows, depth, raw);
    for (int64_t i = 0; i < rows; ++i) tables.rows[static_cast<size_t>(i)] = packed + i * depth * parts;
  }
  if (!plain) ToCompute(problem_, operand, kernels_, raw, stored * stride, packed);
}

/// Rows (re, im) become [re im; -im re], so that complex products are real ones of twice the depth and width.
template <class T>
void TileRun<T>::ExpandComplex(const T* in, int64_t depth, int64_t width, T* out) const {
  if constexpr (std::is_floating_point_v<T>) {
    for (int64_t k = 0; k < depth; ++k, in += width, out += 2 * width)
      for (int64_t i = 0; i < width; i += 2) {
        out[i] = in[i];
        out[i + 1] = in[i + 1];
        out[width + i] = -in[i + 1];
        out[width + i + 1] = in[i];
      }
  }
}

/// Some rows of all panels at a time, since neighbours in memory are fetched together.
template <class T>
void TileRun<T>::CopyPanels(const T* first, int64_t stride, int64_t columns, int64_t depth, T* out) const {
  using E = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  const int64_t panel = plan_.panel_;
  KernelSet::Copy<E>* copy;
  if constexpr (sizeof(T) == 4)
    copy = kernels_.copy32;
  else
    copy = kernels_.copy64;
  for (int64_t k = 0; k < depth; k += kRowsCopied)
    for (int64_t c = 0; c < columns; c += panel)
      copy(reinterpret_cast<const E*>(first + k * stride + c), stride, std::min(kRowsCopied, depth - k),
           std::min(panel, columns - c), panel, reinterpret_cast<E*>(out + c * depth + k * panel), panel);
}

template <class T>
bool TileRun<T>::IsReadable(const BlockSteps& steps, int64_t columns) const {
  const Operand& operand = problem_.rhs;
  return IsPlain(problem_, operand) && plan_.parts_ == 1 && steps.Uniform() && operand.rows.IsUniform() &&
         (columns == 1 || operand.rows.stride() == 1) &&
         (tiles_.exact_columns || columns % tiles_.lanes == 0);
}

template <class T>
bool TileRun<T>::StaysInPlace(const BlockSteps& steps, int64_t columns) const {
  if (!IsReadable(steps, columns)) return false;
  const int64_t bytes = sizeof(T), stride = std::abs(steps.Uniform()->second) * bytes;
  return problem_.rows() <= kDirectRows || (steps.depth() * problem_.columns() * bytes <= kDirectBytes &&
                                            (stride % kPage != 0 || steps.depth() <= kStepsOfPages));
}

template <class T>
void TileRun<T>::PackRight(const BlockSteps& steps, int64_t batch, int64_t column, int64_t columns,
                           T* packed) const {
  const Operand& operand = problem_.rhs;
  const int64_t depth = steps.depth(), parts = plan_.parts_, panel = plan_.panel_,
                panels = (columns + panel - 1) / panel, distance = panel * depth * parts * parts;
  const int bytes = Info(operand.type).host_bytes();
  const uint8_t* data = rhs_ + operand.batch.At(batch) * bytes;
  const bool plain = IsPlain(problem_, operand),
             side_by_side = operand.rows.IsUniform() && (columns == 1 || operand.rows.stride() == 1);
  const auto uniform = steps.Uniform();
  if (plain && parts == 1 && uniform && side_by_side)
    return CopyPanels(reinterpret_cast<const T*>(data) + uniform->first + operand.rows.At(column),
                      uniform->second, columns, depth, packed);
  const Packer packer(kernels_, bytes);
  T* converted = parts == 1 ? packed : ScratchFor<T>(ScratchUse::Expanded, panel * depth * parts);
  void* raw = plain ? static_cast<void*>(converted) : Scratch(ScratchUse::Raw, panel * depth * bytes);
  for (int64_t p = 0; p < panels; ++p) {
    T* target = packed + p * distance;
    packer.Panel(steps, data, column + p * panel, std::min(panel, columns - p * panel), panel,
                 plain && parts == 1 ? target : raw);
    if (!plain) ToCompute(problem_, operand, kernels_, raw, panel * depth, parts == 1 ? target : converted);
    if (parts == 2) ExpandComplex(converted, depth, panel * parts, target);
  }
}

template <class T>
void TileRun<T>::ShareRight() {
  if (row_pieces_ < 2 || plan_.blocks_.empty()) return;
  const int64_t panel = plan_.panel_, panels = (problem_.columns() + panel - 1) / panel, parts = plan_.parts_,
                depth = problem_.depth(), batches = problem_.batches(), row = panels * panel * parts * parts;
  if (static_cast<double>(row) * static_cast<double>(depth * batches) * sizeof(T) > kMostShared ||
      IsReadable(plan_.right_steps_[0], std::min(problem_.columns(), plan_.column_piece_)))
    return;
  shared_ = MakeBuffer<T>(static_cast<size_t>(row * depth * batches));
  const int64_t groups = (panels + kPanelsPacked - 1) / kPanelsPacked,
                blocks = static_cast<int64_t>(plan_.blocks_.size());
  ParallelFor(0, batches * blocks * groups, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end && !Interrupted(); ++i) {
      const int64_t batch = i / groups / blocks, first = i % groups * kPanelsPacked * panel;
      const auto b = static_cast<size_t>(i / groups % blocks);
      const Block& block = plan_.blocks_[b];
      PackRight(
          BlockSteps(problem_.rhs, block, problem_.channels_outer), batch, first,
          std::min(kPanelsPacked * panel, problem_.columns() - first),
          shared_.get() + batch * depth * row + starts_[b] * row + first * block.depth() * parts * parts);
    }
  });
}

template <class T>
void TileRun<T>::MakeRight(const Piece& piece, size_t number, Right& right) const {
  const Operand& operand = problem_.rhs;
  const Block& block = plan_.blocks_[number];
  const int64_t columns = piece.columns(), depth = block.depth(), parts = plan_.parts_, panel = plan_.panel_;
  right = {nullptr, panel * depth * parts * parts, panel * parts, true};
  if (shared_) {
    const int64_t row = (problem_.columns() + panel - 1) / panel * panel * parts * parts;
    right.first = shared_.get() + (piece.batch * problem_.depth() + starts_[number]) * row +
                  piece.column_begin * depth * parts * parts;
    return;
  }
  std::optional<BlockSteps> found;
  const BlockSteps& steps = number < plan_.right_steps_.size()
                                ? plan_.right_steps_[number]
                                : found.emplace(operand, block, problem_.channels_outer);
  if (IsReadable(steps, columns)) {
    const auto uniform = steps.Uniform();
    right = {reinterpret_cast<const T*>(rhs_ + operand.batch.At(piece.batch) * int64_t{sizeof(T)}) +
                 uniform->first + operand.rows.At(piece.column_begin),
             panel, uniform->second, false};
    if (!StaysInPlace(steps, columns)) right.pack = ScratchFor<T>(ScratchUse::Right, panel * depth);
    return;
  }
  T* packed = ScratchFor<T>(ScratchUse::Right, (columns + panel - 1) / panel * right.panel_distance);
  PackRight(steps, piece.batch, piece.column_begin, columns, packed);
  right.first = packed;
}

template <class T>
void TileRun<T>::FetchRight(const Right& right, int64_t panel, int64_t depth, int64_t tile,
                            const Fetching& fetching, TileArgs<T>& args) const {
  const int64_t first = (tile - 1) * fetching.lines * fetching.rows;
  // The first tile waits for its own panel.
  if (tile == 0 || fetching.lines == 0 || first >= depth) return;
  args.next_b = right.first + panel * right.panel_distance + first * right.step;
  args.next_b_step = right.step;
  args.next_b_rows = fetching.rows;
}

template <class T>
void TileRun<T>::Multiply(const Piece& piece, const Left& left, const Right& right, int64_t depth,
                          bool accumulate, T* const* targets) const {
  const int64_t rows = piece.rows(), columns = piece.columns() * plan_.parts_,
                panel = plan_.panel_ * plan_.parts_;
  // Tiles of nearly equal heights.
  const int64_t tiles = (rows + tiles_.rows - 1) / tiles_.rows, least = rows / tiles, higher = rows % tiles;
  Fetching fetching{depth * static_cast<int64_t>(sizeof(T)) / 64, 0};
  if (const int64_t lines = (tiles - 1) * fetching.lines; lines > 0)
    fetching.rows = (depth + lines - 1) / lines;
  for (int64_t p = 0, column = 0; column < columns; ++p, column += panel) {
    for (int64_t t = 0, row = 0; t < tiles; ++t) {
      const int64_t height = least + (t < higher ? 1 : 0);
      T* to[Tiles<T>::kMaxRows];
      for (int64_t i = 0; i < height; ++i) to[i] = targets[row + i] + column;
      // The first panel meets rows that are still far away.
      const bool fetches = p == 0 && left.step == 1 && row + 2 * height <= rows,
                 packed = right.pack != nullptr && t > 0;
      TileArgs<T> args{.depth = depth,
                       .a = left.rows + row,
                       .a_step = left.step,
                       .b = packed ? right.pack : right.first + p * right.panel_distance,
                       .b_step = packed ? panel : right.step,
                       .c = to,
                       .columns = static_cast<int>(std::min(panel, columns - column)),
                       .padded = right.padded || packed,
                       .accumulate = accumulate,
                       .next_a = fetches ? left.rows + row + height : nullptr,
                       .pack = t > 0 || tiles == 1 ? nullptr : right.pack,
                       .pack_step = panel};
      if ((right.padded || right.pack != nullptr) && column + panel < columns)
        FetchRight(right, p + 1, depth, t, fetching, args);
      row += height;
      tiles_.run[height - 1](args);
    }
  }
}

template class TileRun<float>;
template class TileRun<double>;
template class TileRun<uint32_t>;
template class TileRun<uint64_t>;

}  // namespace hlo::gemm
