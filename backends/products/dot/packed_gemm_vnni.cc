#include "backends/products/dot/packed_gemm_vnni.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "backends/products/common/pack.h"
#include "backends/products/common/scratch.h"
#include "backends/products/common/sums.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo::gemm {
namespace {

constexpr int64_t kLeastRun = 4;                         // of rows that are copied together
constexpr int64_t kLeastColumns = 64, kLeastRows = 128;  // of pieces that are cut for threads
constexpr double kMostTime = 1.04;                       // of threads with equal shares
constexpr int64_t kFewColumns = 256;                     // rows are cut before columns become fewer
constexpr int64_t kRowsTurned = 32;     // of the left factor at a time: their lines stay in the first cache
constexpr int64_t kStepsTurned = 64;    // while those to come are fetched
constexpr double kLeastWork = 1 << 17;  // tiles of vectors are as good for less
constexpr int64_t kLeastOfBatch = 1 << 12;  // elements of a right factor, if products of each batch are few
// Of what groups fill in a row of a tile, three quarters; of columns a quarter of a vector.
constexpr int64_t kLeastPairedDepth = 24, kLeastDepth = 48, kFewestColumns = 4;

int64_t RoundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

/// T is float or uint32_t, the type of sums.
template <class T>
class GroupRun {
 public:
  GroupRun(const Problem& problem, GroupKind kind, const GroupKernels& groups,
           const std::vector<Block>& blocks, const KernelSet& kernels, const void* lhs, const void* rhs,
           void* out)
      : problem_(problem),
        kind_(kind),
        groups_(groups),
        blocks_(blocks),
        kernels_(kernels),
        lhs_(static_cast<const uint8_t*>(lhs)),
        rhs_(static_cast<const uint8_t*>(rhs)),
        out_(static_cast<uint8_t*>(out)),
        bytes_(Info(problem.lhs.type).host_bytes()) {
    const bool in_place = groups.long_row_piece > 0 && problem.columns() >= kFewColumns &&
                          IsStoredAs(problem.type, problem.compute) &&
                          blocks.front().depth() * bytes_ % kGroupStepBytes == 0 &&
                          IsLeftInPlace(blocks.front());
    CutForThreads(in_place ? groups.long_row_piece : groups.row_piece,
                  in_place ? groups.long_column_piece : groups.column_piece);
  }

  void Run() {
    const int64_t pieces = Pieces();
    const double work = static_cast<double>(std::min(problem_.rows(), row_piece_)) *
                        static_cast<double>(std::min(problem_.columns(), column_piece_)) *
                        static_cast<double>(problem_.depth());
    const auto grain =
        static_cast<int64_t>(std::clamp(groups_.work_per_task / work, 1.0, static_cast<double>(pieces)));
    ParallelFor(0, pieces, grain, [&](int64_t begin, int64_t end) {
      int64_t prepared = 0;
      for (int64_t i = begin; i < end && !Interrupted(); ++i) {
        const int64_t row = i % row_pieces_ * row_piece_,
                      column = i / row_pieces_ % column_pieces_ * column_piece_;
        RunPiece({i / row_pieces_ / column_pieces_, row, std::min(row_piece_, problem_.rows() - row), column,
                  std::min(column_piece_, problem_.columns() - column)},
                 prepared);
      }
      if (groups_.release != nullptr) groups_.release();
    });
  }

  /// All columns of some rows, in the calling thread.
  void RunRows(const Rows& rows) const {
    int64_t prepared = 0;
    for (int64_t row = rows.begin; row < rows.end; row += row_piece_)
      for (int64_t column = 0; column < problem_.columns(); column += column_piece_)
        RunPiece({rows.batch, row, std::min(row_piece_, rows.end - row), column,
                  std::min(column_piece_, problem_.columns() - column)},
                 prepared);
    if (groups_.release != nullptr) groups_.release();
  }

 private:
  struct Left {
    const uint8_t* first;
    int64_t stride;             // bytes
    uint8_t* packed = nullptr;  // the first, of rows that have been copied
    bool in_runs = false;       // rows lie as Tables::runs has it
  };
  struct Tables {
    RowsOfRuns runs;  // lengths in words, offsets in bytes
    llvm::SmallVector<const void*, 128> table;
  };

  void CutResult(int64_t row_most, int64_t column_most) {
    const auto even = [](int64_t count, int64_t most, int64_t unit) {
      const int64_t parts = (count + most - 1) / most;
      return RoundUp((count + parts - 1) / parts, unit);
    };
    row_piece_ = even(problem_.rows(), row_most, kGroupRows);
    column_piece_ = even(problem_.columns(), column_most, kGroupColumns);
    row_pieces_ = (problem_.rows() + row_piece_ - 1) / row_piece_;
    column_pieces_ = (problem_.columns() + column_piece_ - 1) / column_piece_;
  }
  [[nodiscard]] int64_t Pieces() const { return problem_.batches() * row_pieces_ * column_pieces_; }

  /// Narrow pieces bring no more of the right factor into order than wide ones, short ones do; but columns
  /// that pass by rows should be some, and no thread should wait long for the last piece of another.
  void CutForThreads(int64_t rows, int64_t columns) {
    const double work = static_cast<double>(problem_.rows()) * static_cast<double>(problem_.columns()) *
                        static_cast<double>(problem_.depth() * problem_.batches());
    const auto wanted =
        static_cast<int64_t>(std::min(work / groups_.work_per_task, static_cast<double>(ThreadCount())));
    CutResult(rows, columns);
    const auto pieces = static_cast<double>(Pieces()), threads = static_cast<double>(wanted);
    if (pieces > threads && std::ceil(pieces / threads) * threads > kMostTime * pieces && !groups_.rows_stay)
      CutResult(row_piece_ / 2, columns);
    while (Pieces() < wanted) {
      if (groups_.rows_stay && column_piece_ < 2 * kFewColumns && row_piece_ > kLeastRows)
        rows = row_piece_ / 2;
      else if (column_piece_ >= 2 * kLeastColumns)
        columns = column_piece_ / 2;
      else
        break;
      CutResult(rows, columns);
    }
  }

  /// The left factor has groups of steps as `multiply` reads them.
  [[nodiscard]] bool IsLeftInPlace(const Block& block) const {
    const auto uniform = BlockSteps(problem_.lhs, block, problem_.channels_outer).Uniform();
    return uniform && uniform->second == 1 && problem_.lhs.rows.IsUniform();
  }

  /// `prepared`: rows this thread is ready for.
  void RunPiece(const Rectangle& piece, int64_t& prepared) const {
    const int64_t stride = RoundUp(piece.columns, kGroupColumns);
    uint8_t* sums = nullptr;
    int64_t sums_stride = stride * 4;
    const bool direct = IsDirect(piece), narrows = !direct && Narrows(piece);
    const int64_t first = problem_.out_base + problem_.out_batch.At(piece.batch) +
                          problem_.out_rows.At(piece.row) + problem_.out_columns.At(piece.column);
    if (direct) {
      sums = out_ + first * 4;
      sums_stride = problem_.out_rows.stride() * 4;
    } else if (!narrows || blocks_.size() > 1) {
      sums = Scratch(ScratchUse::Sums, piece.rows * sums_stride);
    }
    Tables tables;
    bool accumulate = false;
    for (const Block& block : blocks_) {
      const int64_t padded = RoundUp(block.depth() * bytes_, kGroupStepBytes) / bytes_;
      const Left left = MakeLeft(piece, block, padded, tables);
      const uint8_t* right = MakeRight(piece, block, padded);
      const auto args_of = [&](int64_t r, int64_t c) {
        GroupArgs args{padded * bytes_ / kGroupStepBytes,
                       nullptr,
                       left.stride,
                       right + c * padded * bytes_,
                       nullptr,
                       sums_stride,
                       accumulate,
                       piece.columns - c};
        if (!left.in_runs) args.left = left.first + r * left.stride;
        if (sums != nullptr) args.sums = sums + r * sums_stride + c * 4;
        if (narrows && &block == &blocks_.back()) {
          args.narrow_stride = problem_.out_rows.stride() * 2;
          args.narrow = out_ + (first + c) * 2 + r * args.narrow_stride;
        }
        return args;
      };
      if (left.in_runs)
        MultiplyRuns(piece, tables, args_of);
      else
        MultiplyRows(piece, prepared, args_of);
      accumulate = true;
    }
    if (!direct && !narrows)
      StoreSums(problem_, kernels_, piece, reinterpret_cast<const T*>(sums), stride, out_);
  }

  /// All rows and columns of a piece: `args_of`(row, column) is what is multiplied from there on.
  template <class ArgsOf>
  void MultiplyRows(const Rectangle& piece, int64_t& prepared, const ArgsOf& args_of) const {
    const auto multiply = [&](int64_t r, int64_t c) {
      const int64_t rows = std::min(groups_.rows, piece.rows - r);
      if (rows != prepared && groups_.prepare != nullptr) groups_.prepare(prepared = rows);
      groups_.multiply(kind_, rows, args_of(r, c));
    };
    if (groups_.rows_stay && piece.columns >= kFewColumns) {
      for (int64_t r = 0; r < piece.rows; r += groups_.rows)
        for (int64_t c = 0; c < piece.columns; c += kGroupColumns) multiply(r, c);
    } else {
      for (int64_t c = 0; c < piece.columns; c += kGroupColumns)
        for (int64_t r = 0; r < piece.rows; r += groups_.rows) multiply(r, c);
    }
  }
  /// The same of rows that lie in runs, in tiles of nearly equal heights.
  template <class ArgsOf>
  void MultiplyRuns(const Rectangle& piece, Tables& tables, const ArgsOf& args_of) const {
    const int64_t tiles = (piece.rows + groups_.run_rows - 1) / groups_.run_rows;
    for (int64_t c = 0; c < piece.columns; c += kGroupColumns) {
      size_t edge = 0;
      for (int64_t t = 0, r = 0, rows = 0; t < tiles; ++t, r += rows) {
        rows = piece.rows / tiles + (t < piece.rows % tiles ? 1 : 0);
        const auto some = tables.runs.Of(r, rows, 1, edge, tables.table);
        GroupArgs args = args_of(r, c);
        args.run_rows = some.rows;
        args.run_offsets = some.offsets;
        args.run_stride = some.stride;
        args.runs = tables.runs.runs();
        args.run_words = tables.runs.lengths.data();
        groups_.multiply(kind_, rows, args);
      }
    }
  }

  /// The columns of a piece are vectors of the result.
  [[nodiscard]] bool HasVectors(const Rectangle& piece) const {
    return piece.columns % kGroupColumns == 0 && problem_.out_columns.IsUniform() &&
           problem_.out_columns.stride() == 1 && problem_.out_rows.IsUniform();
  }
  /// Sums can be made where the result has them.
  [[nodiscard]] bool IsDirect(const Rectangle& piece) const {
    return IsStoredAs(problem_.type, problem_.compute) && HasVectors(piece);
  }
  /// Tiles round sums to what the result has.
  [[nodiscard]] bool Narrows(const Rectangle& piece) const {
    return groups_.narrows && kind_ == GroupKind::Bf16 && problem_.type == ElementType::BF16 &&
           HasVectors(piece);
  }

  Left MakeLeft(const Rectangle& piece, const Block& block, int64_t padded, Tables& tables) const {
    const Left left = PackLeft(piece, block, padded, tables);
    if (groups_.moves_left == nullptr || !groups_.moves_left(kind_)) return left;
    const int64_t bytes = padded * bytes_;
    uint8_t* moved = left.packed != nullptr ? left.packed : Scratch(ScratchUse::Left, piece.rows * bytes);
    for (int64_t i = 0; i < piece.rows; ++i)
      kernels_.move_signs(left.first + i * left.stride, bytes, moved + i * bytes);
    return {moved, bytes};
  }

  /// In the order of steps; where it lies, if it has that there.
  Left PackLeft(const Rectangle& piece, const Block& block, int64_t padded, Tables& tables) const {
    const Operand& operand = problem_.lhs;
    const BlockSteps steps(operand, block, problem_.channels_outer);
    const uint8_t* data = lhs_ + operand.batch.At(piece.batch) * bytes_;
    const auto uniform = steps.Uniform();
    if (uniform && uniform->second == 1 && padded == block.depth() && operand.rows.IsUniform() &&
        (piece.rows == 1 || operand.rows.stride() > 0))
      return {data + (uniform->first + operand.rows.At(piece.row)) * bytes_, operand.rows.stride() * bytes_};
    const int64_t stride = padded * bytes_, used = block.depth() * bytes_;
    uint8_t* packed = Scratch(ScratchUse::Left, piece.rows * stride);
    if (operand.channel_stride != 1 && operand.rows.stride() == 1 && operand.rows.run() >= kLeastRun) {
      if (bytes_ == 2)
        TransposeLeft(steps, data, piece, padded, kernels_.transpose16, packed);
      else
        TransposeLeft(steps, data, piece, padded, kernels_.transpose8, packed);
      return {packed, stride, packed};
    }
    const bool moves = groups_.moves_left != nullptr && groups_.moves_left(kind_);
    if (groups_.run_rows > 0 && !moves && steps.HasLongRuns(kWordBytes / bytes_)) {
      Packer(kernels_, bytes_).RowsInPlace(steps, data, piece.row, piece.rows, packed, tables.runs);
      for (int64_t& length : tables.runs.lengths) length = length * bytes_ / kWordBytes;
      for (int64_t& offset : tables.runs.offsets) offset *= bytes_;
      return {.first = nullptr, .stride = 0, .in_runs = true};
    }
    Packer(kernels_, bytes_).Rows(steps, data, piece.row, piece.rows, padded, packed);
    if (used < stride)
      for (int64_t i = 0; i < piece.rows; ++i)
        std::memset(packed + i * stride + used, 0, static_cast<size_t>(stride - used));
    return {packed, stride, packed};
  }

  /// Rows are neighbours in memory, steps are not.
  template <class E>
  void TransposeLeft(const BlockSteps& steps, const uint8_t* data, const Rectangle& piece, int64_t padded,
                     KernelSet::Transpose<E>* transpose, uint8_t* packed) const {
    const int64_t depth = steps.depth();
    E* raw = ScratchFor<E>(ScratchUse::Raw, kMaxPanel * padded);
    std::fill_n(raw + kMaxPanel * depth, kMaxPanel * (padded - depth), E(0));
    llvm::SmallVector<const E*, kWindowDepthBytes> lines;
    for (int64_t k = 0; k < padded; ++k) lines.push_back(raw + k * kMaxPanel);
    for (int64_t i = 0; i < piece.rows; i += kMaxPanel) {
      const int64_t count = std::min(kMaxPanel, piece.rows - i);
      Packer(kernels_, bytes_).Panel(steps, data, piece.row + i, count, kMaxPanel, raw);
      transpose(lines.data(), count, padded, reinterpret_cast<E*>(packed) + i * padded, padded);
    }
  }

  /// out[row * out_stride + k] = in[k * in_stride + row].
  template <class E>
  static void TurnRound(const E* in, int64_t in_stride, int64_t depth, int64_t rows, int64_t out_stride,
                        KernelSet::Transpose<E>* transpose, E* out) {
    llvm::SmallVector<const E*, kGroupDepthBytes / sizeof(E)> steps(static_cast<size_t>(depth));
    const int64_t whole = depth / 4 * 4;
    for (int64_t r = 0; r < rows; r += kRowsTurned) {
      const int64_t count = std::min(kRowsTurned, rows - r);
      for (int64_t k = 0; k < depth; ++k) steps[static_cast<size_t>(k)] = in + k * in_stride + r;
      E* to = out + r * out_stride;
      for (int64_t k = 0; k < whole; k += kStepsTurned) {
        for (int64_t ahead = k + kStepsTurned; ahead < std::min(whole, k + 2 * kStepsTurned); ++ahead)
          __builtin_prefetch(steps[static_cast<size_t>(ahead)]);
        transpose(steps.data() + k, count, std::min(kStepsTurned, whole - k), to + k, out_stride);
      }
      for (int64_t k = whole; k < depth; ++k)
        for (int64_t i = 0; i < count; ++i) to[i * out_stride + k] = steps[static_cast<size_t>(k)][i];
    }
  }

  const uint8_t* MakeRight(const Rectangle& piece, const Block& block, int64_t padded) const {
    const Operand& operand = problem_.rhs;
    const BlockSteps steps(operand, block, problem_.channels_outer);
    const int64_t depth = block.depth(), panel_bytes = padded * kGroupColumns * bytes_;
    const uint8_t* data = rhs_ + operand.batch.At(piece.batch) * bytes_;
    uint8_t* packed =
        Scratch(ScratchUse::Right, RoundUp(piece.columns, kGroupColumns) / kGroupColumns * panel_bytes);
    const auto uniform = steps.Uniform();
    const bool neighbours = uniform && operand.rows.IsUniform() && operand.rows.stride() == 1,
               rows_of_words = uniform && uniform->second == 1 && operand.rows.IsUniform() &&
                               operand.rows.stride() * bytes_ % 4 == 0 &&
                               reinterpret_cast<uintptr_t>(data + uniform->first * bytes_) % 4 == 0;
    uint8_t* raw = neighbours ? nullptr : Scratch(ScratchUse::Raw, panel_bytes);
    for (int64_t c = 0; c < piece.columns; c += kGroupColumns) {
      uint8_t* to = packed + c / kGroupColumns * panel_bytes;
      const int64_t count = std::min(kGroupColumns, piece.columns - c);
      if (neighbours) {
        Interleave(data + (uniform->first + operand.rows.At(piece.column + c)) * bytes_, uniform->second,
                   depth, padded, count, to);
      } else if (rows_of_words && padded == depth && count == kGroupColumns) {
        TransposeWords(data + (uniform->first + operand.rows.At(piece.column + c)) * bytes_,
                       operand.rows.stride() * bytes_, depth, to);
      } else {
        Packer(kernels_, bytes_).Panel(steps, data, piece.column + c, count, kGroupColumns, raw);
        Interleave(raw, kGroupColumns, depth, padded, kGroupColumns, to);
      }
    }
    return packed;
  }

  void Interleave(const uint8_t* in, int64_t in_stride, int64_t depth, int64_t padded, int64_t count,
                  uint8_t* out) const {
    if (bytes_ == 2)
      Interleave16(reinterpret_cast<const uint16_t*>(in), in_stride, depth, padded, count,
                   reinterpret_cast<uint16_t*>(out));
    else
      Interleave8(in, in_stride, depth, padded, count, out);
  }

  /// Columns whose steps are neighbours already have groups of steps in words.
  void TransposeWords(const uint8_t* in, int64_t stride, int64_t depth, uint8_t* out) const {
    const uint32_t* columns[kGroupColumns];
    for (int64_t i = 0; i < kGroupColumns; ++i)
      columns[i] = reinterpret_cast<const uint32_t*>(in + i * stride);
    kernels_.transpose32(columns, depth * bytes_ / 4, kGroupColumns, reinterpret_cast<uint32_t*>(out),
                         kGroupColumns);
  }

  const Problem& problem_;
  GroupKind kind_;
  const GroupKernels& groups_;
  const std::vector<Block>& blocks_;
  const KernelSet& kernels_;
  const uint8_t *lhs_, *rhs_;
  uint8_t* out_;
  int bytes_;
  int64_t row_piece_, column_piece_, row_pieces_, column_pieces_;
};

}  // namespace

Fit FitGroups(const Problem& problem, const Target& target) {
  Fit fit;
  const auto kind = GroupKindOf(problem);
  if (!fit.Needs(kind.has_value(), "factors are neither BF16 nor bytes")) return fit;
  fit.Needs(GroupKernelsFor(*kind, target) != nullptr, "no instructions for pairs or fours of such numbers");
  fit.Suits(GroupKindFor(problem).has_value(), "little work, or few columns or steps");
  return fit;
}

std::optional<GroupKind> GroupKindFor(const Problem& problem) {
  const double work = static_cast<double>(problem.rows()) * static_cast<double>(problem.columns()) *
                      static_cast<double>(problem.depth());
  const auto kind = GroupKindOf(problem);
  const int64_t least_depth = kind == GroupKind::Bf16 ? kLeastPairedDepth : kLeastDepth;
  const bool little = work < kLeastWork && (work * static_cast<double>(problem.batches()) < kLeastWork ||
                                            problem.depth() * problem.columns() < kLeastOfBatch);
  if (little || problem.depth() < least_depth || problem.columns() < kFewestColumns) return std::nullopt;
  return kind;
}

std::optional<GroupKind> GroupKindOf(const Problem& problem) {
  const ElementType left = problem.lhs.type, right = problem.rhs.type;
  if (problem.compute == ComputeType::F32 && !IsComplex(problem.type))
    return left == ElementType::BF16 && right == ElementType::BF16 ? std::optional(GroupKind::Bf16)
                                                                   : std::nullopt;
  // Bytes widen to the result as they are, unless it is PRED.
  if (problem.compute != ComputeType::U32 || IsPred(problem.type)) return std::nullopt;
  const auto is_byte = [](ElementType t) { return t == ElementType::S8 || t == ElementType::U8; };
  if (!is_byte(left) || !is_byte(right)) return std::nullopt;
  // Results of a byte wrap, so that signs do not matter; nothing has to be moved to another one for these.
  if (Info(problem.type).host_bytes() == 1) return GroupKind::US;
  if (left == ElementType::S8) return right == ElementType::S8 ? GroupKind::SS : GroupKind::SU;
  return right == ElementType::S8 ? GroupKind::US : GroupKind::UU;
}

const GroupKernels* GroupKernelsFor(GroupKind kind, const Target& target) {
  if (target.amx) return TileRegisterKernels();
  if (kind == GroupKind::Bf16) return target.pairs ? PairKernels() : nullptr;
  return target.fours ? FourKernels() : nullptr;
}

void RunGroups(const Problem& problem, GroupKind kind, const GroupKernels& groups,
               const std::vector<Block>& blocks, const KernelSet& kernels, const void* lhs, const void* rhs,
               void* out) {
  if (kind == GroupKind::Bf16)
    GroupRun<float>(problem, kind, groups, blocks, kernels, lhs, rhs, out).Run();
  else
    GroupRun<uint32_t>(problem, kind, groups, blocks, kernels, lhs, rhs, out).Run();
}

void RunGroupRows(const Problem& problem, GroupKind kind, const GroupKernels& groups,
                  const std::vector<Block>& blocks, const KernelSet& kernels, const Rows& rows,
                  const void* lhs, const void* rhs, void* out) {
  if (kind == GroupKind::Bf16)
    GroupRun<float>(problem, kind, groups, blocks, kernels, lhs, rhs, out).RunRows(rows);
  else
    GroupRun<uint32_t>(problem, kind, groups, blocks, kernels, lhs, rhs, out).RunRows(rows);
}

}  // namespace hlo::gemm
