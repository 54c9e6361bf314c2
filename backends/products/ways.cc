#include "backends/products/ways.h"

#include <algorithm>
#include <tuple>

#include "backends/products/conv/depthwise_nchw.h"
#include "backends/products/conv/depthwise_nchw_weight_gradient.h"
#include "backends/products/conv/depthwise_nchw_weight_gradient_vnni.h"
#include "backends/products/conv/depthwise_nhwc.h"
#include "backends/products/conv/depthwise_nhwc_staged.h"
#include "backends/products/conv/depthwise_weight_gradient.h"
#include "backends/products/conv/direct_few_outputs.h"
#include "backends/products/conv/direct_nhwc.h"
#include "backends/products/conv/direct_spatial.h"
#include "backends/products/conv/direct_vnni.h"
#include "backends/products/conv/grouped_weight_gradient.h"
#include "backends/products/conv/onednn_convolution.h"
#include "backends/products/conv/weight_gradient_vnni.h"
#include "backends/products/dot/gemv.h"
#include "backends/products/dot/packed_gemm.h"
#include "backends/products/dot/packed_gemm_vnni.h"

namespace hlo::gemm {
namespace {

/// A plan that is a function of the problem.
template <auto kRun>
class FunctionPlan final : public Plan {
 public:
  FunctionPlan(Problem problem, const Target& target)
      : problem_(std::move(problem)), kernels_(KernelsFor(target.isa)) {}
  bool Run(const void* lhs, const void* rhs, void* out) const override {
    if constexpr (std::is_invocable_v<decltype(kRun), const Problem&, const void*, const void*, void*>)
      kRun(problem_, lhs, rhs, out);
    else
      kRun(problem_, kernels_, lhs, rhs, out);
    return true;
  }

 private:
  Problem problem_;
  const KernelSet& kernels_;
};

/// The same with what multiplies words.
template <auto kRun>
class WordPlan final : public Plan {
 public:
  WordPlan(Problem problem, const Target& target)
      : problem_(std::move(problem)), kernels_(KernelsFor(target.isa)), way_(*WordWayOf(problem_, target)) {}
  bool Run(const void* lhs, const void* rhs, void* out) const override {
    kRun(problem_, way_, kernels_, lhs, rhs, out);
    return true;
  }

 private:
  Problem problem_;
  const KernelSet& kernels_;
  WordWay way_;
};

/// Blocks of steps of groups are its multiples.
constexpr int64_t kGroupDepthUnit = 64;

class GroupPlan final : public Plan {
 public:
  GroupPlan(Problem problem, const Target& target)
      : problem_(std::move(problem)),
        kernels_(KernelsFor(target.isa)),
        kind_(*GroupKindOf(problem_)),
        groups_(*GroupKernelsFor(kind_, target)),
        blocks_(CutSteps(
            problem_,
            (problem_.windows ? kWindowDepthBytes : kGroupDepthBytes) / Info(problem_.lhs.type).host_bytes(),
            kGroupDepthUnit)) {}
  bool Run(const void* lhs, const void* rhs, void* out) const override {
    RunGroups(problem_, kind_, groups_, blocks_, kernels_, lhs, rhs, out);
    return true;
  }
  [[nodiscard]] bool RunsByRows() const override { return !problem_.windows; }
  void RunRows(const Rows& rows, const void* lhs, const void* rhs, void* out) const override {
    RunGroupRows(problem_, kind_, groups_, blocks_, kernels_, rows, lhs, rhs, out);
  }
  [[nodiscard]] std::string Detail() const override { return groups_.name; }

 private:
  Problem problem_;
  const KernelSet& kernels_;
  GroupKind kind_;
  const GroupKernels& groups_;
  std::vector<Block> blocks_;
};

template <class P>
std::unique_ptr<Plan> Make(Problem problem, const Target& target) {
  return std::make_unique<P>(std::move(problem), target);
}

/// Multiplications of numbers of the result's type.
double Multiplications(const Problem& problem, double columns) {
  return static_cast<double>(problem.rows()) * static_cast<double>(problem.depth()) * columns *
         static_cast<double>(problem.batches()) * (IsComplex(problem.type) ? 2 * 2 : 1);
}

/// Nanoseconds of one thread that gets `share` of what a core multiplies in lanes.
double Cost(double multiplications, const Problem& problem, const Target& target, double share) {
  const auto lanes = static_cast<double>(TileShapeOf(KernelsFor(target.isa), problem.compute).lanes);
  return std::max(multiplications, 1.0) / (lanes * target.rates.vectors * target.rates.cycles_per_ns * share);
}

double CostOfProducts(const Problem& problem, const Target& target, double share) {
  return Cost(Multiplications(problem, static_cast<double>(problem.columns())), problem, target, share);
}

/// Tiles are whole vectors wide.
double CostOfTiles(const Problem& problem, const Target& target, double share) {
  const int64_t lanes = TileShapeOf(KernelsFor(target.isa), problem.compute).lanes,
                vectors = (problem.columns() * (IsComplex(problem.type) ? 2 : 1) + lanes - 1) / lanes;
  const double columns = static_cast<double>(vectors * lanes) / (IsComplex(problem.type) ? 2 : 1);
  return Cost(Multiplications(problem, columns), problem, target, share);
}

double CostOfGroups(const Problem& problem, const Target& target, double share) {
  const bool floats = GroupKindOf(problem) == GroupKind::Bf16;
  const Rates& rates = target.rates;
  const double with_tiles = floats ? rates.pairs_of_tiles : rates.fours_of_tiles,
               without = floats ? rates.pairs : rates.fours;
  return CostOfTiles(problem, target, share) / (target.amx ? with_tiles : without);
}

constexpr auto kSkipped = Padding::Skipped, kMultiplied = Padding::Multiplied;
constexpr Way kWays[] = {
    {"onednn", "a library", AsItIs, FitOnednn, PlanOnednn, CostOfProducts, .9, false, kMultiplied, true},
    {"direct-vnni", "words of features", AsItIs, FitWords, Make<WordPlan<RunByWords>>, CostOfProducts, .86,
     false, kMultiplied},
    {"weight-gradient-vnni", "words of positions", AsItIs, FitPositions, Make<WordPlan<RunByPositions>>,
     CostOfProducts, .72, false, kMultiplied},
#if defined(__x86_64__)  // AVX-512
    {"depthwise-nchw-weight-gradient-vnni", "products of planes", AsItIs, FitPlaneGradient,
     Make<FunctionPlan<RunPlaneGradient>>, CostOfProducts, .47, false, kMultiplied},
    {"depthwise-nchw-weight-gradient", "products of planes", AsItIs, FitFloatGradient,
     Make<FunctionPlan<RunFloatGradient>>, CostOfProducts, .4, false, kMultiplied},
    {"depthwise-nhwc-staged", "lanes of features, staged", AsItIs, FitLanes, Make<FunctionPlan<RunOfLanes>>,
     CostOfProducts, .34, false, kMultiplied},
#endif
    {"depthwise-weight-gradient", "channel by channel", AsItIs, FitSumOfLines,
     Make<FunctionPlan<RunSumOfLines>>, CostOfProducts, .32, false, kSkipped},
    {"direct-few-outputs", "lanes of input features", AsItIs, FitFewColumns,
     Make<FunctionPlan<RunFewColumns>>, CostOfProducts, .3, false, kMultiplied},
    {"direct-nhwc", "lanes of features", AsItIs, FitFeaturewise, Make<FunctionPlan<RunFeaturewise>>,
     CostOfProducts, .25, false, kMultiplied},
    {"grouped-weight-gradient", "channel by channel", AsItIs, FitChannelwiseSums,
     Make<FunctionPlan<RunChannelwiseSums>>, CostOfProducts, .23, false, kSkipped},
#if defined(__x86_64__)  // AVX-512
    {"depthwise-nchw", "planes", AsItIs, FitPlanes, Make<FunctionPlan<RunOfPlanes>>, CostOfProducts, .23,
     false, kMultiplied},
#endif
    {"gemv", "few rows", ForFewRows, FitThin, Make<FunctionPlan<RunThin>>, CostOfProducts, .18, false,
     kSkipped},
    {"depthwise-nhwc", "channel by channel", AsItIs, FitChannelwise, Make<FunctionPlan<RunChannelwise>>,
     CostOfProducts, .12, false, kSkipped},
    {"direct-spatial", "shifted lines", AsItIs, FitWindowed, Make<FunctionPlan<RunWindowed>>, CostOfProducts,
     .07, false, kMultiplied},
    {"packed-gemm-vnni", "groups of steps", ForTiles, FitGroups, Make<GroupPlan>, CostOfGroups, .8, true,
     kMultiplied},
    {"packed-gemm", "tiles", ForTiles, FitTiles, Make<TilePlan>, CostOfTiles, .8, true, kMultiplied},
};

}  // namespace

llvm::ArrayRef<Way> Ways() { return kWays; }

const Way* WayNamed(llvm::StringRef name) {
  const auto* way = llvm::find_if(kWays, [&](const Way& w) { return name == w.name; });
  return way == std::end(kWays) ? nullptr : way;
}

Fit FitOf(const Way& way, const Problem& problem, const Target& target) {
  Fit fit;
  if (!fit.Needs(problem.depth() > 0 || &way == &Ways().back(), "sums of nothing")) return fit;
  return way.fit(way.arrange(problem, target).problem, target);
}

std::vector<Assessment> Assess(const Problem& problem, const Target& target) {
  std::vector<Assessment> list;
  for (const Way& way : Ways()) {
    Assessment a{&way, FitOf(way, problem, target), 0};
    if (a.fit.can()) a.cost = way.cost(way.arrange(problem, target).problem, target, way.share);
    list.push_back(a);
  }
  const auto rank = [](const Assessment& a) {
    return std::tuple(!a.fit.suits(), !a.fit.can(), a.way->by_rows, a.cost, a.way);
  };
  llvm::sort(list, [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  return list;
}

}  // namespace hlo::gemm
