#include "backends/products/dot/gemv.h"

#include <algorithm>
#include <bit>

#include "backends/products/common/factors.h"
#include "backends/products/common/pack.h"
#include "backends/products/common/subnormals.h"
#include "backends/products/common/sums.h"
#include "ir/support/buffer.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo::gemm {
namespace {

/// Beyond these rows tiles take less time: of a right factor that a cache holds, of one that is read by
/// columns or from memory, of one that tiles would have to widen first.
constexpr int64_t kMostRowsCached = 4, kMostRows = 8, kMostRowsWidened = 16;
constexpr int64_t kCachedBytes = 16 << 20;
constexpr int64_t kRowsAtOnce = 4;          // of the kernels
constexpr int64_t kLeastBytes = 32 << 10;   // of the right factor; tiles are as good for less
constexpr int64_t kPieceBytes = 128 << 10;  // of the right factor, worth waking a thread for
constexpr int64_t kPiecesRead = 8;          // as one, where threads have enough to read in order
constexpr int64_t kLeastColumns = 64;       // where the right factor is read by rows
constexpr int64_t kShortSums = 128;         // several of which are taken side by side
constexpr int64_t kStepsPerRow = 16;        // for fewer, sums across a vector take longer than tiles
constexpr int64_t kColumns = 1024, kFewColumns = 512;
constexpr int64_t kSteps = 64, kFewSteps = 8;  // of all columns of a piece at a time; of a batch of pieces
/// Memory is fastest read in one direction: right factors are cut into parts of whole rows, whose sums are
/// added up in order, where so many sums stay in the first caches. Parts depend on the shape alone.
constexpr int64_t kSumsKept = 16 << 10, kLeastPart = 256 << 10, kMostParts = 16;
/// Bytes of a column for each sum that a part adds.
constexpr int64_t kBytesPerSum = 256;
constexpr int64_t kBlockBytes = 12 << 10;  // of columns of a batch, each of whose parts is read in turn
constexpr int64_t kPieceSums = 16 << 10;   // of parts, worth waking a thread for
constexpr int64_t kStepsTogether = 4;      // of kernels

/// The kernels widen its elements as they read them.
bool IsWidened(const Problem& problem, const Operand& operand) {
  return problem.compute == ComputeType::F32 && !IsComplex(problem.type) && IsWidenedWhenRead(operand.type);
}

/// T is the compute type, W how the right factor is stored.
template <class T, class W>
class ThinRun {
 public:
  ThinRun(const Problem& problem, const KernelSet& kernels, const ThinKernels<T, W>& thin, const void* lhs,
          const void* rhs, void* out)
      : problem_(problem),
        kernels_(kernels),
        thin_(thin),
        lhs_(static_cast<const uint8_t*>(lhs)),
        rhs_(static_cast<const W*>(rhs) + problem.rhs.base),
        out_(out),
        rows_(problem.rows()),
        depth_(problem.depth()) {}

  void Run() {
    const int64_t columns = problem_.columns(), batches = problem_.batches();
    const bool by_dots = problem_.rhs.channel_stride == 1;
    const int64_t row_bytes = depth_ * static_cast<int64_t>(sizeof(W));
    if (IsInterleaved()) {
      MakeLeft();
      return by_dots ? DotsOfBatches(row_bytes * batches) : AddBatches();
    }
    const int64_t parts = by_dots || batches > 1 ? 1 : Parts(columns);
    if (parts > 1) {
      MakeLeft();
      return AddParts(parts);
    }
    const int64_t width = columns * batches > kColumns ? kColumns : kFewColumns;
    const int64_t piece = by_dots ? std::max<int64_t>(kPieceBytes / row_bytes, 1) : EvenWidth(width),
                  pieces = (columns + piece - 1) / piece;
    const int64_t grain = std::max<int64_t>(kPieceBytes / (std::min(piece, columns) * row_bytes), 1);
    MakeLeft();
    ParallelFor(0, batches * pieces, grain, [&](int64_t begin, int64_t end) {
      const FlushSubnormals flush;
      auto sums = MakeBuffer<T>(static_cast<size_t>(rows_ * piece));
      for (int64_t i = begin; i < end && !Interrupted(); ++i) {
        const int64_t batch = i / pieces, first = i % pieces * piece,
                      count = std::min(piece, columns - first);
        if (by_dots)
          Dots(batch, first, count, sums.get(), count);
        else
          Add(batch, first, count, sums.get());
        StoreSums(problem_, kernels_, {batch, 0, rows_, first, count}, sums.get(), count, out_);
      }
    });
  }

 private:
  /// The right factors of a batch lie within each other's rows, as those of attention heads do.
  [[nodiscard]] bool IsInterleaved() const {
    const Operand& right = problem_.rhs;
    if (problem_.batches() == 1 || !right.batch.IsUniform() || !right.rows.IsUniform()) return false;
    const int64_t rows = right.channel_stride == 1 ? right.rows.stride() : right.channel_stride;
    return right.batch.stride() > 0 && right.batch.stride() < rows &&
           (right.channel_stride == 1 || problem_.columns() <= kFewColumns);
  }

  /// Reads the right factors in the order of memory, a column of all after the other: `column_bytes`.
  void DotsOfBatches(int64_t column_bytes) const {
    const int64_t columns = problem_.columns(), batches = problem_.batches(),
                  least = std::max<int64_t>(kPieceBytes / column_bytes, 1),
                  share = (columns + ThreadCount() - 1) / ThreadCount(),
                  piece = EvenShare(std::clamp(share, least, kPiecesRead * least)),
                  pieces = (columns + piece - 1) / piece,
                  at_once =
                      std::max(kBlockBytes / column_bytes, kStepsTogether) / kStepsTogether * kStepsTogether;
    ParallelFor(0, pieces, 1, [&](int64_t begin, int64_t end) {
      const FlushSubnormals flush;
      auto sums = MakeBuffer<T>(static_cast<size_t>(batches * rows_ * piece));
      for (int64_t i = begin; i < end && !Interrupted(); ++i) {
        const int64_t first = i * piece, count = std::min(piece, columns - first);
        for (int64_t j = 0; j < count; j += at_once)
          for (int64_t b = 0; b < batches; ++b) {
            Fetch(b, first + j + at_once, at_once);
            Dots(b, first + j, std::min(at_once, count - j), sums.get() + b * rows_ * count + j, count);
          }
        for (int64_t b = 0; b < batches; ++b)
          StoreSums(problem_, kernels_, {b, 0, rows_, first, count}, sums.get() + b * rows_ * count, count,
                    out_);
      }
    });
  }

  /// Columns of one right factor that lie apart, into the second cache.
  void Fetch(int64_t batch, int64_t first, int64_t count) const {
    constexpr int64_t kLine = 64 / sizeof(W);
    const int64_t stride = problem_.rhs.rows.stride(), last = std::min(first + count, problem_.columns());
    const W* begin = rhs_ + problem_.rhs.batch.At(batch);
    for (const W *at = begin + first * stride, *end = begin + last * stride; at < end; at += stride)
      for (int64_t k = 0; k < depth_; k += kLine) __builtin_prefetch(at + k, 0, 2);
  }

  /// Into how many the rows of the right factors are cut, which have `columns` columns together.
  [[nodiscard]] int64_t Parts(int64_t columns) const {
    const int64_t column_bytes = depth_ * static_cast<int64_t>(sizeof(W)), bytes = columns * column_bytes;
    if (columns * rows_ > kSumsKept || bytes < 2 * kLeastPart) return 1;
    const int64_t most = std::min(
        {kMostParts, bytes / kLeastPart, std::max<int64_t>(column_bytes / (kBytesPerSum * rows_), 2)});
    return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(most)));
  }

  /// Reads the right factor in the order of memory, but for columns shared by threads that parts leave over.
  void AddParts(int64_t parts) const {
    const int64_t columns = problem_.columns(), size = rows_ * columns,
                  share = (columns * parts + ThreadCount() - 1) / ThreadCount(),
                  piece = std::min(columns, (share + kLeastColumns - 1) / kLeastColumns * kLeastColumns),
                  pieces = (columns + piece - 1) / piece,
                  steps =
                      ((depth_ + parts - 1) / parts + kStepsTogether - 1) / kStepsTogether * kStepsTogether;
    const auto sums = MakeBuffer<T>(static_cast<size_t>(parts * size));
    ParallelFor(0, parts * pieces, 1, [&](int64_t begin, int64_t end) {
      const FlushSubnormals flush;
      for (int64_t i = begin; i < end && !Interrupted(); ++i) {
        const int64_t part = i / pieces, first = i % pieces * piece,
                      last = std::min((part + 1) * steps, depth_);
        T* to = sums.get() + part * size + first;
        for (int64_t p = 0; p < rows_; ++p)
          std::fill_n(to + p * columns, std::min(piece, columns - first), T(0));
        const int64_t at_once = rows_ > kRowsAtOnce ? kSteps : steps;
        for (int64_t k = part * steps; k < last; k += at_once)
          AddSteps(0, first, std::min(piece, columns - first), k, std::min(at_once, last - k), to, columns);
      }
    });
    Join(parts, sums.get());
  }

  /// Adds up the sums of parts.
  void Join(int64_t parts, T* sums) const {
    const int64_t columns = problem_.columns(), size = rows_ * columns;
    ParallelFor(0, columns, std::max<int64_t>(kPieceSums / (rows_ * parts), kLeastColumns),
                [&](int64_t begin, int64_t end) {
                  const FlushSubnormals flush;
                  for (int64_t part = 1; part < parts; ++part)
                    for (int64_t p = 0; p < rows_; ++p)
                      for (int64_t j = p * columns + begin; j < p * columns + end; ++j)
                        sums[j] += sums[part * size + j];
                  StoreSums(problem_, kernels_, {0, 0, rows_, begin, end - begin}, sums + begin, columns,
                            out_);
                });
  }

  /// The same by rows: each thread has a share of the batch.
  void AddBatches() const {
    const int64_t columns = problem_.columns(), batches = problem_.batches(), size = rows_ * columns,
                  threads = ThreadCount();
    ParallelFor(0, batches, (batches + threads - 1) / threads, [&](int64_t begin, int64_t end) {
      const FlushSubnormals flush;
      auto sums = MakeBuffer<T>(static_cast<size_t>((end - begin) * size));
      std::fill_n(sums.get(), (end - begin) * size, T(0));
      for (int64_t k = 0; k < depth_ && !Interrupted(); k += kFewSteps)
        for (int64_t b = begin; b < end; ++b)
          AddSteps(b, 0, columns, k, std::min(kFewSteps, depth_ - k), sums.get() + (b - begin) * size,
                   columns);
      for (int64_t b = begin; b < end; ++b)
        StoreSums(problem_, kernels_, {b, 0, rows_, 0, columns}, sums.get() + (b - begin) * size, columns,
                  out_);
    });
  }

  /// Columns of pieces that are as many for each thread; sums do not depend on them.
  [[nodiscard]] int64_t EvenShare(int64_t most) const {
    const int64_t columns = problem_.columns(), threads = ThreadCount();
    int64_t pieces = (columns + most - 1) / most;
    if (pieces > 1) pieces = (pieces + threads - 1) / threads * threads;
    return (columns + pieces - 1) / pieces;
  }
  /// The same of one product, or of each of a batch for itself, in vectors.
  [[nodiscard]] int64_t EvenWidth(int64_t most) const {
    const int64_t columns = problem_.columns(), pieces = (columns + most - 1) / most,
                  share = problem_.batches() == 1 ? EvenShare(most) : (columns + pieces - 1) / pieces;
    return (share + kLeastColumns - 1) / kLeastColumns * kLeastColumns;
  }

  /// The rows of all batches, converted, each in one piece.
  void MakeLeft() {
    const Operand& operand = problem_.lhs;
    const int64_t batches = problem_.batches(), size = rows_ * depth_;
    const int bytes = Info(operand.type).host_bytes();
    const bool plain = IsPlain(problem_, operand);
    left_ = MakeBuffer<T>(static_cast<size_t>(batches * size));
    auto raw = MakeBuffer<uint8_t>(plain ? 0 : static_cast<size_t>(size * bytes));
    const BlockSteps steps(operand, {0, 1, 0, depth_}, problem_.channels_outer);
    for (int64_t b = 0; b < batches; ++b) {
      T* to = left_.get() + b * size;
      Packer(kernels_, bytes)
          .Rows(steps, lhs_ + operand.batch.At(b) * bytes, 0, rows_, depth_,
                plain ? static_cast<void*>(to) : raw.get());
      if (!plain) ToCompute(problem_, operand, kernels_, raw.get(), size, to);
    }
  }

  /// The sums of one column, `stride` apart.
  void Dot(int64_t batch, int64_t column, T* sums, int64_t stride) const {
    const T* x = left_.get() + batch * rows_ * depth_;
    const W* w = rhs_ + problem_.rhs.batch.At(batch) + problem_.rhs.rows.At(column);
    for (int64_t p = 0; p < rows_; p += kRowsAtOnce) {
      T results[kRowsAtOnce];
      const int rows = static_cast<int>(std::min(kRowsAtOnce, rows_ - p));
      thin_.dot(w, depth_, x + p * depth_, depth_, rows, results);
      for (int i = 0; i < rows; ++i) sums[(p + i) * stride] = results[i];
    }
  }

  /// Those of `count` columns; the ones of a row of the left factor are `stride` apart.
  void Dots(int64_t batch, int64_t first, int64_t count, T* sums, int64_t stride) const {
    const Index& rows = problem_.rhs.rows;
    if (rows_ == 1 && depth_ <= kShortSums && rows.IsUniform()) {
      const W* w = rhs_ + problem_.rhs.batch.At(batch) + rows.At(first);
      return thin_.dots(w, rows.stride(), count, depth_, left_.get() + batch * depth_, sums);
    }
    for (int64_t j = 0; j < count; ++j) Dot(batch, first + j, sums + j, stride);
  }

  /// Adds `steps` steps from `k` on to the sums of some columns.
  void AddSteps(int64_t batch, int64_t first, int64_t count, int64_t k, int64_t steps, T* sums,
                int64_t sums_stride) const {
    const T* x = left_.get() + batch * rows_ * depth_ + k;
    const int64_t stride = problem_.rhs.channel_stride;
    const W* w = rhs_ + problem_.rhs.batch.At(batch) + problem_.rhs.rows.At(first) + k * stride;
    for (int64_t p = 0; p < rows_; p += kRowsAtOnce)
      thin_.add(w, stride, steps, count, x + p * depth_, depth_,
                static_cast<int>(std::min(kRowsAtOnce, rows_ - p)), sums + p * sums_stride, sums_stride);
  }

  void Add(int64_t batch, int64_t first, int64_t count, T* sums) const {
    std::fill_n(sums, rows_ * count, T(0));
    for (int64_t k = 0; k < depth_; k += kSteps)
      AddSteps(batch, first, count, k, std::min(kSteps, depth_ - k), sums, count);
  }

  const Problem& problem_;
  const KernelSet& kernels_;
  const ThinKernels<T, W>& thin_;
  const uint8_t* lhs_;
  const W* rhs_;
  void* out_;
  int64_t rows_, depth_;
  Buffer<T> left_;
};

/// The most rows for which reading the right factor is most of the work.
int64_t MostRows(const Problem& problem) {
  const Operand& right = problem.rhs;
  // Two BF16 factors are multiplied as they are.
  if (IsWidened(problem, right)) return problem.lhs.type == right.type ? kMostRows : kMostRowsWidened;
  const int64_t bytes = problem.columns() * problem.depth() * Info(right.type).host_bytes();
  return right.channel_stride == 1 || bytes > kCachedBytes ? kMostRows : kMostRowsCached;
}

}  // namespace

bool IsWidenedWhenRead(ElementType type) {
  bool is_widened = false;
  VisitStored(ComputeType::F32, type,
              [&]<class T, class W>() { is_widened = !std::is_same_v<T, W> && kExists<ThinKernels<T, W>>; });
  return is_widened;
}

Fit FitThin(const Problem& problem, const Target&) {
  Fit fit;
  const Operand& right = problem.rhs;
  fit.Needs(problem.taps() == 1, "sums over several dimensions or taps");
  fit.Needs(!IsComplex(problem.type), "complex numbers");
  fit.Needs(right.bounds.empty() && problem.lhs.bounds.empty(), "padding");
  fit.Needs(problem.depth() > 0 && (IsPlain(problem, right) || IsWidened(problem, right)),
            "a right factor that is not read as it is stored");
  fit.Needs(right.channel_stride == 1 || (right.rows.IsUniform() && right.rows.stride() == 1),
            "a right factor without neighbours");
  if (!fit.can()) return fit;
  fit.Suits(problem.rows() <= MostRows(problem), "many rows");
  fit.Suits(problem.columns() * problem.depth() * Info(right.type).host_bytes() >= kLeastBytes,
            "a small right factor");
  // Few columns do not pay for turning the left factor round.
  fit.Suits(right.channel_stride != 1 || problem.columns() >= kLeastColumns || problem.rows() < kRowsAtOnce ||
                problem.lhs.channel_stride == 1,
            "few columns, and a left factor to turn round");
  fit.Suits(
      right.channel_stride != 1 || problem.rows() == 1 || problem.depth() > kStepsPerRow * problem.rows(),
      "short sums");
  // Rows shorter than some vectors are added one element at a time; tiles take them whole.
  fit.Suits(right.channel_stride == 1 || problem.columns() >= kLeastColumns, "few columns");
  return fit;
}

bool IsThin(const Problem& problem) { return FitThin(problem, Target()).suits(); }

void RunThin(const Problem& problem, const KernelSet& kernels, const void* lhs, const void* rhs, void* out) {
  VisitStored(problem.compute, problem.rhs.type, [&]<class T, class W>() {
    if constexpr (kExists<ThinKernels<T, W>>)
      ThinRun<T, W>(problem, kernels, kernels.of<ThinKernels<T, W>>(), lhs, rhs, out).Run();
  });
}

}  // namespace hlo::gemm
