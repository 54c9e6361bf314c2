#include "backends/products/dot/arrange.h"

#include "backends/products/common/sums.h"
#include "backends/products/dot/gemv.h"
#include "backends/products/dot/packed_gemm.h"

namespace hlo::gemm {
namespace {

constexpr int64_t kFewColumns = 32;  // not worth turning the left factor round

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

/// Asked with the factors exchanged.
bool IsBetterExchanged(const Problem& problem, const KernelSet& kernels) {
  constexpr int64_t kLeastRun = 4, kManyVectors = 4;  // neighbours, and vectors of rows, that are worth it
  // Columns are best neighbours in the result, and enough to fill vectors.
  const int64_t parts = IsComplex(problem.type) ? 2 : 1;
  const Index &rows = problem.out_columns, &columns = problem.out_rows;
  const int64_t lanes = TileShapeOf(kernels, problem.compute).lanes;
  if (columns.stride() != 1) return rows.stride() == 1 && rows.run() >= kLeastRun;
  // A left factor of steps far apart would be turned round; as the right one it is read as it lies.
  const Operand& left = problem.rhs;
  if (problem.taps() == 1 && left.bounds.empty() && columns.count() * parts <= kFewColumns &&
      rows.count() >= kManyVectors * lanes && left.rows.stride() == 1 && left.rows.run() >= lanes &&
      left.channel_stride > 1)
    return true;
  return columns.count() * parts < lanes / 2 && rows.count() >= kManyVectors * lanes;
}

}  // namespace

Arranged AsItIs(const Problem& problem, const Target&) { return {problem}; }

Arranged ForTiles(const Problem& problem, const Target& target) {
  Arranged arranged{problem};
  if (problem.depth() == 0) return arranged;
  OrderSteps(arranged.problem);
  arranged.problem.Exchange();
  arranged.exchanged = IsBetterExchanged(arranged.problem, KernelsFor(target.isa));
  if (!arranged.exchanged) arranged.problem.Exchange();
  return arranged;
}

Arranged ForFewRows(const Problem& problem, const Target& target) {
  Arranged arranged{problem};
  if (problem.depth() == 0) return arranged;
  OrderSteps(arranged.problem);
  const Fit fit = FitThin(arranged.problem, target);
  if (fit.suits()) return arranged;
  Arranged other{arranged.problem, true};
  other.problem.Exchange();
  const Fit exchanged = FitThin(other.problem, target);
  return exchanged.suits() || (exchanged.can() && !fit.can()) ? other : arranged;
}

}  // namespace hlo::gemm
