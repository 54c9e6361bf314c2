// scatter (ops-structured §3.2) of single elements or short rows by one operation: histograms, sums and
// extremes of segments.
#include "backends/structured/histogram.h"

#include <cstring>

#include "backends/structured/bins.h"
#include "backends/structured/plan.h"
#include "ir/eval/scalar_function.h"
#include "ir/literal.h"

namespace hlo::structured {
namespace {

/// Fewer updates are left to compiled kernels, which may be part of larger ones.
constexpr int64_t kFewest = 1 << 12;

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

/// The rows that join others, the operation aside; nothing if they are not whole rows of an array.
std::optional<BinUpdates> RowsOf(const Instruction& scatter) {
  const auto& attrs = scatter.attr<ScatterAttrs>();
  const Shape &target = scatter.operand(0)->shape(), &indices = scatter.operand(1)->shape(),
              &updates = scatter.operand(2)->shape();
  BinUpdates rows{};
  if (target.rank() < 1 || target.rank() > 2 || !attrs.input_batching_dims.empty() ||
      attrs.scatter_dims_to_operand_dims != Dims{0})
    return std::nullopt;
  rows.bins = target.dim(0);
  rows.width = target.rank() == 2 ? target.dim(1) : 1;
  rows.count = indices.ElementCount();
  rows.type = target.element_type();
  rows.index_type = indices.element_type();
  const bool whole = target.rank() == 1 || (attrs.inserted_window_dims == Dims{0} &&
                                            attrs.update_window_dims == Dims{updates.rank() - 1});
  if (!whole || updates.ElementCount() != rows.count * rows.width) return std::nullopt;
  return rows;
}

std::optional<BinUpdates> UpdatesOf(const Instruction& scatter) {
  if (scatter.kind() != OpKind::Scatter || scatter.operand_count() != 3 || !scatter.shape().IsArray())
    return std::nullopt;
  std::optional<BinUpdates> rows = RowsOf(scatter);
  if (!rows) return std::nullopt;
  const ElementType type = rows->type;
  const auto function = ScalarFunction::Compile(*scatter.callee());
  const auto op = function ? function->AsBinaryOp() : std::nullopt;
  if (!op || !Info(op->kind).Is(kMonoid) || function->parameter_types()[0] != type ||
      scatter.operand(2)->shape().element_type() != type)
    return std::nullopt;
  rows->op = op->kind;
  const bool number = (IsFloat(type) || IsIntegral(type)) && !IsPred(type) && Info(type).bits >= 32;
  if (!number || !HasBinLoops(rows->width)) return std::nullopt;
  if (rows->count * rows->width < kFewest || rows->bins < 1 || rows->bins > kMostBins) return std::nullopt;
  // Both are out of bounds beyond 2^63.
  if (rows->index_type == ElementType::U64) rows->index_type = ElementType::S64;
  constexpr ElementType kIndexTypes[] = {ElementType::S32, ElementType::U32, ElementType::S64};
  return llvm::is_contained(kIndexTypes, rows->index_type) ? rows : std::nullopt;
}

}  // namespace

bool FillsBins(const Instruction& scatter) { return UpdatesOf(scatter).has_value(); }

bool MayBeUniform(const Instruction& scatter) {
  const auto updates = UpdatesOf(scatter);
  return updates && updates->op == OpKind::Add && updates->width == 1 &&
         UniformValue(*scatter.operand(2)) != nullptr;
}

Result<Plan> PlanHistogram(const Instruction& inst, gemm::Isa) {
  const Instruction& scatter = inst.kind() == OpKind::Fusion ? *inst.callee()->root() : inst;
  std::optional<BinUpdates> b = UpdatesOf(scatter);
  if (!b) return Unsupported(inst, "no rows that join others by one operation");
  const int64_t target = SourceOf(inst, scatter, 0), indices = SourceOf(inst, scatter, 1),
                updates = SourceOf(inst, scatter, 2), result = inst.operand_count();
  if (target < 0 || indices < 0 || target == indices || target == updates)
    return Unsupported(inst, "operands that are computed on the way");
  std::array<uint8_t, 8> value{};
  b->uniform = updates < 0;
  if (b->uniform) {
    const Literal* constant = UniformValue(*scatter.operand(2));
    if (constant == nullptr || b->op != OpKind::Add || b->width != 1)
      return Unsupported(inst, "updates that are computed on the way");
    std::memcpy(value.data(), constant->data(), constant->byte_size());
  }
  const int64_t bytes = ByteSize(scatter.shape());
  auto run = [b = *b, value, target, indices, updates, result, bytes](void* const* arrays) {
    void* out = arrays[result];
    if (arrays[target] != out) std::memcpy(out, arrays[target], static_cast<size_t>(bytes));
    JoinBins(b, arrays[indices], b.uniform ? value.data() : arrays[updates], out);
  };
  return Plan{b->width == 1 ? "histogram" : "histogram of rows", std::move(run), /*in_place=*/target};
}

}  // namespace hlo::structured
