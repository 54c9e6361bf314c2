// scatter (ops-structured §3.2) that adds single elements to a vector: histograms.
#include <cstring>
#include <mutex>

#include "backends/structured/plan.h"
#include "ir/eval/scalar_function.h"
#include "ir/literal.h"
#include "ir/support/buffer.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo::structured {
namespace {

/// Fewer updates are left to compiled kernels, which may be part of larger ones.
constexpr int64_t kFewest = 1 << 12;
/// Up to so many bins integers are added to several tables, which later are added up: so no addition waits
/// for the one before, and threads need not wait for each other.
constexpr int64_t kMostBins = 1 << 12;
constexpr int kTables = 4;

struct Histogram {
  int64_t bins, count;
  int64_t indices;       // their number among the arrays
  int64_t updates = -1;  // or all updates are
  std::array<uint8_t, 8> update{};
  int64_t target, result;
  ElementType index_type, type;
};

/// Indices that are out of bounds, negative ones among them, give the bin after the last.
template <class I>
uint64_t BinOf(I index, uint64_t bins) {
  const auto bin = static_cast<uint64_t>(static_cast<int64_t>(index));
  return bin < bins ? bin : bins;
}

/// In order: sums of floats are rounded as they come.
template <class I, class T, bool Uniform>
void AddInOrder(const I* indices, const T* updates, int64_t count, uint64_t bins, T* out) {
  constexpr int64_t kPiece = 1 << 20;
  for (int64_t begin = 0; begin < count && !Interrupted(); begin += kPiece)
    for (int64_t i = begin; i < std::min(count, begin + kPiece); ++i)
      if (const uint64_t bin = BinOf(indices[i], bins); bin < bins)
        out[bin] = static_cast<T>(out[bin] + updates[Uniform ? 0 : i]);
}

template <class I, class T, bool Uniform>
void AddToTables(const I* indices, const T* updates, int64_t count, uint64_t bins, T* tables) {
  T* table[kTables];
  for (int t = 0; t < kTables; ++t) table[t] = tables + static_cast<uint64_t>(t) * (bins + 1);
  int64_t i = 0;
  for (; i + kTables <= count; i += kTables)
#pragma clang loop unroll(full)
    for (int t = 0; t < kTables; ++t) {
      T& bin = table[t][BinOf(indices[i + t], bins)];
      bin = static_cast<T>(bin + updates[Uniform ? 0 : i + t]);
    }
  for (; i < count; ++i) {
    T& bin = table[0][BinOf(indices[i], bins)];
    bin = static_cast<T>(bin + updates[Uniform ? 0 : i]);
  }
}

template <class I, class T, bool Uniform>
void Add(const Histogram& h, const I* indices, const T* updates, T* out) {
  const auto bins = static_cast<uint64_t>(h.bins);
  if (std::is_floating_point_v<T> || h.bins > kMostBins || h.count < 16 * h.bins)
    return AddInOrder<I, T, Uniform>(indices, updates, h.count, bins, out);
  std::mutex mutex;
  ParallelFor(0, h.count, int64_t{1} << 18, [&](int64_t begin, int64_t end) {
    if (Interrupted()) return;
    const size_t size = kTables * (bins + 1);
    const auto tables = MakeBuffer<T>(size);
    std::fill_n(tables.get(), size, T(0));
    AddToTables<I, T, Uniform>(indices + begin, updates + (Uniform ? 0 : begin), end - begin, bins,
                               tables.get());
    const std::lock_guard lock(mutex);
    for (size_t t = 0; t < kTables; ++t)
      for (uint64_t bin = 0; bin < bins; ++bin)
        out[bin] = static_cast<T>(out[bin] + tables[t * (bins + 1) + bin]);
  });
}

template <class T>
void Run(const Histogram& h, void* const* arrays) {
  auto* out = static_cast<T*>(arrays[h.result]);
  if (arrays[h.target] != out) std::memcpy(out, arrays[h.target], static_cast<size_t>(h.bins) * sizeof(T));
  T update;
  std::memcpy(&update, h.update.data(), sizeof update);
  const auto add = [&]<class I>(const I* indices) {
    if (h.updates < 0)
      Add<I, T, true>(h, indices, &update, out);
    else
      Add<I, T, false>(h, indices, static_cast<const T*>(arrays[h.updates]), out);
  };
  const void* indices = arrays[h.indices];
  switch (h.index_type) {
    case ElementType::S32: return add(static_cast<const int32_t*>(indices));
    case ElementType::U32: return add(static_cast<const uint32_t*>(indices));
    default: return add(static_cast<const int64_t*>(indices));
  }
}

/// The parameter of the fusion (or operand of the scatter) whose elements `inst` has in order; -1: none.
int64_t SourceOf(const Instruction& outer, const Instruction& inst, int64_t operand) {
  if (outer.kind() == OpKind::Scatter) return operand;
  const Instruction* at = inst.operand(operand);
  while (at->kind() == OpKind::Bitcast || at->kind() == OpKind::Reshape) {
    if (at->shape().element_type() != at->operand(0)->shape().element_type()) return -1;
    at = at->operand(0);
  }
  return at->kind() == OpKind::Parameter ? at->attr<ParameterAttrs>().number : -1;
}

/// The constant that all elements of `inst` are.
const Literal* UniformValue(const Instruction& inst) {
  const Instruction* at = &inst;
  while (at->kind() == OpKind::Bitcast || at->kind() == OpKind::Reshape || at->kind() == OpKind::Broadcast)
    at = at->operand(0);
  const bool scalar = at->kind() == OpKind::Constant && at->shape().IsArray() && at->shape().rank() == 0;
  return scalar ? at->attr<ConstantAttrs>().literal.get() : nullptr;
}

/// One element per index, added to a vector.
bool IsHistogram(const Instruction& scatter) {
  if (scatter.kind() != OpKind::Scatter || scatter.operand_count() != 3 || !scatter.shape().IsArray())
    return false;
  const auto& attrs = scatter.attr<ScatterAttrs>();
  const Shape &target = scatter.operand(0)->shape(), &indices = scatter.operand(1)->shape(),
              &updates = scatter.operand(2)->shape();
  if (target.rank() != 1 || !attrs.input_batching_dims.empty()) return false;
  if (attrs.scatter_dims_to_operand_dims.size() != 1 || indices.ElementCount() != updates.ElementCount())
    return false;
  const auto function = ScalarFunction::Compile(*scatter.callee());
  const auto op = function ? function->AsBinaryOp() : std::nullopt;
  return op && op->kind == OpKind::Add && function->parameter_types()[0] == target.element_type() &&
         updates.element_type() == target.element_type();
}

}  // namespace

Result<Plan> PlanHistogram(const Instruction& inst, gemm::Isa) {
  const Instruction& scatter = inst.kind() == OpKind::Fusion ? *inst.callee()->root() : inst;
  if (!IsHistogram(scatter)) return Unsupported(inst, "no sums of single elements");
  Histogram h{};
  h.type = scatter.shape().element_type();
  h.index_type = scatter.operand(1)->shape().element_type();
  h.bins = scatter.shape().ElementCount();
  h.count = scatter.operand(1)->shape().ElementCount();
  h.target = SourceOf(inst, scatter, 0);
  h.indices = SourceOf(inst, scatter, 1);
  h.updates = SourceOf(inst, scatter, 2);
  h.result = inst.operand_count();
  if (h.count < kFewest) return Unsupported(inst, "few updates");
  if (h.index_type == ElementType::U64)
    h.index_type = ElementType::S64;  // both are out of bounds beyond 2^63
  if (h.index_type != ElementType::S32 && h.index_type != ElementType::U32 &&
      h.index_type != ElementType::S64)
    return Unsupported(inst, "narrow indices");
  if (h.target < 0 || h.indices < 0 || h.target == h.indices || h.target == h.updates || h.bins == 0)
    return Unsupported(inst, "operands that are computed on the way");
  if (h.updates < 0) {
    const Literal* value = UniformValue(*scatter.operand(2));
    if (value == nullptr || value->byte_size() > h.update.size())
      return Unsupported(inst, "updates that are computed on the way");
    std::memcpy(h.update.data(), value->data(), value->byte_size());
  }
  Plan plan{"histogram", nullptr, h.target};
  if (h.type == ElementType::F32)
    plan.run = [h](void* const* arrays) { Run<float>(h, arrays); };
  else if (h.type == ElementType::F64)
    plan.run = [h](void* const* arrays) { Run<double>(h, arrays); };
  else if (h.type == ElementType::S32 || h.type == ElementType::U32)
    plan.run = [h](void* const* arrays) { Run<uint32_t>(h, arrays); };
  else if (h.type == ElementType::S64 || h.type == ElementType::U64)
    plan.run = [h](void* const* arrays) { Run<uint64_t>(h, arrays); };
  else
    return Unsupported(inst, "element types of histograms");
  return plan;
}

}  // namespace hlo::structured
