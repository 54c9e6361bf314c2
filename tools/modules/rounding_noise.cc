#include "tools/modules/rounding_noise.h"

#include <cmath>

#include "ir/builder.h"
#include "ir/literal.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/pass_manager.h"

namespace hlo {
namespace {

/// How many terms an element of the result has.
using TermCount = double (*)(const Instruction& inst);

double Product(const Shape& shape, llvm::ArrayRef<int64_t> dimensions) {
  double count = 1;
  for (const int64_t d : dimensions) count *= static_cast<double>(shape.dim(d));
  return count;
}
double CountOf(const Shape& shape) { return static_cast<double>(shape.ElementCount()); }

template <class T>
double DotTerms(const Instruction& inst) {
  return Product(inst.operand(0)->shape(), inst.attr<T>().lhs_contracting_dims);
}
double ConvolutionTerms(const Instruction& inst) {
  const auto& labels = inst.attr<ConvolutionAttrs>().dim_labels;
  const Shape& kernel = inst.operand(1)->shape();
  const int64_t d = labels ? labels->kernel_output_feature : 0;
  const int64_t features = d < kernel.rank() ? kernel.dim(d) : 1;  // a convolution of scalars has none
  return CountOf(kernel) / static_cast<double>(std::max<int64_t>(features, 1));
}
double ReduceTerms(const Instruction& inst) {
  return Product(inst.operand(0)->shape(), inst.attr<ReduceAttrs>().dimensions);
}
template <class T>
double WindowTerms(const Instruction& inst) {
  double count = 1;
  for (const WindowDim& dim : inst.attr<T>().window.dims) count *= static_cast<double>(dim.size);
  return count;
}
double ScatterTerms(const Instruction& inst) {
  constexpr double kCollisions = 16;  // more may meet in one place than do on the average
  const double updates = CountOf(inst.operand(inst.operand_count() - 1)->shape());
  return std::max(kCollisions, updates / std::max(1., CountOf(inst.operand(0)->shape())));
}
double ScanTerms(const Instruction& inst) {
  return Product(inst.operand(0)->shape(), inst.attr<ScanAttrs>().dimensions);
}
/// A transform of length n adds log2 n times.
double FftTerms(const Instruction& inst) {
  double length = 1;
  for (const int64_t n : inst.attr<FftAttrs>().fft_length) length *= static_cast<double>(n);
  return std::max(1., std::log2(length));
}
double MatrixTerms(const Instruction& inst) {
  double most = 1;
  for (const Instruction* operand : inst.operands())
    if (operand->shape().IsArray())
      for (const int64_t d : operand->shape().dims()) most = std::max(most, static_cast<double>(d));
  return most;
}
double NormTerms(const Instruction& inst) {
  const Shape& shape = inst.operand(0)->shape();
  return CountOf(shape) / std::max<double>(1, CountOf(inst.operand(1)->shape()));
}
double DeviceTerms(const Instruction&) { return 16; }

struct SumRow {
  OpKind kind;
  TermCount terms = nullptr;
  int operands = 0;  // how many hold terms; 0: all
};
/// What sums many terms, in an order of its choice.
constexpr SumRow kSums[] = {
    {OpKind::Dot, DotTerms<DotAttrs>, 2},
    {OpKind::ScaledDot, DotTerms<DotAttrs>, 2},
    {OpKind::RaggedDot, DotTerms<RaggedDotAttrs>, 2},
    {OpKind::Convolution, ConvolutionTerms, 2},
    {OpKind::Fft, FftTerms, 1},
    {OpKind::Cholesky, MatrixTerms, 1},
    {OpKind::TriangularSolve, MatrixTerms, 2},
    {OpKind::CustomCall, MatrixTerms},
    {OpKind::BatchNormTraining, NormTerms, 1},
    {OpKind::BatchNormGrad, NormTerms},
    {OpKind::Reduce, ReduceTerms},
    {OpKind::ReduceWindow, WindowTerms<ReduceWindowAttrs>},
    {OpKind::SelectAndScatter, WindowTerms<SelectAndScatterAttrs>, 2},
    {OpKind::Scatter, ScatterTerms},
    {OpKind::Scan, ScanTerms},
    {OpKind::AllReduce, DeviceTerms},
    {OpKind::AllReduceStart, DeviceTerms},
    {OpKind::ReduceScatter, DeviceTerms},
};

/// Nothing for what makes each result of a few numbers.
const SumRow* SumOf(const Instruction& inst) {
  const auto* row = llvm::find_if(kSums, [&](const SumRow& sum) { return sum.kind == inst.kind(); });
  return row == std::end(kSums) ? nullptr : row;
}

bool IsReal(const Shape& shape) { return shape.IsArray() && IsFloat(shape.element_type()); }
bool HasParts(const Shape& shape) { return shape.IsArray() && IsComplex(shape.element_type()); }
bool IsFloating(const Shape& shape) { return IsReal(shape) || HasParts(shape); }

bool MayRound(const Instruction& inst) {
  return inst.info().rounding != OpRounding::Moves && inst.info().rounding != OpRounding::Exact;
}

/// Whether a computation that is applied to scalars adds or multiplies floats.
bool BodyRounds(const Instruction& inst) {
  return llvm::any_of(inst.callees(), [](const Computation* body) {
    return llvm::any_of(body->instructions(), [](const Instruction* i) {
      return IsFloating(i->shape()) && MayRound(*i) && i->kind() != OpKind::Convert;
    });
  });
}

bool Rounds(const Instruction& inst) {
  if (inst.info().rounding != OpRounding::Body) return MayRound(inst);
  return !inst.info().Is(kRuns) && BodyRounds(inst);
}

/// Built-in targets that compute. The others move values or choose them.
constexpr llvm::StringLiteral kSolvers[] = {
    "lapack_", "cusolver_", "tridiagonal_solve", "Qr", "ProductOfElementary", "Eigh", "LuDecomposition"};
bool Solves(const Instruction& call) {
  const llvm::StringRef target = call.attr<CustomCallAttrs>().custom_call_target;
  return llvm::any_of(kSolvers, [&](llvm::StringRef prefix) { return target.starts_with(prefix); });
}

bool IsProduct(const Instruction& inst) {
  return inst.kind() == OpKind::Dot || inst.kind() == OpKind::Convolution;
}

/// How much noise an instruction gets, relative to values.
struct Units {
  double result = 0, operands = 0;
};

Units UnitsOf(const Instruction& inst, const SumRow* sum) {
  if (!Rounds(inst)) return {};
  if (inst.kind() == OpKind::CustomCall && !Solves(inst)) return {};
  if ((inst.kind() == OpKind::Abs || inst.kind() == OpKind::Sign) && !HasParts(inst.operand(0)->shape()))
    return {};
  const double unit = IsFloating(inst.shape()) ? RoundingUnit(inst.shape().element_type()) : 0;
  if (inst.kind() == OpKind::Convert) {
    const double source = RoundingUnit(inst.operand(0)->shape().element_type());
    return {source == 0 || source >= unit ? 0 : unit, 0};
  }
  if (sum == nullptr) return {unit, 0};
  const double wide = std::min(unit == 0 ? 1. : unit, RoundingUnit(ElementType::F32));
  const double kept = wide * std::sqrt(std::max(1., sum->terms(inst)));
  return {unit == 0 ? 0 : unit + kept, kept};
}

/// Puts noise into one computation.
class NoiseMaker {
 public:
  explicit NoiseMaker(Computation& computation) : computation_(computation) {}

  Status Run() {
    // The order is of before: what is added needs no noise.
    for (Instruction* inst : computation_.PostOrder()) {
      if (!IsTainted(*inst)) continue;
      tainted_.insert(inst);
      const SumRow* sum = SumOf(*inst);
      const Units units = UnitsOf(*inst, sum);
      if (units.operands > 0) HLO_CHECK_OK(DisturbOperands(*inst, *sum, units.operands));
      if (units.result > 0 && IsFloating(inst->shape())) HLO_CHECK_OK(DisturbResult(*inst, units.result));
    }
    return {};
  }

 private:
  /// Whether a value depends on floats among the parameters. Of integers and truth values is taken that they
  /// come out the same.
  [[nodiscard]] bool IsTainted(const Instruction& inst) const {
    if (inst.shape().IsArray() && !IsFloating(inst.shape())) return false;
    return inst.kind() == OpKind::Parameter || llvm::any_of(inst.operands(), [&](const Instruction* operand) {
             return tainted_.contains(operand);
           });
  }

  /// Where terms cancel, it is they who say what rounding may do.
  Status DisturbOperands(Instruction& inst, const SumRow& sum, double units) {
    const int64_t count =
        sum.operands > 0 ? std::min<int64_t>(sum.operands, inst.operand_count()) : inst.operand_count();
    for (int64_t i = 0; i < count; ++i) {
      Instruction* operand = inst.operand(i);
      const bool widened = IsProduct(inst) && IsReal(operand->shape()) &&
                           RoundingUnit(operand->shape().element_type()) > RoundingUnit(ElementType::F32);
      if (!tainted_.contains(operand) && !widened) continue;
      if (!IsFloating(operand->shape())) continue;
      // So little is nothing in a narrow type; products take wider ones and are the same.
      if (widened) {
        const Shape wide = operand->shape().WithElementType(ElementType::F32);
        HLO_TRY(operand, Builder(computation_, &inst).AddWithShape(OpKind::Convert, wide, {operand}));
      }
      if (RoundingUnit(operand->shape().element_type()) > units) continue;
      HLO_TRY(Instruction* const noisy, Noisy(*operand, units, &inst));
      inst.SetOperand(i, noisy);
    }
    return {};
  }

  Status DisturbResult(Instruction& inst, double units) {
    const std::vector<Instruction*> users(inst.users().begin(), inst.users().end());
    const bool root = inst.IsRoot();
    HLO_TRY(Instruction* const noisy, Noisy(inst, units, inst.next()));
    for (Instruction* user : users) user->ReplaceOperand(&inst, noisy);
    if (root) computation_.set_root(noisy);
    tainted_.insert(noisy);
    return {};
  }

  /// value (1 + units (r + c)); of complex numbers the other part gets its share, too.
  Result<Instruction*> Noisy(Instruction& value, double units, Instruction* before) {
    Builder b(computation_, before);
    const Shape& shape = value.shape();
    const ElementType type = shape.element_type();
    const bool wide = RoundingUnit(type) < RoundingUnit(ElementType::F32);
    const Shape number = shape.WithElementType(wide ? ElementType::F64 : ElementType::F32);
    HLO_TRY(Instruction* const own, Draw(b, shape, units));
    HLO_TRY(Instruction* const common, Draw(b, Shape::Array(ElementType::F32, {}), units));
    HLO_TRY(Instruction* const spread,
            b.AddWithShape(OpKind::Broadcast, own->shape(), {common}, Attrs(DimensionsAttrs{})));
    HLO_TRY(Instruction * move, b.AddWithShape(OpKind::Add, own->shape(), {own, spread}));
    if (wide) {
      HLO_TRY(move, b.AddWithShape(OpKind::Convert, number, {move}));
    }
    Instruction* one =
        b.Constant(wide ? Literal::Scalar(ElementType::F64, 1.) : Literal::Scalar(ElementType::F32, 1.F));
    HLO_TRY(one, b.AddWithShape(OpKind::Broadcast, number, {one}, Attrs(DimensionsAttrs{})));
    HLO_TRY(Instruction * factor, b.AddWithShape(OpKind::Add, number, {one, move}));
    if (HasParts(shape)) {
      HLO_TRY(Instruction * turn, Draw(b, shape, units));
      if (wide) {
        HLO_TRY(turn, b.AddWithShape(OpKind::Convert, number, {turn}));
      }
      HLO_TRY(factor, b.AddWithShape(OpKind::Complex, shape, {factor, turn}));
      return b.AddWithShape(OpKind::Multiply, shape, {&value, factor});
    }
    if (number.element_type() == type) return b.AddWithShape(OpKind::Multiply, shape, {&value, factor});
    HLO_TRY(Instruction* const widened, b.AddWithShape(OpKind::Convert, number, {&value}));
    HLO_TRY(Instruction* const product, b.AddWithShape(OpKind::Multiply, number, {widened, factor}));
    return b.AddWithShape(OpKind::Convert, shape, {product});
  }

  /// f32 numbers between -units and units.
  static Result<Instruction*> Draw(Builder& b, const Shape& shape, double units) {
    const auto most = static_cast<float>(units);
    Instruction* const low = b.Constant(Literal::Scalar(ElementType::F32, -most));
    Instruction* const high = b.Constant(Literal::Scalar(ElementType::F32, most));
    RngAttrs attrs;
    attrs.distribution = Distribution::Uniform;
    return b.AddWithShape(OpKind::Rng, shape.WithElementType(ElementType::F32), {low, high}, Attrs(attrs));
  }

  Computation& computation_;
  llvm::DenseSet<const Instruction*> tainted_;
};

/// The computations that get noise, the entry first.
std::vector<Computation*> Running(const Module& module) {
  std::vector<Computation*> found = {module.entry()};
  llvm::DenseSet<const Computation*> seen = {module.entry()};
  for (size_t i = 0; i < found.size(); ++i)
    for (const Instruction* inst : found[i]->instructions())
      if (inst->info().Is(kRuns))
        for (Computation* callee : inst->callees())
          if (seen.insert(callee).second) found.push_back(callee);
  return found;
}

}  // namespace

double RoundingUnit(ElementType type) {
  const ElementType real = RealPartType(type);
  return IsFloat(real) ? std::ldexp(1., -static_cast<int>(Info(real).mantissa_bits)) : 0;
}

Result<std::unique_ptr<Module>> WithRoundingNoise(const Module& module) {
  std::unique_ptr<Module> noisy = module.Clone();
  noisy->config.is_scheduled = false;
  for (const auto& computation : noisy->computations()) computation->set_schedule({});
  if (noisy->CountOf(OpKind::Fusion) > 0) {
    HLO_TRY(const std::vector<PipelineItem> pipeline, ParsePipeline("defuser"));
    RewriteControls controls;
    PassManager manager(controls, PassSelection());
    HLO_TRY([[maybe_unused]] const bool changed, manager.Run(*noisy, pipeline));
  }
  for (Computation* computation : Running(*noisy)) HLO_CHECK_OK(NoiseMaker(*computation).Run());
  return noisy;
}

}  // namespace hlo
