#include "backends/products/conv/depthwise_nhwc.h"

#include <algorithm>

#include "backends/products/common/factors.h"
#include "backends/products/common/subnormals.h"
#include "ir/support/buffer.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo::gemm {
namespace {

constexpr int64_t kPieceWork = 1 << 15;  // products worth waking a thread for
constexpr int64_t kRowsAtOnce = 64;

bool IsSideBySide(const Index& index) {
  return index.count() > 1 && index.IsUniform() && index.stride() == 1;
}

/// One dimension in which windows reach beyond the input.
struct Limit {
  llvm::SmallVector<int64_t> taps;  // positions
  int64_t least, greatest;          // of them
  int64_t rows[kRowsAtOnce];
};

/// T is the type of sums, W how both factors are stored.
template <class T, class W>
class ChannelwiseRun {
 public:
  ChannelwiseRun(const Problem& problem, const KernelSet& kernels, const FactorKernels<T, W>& factors,
                 const void* lhs, const void* rhs, void* out)
      : problem_(problem),
        kernels_(kernels),
        factors_(factors),
        lhs_(static_cast<const W*>(lhs) + problem.lhs.base),
        rhs_(static_cast<const W*>(rhs) + problem.rhs.base + problem.rhs.rows.At(0)),
        out_(static_cast<uint8_t*>(out)),
        width_(problem.batches()),
        steps_(problem.depth()),
        direct_(IsStoredAs(problem.type, problem.compute)) {
    FillSteps(problem.lhs, lhs_steps_);
    FillSteps(problem.rhs, rhs_steps_);
  }

  void Run() const {
    const int64_t grain = std::max<int64_t>(kPieceWork / (steps_ * width_ + 1), 1);
    ParallelFor(0, problem_.rows(), grain, [&](int64_t begin, int64_t end) {
      const FlushSubnormals flush;
      Worker worker(*this);
      for (int64_t row = begin; row < end && !Interrupted(); row += kRowsAtOnce)
        worker.Rows(row, std::min(kRowsAtOnce, end - row));
    });
  }

 private:
  void FillSteps(const Operand& operand, llvm::SmallVectorImpl<int64_t>& steps) const {
    const int64_t taps = problem_.taps(), channels = problem_.channels;
    for (int64_t t = 0; t < taps; ++t)
      for (int64_t c = 0; c < channels; ++c) steps.push_back(operand.taps.At(t) + c * operand.channel_stride);
  }

  class Worker {
   public:
    explicit Worker(const ChannelwiseRun& run)
        : run_(run),
          limits_(run.problem_.lhs.bounds.size()),
          sums_(MakeBuffer<T>(static_cast<size_t>(run.width_))) {
      const Operand& lhs = run.problem_.lhs;
      for (size_t b = 0; b < limits_.size(); ++b) {
        limits_[b].taps.resize(static_cast<size_t>(lhs.taps.count()));
        lhs.bounds[b].tap.Fill(0, lhs.taps.count(), limits_[b].taps.data());
        limits_[b].least = *llvm::min_element(limits_[b].taps);
        limits_[b].greatest = *llvm::max_element(limits_[b].taps);
      }
    }

    void Rows(int64_t begin, int64_t count) {
      const Problem& problem = run_.problem_;
      int64_t from[kRowsAtOnce], to[kRowsAtOnce];
      problem.lhs.rows.Fill(begin, count, from);
      problem.out_rows.Fill(begin, count, to);
      for (size_t b = 0; b < limits_.size(); ++b) {
        problem.lhs.bounds[b].row.Fill(begin, count, limits_[b].rows);
        for (int64_t i = 0; i < count; ++i) limits_[b].rows[i] += problem.lhs.bounds[b].base;
      }
      const int64_t bytes = Info(problem.type).host_bytes(),
                    base = problem.out_base + problem.out_columns.At(0);
      for (int64_t i = 0; i < count; ++i) {
        uint8_t* target = run_.out_ + (base + to[i]) * bytes;
        T* sums = run_.direct_ ? reinterpret_cast<T*>(target) : sums_.get();
        std::fill_n(sums, run_.width_, T(0));
        Row(i, run_.lhs_ + from[i], sums);
        if (!run_.direct_) FromNumbers(problem.type, run_.kernels_, sums, run_.width_, target);
      }
    }

   private:
    void Row(int64_t i, const W* from, T* sums) {
      bool inside = true;
      for (size_t b = 0; b < limits_.size(); ++b)
        inside &= limits_[b].rows[i] + limits_[b].least >= 0 &&
                  limits_[b].rows[i] + limits_[b].greatest < run_.problem_.lhs.bounds[b].size;
      if (inside)
        return run_.factors_.products(from, run_.lhs_steps_.data(), run_.rhs_, run_.rhs_steps_.data(),
                                      run_.steps_, run_.width_, sums);
      lhs_steps_.clear();
      rhs_steps_.clear();
      const auto channels = static_cast<size_t>(run_.problem_.channels);
      for (size_t t = 0; t < limits_[0].taps.size(); ++t) {
        bool valid = true;
        for (size_t b = 0; b < limits_.size(); ++b) {
          const int64_t at = limits_[b].rows[i] + limits_[b].taps[t];
          valid &= at >= 0 && at < run_.problem_.lhs.bounds[b].size;
        }
        if (!valid) continue;
        lhs_steps_.append(run_.lhs_steps_.begin() + t * channels,
                          run_.lhs_steps_.begin() + (t + 1) * channels);
        rhs_steps_.append(run_.rhs_steps_.begin() + t * channels,
                          run_.rhs_steps_.begin() + (t + 1) * channels);
      }
      run_.factors_.products(from, lhs_steps_.data(), run_.rhs_, rhs_steps_.data(),
                             static_cast<int64_t>(lhs_steps_.size()), run_.width_, sums);
    }

    const ChannelwiseRun& run_;
    llvm::SmallVector<Limit, 2> limits_;
    Buffer<T> sums_;
    llvm::SmallVector<int64_t, 64> lhs_steps_, rhs_steps_;  // inside the input
  };

  const Problem& problem_;
  const KernelSet& kernels_;
  const FactorKernels<T, W>& factors_;
  const W *lhs_, *rhs_;
  uint8_t* out_;
  int64_t width_, steps_;
  bool direct_;
  llvm::SmallVector<int64_t, 64> lhs_steps_, rhs_steps_;
};

}  // namespace

bool HasChannelwiseKernels(const Problem& problem, const KernelSet& kernels) {
  bool has_kernels = false;
  VisitWideFactors(problem, kernels, [&](const auto&) { has_kernels = true; });
  return has_kernels;
}

bool AreBatchesSideBySide(const Problem& problem) {
  constexpr int64_t kLeastBatches = 4;  // that lanes are worth it for
  return problem.columns() == 1 && problem.batches() >= kLeastBatches && problem.rhs.bounds.empty() &&
         problem.depth() > 0 && IsSideBySide(problem.lhs.batch) && IsSideBySide(problem.rhs.batch) &&
         IsSideBySide(problem.out_batch);
}

Fit FitChannelwise(const Problem& problem, const Target& target) {
  Fit fit;
  fit.Needs(HasChannelwiseKernels(problem, KernelsFor(target.isa)), "no kernels for these types");
  fit.Needs(AreBatchesSideBySide(problem), "no batches or groups of one column that lie side by side");
  return fit;
}

void RunChannelwise(const Problem& problem, const KernelSet& kernels, const void* lhs, const void* rhs,
                    void* out) {
  VisitFactors(problem, kernels, [&]<class T, class W>(const FactorKernels<T, W>& factors) {
    ChannelwiseRun<T, W>(problem, kernels, factors, lhs, rhs, out).Run();
  });
}

}  // namespace hlo::gemm
