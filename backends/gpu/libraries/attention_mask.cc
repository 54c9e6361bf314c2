// Scores of keys that a query does not look at are another number.
#include "backends/gpu/libraries/attention_reader.h"
#include "passes/analysis/value_facts.h"

namespace hlo::gpu {
namespace {

using A = AttentionArrays;

/// What is at most this has no weight beside any score: e to its power is 0 in every type.
constexpr double kNoWeight = -1e4;

/// How far the numbers of an iota grow along each dimension of a value that sees it; nothing where they do
/// not so evenly.
std::optional<llvm::SmallVector<ViewDim, 4>> GrowthOf(const Instruction& value) {
  const auto seen = SeenThrough(value);
  if (!seen || seen->inst->kind() != OpKind::Iota || seen->view.offset != 0) return std::nullopt;
  const Shape& shape = seen->inst->shape();
  // Others wrap, or are rounded, on the way.
  constexpr ElementType kExact[] = {ElementType::S32, ElementType::U32, ElementType::S64, ElementType::U64};
  if (!llvm::is_contained(kExact, shape.element_type())) return std::nullopt;
  llvm::SmallVector<ViewDim, 4> numbers;
  for (int64_t d = 0; d < shape.rank(); ++d)
    numbers.push_back({shape.dim(d), d == seen->inst->attr<IotaAttrs>().iota_dimension ? 1 : 0});
  llvm::SmallVector<ViewDim, 4> growth;
  for (const ViewDim& dim : seen->view.dims) {
    const auto stride = StrideThrough(numbers, dim);
    if (!stride) return std::nullopt;
    growth.push_back({dim.size, *stride});
  }
  return growth;
}

/// What a value of a kernel sees, if that is an operand, of what another kernel made: masks that several
/// kernels read are made by one of their own. It, and what lies between, is put in `steps`, the last one
/// first.
std::optional<Seen> SeenAnywhere(const Instruction& value, const Instruction& kernel,
                                 llvm::SmallVectorImpl<const Instruction*>& steps) {
  std::optional<Seen> seen = SeenThrough(value);
  if (!seen || seen->inst->kind() != OpKind::Parameter) return seen;
  const Instruction* from = kernel.operand(seen->inst->attr<ParameterAttrs>().number);
  while (from->kind() == OpKind::Bitcast &&
         from->shape().element_type() == from->operand(0)->shape().element_type()) {
    steps.push_back(from);
    from = from->operand(0);
  }
  steps.push_back(from);
  if (from->kind() != OpKind::Fusion || !from->shape().IsArray() || seen->view.offset != 0) return seen;
  const auto inner = SeenThrough(*from->callee()->root());
  if (!inner || inner->view.offset != 0) return seen;
  Seen all{inner->inst, {}};
  for (const ViewDim& dim : seen->view.dims) {
    const auto stride = StrideThrough(inner->view.dims, dim);
    if (!stride) return std::nullopt;
    all.view.dims.push_back({dim.size, *stride});
  }
  return all;
}

}  // namespace

std::optional<AttentionReader::Known> AttentionReader::Select(const Instruction& inst) {
  const Known *const kept = Find(inst.operand(1)), *const other = Find(inst.operand(2));
  if (Find(inst.operand(0)) != nullptr || (kept == nullptr) == (other == nullptr)) return std::nullopt;
  const bool inverted = kept == nullptr;
  Known known = inverted ? *other : *kept;
  const Instruction* const masked = SplatConstant(*inst.operand(inverted ? 1 : 2));
  if (masked == nullptr || known.role != Role::Scores || known.version != version_ || found_.masked)
    return std::nullopt;
  const double value = LiteralValue(*masked->attr<ConstantAttrs>().literal, 0);
  if (!(value <= kNoWeight) || !ReadMask(*inst.operand(0), known.view, inverted)) return std::nullopt;
  found_.masked = value;
  known.version = ++version_;
  return known;
}

bool AttentionReader::ReadMask(const Instruction& keep, const View& scores, bool inverted) {
  llvm::SmallVector<const Instruction*, 2> steps;
  const auto seen = SeenAnywhere(keep, *kernel_, steps);
  if (!seen || seen->inst->kind() != OpKind::Compare || seen->view.offset != 0) return false;
  // A query looks at keys up to its own: row >= column.
  static constexpr struct {
    Direction direction;
    bool inverted, rows_first;
  } kCausal[] = {{Direction::GE, false, true},
                 {Direction::LE, false, false},
                 {Direction::LT, true, true},
                 {Direction::GT, true, false}};
  const auto direction = seen->inst->attr<CompareAttrs>().direction;
  const auto* const row = llvm::find_if(
      kCausal, [&](const auto& r) { return r.direction == direction && r.inverted == inverted; });
  if (row == std::end(kCausal)) return false;
  for (const bool first : {true, false}) {
    const auto growth = GrowthOf(*seen->inst->operand(first ? 0 : 1));
    if (!growth) return false;
    ArrayAlong& along = found_.along[first == row->rows_first ? A::Rows : A::Columns];
    for (size_t d = 0; d < seen->view.dims.size(); ++d) {
      const auto stride = StrideThrough(*growth, seen->view.dims[d]);
      if (!stride) return false;
      if (*stride != 0) along.push_back({seen->view.dims[d].size, scores.dims[d].stride, *stride});
    }
  }
  if (llvm::any_of(steps, [](const Instruction* step) { return IsOrdered(*step); })) return false;
  for (const Instruction* step : steps) before_.insert(step);
  return true;
}

}  // namespace hlo::gpu
