#include "llvm/ADT/Sequence.h"
#include "passes/analysis/value_facts.h"
#include "passes/rules/slice_rewrites.h"
#include "passes/rules/value_tests.h"

namespace hlo {
namespace {

/// Start indices of a dynamic-slice or dynamic-update-slice, one per dimension.
llvm::ArrayRef<Instruction*> Indices(const Instruction& inst) {
  return inst.operands().drop_front(inst.kind() == OpKind::DynamicSlice ? 1 : 2);
}

/// Scalar indices, one per dimension (an old form has one vector).
bool HasScalarIndices(const Instruction& inst) {
  const auto indices = Indices(inst);
  return static_cast<int64_t>(indices.size()) == inst.operand(0)->shape().rank() &&
         llvm::all_of(indices, [](const Instruction* i) { return i->shape().IsScalar(); });
}

ElementType IndexType(const Instruction& inst) { return Indices(inst)[0]->shape().element_type(); }

/// The largest value of an integer type, at most that of s64.
int64_t MaxValue(ElementType type) {
  const int bits = Info(type).bits - (IsSigned(type) ? 1 : 0);
  return bits >= 63 ? INT64_MAX : (int64_t{1} << bits) - 1;
}

/// A constant start index as it counts: within [0, bound].
std::optional<int64_t> ConstantStart(const Instruction& index, int64_t bound) {
  if (bound == 0) return 0;
  const std::optional<int64_t> value = ScalarIntValue(index);
  if (!value) return std::nullopt;
  if (*value < 0 && !IsSigned(index.shape().element_type())) return bound;  // beyond s64
  return std::clamp<int64_t>(*value, 0, bound);
}

/// clamp(0, index, bound), or the constant that is. The bound fits the type.
Instruction* ClampedStart(Match& m, Instruction* index, int64_t bound) {
  const ElementType type = index->shape().element_type();
  if (const auto start = ConstantStart(*index, bound)) return m.make.ScalarInt(type, *start);
  return m.make.Add(OpKind::Clamp, {m.make.ScalarInt(type, 0), index, m.make.ScalarInt(type, bound)});
}

/// Indices of a slice of size `small` at `inner` in a slice of size `middle` at `outer` of a value of size
/// `large`.
Instruction* CombinedStart(Match& m, Instruction* outer, Instruction* inner, int64_t large, int64_t middle,
                           int64_t small) {
  if (middle == large) return inner;
  if (middle == small) return outer;
  const auto a = ConstantStart(*outer, large - middle), b = ConstantStart(*inner, middle - small);
  if (a && b) return m.make.ScalarInt(outer->shape().element_type(), *a + *b);
  return m.make.Binary(OpKind::Add, ClampedStart(m, outer, large - middle),
                       ClampedStart(m, inner, middle - small));
}

std::optional<llvm::SmallVector<Instruction*, 4>> CombinedStarts(Match& m, const Instruction& outer,
                                                                 const Instruction& inner, const Shape& large,
                                                                 const Shape& middle, const Shape& small) {
  if (!HasScalarIndices(outer) || !HasScalarIndices(inner) || large.rank() == 0) return std::nullopt;
  if (IndexType(outer) != IndexType(inner)) return std::nullopt;
  llvm::SmallVector<Instruction*, 4> starts;
  for (int64_t d = 0; d < large.rank(); ++d) {
    if (large.dim(d) > MaxValue(IndexType(outer))) return std::nullopt;
    starts.push_back(CombinedStart(m, Indices(outer)[At(d)], Indices(inner)[At(d)], large.dim(d),
                                   middle.dim(d), small.dim(d)));
  }
  return starts;
}

}  // namespace

Instruction* ZeroFullSizeIndices(Match& m) {
  const bool update = m.root->kind() == OpKind::DynamicUpdateSlice;
  const Shape& large = m.root->operand(0)->shape();
  const Shape& small = update ? m.root->operand(1)->shape() : m.shape();
  if (!HasScalarIndices(*m.root) || large.rank() == 0) return nullptr;
  auto has_choice = [&](int64_t d) {
    return large.dim(d) != small.dim(d) || IsAll(*Indices(*m.root)[At(d)], 0);
  };
  if (llvm::all_of(llvm::seq<int64_t>(0, large.rank()), has_choice)) return nullptr;
  Instruction* zero = m.make.ScalarInt(IndexType(*m.root), 0);
  llvm::SmallVector<Instruction*, 4> starts;
  for (int64_t d = 0; d < large.rank(); ++d) starts.push_back(has_choice(d) ? Indices(*m.root)[At(d)] : zero);
  if (update) return m.make.DynamicUpdateSlice(m.root->operand(0), m.root->operand(1), starts);
  return m.make.DynamicSlice(m.root->operand(0), starts, m.shape().dims());
}

Instruction* DynamicSliceOfBroadcast(Match& m) {
  Instruction* broadcast = m.root->operand(0);
  if (broadcast->kind() != OpKind::Broadcast || !HasScalarIndices(*m.root)) return nullptr;
  const Dims& dims = Dimensions(*broadcast);
  Instruction* x = broadcast->operand(0);
  llvm::SmallVector<Instruction*, 4> starts;
  for (const int64_t d : dims) starts.push_back(Indices(*m.root)[At(d)]);
  const Dims sizes = Permuted(m.shape().dims(), dims);
  Instruction* part =
      llvm::ArrayRef<int64_t>(sizes) == x->shape().dims() ? x : m.make.DynamicSlice(x, starts, sizes);
  return m.make.Broadcast(part, m.shape(), dims);
}

Instruction* DynamicSliceOfReshape(Match& m) {
  Instruction* reshape = m.root->operand(0);
  if (reshape->kind() != OpKind::Reshape || !HasScalarIndices(*m.root) || m.shape().ElementCount() == 0)
    return nullptr;
  Instruction* x = reshape->operand(0);
  const llvm::ArrayRef<int64_t> from = x->shape().dims(), to = reshape->shape().dims();
  if (!AsDegenerateReshape(from, to) || to.empty()) return nullptr;
  llvm::SmallVector<Instruction*, 4> starts;
  Dims sizes;
  for (const ReshapeGroup& group : ReshapeGroups(from, to)) {
    if (group.from_begin == group.from_end) continue;
    const bool deleted = group.to_begin == group.to_end;
    starts.push_back(deleted ? m.make.ScalarInt(IndexType(*m.root), 0)
                             : Indices(*m.root)[At(group.to_begin)]);
    sizes.push_back(deleted ? 1 : m.shape().dim(group.to_begin));
  }
  return m.make.Reshape(m.make.DynamicSlice(x, starts, sizes), m.shape());
}

Instruction* DynamicSliceOfTranspose(Match& m) {
  Instruction* transpose = m.root->operand(0);
  if (transpose->kind() != OpKind::Transpose || !HasScalarIndices(*m.root)) return nullptr;
  const Dims inverse = InversePermutation(Dimensions(*transpose));
  llvm::SmallVector<Instruction*, 4> starts;
  for (const int64_t d : inverse) starts.push_back(Indices(*m.root)[At(d)]);
  Instruction* part = m.make.DynamicSlice(transpose->operand(0), starts, Permuted(m.shape().dims(), inverse));
  return m.make.Transpose(part, Dimensions(*transpose));
}

Instruction* DynamicSliceToSlice(Match& m) {
  Instruction* x = m.root->operand(0);
  if (x->kind() == OpKind::Constant || !HasScalarIndices(*m.root)) return nullptr;
  if (x->shape().layout().memory_space != m.shape().layout().memory_space) return nullptr;
  SliceRanges ranges;
  for (int64_t d = 0; d < m.shape().rank(); ++d) {
    const auto start = ConstantStart(*Indices(*m.root)[At(d)], x->shape().dim(d) - m.shape().dim(d));
    if (!start) return nullptr;
    ranges.push_back({*start, *start + m.shape().dim(d), 1});
  }
  return m.make.Slice(x, ranges);
}

Instruction* DynamicSliceOfIota(Match& m) {
  if (m.shape().rank() != 1 || m.shape().dim(0) != 1 || !HasScalarIndices(*m.root)) return nullptr;
  Instruction* x = m.root->operand(0);
  Instruction* factor = nullptr;
  if (x->kind() == OpKind::Multiply) {
    const int64_t iota = x->operand(0)->kind() == OpKind::Iota ? 0 : 1;
    factor = ScalarOrSplat(*x->operand(1 - iota));
    if (!factor) return nullptr;
    x = x->operand(iota);
  }
  Instruction* index = Indices(*m.root)[0];
  const bool counts = m.type() == ElementType::S32 || m.type() == ElementType::U32;
  if (x->kind() != OpKind::Iota || !counts || index->shape().element_type() != m.type()) return nullptr;
  if (x->shape().dim(0) > MaxValue(m.type())) return nullptr;
  Instruction* value = ClampedStart(m, index, x->shape().dim(0) - 1);
  return m.make.Reshape(factor ? m.make.Binary(OpKind::Multiply, value, factor) : value, m.shape());
}

Instruction* DynamicSliceOfDynamicSlice(Match& m) {
  Instruction* inner = m.root->operand(0);
  if (inner->kind() != OpKind::DynamicSlice) return nullptr;
  Instruction* x = inner->operand(0);
  const auto starts = CombinedStarts(m, *inner, *m.root, x->shape(), inner->shape(), m.shape());
  return starts ? m.make.DynamicSlice(x, *starts, m.shape().dims()) : nullptr;
}

/// The value is on its way to the host's memory.
bool IsMovedToHost(const Instruction& value) {
  const Instruction* at = &value;
  while (at->kind() == OpKind::Reshape || at->kind() == OpKind::Bitcast || at->kind() == OpKind::Copy ||
         at->kind() == OpKind::Transpose)
    at = at->operand(0);
  return at->kind() == OpKind::CustomCall && at->attr<CustomCallAttrs>().custom_call_target == "MoveToHost";
}

Instruction* UpdateOfSplat(Match& m) {
  Instruction *splat = m.root->operand(0), *update = m.root->operand(1);
  if (splat->kind() != OpKind::Broadcast || splat->operand(0)->shape().rank() != 0 ||
      !HasScalarIndices(*m.root) || !BoundsFitIndices(*m.root))
    return nullptr;
  if (update->shape().layout().memory_space != m.shape().layout().memory_space || IsMovedToHost(*update))
    return nullptr;
  Padding padding;
  for (int64_t d = 0; d < m.shape().rank(); ++d) {
    const int64_t bound = m.shape().dim(d) - update->shape().dim(d);
    const auto start = ConstantStart(*Indices(*m.root)[At(d)], bound);
    if (!start) return nullptr;
    padding.push_back({*start, bound - *start, 0});
  }
  return m.make.Pad(update, splat->operand(0), padding);
}

Instruction* UpdateOfUpdatedSlice(Match& m) {
  Instruction *whole = m.root->operand(0), *inner = m.root->operand(1);
  if (inner->kind() != OpKind::DynamicUpdateSlice || inner->operand(0)->kind() != OpKind::DynamicSlice)
    return nullptr;
  const Instruction* part = inner->operand(0);
  Instruction* update = inner->operand(1);
  if (part->operand(0) != whole || Indices(*part) != Indices(*m.root)) return nullptr;
  const auto starts = CombinedStarts(m, *m.root, *inner, whole->shape(), inner->shape(), update->shape());
  return starts ? m.make.DynamicUpdateSlice(whole, update, *starts) : nullptr;
}

}  // namespace hlo
