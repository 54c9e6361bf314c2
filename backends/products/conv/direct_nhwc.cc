#include "backends/products/conv/direct_nhwc.h"

#include <algorithm>

#include "backends/products/common/factors.h"
#include "backends/products/common/subnormals.h"
#include "backends/products/conv/padded_image.h"
#include "backends/products/conv/row_taps.h"
#include "backends/products/dot/packed_gemm_vnni.h"
#include "ir/support/buffer.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo::gemm {
namespace {

constexpr int64_t kPieceWork = 1 << 15;  // products worth waking a thread for
constexpr int64_t kMostTaps = 512, kFewestRows = 16;
constexpr int64_t kMostAtOnce = 512;  // results of rows of which several blocks are made
constexpr int64_t kMostRowsInPlace = 1024;

int LanesOf(const Problem& problem, const KernelSet& kernels) {
  int lanes = 0;
  VisitWideFactors(problem, kernels, [&](const auto& features) { lanes = features.lanes; });
  return lanes;
}

/// Features of the input that one group may have where there is no other, and of the result for which lines
/// of outputs take less time; products of a sum, and vectors of results, beyond which tiles take less time.
constexpr int64_t kMostOfOne = 4, kFewProducts = 12, kMostVectors = 4;

/// The same where images are staged.
constexpr int64_t kMostOfStaged = 16;
constexpr int64_t kManyChannels = 16;  // of bytes, which instructions multiply by fours

/// At least half of the lanes make something, and groups are not worth tiles.
bool FillsLanes(const Problem& problem, int64_t lanes) {
  const int64_t channels = problem.channels, outputs = problem.columns(), most = std::max(channels, outputs);
  if (problem.batches() == 1 && channels <= kMostOfOne)
    return 2 * outputs >= lanes && (outputs >= lanes || outputs > kMostOfOne) &&
           (outputs <= (problem.depth() <= kFewProducts ? kMostVectors * lanes : lanes) ||
            (outputs <= kMostOfStaged && GainsByStaging(problem)));
  return problem.batches() * outputs >= lanes && most <= lanes && 2 * (lanes / most * outputs) >= lanes;
}

/// Neighbours at a distance of `stride`, or nothing that has neighbours.
bool HasStride(const Index& index, int64_t stride) {
  return index.count() == 1 || (index.IsUniform() && index.stride() == stride);
}

/// Bytes of one group with enough channels to be multiplied by fours rather than in lanes of features.
bool IsBetterInGroups(const Problem& problem, const Target& target) {
  if (problem.batches() > 1 || problem.channels < kManyChannels) return false;
  const auto kind = GroupKindFor(problem);
  return kind && *kind != GroupKind::Bf16 && GroupKernelsFor(*kind, target) != nullptr;
}

/// T is the type of sums, W how both factors are stored.
template <class T, class W>
class FeatureRun {
 public:
  FeatureRun(const Problem& problem, const KernelSet& kernels, const FactorKernels<T, W>& features,
             const void* lhs, const void* rhs, void* out)
      : problem_(problem),
        kernels_(kernels),
        features_(features),
        taps_(problem, lhs, problem.batches() * problem.channels),
        rhs_(static_cast<const W*>(rhs) + problem.rhs.base),
        out_(static_cast<uint8_t*>(out)),
        count_(problem.batches() * problem.columns()),
        rhs_taps_(static_cast<size_t>(problem.taps())),
        direct_(IsStoredAs(problem.type, problem.compute)) {
    if (count_ <= kMostAtOnce && (!direct_ || problem.out_rows.IsUniform())) step_ = taps_.Step();
    problem.rhs.taps.Fill(0, problem.taps(), rhs_taps_.data());
    if (problem.windows && !problem.windows->dims.empty()) line_taps_ = problem.windows->dims.back().taps;
  }

  void Run() const {
    const int64_t work = count_ * problem_.depth();
    const int64_t grain = (kPieceWork / work + kFeatureRows) / kFeatureRows * kFeatureRows;
    ParallelFor(0, problem_.rows(), grain, [&](int64_t begin, int64_t end) {
      const FlushSubnormals flush;
      const int64_t rows = step_ ? kRowsAtOnce : kFeatureRows;
      Tables tables{taps_.MakeTables(), {}, MakeBuffer<T>(static_cast<size_t>(count_ * rows))};
      const int64_t most = step_ && direct_ ? kMostRowsInPlace : kRowsAtOnce;
      for (int64_t row = begin; row < end && !Interrupted(); row += most)
        RunRows(row, std::min(most, end - row), tables);
    });
  }

 private:
  static constexpr int64_t kRowsAtOnce = RowTaps<W>::kRowsAtOnce;
  /// Of one thread.
  struct Tables {
    typename RowTaps<W>::Tables taps;
    int64_t to[kRowsAtOnce];  // of rows
    Buffer<T> sums;           // of rows that are not stored as they are summed, or not at all
  };

  void RunRows(int64_t row, int64_t count, Tables& tables) const {
    const int64_t blocks = step_ ? count / kFeatureRows : 0, whole = blocks * kFeatureRows;
    if (blocks > 0) {
      Find(row, direct_ ? kFeatureRows : whole, tables);
      RunBlocks(0, kFeatureRows, blocks, tables);
    }
    if (whole < count) Find(row + whole, count - whole, tables);
    for (int64_t i = 0; i < count - whole; i += kFeatureRows)
      RunBlocks(i, std::min<int64_t>(kFeatureRows, count - whole - i), 1, tables);
  }

  /// Where rows are read and written.
  void Find(int64_t row, int64_t count, Tables& tables) const {
    taps_.Find(row, count, tables.taps);
    problem_.out_rows.Fill(row, count, tables.to);
  }

  /// Rows [first, first + rows) of those in the tables, and of `blocks` such blocks.
  void RunBlocks(int64_t first, int64_t rows, int64_t blocks, Tables& tables) const {
    const int64_t* to = tables.to + first;
    const int64_t bytes = Info(problem_.type).host_bytes();
    T* out[kFeatureRows];
    for (int64_t p = 0; p < kFeatureRows; ++p)
      out[p] = direct_ && p < rows ? reinterpret_cast<T*>(out_ + (problem_.out_base + to[p]) * bytes)
                                   : tables.sums.get() + p * count_;
    const int64_t out_step = direct_ ? problem_.out_rows.stride() : count_;
    features_.run({problem_.taps(), taps_.Block(first, rows, 0, tables.taps), rhs_, rhs_taps_.data(),
                   problem_.rhs.channel_stride, static_cast<int>(problem_.channels),
                   static_cast<int>(problem_.columns()), count_, out, line_taps_, blocks,
                   step_.value_or(0) * kFeatureRows, out_step * kFeatureRows});
    if (direct_) return;
    const int64_t all = rows * blocks;
    for (int64_t p = 0, end = 0; p < all; p = end) {  // neighbours at once
      for (end = p + 1; end < all && to[end] == to[end - 1] + count_;) ++end;
      FromNumbers(problem_.type, kernels_, tables.sums.get() + p * count_, (end - p) * count_,
                  out_ + (problem_.out_base + to[p]) * bytes);
    }
  }

  const Problem& problem_;
  const KernelSet& kernels_;
  const FactorKernels<T, W>& features_;
  RowTaps<W> taps_;
  const W* rhs_;
  uint8_t* out_;
  int64_t count_;  // features of the result
  std::vector<int64_t> rhs_taps_;
  bool direct_;
  int64_t line_taps_ = 1;
  std::optional<int64_t> step_;  // where blocks of rows are like the last, to the next row in elements
};

}  // namespace

Fit FitFeaturewise(const Problem& problem, const Target& target) {
  Fit fit;
  const int64_t outputs = problem.columns(), channels = problem.channels,
                lanes = LanesOf(problem, KernelsFor(target.isa));
  if (!fit.Needs(lanes > 0, "no kernels for these types")) return fit;
  fit.Needs(problem.rhs.bounds.empty(), "padded weights");
  fit.Needs(problem.taps() > 0 && problem.taps() <= kMostTaps, "too many taps");
  if (!fit.Needs(channels > 0 && outputs > 0, "no features")) return fit;
  fit.Needs((channels == 1 || problem.lhs.channel_stride == 1) && HasStride(problem.lhs.batch, channels) &&
                HasStride(problem.rhs.rows, 1) && HasStride(problem.rhs.batch, outputs) &&
                HasStride(problem.out_columns, 1) && HasStride(problem.out_batch, outputs),
            "features are no neighbours");
  if (!fit.can()) return fit;
  fit.Needs(FillsLanes(problem, lanes), "features do not fill vectors, or are many");
  fit.Suits(!IsBetterInGroups(problem, target), "enough channels of bytes for tiles by fours");
  fit.Suits(problem.rows() >= kFewestRows, "few rows");
  return fit;
}

void RunFeaturewise(const Problem& problem, const KernelSet& kernels, const void* lhs, const void* rhs,
                    void* out) {
  // Depthwise ones of one result each read all as it lies.
  if ((problem.channels > 1 || problem.columns() > 1 || problem.batches() % kFeatureRows != 0) &&
      GainsByStaging(problem))
    return VisitNumber(problem, kernels, [&](auto tag) {
      using T = decltype(tag);
      const StagedImage<T> staged = StageImage<T>(problem, kernels, lhs, rhs);
      FeatureRun<T, T>(staged.problem, kernels, kernels.of<FactorKernels<T, T>>(), staged.image.get(),
                       staged.weights.get(), out)
          .Run();
    });
  VisitFactors(problem, kernels, [&]<class T, class W>(const FactorKernels<T, W>& features) {
    FeatureRun<T, W>(problem, kernels, features, lhs, rhs, out).Run();
  });
}

}  // namespace hlo::gemm
