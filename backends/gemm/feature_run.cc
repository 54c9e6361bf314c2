#include "backends/gemm/feature_run.h"

#include <algorithm>
#include <array>

#include "backends/gemm/factors.h"
#include "backends/gemm/subnormals.h"
#include "ir/support/buffer.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo::gemm {
namespace {

constexpr int64_t kPieceWork = 1 << 15;  // products worth waking a thread for
constexpr int64_t kMostTaps = 512, kFewestRows = 16, kRowsAtOnce = 64;

int LanesOf(const Problem& problem, const KernelSet& kernels) {
  int lanes = 0;
  VisitFactors(problem, kernels, [&](const auto& features) { lanes = features.lanes; });
  return lanes;
}

/// Lanes that groups fill with what they make.
int64_t UsedLanes(const Problem& problem, int64_t lanes) {
  return lanes / std::max(problem.channels, problem.columns()) * problem.columns();
}

/// Neighbours at a distance of `stride`, or nothing that has neighbours.
bool HasStride(const Index& index, int64_t stride) {
  return index.count() == 1 || (index.IsUniform() && index.stride() == stride);
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
        lhs_(static_cast<const W*>(lhs) + problem.lhs.base),
        rhs_(static_cast<const W*>(rhs) + problem.rhs.base),
        out_(static_cast<uint8_t*>(out)),
        count_(problem.batches() * problem.columns()),
        lhs_taps_(static_cast<size_t>(problem.taps())),
        rhs_taps_(static_cast<size_t>(problem.taps())),
        zeros_(static_cast<size_t>(problem.batches() * problem.channels), W(0)),
        direct_(IsStoredAs(problem.type, problem.compute)) {
    problem.lhs.taps.Fill(0, problem.taps(), lhs_taps_.data());
    problem.rhs.taps.Fill(0, problem.taps(), rhs_taps_.data());
    for (const Bound& bound : problem.lhs.bounds) {
      std::vector<int64_t> taps(lhs_taps_.size());
      bound.tap.Fill(0, problem.taps(), taps.data());
      const auto [least, greatest] = std::minmax_element(taps.begin(), taps.end());
      limits_.push_back({taps, *least, *greatest});
    }
  }

  void Run() const {
    const int64_t work = count_ * problem_.depth();
    const int64_t grain = (kPieceWork / work + kFeatureRows) / kFeatureRows * kFeatureRows;
    ParallelFor(0, problem_.rows(), grain, [&](int64_t begin, int64_t end) {
      const FlushSubnormals flush;
      Tables tables;
      tables.in.resize(lhs_taps_.size() * kFeatureRows);
      tables.rows.resize(problem_.lhs.bounds.size());
      tables.sums = MakeBuffer<T>(static_cast<size_t>(count_ * kFeatureRows));
      for (int64_t row = begin; row < end && !Interrupted(); row += kRowsAtOnce)
        RunRows(row, std::min(kRowsAtOnce, end - row), tables);
    });
  }

 private:
  /// Positions of taps in a dimension that windows reach beyond.
  struct Limit {
    std::vector<int64_t> taps;
    int64_t least, greatest;  // of them
  };
  /// Of one thread.
  struct Tables {
    std::vector<const W*> in;                            // by tap and row of a block
    int64_t from[kRowsAtOnce], to[kRowsAtOnce];          // of rows
    std::vector<std::array<int64_t, kRowsAtOnce>> rows;  // their positions, by limit
    Buffer<T> sums;  // of rows that are not stored as they are summed, or not at all
  };

  void RunRows(int64_t row, int64_t count, Tables& tables) const {
    problem_.lhs.rows.Fill(row, count, tables.from);
    problem_.out_rows.Fill(row, count, tables.to);
    for (size_t b = 0; b < limits_.size(); ++b)
      problem_.lhs.bounds[b].row.Fill(row, count, tables.rows[b].data());
    for (int64_t i = 0; i < count; i += kFeatureRows)
      RunBlock(i, std::min<int64_t>(kFeatureRows, count - i), tables);
  }

  /// Rows [first, first + rows) of those in the tables.
  void RunBlock(int64_t first, int64_t rows, Tables& tables) const {
    const int64_t* to = tables.to + first;
    const W* from[kFeatureRows];
    // Rows that are not there read what the first one reads.
    for (int64_t p = 0; p < kFeatureRows; ++p) from[p] = lhs_ + tables.from[first + (p < rows ? p : 0)];
    const W** in = tables.in.data();
    for (size_t t = 0; t < lhs_taps_.size(); ++t, in += kFeatureRows)
      for (int p = 0; p < kFeatureRows; ++p) in[p] = from[p] + lhs_taps_[t];
    for (size_t b = 0; b < limits_.size(); ++b)
      for (int64_t p = 0; p < kFeatureRows; ++p)
        Cut(b, tables.rows[b][static_cast<size_t>(first + (p < rows ? p : 0))], tables.in.data() + p);
    const int64_t bytes = Info(problem_.type).host_bytes();
    T* out[kFeatureRows];
    for (int64_t p = 0; p < kFeatureRows; ++p)
      out[p] = direct_ && p < rows ? reinterpret_cast<T*>(out_ + (problem_.out_base + to[p]) * bytes)
                                   : tables.sums.get() + p * count_;
    features_.run({problem_.taps(), tables.in.data(), rhs_, rhs_taps_.data(), problem_.rhs.channel_stride,
                   static_cast<int>(problem_.channels), static_cast<int>(problem_.columns()), count_, out});
    for (int64_t p = 0; p < rows && !direct_; ++p)
      FromNumbers(problem_.type, kernels_, out[p], count_, out_ + (problem_.out_base + to[p]) * bytes);
  }

  /// Zeros take the place of what a row at `position` would read outside of a dimension.
  void Cut(size_t b, int64_t position, const W** in) const {
    const Limit& limit = limits_[b];
    const Bound& bound = problem_.lhs.bounds[b];
    const int64_t at = bound.base + position;
    if (at + limit.least >= 0 && at + limit.greatest < bound.size) return;
    for (size_t t = 0; t < limit.taps.size(); ++t)
      if (static_cast<uint64_t>(at + limit.taps[t]) >= static_cast<uint64_t>(bound.size))
        in[t * kFeatureRows] = zeros_.data();
  }

  const Problem& problem_;
  const KernelSet& kernels_;
  const FactorKernels<T, W>& features_;
  const W *lhs_, *rhs_;
  uint8_t* out_;
  int64_t count_;  // features of the result
  std::vector<int64_t> lhs_taps_, rhs_taps_;
  std::vector<Limit> limits_;  // by bound
  std::vector<W> zeros_;
  bool direct_;
};

}  // namespace

bool IsFeaturewise(const Problem& problem, const KernelSet& kernels) {
  const int64_t outputs = problem.columns(), channels = problem.channels, lanes = LanesOf(problem, kernels);
  return lanes > 0 && problem.batches() * outputs >= lanes && problem.rhs.bounds.empty() &&
         problem.rows() >= kFewestRows && problem.taps() > 0 && problem.taps() <= kMostTaps && channels > 0 &&
         2 * UsedLanes(problem, lanes) >= lanes && (channels == 1 || problem.lhs.channel_stride == 1) &&
         HasStride(problem.lhs.batch, channels) && HasStride(problem.rhs.rows, 1) &&
         HasStride(problem.rhs.batch, outputs) && HasStride(problem.out_columns, 1) &&
         HasStride(problem.out_batch, outputs);
}

void RunFeaturewise(const Problem& problem, const KernelSet& kernels, const void* lhs, const void* rhs,
                    void* out) {
  VisitFactors(problem, kernels, [&]<class T, class W>(const FactorKernels<T, W>& features) {
    FeatureRun<T, W>(problem, kernels, features, lhs, rhs, out).Run();
  });
}

}  // namespace hlo::gemm
