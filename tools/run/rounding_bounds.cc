#include "tools/run/rounding_bounds.h"

#include "backends/client/client.h"
#include "ir/support/interrupt.h"
#include "tools/modules/rounding_noise.h"
#include "tools/run/expected.h"
#include "tools/run/memory.h"

namespace hlo {
namespace {

constexpr int64_t kDraws = 3, kMoreDraws = 9;          // choices jump seldom: what fails is measured again
constexpr double kMeanFactor = 2, kLargestFactor = 4;  // times what noise does
constexpr double kPlainMean = 4;                       // units in the last place of the root mean square,
constexpr double kPlainLargest =
    16;                              // and of the largest element, so close that nothing needs to be measured
constexpr double kSaysNothing = .5;  // where noise moves an array by that part of itself

/// Errors that pass where nothing can be measured, relative to the values; by precision.
struct ScaleRow {
  int mantissa_bits;
  double part;
};
constexpr ScaleRow kScales[] = {{52, 1e-9}, {23, 1e-4}, {7, 3e-2}, {0, 2e-1}};
/// The first row whose type has these mantissa bits, at least; 0 for integers.
double PartOf(const Literal& array) {
  const ElementType real = RealPartType(array.shape().element_type());
  if (IsFloat(real))
    for (const ScaleRow& row : kScales)
      if (Info(real).mantissa_bits >= row.mantissa_bits) return row.part;
  return 0;
}

Tolerance Bounds(NanMode nan) {
  Tolerance t;
  t.nan = nan;
  return t;
}

}  // namespace

Tolerance PlainTolerance(const Literal& expected, NanMode nan) {
  Tolerance t = Bounds(nan);
  const double unit = RoundingUnit(expected.shape().element_type());
  const Extent extent = ExtentOf(expected);
  t.abs = kPlainLargest * unit * extent.largest;
  t.rms = kPlainMean * unit * extent.mean;
  return t;
}

Tolerance ScaleTolerance(const Literal& expected, NanMode nan) {
  Tolerance t = Bounds(nan);
  t.rel = PartOf(expected);
  t.abs = t.rel * ExtentOf(expected).mean;
  return t;
}

Tolerance MeasuredTolerance(const Literal& expected, const NoiseEffect& effect, NanMode nan) {
  Tolerance t = Bounds(nan);
  const double unit = RoundingUnit(expected.shape().element_type());
  const Extent extent = ExtentOf(expected);
  t.abs = kLargestFactor * (effect.moved.largest + unit * extent.largest);
  t.rms = kMeanFactor * (effect.moved.mean + unit * extent.mean);
  t.others = static_cast<int64_t>(kLargestFactor) * effect.others;
  return t;
}

Tolerance ElementTolerance(const Literal& expected, const NoiseEffect& effect, NanMode nan) {
  const Literal plain = expected.ToStatic();
  std::vector<double> sizes;
  RaiseToDistances(plain, Literal::Zeros(plain.shape()), sizes);
  auto bounds = std::make_shared<std::vector<double>>(effect.each);
  bounds->resize(sizes.size());
  if (llvm::any_of(effect.each, [](double moved) { return moved > 0; })) {
    const double unit = RoundingUnit(expected.shape().element_type());
    for (size_t i = 0; i < sizes.size(); ++i)
      (*bounds)[i] = kLargestFactor * ((*bounds)[i] + (std::isfinite(sizes[i]) ? unit * sizes[i] : 0));
  }
  Tolerance t = Bounds(nan);
  t.each = std::move(bounds);
  return t;
}

Result<std::unique_ptr<Executable>> RoundingMeter::Compile(const Module& module) const {
  CompileOptions options;
  options.support = SupportCheck::Never;
  options.cpu.executions = kDraws + kMoreDraws;
  HLO_TRY(std::unique_ptr<Executable> program, Client(Platform::Cpu).Compile(module, options));
  if (const auto plan = program->Memory()) HLO_CHECK_OK(CheckMemoryPlan(*plan, devices_, memory_limit_));
  return program;
}

Status RoundingMeter::Prepare() {
  if (module_.CountOf(OpKind::Rng) > 0 || module_.CountOf(OpKind::RngGetAndUpdateState) > 0)
    return Decline({}, "the module draws random numbers of its own");
  HLO_TRY(const std::unique_ptr<Module> noisy, WithRoundingNoise(module_));
  HLO_TRY(std::unique_ptr<Executable> disturbed, Compile(*noisy));
  HLO_TRY(const std::unique_ptr<Executable> quiet, Compile(module_));
  HLO_TRY(quiet_, run_(*quiet, std::nullopt));
  effects_.resize(quiet_.size());
  noisy_ = std::move(disturbed);
  return {};
}

Status RoundingMeter::Draw(int64_t count) {
  if (!noisy_) HLO_CHECK_OK(Prepare());
  for (int64_t i = 0; i < count; ++i) {
    HLO_TRY(const std::vector<Literal> results, run_(*noisy_, static_cast<uint64_t>(++draws_)));
    for (size_t d = 0; d < results.size(); ++d)
      ForEachLeaf(results[d].shape(), [&](const ShapeIndex& index, const Shape& shape) {
        if (!shape.IsArray()) return;
        NoiseEffect& effect = effects_[d][index];
        const Literal& quiet = PartAt(quiet_[d], index);
        const Distance by = DistanceOf(PartAt(results[d], index), quiet);
        effect.moved = {std::max(effect.moved.mean, by.size.mean),
                        std::max(effect.moved.largest, by.size.largest)};
        effect.others = std::max(effect.others, by.others);
        if (by_element_) RaiseToDistances(PartAt(results[d], index), quiet, effect.each);
        const double whole = ExtentOf(quiet).mean;
        effect.silent = effect.others * 2 > quiet.shape().ElementCount() ||
                        (whole > 0 && effect.moved.mean > kSaysNothing * whole);
      });
  }
  return {};
}

NoiseEffect RoundingMeter::Effect(size_t device, const ShapeIndex& index) const {
  return effects_[device].at(index);
}

Diagnostic UnmeasuredRemark(llvm::StringRef unmeasured) {
  Diagnostic remark =
      MakeError("rounding-unmeasured", {},
                "bounds are parts of the values, what rounding does was not measured: {0}", unmeasured);
  remark.severity = Severity::Remark;
  return remark;
}

Status CompareWithinRounding(llvm::ArrayRef<ComparedPair> pairs, NanMode nan, RoundingMeter* meter,
                             std::string& unmeasured) {
  using Pairs = std::vector<const ComparedPair*>;
  auto failing = [&](const Pairs& these, auto tolerance) {
    Pairs failed;
    for (const ComparedPair* pair : these) {
      *pair->result = Compare(*pair->actual, *pair->expected, tolerance(*pair));
      if (!pair->result->matched()) failed.push_back(pair);
    }
    return failed;
  };
  Pairs unclear;
  for (const ComparedPair& pair : pairs) unclear.push_back(&pair);
  unclear = failing(unclear, [&](const ComparedPair& pair) { return PlainTolerance(*pair.expected, nan); });
  for (const int64_t draws : {kDraws, kMoreDraws}) {
    if (unclear.empty() || meter == nullptr) break;
    if (Status drawn = meter->Draw(draws); !drawn) {
      if (Interrupted()) return drawn;
      unmeasured = drawn.error().message;
      meter = nullptr;
      break;
    }
    Pairs failed = failing(unclear, [&](const ComparedPair& pair) {
      return MeasuredTolerance(*pair.expected, meter->Effect(pair.device, pair.index), nan);
    });
    for (const ComparedPair* pair : unclear)
      if (meter->Effect(pair->device, pair->index).silent)
        pair->result->vacuous = "rounding alone changes half of it";
    unclear = std::move(failed);
  }
  if (meter == nullptr && !unclear.empty()) {
    if (unmeasured.empty()) unmeasured = "the outputs are parts of arrays that devices share";
    failing(unclear, [&](const ComparedPair& pair) { return ScaleTolerance(*pair.expected, nan); });
  }
  for (const ComparedPair& pair : pairs) FindVacuous(*pair.actual, *pair.result);
  return {};
}

Status CompareElementsWithinRounding(llvm::ArrayRef<ComparedPair> pairs, NanMode nan, RoundingMeter* meter,
                                     std::string& unmeasured) {
  llvm::SmallVector<const ComparedPair*> unclear;
  for (const ComparedPair& pair : pairs) {
    *pair.result =
        Compare(*pair.actual, *pair.expected, ElementTolerance(*pair.expected, NoiseEffect(), nan));
    if (!pair.result->matched()) unclear.push_back(&pair);
  }
  if (meter != nullptr) meter->MeasureElements();
  for (const int64_t draws : {kDraws, kMoreDraws}) {
    if (unclear.empty() || meter == nullptr) break;
    if (Status drawn = meter->Draw(draws); !drawn) {
      if (Interrupted()) return drawn;
      unmeasured = drawn.error().message;
      break;
    }
    llvm::erase_if(unclear, [&](const ComparedPair* pair) {
      const NoiseEffect effect = meter->Effect(pair->device, pair->index);
      *pair->result = Compare(*pair->actual, *pair->expected, ElementTolerance(*pair->expected, effect, nan));
      if (effect.silent) pair->result->vacuous = "rounding alone changes half of it";
      return pair->result->matched();
    });
  }
  for (const ComparedPair& pair : pairs) FindVacuous(*pair.actual, *pair.result);
  return {};
}

Diagnostic VacuousWarning(llvm::ArrayRef<std::string> vacuous, int64_t outputs) {
  constexpr size_t kShown = 9;
  const size_t more = vacuous.size() - 1;
  Diagnostic warning =
      MakeError("vacuous-comparison", {}, "comparing proves nothing about {0}{1}", vacuous.front(),
                more == 0 ? "" : llvm::formatv("; nor about {0} more of {1} outputs", more, outputs).str());
  warning.severity = Severity::Warning;
  for (const std::string& output : vacuous.drop_front().take_front(kShown)) warning.Note(output);
  return warning;
}

void FindVacuous(const Literal& actual, Comparison& comparison) {
  if (IsAllNan(actual)) comparison.vacuous = "all of it is NaN";
}

}  // namespace hlo
