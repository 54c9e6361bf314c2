// What random arguments must respect, found by following the parameters through the module (tools.md §3.2,
// ops-structured §14).
#include "tools/arrays/fake_arguments.h"

#include "ir/by_op_kind.h"
#include "tools/arrays/parameter_walk.h"

namespace hlo {
namespace {

/// How a value passes through an op on its way from the parameter.
enum class Passage : uint8_t { None, InOrder, Reordered };

struct PassageRow {
  OpKind kind;
  Passage passage;
  int64_t from_operand = 0;
};
constexpr PassageRow kPassages[] = {
    {OpKind::Reshape, Passage::InOrder},
    {OpKind::Bitcast, Passage::InOrder},
    {OpKind::Copy, Passage::InOrder},
    {OpKind::Convert, Passage::InOrder},
    {OpKind::ReducePrecision, Passage::InOrder},
    {OpKind::OptimizationBarrier, Passage::InOrder},
    {OpKind::Transpose, Passage::Reordered},
    {OpKind::Slice, Passage::Reordered},
    {OpKind::Broadcast, Passage::Reordered},
    {OpKind::Concatenate, Passage::Reordered},
    {OpKind::Select, Passage::InOrder, 1},  // negative indices count from the end
};

struct IdentityRow {
  OpKind kind;
  ValueKind value;
};
constexpr IdentityRow kIdentities[] = {
    {OpKind::Add, ValueKind::Zeros},       {OpKind::Or, ValueKind::Zeros},
    {OpKind::Xor, ValueKind::Zeros},       {OpKind::Multiply, ValueKind::Ones},
    {OpKind::And, ValueKind::AllOnes},     {OpKind::Maximum, ValueKind::Lowest},
    {OpKind::Minimum, ValueKind::Highest},
};

/// The identity of component `k` of a reducer, if its body is one known operation.
std::optional<ValueKind> Identity(const Computation& reducer, int64_t k) {
  const Instruction* root = reducer.root();
  if (root != nullptr && root->kind() == OpKind::Tuple && k < root->operand_count()) root = root->operand(k);
  while (root != nullptr && (root->kind() == OpKind::Convert || root->kind() == OpKind::ReducePrecision))
    root = root->operand(0);
  for (const IdentityRow& row : kIdentities)
    if (root != nullptr && root->kind() == row.kind) return row.value;
  return std::nullopt;
}

/// True if the comparator's result depends on its parameters 2k and 2k+1.
bool IsSortKey(const Computation& comparator, int64_t k) {
  std::vector<const Instruction*> stack = {comparator.root()};
  llvm::DenseMap<const Instruction*, bool> seen;
  while (!stack.empty()) {
    const Instruction* inst = stack.back();
    stack.pop_back();
    if (inst == nullptr || !seen.try_emplace(inst, true).second) continue;
    if (inst->kind() == OpKind::Parameter && inst->attr<ParameterAttrs>().number / 2 == k) return true;
    stack.insert(stack.end(), inst->operands().begin(), inst->operands().end());
  }
  return false;
}

/// Iterations, at most, of loops that end at a made-up number; each may hold another such loop.
constexpr int64_t kMostTrips = 16;

/// Whether it is part of what tells if a loop goes on.
bool DecidesLoop(const Instruction& inst) {
  const Computation* c = inst.parent();
  while (!c->callers().empty() &&
         (c->callers().front()->kind() == OpKind::Fusion || c->callers().front()->kind() == OpKind::Call))
    c = c->callers().front()->parent();
  return llvm::any_of(c->callers(), [&](const Instruction* caller) {
    return caller->kind() == OpKind::While && caller->callee(1) == c;
  });
}

/// Collects the constraints of one leaf.
class LeafTracer {
 public:
  LeafTracer(const Shape& leaf, ValueRule base, OperandPositions& positions)
      : leaf_(leaf), rule_(std::move(base)), walk_(positions) {}

  ValueRule Trace(const Instruction* parameter, const ShapeIndex& index) {
    walk_.Push({parameter, index, /*in_order=*/true});
    walk_.Run(
        [&](const Place& place, const Instruction& user, int64_t operand) { Use(place, user, operand); });
    return rule_;
  }

 private:
  using InOrder = bool;  // elements still lie in the parameter's linear order
  using Walk = ParameterWalk<InOrder>;
  using Place = Walk::Place;

  void Use(const Place& place, const Instruction& user, int64_t operand) {
    for (const PassageRow& row : kPassages)
      if (user.kind() == row.kind && operand >= row.from_operand)
        walk_.Push({&user, place.index, place.state && row.passage == Passage::InOrder});
    if (!walk_.Enter(place, user, operand, /*in_loop=*/false)) Constrain(place, user, operand);
  }

  void Constrain(const Place& place, const Instruction& user, int64_t operand) {
    using Step = void (LeafTracer::*)(const Place&, const Instruction&, int64_t);
    static constexpr ByOpKind<Step> kSteps({
        {OpKind::DynamicSlice, &LeafTracer::ConstrainStart},
        {OpKind::DynamicUpdateSlice, &LeafTracer::ConstrainStart},
        {OpKind::Gather, &LeafTracer::ConstrainGather},
        {OpKind::Scatter, &LeafTracer::ConstrainScatter},
        {OpKind::Reduce, &LeafTracer::ConstrainReduceInit},
        {OpKind::ReduceWindow, &LeafTracer::ConstrainReduceInit},
        {OpKind::SelectAndScatter, &LeafTracer::ConstrainScatterInit},
        {OpKind::Sort, &LeafTracer::ConstrainKey},
        {OpKind::Compare, &LeafTracer::ConstrainCompared},
    });
    if (const Step step = kSteps[user.kind()]) (this->*step)(place, user, operand);
  }

  void ConstrainStart(const Place&, const Instruction& user, int64_t operand) {
    const bool update = user.kind() == OpKind::DynamicUpdateSlice;
    const int64_t dimension = operand - (update ? 2 : 1);
    const Shape& whole = user.operand(0)->shape();
    const Shape& part = update ? user.operand(1)->shape() : user.shape();
    if (dimension < 0 || dimension >= whole.rank()) return;
    Limit(whole.dim(dimension) - part.dim(dimension));
  }

  void ConstrainGather(const Place& place, const Instruction& user, int64_t number) {
    if (number != 1) return;
    const auto& attrs = user.attr<GatherAttrs>();
    const Shape& operand = user.operand(0)->shape();
    Dims extents;
    for (const int64_t d : attrs.start_index_map)
      extents.push_back(operand.dim(d) - attrs.slice_sizes[static_cast<size_t>(d)] + 1);
    IndexRows(place, extents, attrs.index_vector_dim, attrs.indices_are_sorted, false);
  }

  void ConstrainScatter(const Place& place, const Instruction& user, int64_t number) {
    if (number != (user.operand_count() - 1) / 2) return;
    const auto& attrs = user.attr<ScatterAttrs>();
    const Shape& operand = user.operand(0)->shape();
    const Shape& updates = user.operand(user.operand_count() - 1)->shape();
    // Window sizes in operand dimensions: 1 where inserted or batched, else those of the update windows.
    Dims window(static_cast<size_t>(operand.rank()), 1);
    size_t next = 0;
    for (int64_t d = 0; d < operand.rank(); ++d) {
      if (llvm::is_contained(attrs.inserted_window_dims, d) ||
          llvm::is_contained(attrs.input_batching_dims, d))
        continue;
      if (next < attrs.update_window_dims.size())
        window[static_cast<size_t>(d)] = updates.dim(attrs.update_window_dims[next++]);
    }
    Dims extents;
    for (const int64_t d : attrs.scatter_dims_to_operand_dims)
      extents.push_back(operand.dim(d) - window[static_cast<size_t>(d)] + 1);
    IndexRows(place, extents, attrs.index_vector_dim, attrs.indices_are_sorted, attrs.unique_indices);
  }

  /// Rows of indices where the parameter's elements are still in order, else only a common limit.
  void IndexRows(const Place& place, const Dims& extents, int64_t vector_dimension, bool sorted,
                 bool distinct) {
    if (extents.empty()) return;
    const int64_t least = *std::min_element(extents.begin(), extents.end());
    const Shape& indices = place.inst->shape();
    // The component lies where the parameter has the dimension, or each row has one component.
    const bool same_shape = place.state && indices.IsArray() && SameDims(indices, leaf_);
    const bool single = extents.size() == 1;
    if (!place.state || !(single || same_shape) || rule_.kind == ValueKind::InRange)
      return Limit(least - 1, sorted, distinct);
    if (rule_.kind == ValueKind::IndexRows && rule_.extents.size() != extents.size())
      return Limit(least - 1, sorted, distinct);
    if (rule_.kind != ValueKind::IndexRows) {
      rule_.kind = ValueKind::IndexRows;
      rule_.extents = extents;
    }
    for (size_t i = 0; i < extents.size(); ++i) rule_.extents[i] = std::min(rule_.extents[i], extents[i]);
    rule_.component_dimension = !single && vector_dimension < leaf_.rank() ? vector_dimension : -1;
    rule_.sorted |= sorted;
    rule_.distinct |= distinct;
  }

  /// Values in [0, high].
  void Limit(int64_t high, bool sorted = false, bool distinct = false) {
    high = std::max<int64_t>(high, 0);
    if (rule_.kind == ValueKind::IndexRows) {
      for (int64_t& extent : rule_.extents) extent = std::min(extent, high + 1);
    } else if (sorted || distinct) {
      rule_.kind = ValueKind::IndexRows;
      rule_.extents = {high + 1};
      rule_.sorted = sorted;
      rule_.distinct = distinct;
    } else {
      rule_.high = rule_.kind == ValueKind::InRange ? std::min(rule_.high, high) : high;
      rule_.kind = ValueKind::InRange;
    }
  }

  void ConstrainReduceInit(const Place&, const Instruction& user, int64_t operand) {
    const int64_t n = user.operand_count() / 2;
    if (operand >= n) ConstrainInit(*user.callee(), operand - n);
  }
  void ConstrainScatterInit(const Place&, const Instruction& user, int64_t operand) {
    if (operand == 2) ConstrainInit(*user.callee(1), 0);
  }
  void ConstrainInit(const Computation& reducer, int64_t component) {
    if (const auto identity = Identity(reducer, component); identity && rule_.kind == ValueKind::Random)
      rule_.kind = *identity;
  }

  /// What is compared with the numbers along a dimension is one of them: a label, made one-hot. Where a loop
  /// ends is not so far that a run takes days.
  void ConstrainCompared(const Place&, const Instruction& user, int64_t operand) {
    if (!IsIntegral(leaf_.element_type())) return;
    if (DecidesLoop(user)) return Limit(kMostTrips);
    if (user.attr<CompareAttrs>().direction != Direction::EQ) return;
    const Instruction* other = user.operand(1 - operand);
    while (other->kind() == OpKind::Broadcast || other->kind() == OpKind::Convert ||
           other->kind() == OpKind::Reshape)
      other = other->operand(0);
    if (other->kind() == OpKind::Iota) Limit(other->shape().dim(other->attr<IotaAttrs>().iota_dimension) - 1);
  }

  void ConstrainKey(const Place&, const Instruction& sort, int64_t operand) {
    const bool order_shows = sort.operand_count() > 1 || sort.attr<SortAttrs>().is_stable;
    if (!order_shows || !IsIntegral(leaf_.element_type()) || !IsSortKey(*sort.callee(), operand)) return;
    if (rule_.kind == ValueKind::InRange) {
      rule_.kind = ValueKind::IndexRows;
      rule_.extents = {rule_.high + 1};
    }
    rule_.distinct = true;
    if (rule_.kind != ValueKind::Random) return;
    rule_.kind = ValueKind::Distinct;
    const Dims& dimensions = sort.attr<SortAttrs>().dimensions;
    if (!dimensions.empty() && SameDims(sort.operand(operand)->shape(), leaf_))
      rule_.dimension = dimensions[0];
  }

  const Shape& leaf_;
  ValueRule rule_;
  Walk walk_;
};

}  // namespace

std::vector<ValueRule> TraceConstraints(const Instruction& value, const ValueRule& base,
                                        OperandPositions& positions) {
  std::vector<ValueRule> rules;
  ForEachLeaf(value.shape(), [&](const ShapeIndex& index, const Shape& leaf) {
    rules.push_back(leaf.IsArray() ? LeafTracer(leaf, base, positions).Trace(&value, index) : base);
    if (leaf.IsArray()) RefineNumbers(&value, index, leaf, positions, rules.back());
  });
  return rules;
}

std::vector<std::vector<ValueRule>> TraceConstraints(const Module& module, const ValueRule& base) {
  std::vector<std::vector<ValueRule>> rules;
  OperandPositions positions;
  for (const Instruction* parameter : module.entry()->parameters())
    rules.push_back(TraceConstraints(*parameter, base, positions));
  return rules;
}

}  // namespace hlo
