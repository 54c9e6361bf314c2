#include "passes/analysis/cost.h"

#include <array>
#include <cmath>
#include <numeric>

namespace hlo {
namespace {

/// What a rule sees: the instruction and the costs of called computations.
struct CostArgs {
  const Instruction& inst;
  const llvm::DenseMap<const Computation*, Cost>& computations;

  [[nodiscard]] Cost Callee(int64_t i = 0) const {
    return i < static_cast<int64_t>(inst.callees().size()) ? computations.lookup(inst.callee(i)) : Cost{};
  }
  [[nodiscard]] const Shape& operand(int64_t i) const { return inst.operand(i)->shape(); }
};
using CostRule = Cost (*)(const CostArgs&);

double Elements(const Shape& shape) {
  if (shape.IsArray()) return static_cast<double>(shape.ElementCount());
  if (shape.IsBuffer()) return Elements(shape.buffer_shape());
  double sum = 0;
  for (const Shape& s : shape.tuple_shapes()) sum += Elements(s);
  return sum;
}

double Bytes(const Shape& shape) {
  if (shape.IsBuffer()) return Bytes(shape.buffer_shape());
  if (!shape.IsArray()) {
    double sum = 0;
    for (const Shape& s : shape.tuple_shapes()) sum += Bytes(s);
    return sum;
  }
  const int64_t bits = shape.has_layout() ? shape.layout().element_size_bits : 0;
  if (bits > 0) return std::ceil(Elements(shape) * static_cast<double>(bits) / 8);
  return Elements(shape) * Info(shape.element_type()).host_bytes();
}

double AllBytes(const CostArgs& a) {
  double sum = Bytes(a.inst.shape());
  for (const Instruction* operand : a.inst.operands()) sum += Bytes(operand->shape());
  return sum;
}

bool HasOperands(const CostArgs& a, int64_t n) { return a.inst.operand_count() >= n; }

// --- Rules ---
Cost Default(const CostArgs& a) { return {0, 0, AllBytes(a)}; }
Cost Nothing(const CostArgs&) { return {}; }
Cost Elementwise(const CostArgs& a) {
  const double n = Elements(a.inst.shape());
  if (a.inst.info().category == OpCategory::Transcendental) return {0, n, AllBytes(a)};
  return {n, 0, AllBytes(a)};
}
Cost TupleCost(const CostArgs& a) { return {0, 0, 8.0 * static_cast<double>(a.inst.operand_count())}; }
Cost SliceCost(const CostArgs& a) { return {0, 0, 2 * Bytes(a.inst.shape())}; }
Cost DynamicSliceCost(const CostArgs& a) {
  return {0, 0, 2 * Bytes(a.inst.shape()) + (HasOperands(a, 2) ? Bytes(a.operand(1)) : 0)};
}
Cost DynamicUpdateSliceCost(const CostArgs& a) {
  if (!HasOperands(a, 2)) return Default(a);
  return {0, 0, 2 * Bytes(a.operand(1)) + (HasOperands(a, 3) ? Bytes(a.operand(2)) : 0)};
}
Cost GatherCost(const CostArgs& a) { return {0, 0, 2 * Bytes(a.inst.shape()) + Bytes(a.operand(1))}; }
Cost ScatterCost(const CostArgs& a) {
  const int64_t n = a.inst.operand_count() / 2;
  if (n < 1 || !HasOperands(a, 2 * n + 1)) return Default(a);
  double updates = 0;
  for (int64_t i = 0; i < n; ++i) updates += Bytes(a.operand(n + 1 + i));
  const double runs = Elements(a.operand(n + 1));
  const Cost body = a.Callee();
  return {body.flops * runs, body.transcendentals * runs, 3 * updates + Bytes(a.operand(n))};
}
Cost TransposeCost(const CostArgs& a) {
  // Moves nothing if only dimensions of size 1 change places, or if the layouts make up for it.
  const auto& dims = a.inst.attr<DimensionsAttrs>().dimensions;
  const Shape& in = a.operand(0);
  const Shape& out = a.inst.shape();
  if (!in.has_layout() || !out.has_layout() || dims.size() != static_cast<size_t>(in.rank()))
    return Default(a);
  Dims from, to;
  for (int64_t d : in.layout().minor_to_major)
    if (d >= 0 && d < in.rank() && in.dim(d) != 1) from.push_back(d);
  for (int64_t d : out.layout().minor_to_major)
    if (d >= 0 && d < out.rank() && out.dim(d) != 1) to.push_back(dims[static_cast<size_t>(d)]);
  return from == to ? Cost{} : Default(a);
}

double Contracted(const Shape& lhs, const Dims& dims) {
  double product = 1;
  for (int64_t d : dims)
    if (d >= 0 && d < lhs.rank()) product *= static_cast<double>(lhs.dim(d));
  return product;
}
Cost DotCost(const CostArgs& a) {
  const auto& attrs = a.inst.attr<DotAttrs>();
  return {2 * Elements(a.inst.shape()) * Contracted(a.operand(0), attrs.lhs_contracting_dims), 0,
          AllBytes(a)};
}
Cost RaggedDotCost(const CostArgs& a) {
  const auto& attrs = a.inst.attr<RaggedDotAttrs>();
  double n = 1;
  for (int64_t d = static_cast<int64_t>(attrs.rhs_group_dims.size()); d < a.inst.shape().rank(); ++d)
    n *= static_cast<double>(a.inst.shape().dim(d));
  return {2 * n * Contracted(a.operand(0), attrs.lhs_contracting_dims), 0, AllBytes(a)};
}

/// Pairs of kernel and output position that read an element of the input, neither padding nor hole.
double ValidPositions(const WindowDim& w, int64_t input, int64_t output) {
  constexpr int64_t kMaxLoop = 1 << 20;
  if (w.size > kMaxLoop || w.stride < 1 || w.base_dilation < 1)
    return static_cast<double>(w.size) * static_cast<double>(output);
  double count = 0;
  const int64_t period = w.base_dilation / std::gcd(w.stride, w.base_dilation);
  const auto last = static_cast<__int128>(input - 1) * w.base_dilation;
  for (int64_t k = 0; k < w.size; ++k) {
    // Outputs o with 0 <= o*stride + offset <= last.
    const __int128 offset = static_cast<__int128>(k) * w.window_dilation - w.pad_low;
    __int128 begin = offset >= 0 ? 0 : (-offset + w.stride - 1) / w.stride;
    const __int128 end = last < offset ? 0 : std::min<__int128>(output, (last - offset) / w.stride + 1);
    int64_t tries = 0;  // the first of them that meets no hole
    while (begin < end && (begin * w.stride + offset) % w.base_dilation != 0 && ++tries <= period) ++begin;
    // NOLINTNEXTLINE(bugprone-integer-division): whole steps
    if (begin < end && tries <= period) count += static_cast<double>((end - begin + period - 1) / period);
  }
  return count;
}
Cost ConvolutionCost(const CostArgs& a) {
  const auto& attrs = a.inst.attr<ConvolutionAttrs>();
  if (!attrs.dim_labels) return Default(a);
  const ConvDimLabels& labels = *attrs.dim_labels;
  const Shape &in = a.operand(0), &out = a.inst.shape();
  const auto size = [](const Shape& s, int64_t d) { return d >= 0 && d < s.rank() ? s.dim(d) : int64_t{1}; };
  const int64_t features = size(in, labels.input_feature) / std::max<int64_t>(attrs.feature_group_count, 1),
                batch = size(in, labels.input_batch) / std::max<int64_t>(attrs.batch_group_count, 1);
  double flops = 2 * static_cast<double>(features) * static_cast<double>(size(out, labels.output_feature)) *
                 static_cast<double>(batch);
  const size_t spatial =
      std::min({attrs.window.dims.size(), labels.input_spatial.size(), labels.output_spatial.size()});
  for (size_t i = 0; i < spatial; ++i)
    flops *= ValidPositions(attrs.window.dims[i], size(in, labels.input_spatial[i]),
                            size(out, labels.output_spatial[i]));
  return {flops, 0, AllBytes(a)};
}

Cost FftCost(const CostArgs& a) {
  double logs = 1;
  for (int64_t length : a.inst.attr<FftAttrs>().fft_length)
    logs *= length > 0 ? std::floor(std::log2(static_cast<double>(length))) : 0;
  return {8 * logs * Elements(a.operand(0)), 0, AllBytes(a)};
}
Cost TriangularSolveCost(const CostArgs& a) {
  const Shape& m = a.operand(0);
  const double n = m.rank() > 0 ? static_cast<double>(m.dim(m.rank() - 1)) : 1;
  return {2 * Elements(a.operand(1)) * n, 0, Bytes(a.inst.shape()) + Bytes(m) / 2 + Bytes(a.operand(1))};
}
Cost CholeskyCost(const CostArgs& a) {
  const Shape& m = a.operand(0);
  const double n = m.rank() > 0 ? static_cast<double>(m.dim(m.rank() - 1)) : 1;
  return {Elements(m) * n / 3, 0, Bytes(m)};
}

Cost Times(const Cost& body, double runs, double bytes) {
  return {body.flops * runs, body.transcendentals * runs, bytes};
}

Cost ReduceCost(const CostArgs& a) {
  if (!HasOperands(a, 2)) return Default(a);
  const Shape& out = a.inst.shape();
  const double results = out.IsTuple() && out.tuple_size() > 0 ? Elements(out.tuple_shape(0)) : Elements(out);
  return Times(a.Callee(), Elements(a.operand(0)) - results, AllBytes(a));
}
double WindowElements(const Window& window) {
  double n = 1;
  for (const WindowDim& d : window.dims) n *= static_cast<double>(d.size);
  return n;
}
Cost ReduceWindowCost(const CostArgs& a) {
  if (!HasOperands(a, 2)) return Default(a);
  const Window& window = a.inst.attr<ReduceWindowAttrs>().window;
  const Shape& out = a.inst.shape().IsTuple() ? a.inst.shape().tuple_shape(0) : a.inst.shape();
  // A window that covers everything before and after along one dimension is computed as a running sum.
  int64_t wide = -1, count = 0;
  for (size_t d = 0; d < window.dims.size(); ++d)
    if (window.dims[d].size > 1) wide = static_cast<int64_t>(d), ++count;
  if (count == 1 && wide < out.rank()) {
    const WindowDim& w = window.dims[static_cast<size_t>(wide)];
    const int64_t extent = out.dim(wide);
    if (w.pad_low == w.pad_high && w.pad_low == extent - 1 && w.size == 2 * w.pad_low + 1)
      return Times(a.Callee(), Elements(out) / static_cast<double>(extent) + static_cast<double>(extent - 1),
                   AllBytes(a));
  }
  return Times(a.Callee(), (WindowElements(window) - 1) * Elements(out), AllBytes(a));
}
Cost SelectAndScatterCost(const CostArgs& a) {
  const double n = Elements(a.operand(1));
  const double window = WindowElements(a.inst.attr<SelectAndScatterAttrs>().window) - 1;
  const Cost select = a.Callee(0), scatter = a.Callee(1);
  return {select.flops * n * window + scatter.flops * n,
          select.transcendentals * n * window + scatter.transcendentals * n, AllBytes(a)};
}
Cost ScanCost(const CostArgs& a) {
  return HasOperands(a, 1) ? Times(a.Callee(), Elements(a.operand(0)), AllBytes(a)) : Default(a);
}
Cost MapCost(const CostArgs& a) { return Times(a.Callee(), Elements(a.inst.shape()), AllBytes(a)); }
Cost SortCost(const CostArgs& a) {
  if (!HasOperands(a, 1)) return Default(a);
  const double n = Elements(a.operand(0));
  return {n > 1 ? n * std::ceil(std::log2(n)) : 0, 0, AllBytes(a)};
}
Cost RandomCost(const CostArgs& a) { return {0, Elements(a.inst.shape()), AllBytes(a)}; }
Cost AllReduceCost(const CostArgs& a) { return {Elements(a.inst.shape()), 0, AllBytes(a)}; }
Cost InfeedCost(const CostArgs& a) { return {0, 0, Bytes(a.inst.shape())}; }
Cost OutfeedCost(const CostArgs& a) { return {0, 0, Bytes(a.operand(0))}; }
Cost CalleeCost(const CostArgs& a) { return a.Callee(); }
Cost WhileCost(const CostArgs& a) {
  const Cost body = a.Callee(0), condition = a.Callee(1);
  return {body.flops + condition.flops, body.transcendentals + condition.transcendentals,
          body.bytes + condition.bytes};
}
Cost ConditionalCost(const CostArgs& a) {
  Cost most;
  for (const Computation* branch : a.inst.callees()) {
    const Cost cost = a.computations.lookup(branch);
    most = {std::max(most.flops, cost.flops), std::max(most.transcendentals, cost.transcendentals),
            std::max(most.bytes, cost.bytes)};
  }
  return most;
}
Cost UnknownCost(const CostArgs&) { return {-1, -1, -1}; }

/// Bytes a fusion reads of one parameter: users that cut out a part read only that.
double FusedReads(const Instruction& parameter) {
  double bytes = 0;
  bool whole = false;
  for (const Instruction* user : parameter.users()) {
    const bool first = user->operand_count() > 0 && user->operand(0) == &parameter;
    if ((user->kind() == OpKind::Slice || user->kind() == OpKind::DynamicSlice) && first)
      bytes += Bytes(user->shape());
    else if (user->kind() == OpKind::DynamicUpdateSlice && first)
      continue;
    else if (user->kind() == OpKind::Broadcast || user->kind() == OpKind::Reshape)
      bytes += Bytes(parameter.shape());
    else
      whole = true;
  }
  return bytes + (whole ? Bytes(parameter.shape()) : 0);
}
double FusedWrites(const Instruction& root) {
  if (root.kind() == OpKind::DynamicUpdateSlice && root.operand_count() > 1)
    return Bytes(root.operand(1)->shape());
  if (root.kind() != OpKind::Tuple) return Bytes(root.shape());
  double bytes = 0;
  for (const Instruction* part : root.operands())
    bytes += part->kind() == OpKind::DynamicUpdateSlice && part->operand_count() > 1
                 ? Bytes(part->operand(1)->shape())
                 : Bytes(part->shape());
  return bytes;
}
Cost FusionCost(const CostArgs& a) {
  constexpr double kImmediateElements = 8;
  Cost cost = a.Callee();
  if (a.inst.callees().empty()) return Default(a);
  const Computation& body = *a.inst.callee();
  cost.bytes = body.root() ? FusedWrites(*body.root()) : 0;
  for (const Instruction* parameter : body.parameters()) cost.bytes += FusedReads(*parameter);
  for (const Instruction* i : body.instructions())
    if (i->kind() == OpKind::Constant && Elements(i->shape()) > kImmediateElements)
      cost.bytes += Bytes(i->shape());
  return cost;
}

// --- The table ---
using RuleTable = std::array<CostRule, 256>;

RuleTable MakeRules() {
  RuleTable rules{};
  for (const OpInfo& op : AllOps())
    rules[static_cast<size_t>(op.kind)] =
        op.Is(kElementwise) && op.kind != OpKind::Copy ? &Elementwise : &Default;
  struct Row {
    OpKind kind;
    CostRule rule;
  };
  using enum OpKind;
  constexpr Row kRows[] = {
      {Parameter, Nothing},
      {Constant, Nothing},
      {GetTupleElement, Nothing},
      {Domain, Nothing},
      {AfterAll, Nothing},
      {AddDependency, Nothing},
      {Bitcast, Nothing},
      {Transpose, TransposeCost},
      {Tuple, TupleCost},
      {Slice, SliceCost},
      {DynamicSlice, DynamicSliceCost},
      {DynamicUpdateSlice, DynamicUpdateSliceCost},
      {Gather, GatherCost},
      {Scatter, ScatterCost},
      {Dot, DotCost},
      {ScaledDot, DotCost},
      {RaggedDot, RaggedDotCost},
      {Convolution, ConvolutionCost},
      {Fft, FftCost},
      {TriangularSolve, TriangularSolveCost},
      {Cholesky, CholeskyCost},
      {Reduce, ReduceCost},
      {ReduceWindow, ReduceWindowCost},
      {SelectAndScatter, SelectAndScatterCost},
      {Scan, ScanCost},
      {Map, MapCost},
      {Sort, SortCost},
      {Rng, RandomCost},
      {RngBitGenerator, RandomCost},
      {AllReduce, AllReduceCost},
      {AllReduceStart, AllReduceCost},
      {Infeed, InfeedCost},
      {Outfeed, OutfeedCost},
      {Call, CalleeCost},
      {AsyncStart, CalleeCost},
      {While, WhileCost},
      {Conditional, ConditionalCost},
      {CustomCall, UnknownCost},
      {Fusion, FusionCost},
  };
  for (const Row& row : kRows) rules[static_cast<size_t>(row.kind)] = row.rule;
  return rules;
}

CostRule RuleOf(OpKind kind) {
  static const RuleTable kRules = MakeRules();
  return kRules[static_cast<size_t>(kind)];
}

}  // namespace

bool CostsNothing(OpKind kind) { return RuleOf(kind) == &Nothing; }

CostAnalysis::CostAnalysis(const Module& module) {
  for (const Computation* computation : module.PostOrder()) {
    Cost total;
    for (const Instruction* inst : computation->instructions()) {
      const bool enough = inst->operand_count() >= inst->info().min_operands;
      const CostArgs args{*inst, computations_};
      const Cost cost = enough ? RuleOf(inst->kind())(args) : Cost{};
      instructions_[inst] = cost;
      total.flops += std::max(cost.flops, 0.0);
      total.transcendentals += std::max(cost.transcendentals, 0.0);
      total.bytes += std::max(cost.bytes, 0.0);
    }
    computations_[computation] = total;
  }
}

}  // namespace hlo
