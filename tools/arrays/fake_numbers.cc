// What made-up numbers must be like to reach results: inputs of products about 1, weights scaled by how many
// of them are added up, numbers above zero where roots and logarithms are taken or layers are scaled, small
// counters (tools.md §3.2).
#include "tools/arrays/fake_arguments.h"
#include "tools/arrays/parameter_walk.h"

namespace hlo {
namespace {

/// What one use asks of the numbers.
enum class Demand : uint8_t { None, Positive, Moment, AboveOne };

struct DemandRow {
  OpKind kind;
  int64_t operand;
  Demand demand;
};
constexpr DemandRow kDemands[] = {
    {OpKind::Sqrt, 0, Demand::Positive},
    {OpKind::Rsqrt, 0, Demand::Positive},
    {OpKind::Log, 0, Demand::Positive},
    {OpKind::Power, 0, Demand::Positive},
    {OpKind::Divide, 1, Demand::Positive},
    {OpKind::Acosh, 0, Demand::AboveOne},
    {OpKind::Clamp, 2, Demand::Positive},  // what lets nothing through hides all behind it
    // Scales and variances: through many layers, scales of a tenth make gradients of any size.
    {OpKind::BatchNormTraining, 1, Demand::Positive},
    {OpKind::BatchNormInference, 1, Demand::Positive},
    {OpKind::BatchNormInference, 4, Demand::Positive},
    {OpKind::BatchNormGrad, 1, Demand::Positive},
    {OpKind::BatchNormGrad, 3, Demand::Positive},
};

/// Ops that hand numbers on as they are, from operand 0 or all.
constexpr OpKind kMoving[] = {
    OpKind::Reshape,   OpKind::Bitcast,     OpKind::Copy,   OpKind::Convert,      OpKind::ReducePrecision,
    OpKind::Transpose, OpKind::Slice,       OpKind::Pad,    OpKind::Reverse,      OpKind::Broadcast,
    OpKind::Gather,    OpKind::Concatenate, OpKind::Select, OpKind::DynamicSlice, OpKind::OptimizationBarrier,
};
/// Ops that hand on the sign, if what they are computed with is positive.
constexpr OpKind kComputing[] = {OpKind::Add, OpKind::Multiply, OpKind::Divide, OpKind::Maximum};
constexpr int kMostSteps = 6;  // of arithmetic, from a parameter to the root that is taken of it

constexpr double kLeast = 0.5, kMost = 1.5;  // of positive numbers
constexpr double kLeastMoment =
    1e-8;  // of those to which something is added before the root: a sum of squares
constexpr int64_t kMostCounted = 16;  // steps of training, exponents

/// What has become of the numbers on the way.
struct Way {
  int steps = 0;        // of arithmetic
  bool spread = false;  // broadcast
  bool operator<(const Way& o) const { return std::tie(steps, spread) < std::tie(o.steps, o.spread); }
};

class NumberTracer {
 public:
  NumberTracer(const Shape& leaf, ValueRule& rule, OperandPositions& positions)
      : leaf_(leaf), rule_(rule), walk_(positions) {}

  void Trace(const Instruction* parameter, const ShapeIndex& index) {
    walk_.Push({parameter, index, {}});
    walk_.Run(
        [&](const Place& place, const Instruction& user, int64_t operand) { Use(place, user, operand); });
    Decide();
  }

 private:
  using Walk = ParameterWalk<Way>;
  using Place = Walk::Place;

  void Use(const Place& place, const Instruction& user, int64_t operand) {
    const Way& way = place.state;
    if (llvm::is_contained(kMoving, user.kind())) {
      counts_ |= user.kind() == OpKind::Convert && IsFloat(user.shape().element_type()) &&
                 leaf_.rank() == 0 && IsIntegral(leaf_.element_type());
      if (operand == 0 || user.kind() == OpKind::Concatenate || user.kind() == OpKind::Select)
        walk_.Push({&user, place.index, {way.steps, way.spread || user.kind() == OpKind::Broadcast}});
      return;
    }
    for (const DemandRow& row : kDemands)
      if (row.kind == user.kind() && row.operand == operand)
        demand_ = std::max(demand_, way.steps > 1 && IsRoot(user.kind()) ? Demand::Moment : row.demand);
    if (llvm::is_contained(kComputing, user.kind()) && way.steps < kMostSteps &&
        user.operand(0) != user.operand(1) && !(user.kind() == OpKind::Divide && operand == 1)) {
      scale_ |= user.kind() == OpKind::Multiply && way.steps == 0 && way.spread && leaf_.rank() <= 1;
      return walk_.Push({&user, place.index, {way.steps + 1, way.spread}});
    }
    if (operand == 0 && (user.kind() == OpKind::Dot || user.kind() == OpKind::Convolution)) input_ = true;
    if (operand == 1) Weigh(user);
    walk_.Enter(place, user, operand, way);
  }

  static bool IsRoot(OpKind kind) { return kind == OpKind::Sqrt || kind == OpKind::Rsqrt; }

  /// Of weights, how many are added up.
  void Weigh(const Instruction& user) {
    double terms = 0;
    if (user.kind() == OpKind::Dot) {
      terms = 1;
      for (const int64_t d : user.attr<DotAttrs>().rhs_contracting_dims)
        terms *= static_cast<double>(user.operand(1)->shape().dim(d));
    } else if (user.kind() == OpKind::Convolution && user.attr<ConvolutionAttrs>().dim_labels) {
      const Shape& kernel = user.operand(1)->shape();
      const int64_t d = user.attr<ConvolutionAttrs>().dim_labels->kernel_output_feature;
      const int64_t features = d < kernel.rank() ? kernel.dim(d) : 1;  // a convolution of scalars has none
      terms =
          static_cast<double>(kernel.ElementCount()) / static_cast<double>(std::max<int64_t>(features, 1));
    }
    fan_in_ = std::max(fan_in_, terms);
  }

  void Decide() {
    if (IsIntegral(leaf_.element_type())) {
      if (!counts_) return;
      rule_.kind = ValueKind::InRange;
      rule_.low = 0;
      rule_.high = std::min(kMostCounted, INT64_MAX >> (64 - Info(leaf_.element_type()).bits));
    } else if (demand_ == Demand::Moment) {
      rule_.kind = ValueKind::LogUniform;
      rule_.a = kLeastMoment;
      rule_.b = 1;
    } else if (demand_ != Demand::None || (scale_ && fan_in_ == 0)) {
      const double shift = demand_ == Demand::AboveOne ? kLeast : 0;
      rule_.kind = ValueKind::Uniform;
      rule_.a = kLeast + shift;
      rule_.b = kMost + shift;
    } else if (fan_in_ > 0 || input_) {
      rule_.kind = ValueKind::Normal;
      rule_.a = 0;
      rule_.b = fan_in_ > 0 ? 1 / std::sqrt(fan_in_) : 1;
    }
  }

  const Shape& leaf_;
  ValueRule& rule_;
  Demand demand_ = Demand::None;
  double fan_in_ = 0;
  bool input_ = false;
  bool scale_ = false;   // of layers: all elements along other dimensions are multiplied with one
  bool counts_ = false;  // an integer that is made a number
  Walk walk_;
};

}  // namespace

void RefineNumbers(const Instruction* parameter, const ShapeIndex& index, const Shape& leaf,
                   OperandPositions& positions, ValueRule& rule) {
  if (rule.kind != ValueKind::Random || rule.large_float_range || IsPred(leaf.element_type())) return;
  NumberTracer(leaf, rule, positions).Trace(parameter, index);
}

}  // namespace hlo
