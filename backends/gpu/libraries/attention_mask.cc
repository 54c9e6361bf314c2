// What is added to scores, and those of keys that a query does not look at, which are another number.
#include <cmath>

#include "backends/gpu/libraries/attention_reader.h"
#include "passes/analysis/value_facts.h"

namespace hlo::gpu {
namespace {

using A = AttentionArrays;

/// What is at most this has no weight beside any score: e to its power is 0 in every type.
constexpr double kNoWeight = -1e4;
/// What is at most this stays what it is when any score is added to it: a query that looks at no key has the
/// same weight for all.
constexpr double kFarBelow = -0x1p100;
/// By how much less what the library makes of it on its way, a power of two, would not be a number.
constexpr double kLowest = -0x1p127;

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

/// What sees values of `from` as `seen` has it, of what these are.
std::optional<Seen> SeenBehind(const Seen& seen, const Instruction& from) {
  const auto inner = SeenThrough(from);
  if (!inner || inner->view.offset != 0) return std::nullopt;
  Seen all{inner->inst, {}};
  for (const ViewDim& dim : seen.view.dims) {
    const auto stride = StrideThrough(inner->view.dims, dim);
    if (!stride) return std::nullopt;
    all.view.dims.push_back({dim.size, *stride});
  }
  return all;
}

/// A mask that is all of another one: where that holds it holds.
const Instruction* SameMask(const Instruction& mask) {
  const bool selects =
      mask.kind() == OpKind::Select && IsAll(*mask.operand(1), 1) && IsAll(*mask.operand(2), 0);
  if (selects) return mask.operand(0);
  if (mask.kind() != OpKind::And) return nullptr;
  for (const bool first : {true, false})
    if (IsAll(*mask.operand(first ? 0 : 1), 1)) return mask.operand(first ? 1 : 0);
  return nullptr;
}

/// What a value of a kernel sees, if that is an operand, of what another kernel made: masks that several
/// kernels read are made by one of their own. It, and what lies between, is put in `steps`, the last one
/// first.
std::optional<Seen> SeenAnywhere(const Instruction& value, const Instruction* kernel,
                                 llvm::SmallVectorImpl<const Instruction*>& steps) {
  std::optional<Seen> seen = SeenThrough(value);
  if (!seen || seen->inst->kind() != OpKind::Parameter || kernel == nullptr) return seen;
  const Instruction* from = kernel->operand(seen->inst->attr<ParameterAttrs>().number);
  while (from->kind() == OpKind::Bitcast &&
         from->shape().element_type() == from->operand(0)->shape().element_type()) {
    steps.push_back(from);
    from = from->operand(0);
  }
  steps.push_back(from);
  if (from->kind() != OpKind::Fusion || !from->shape().IsArray() || seen->view.offset != 0) return seen;
  return SeenBehind(*seen, *from->callee()->root());
}

}  // namespace

std::optional<AttentionReader::Known> AttentionReader::Add(const Instruction& inst) {
  const auto pair = OneKnown(inst);
  if (!pair || pair->known->role != Role::Scores || pair->known->version != version_) return std::nullopt;
  if (left_out_ && *left_out_ > kFarBelow) {
    why_ = "something is added to scores that a mask leaves out";
    return std::nullopt;
  }
  made_ |= AreBiased() || !ReadArray(*pair->other, pair->known->view);
  return Biased(inst, inst.operand(inst.operand(0) == pair->other ? 1 : 0));
}

std::optional<AttentionReader::Known> AttentionReader::TakeFrom(const Instruction& inst) {
  const Known* const scores = Find(inst.operand(0));
  if (scores->role != Role::Scores || scores->version != version_) return std::nullopt;
  if (left_out_ && *left_out_ > kFarBelow) {
    why_ = "something is taken from scores that a mask leaves out";
    return std::nullopt;
  }
  made_ = true;
  return Biased(inst, inst.operand(0));
}

/// A bias that lies in memory.
bool AttentionReader::ReadArray(const Instruction& added, const View& scores) {
  std::optional<View> bias = ArrayOf(added);
  if (!bias) return false;
  for (size_t d = 0; d < bias->dims.size(); ++d)
    if (bias->dims[d].stride != 0)
      found_.along[A::Bias].push_back({bias->dims[d].size, scores.dims[d].stride, bias->dims[d].stride});
  found_.views[A::Bias] = std::move(*bias);
  return true;
}

AttentionReader::Known AttentionReader::Biased(const Instruction& inst, const Instruction* scores) {
  if (!AreBiased()) unbiased_ = {scores, kernel_};
  biased_ = {&inst, kernel_};
  Known known = *Find(scores);
  known.version = ++version_;
  return known;
}

std::optional<AttentionReader::Known> AttentionReader::Select(const Instruction& inst) {
  const Known *const kept = Find(inst.operand(1)), *const other = Find(inst.operand(2));
  if (Find(inst.operand(0)) != nullptr || (kept == nullptr) == (other == nullptr)) return std::nullopt;
  const bool inverted = kept == nullptr;
  const Known& known = inverted ? *other : *kept;
  const Instruction* const masked = SplatConstant(*inst.operand(inverted ? 1 : 2));
  if (masked == nullptr || known.role != Role::Scores || known.version != version_) return std::nullopt;
  const double value = LiteralValue(*masked->attr<ConstantAttrs>().literal, 0);
  const bool causal = !left_out_ && !made_ && ReadMask(*inst.operand(0), known.view, inverted);
  if (causal) found_.masked = value;
  made_ |= !causal;
  if (!LeaveOut(value)) return std::nullopt;
  return Biased(inst, inst.operand(inverted ? 2 : 1));
}

/// Says why if masks cannot be that.
bool AttentionReader::LeaveOut(double masked) {
  if (!(masked <= kNoWeight)) return false;
  if (left_out_ && *left_out_ != masked) why_ = "its masks make different numbers of scores";
  left_out_ = masked;
  // Rows of the library's may be anything then.
  if (made_ && std::isinf(masked)) why_ = "a query that looks at no key would be no number";
  return why_.empty();
}

Status AttentionReader::ReadBias(ElementType of_queries, int64_t spared) {
  for (const A::Array array : {A::Bias, A::Rows, A::Columns}) found_.along[array].clear();
  found_.masked.reset();
  const auto are_scores = [&](const Instruction* inst) { return Find(inst) != nullptr; };
  AttentionBias bias = BiasOf({unbiased_, biased_, are_scores, /*in_kernels=*/!behind_.empty()}, of_queries);
  if (left_out_) bias.masked = *left_out_ > kFarBelow ? kFarBelow : std::max(*left_out_, kLowest);
  const View& scores = Find(biased_.inst)->view;
  const llvm::SmallBitVector& varies = bias.values.back().varies;
  if (varies.none()) return Decline(biased_.inst->loc(), "all scores get the same");
  // Keys follow each other in memory.
  for (size_t d = 0; d < scores.dims.size(); ++d) bias.order.push_back(static_cast<int64_t>(d));
  const auto rank = [&](int64_t d) {
    const int64_t stride = scores.dims[static_cast<size_t>(d)].stride;
    return std::tuple(stride >= found_.keys.first && stride < found_.keys.second, -stride, d);
  };
  llvm::sort(bias.order, [&](int64_t a, int64_t b) { return rank(a) < rank(b); });
  int64_t stride = 1;
  for (const int64_t d : llvm::reverse(bias.order)) {
    if (!varies[static_cast<unsigned>(d)]) continue;
    const ViewDim& dim = scores.dims[static_cast<size_t>(d)];
    found_.along[A::Bias].push_back({dim.size, dim.stride, stride});
    stride *= dim.size;
  }
  found_.views[A::Bias] = {};
  found_.views[A::Bias].type = bias.type;
  // It is written and read as they are.
  if (const int64_t bytes = stride * Info(bias.type).host_bytes(); 2 * bytes > spared)
    return Decline(biased_.inst->loc(), "its bias would take {0} bytes, what it spares {1}", bytes,
                   spared / 2);
  found_.made = std::move(bias);
  return {};
}

bool AttentionReader::ReadMask(const Instruction& keep, const View& scores, bool inverted) {
  llvm::SmallVector<const Instruction*, 2> steps;
  auto seen = SeenAnywhere(keep, kernel_, steps);
  while (seen && seen->view.offset == 0) {
    const Instruction* const same = SameMask(*seen->inst);
    if (same == nullptr) break;
    seen = SeenBehind(*seen, *same);
  }
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
  ArrayAlong rows, columns;
  for (const bool first : {true, false}) {
    const auto growth = GrowthOf(*seen->inst->operand(first ? 0 : 1));
    if (!growth) return false;
    ArrayAlong& along = first == row->rows_first ? rows : columns;
    for (size_t d = 0; d < seen->view.dims.size(); ++d) {
      const auto stride = StrideThrough(*growth, seen->view.dims[d]);
      if (!stride) return false;
      if (*stride != 0) along.push_back({seen->view.dims[d].size, scores.dims[d].stride, *stride});
    }
  }
  if (llvm::any_of(steps, [](const Instruction* step) { return IsOrdered(*step); })) return false;
  for (const Instruction* step : steps) before_.insert(step);
  found_.along[A::Rows] = std::move(rows);
  found_.along[A::Columns] = std::move(columns);
  return true;
}

}  // namespace hlo::gpu
