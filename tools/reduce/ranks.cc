// Dropping dimensions of size 1 from all arrays of a module.
#include <array>

#include "tools/reduce/shapes.h"

namespace hlo {
namespace {

using OldShapes = llvm::DenseMap<const Instruction*, Shape>;

bool IsDropped(const Shape& shape, int64_t d) { return shape.dim(d) == 1 && !shape.is_dynamic(d); }

/// The number of a dimension that stays, after the others are gone.
int64_t NewNumber(const Shape& shape, int64_t d) {
  int64_t number = 0;
  for (int64_t i = 0; i < d; ++i) number += !IsDropped(shape, i);
  return number;
}

Shape Squeezed(const Shape& shape) {
  Dims dims;
  llvm::SmallVector<bool, 4> dynamic;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (IsDropped(shape, d)) continue;
    dims.push_back(shape.dim(d));
    dynamic.push_back(shape.is_dynamic(d));
  }
  return Shape::Array(shape.element_type(), dims, dynamic);
}

Dims Renumbered(llvm::ArrayRef<int64_t> dims, const Shape& shape) {
  Dims kept;
  for (const int64_t d : dims)
    if (!IsDropped(shape, d)) kept.push_back(NewNumber(shape, d));
  return kept;
}

/// One instruction with the shapes it had; attributes follow what goes. False: it cannot do without.
struct Site {
  Instruction& inst;
  const OldShapes& old;
  [[nodiscard]] const Shape& operand(int64_t i) const { return old.find(inst.operand(i))->second; }
  [[nodiscard]] const Shape& result() const { return inst.shape(); }
  template <class T>
  [[nodiscard]] T& attrs() const {
    return inst.mutable_attrs().Mutable<T>();
  }
};

bool Keep(const Site&) { return true; }

bool DropBroadcast(const Site& s) {
  Dims to;
  const Dims from = s.attrs<DimensionsAttrs>().dimensions;
  for (size_t i = 0; i < from.size(); ++i)
    if (!IsDropped(s.operand(0), static_cast<int64_t>(i))) to.push_back(NewNumber(s.result(), from[i]));
  s.attrs<DimensionsAttrs>().dimensions = std::move(to);
  return true;
}

/// transpose and reverse: the dimensions named are the operand's.
bool DropNamed(const Site& s) {
  Dims& dims = s.attrs<DimensionsAttrs>().dimensions;
  dims = Renumbered(dims, s.operand(0));
  return true;
}

bool DropReduced(const Site& s) {
  Dims& dims = s.attrs<ReduceAttrs>().dimensions;
  dims = Renumbered(dims, s.operand(0));
  return true;
}

bool DropMapped(const Site& s) {
  Dims& dims = s.attrs<MapAttrs>().dimensions;
  dims = Renumbered(dims, s.result());
  return true;
}

bool DropJoined(const Site& s) {
  Dims& dims = s.attrs<DimensionsAttrs>().dimensions;
  for (int64_t i = 0; i < s.inst.operand_count(); ++i)
    if (IsDropped(s.operand(i), dims[0])) return false;
  dims = Renumbered(dims, s.result());
  return dims.size() == 1;
}

bool DropIota(const Site& s) {
  int64_t& d = s.attrs<IotaAttrs>().iota_dimension;
  if (IsDropped(s.result(), d)) return false;
  d = NewNumber(s.result(), d);
  return true;
}

bool DropSorted(const Site& s) {
  Dims& dims = s.attrs<SortAttrs>().dimensions;
  dims = Renumbered(dims, s.operand(0));
  return !dims.empty();
}

/// Entries of a list with one per dimension; operand and result must lose the same.
template <class List>
bool DropEntries(List& list, const Shape& from, const Shape& to) {
  List kept;
  for (int64_t d = 0; d < from.rank(); ++d) {
    if (IsDropped(from, d) != IsDropped(to, d)) return false;
    if (!IsDropped(from, d)) kept.push_back(list[static_cast<size_t>(d)]);
  }
  list = std::move(kept);
  return true;
}

bool DropSlice(const Site& s) { return DropEntries(s.attrs<SliceAttrs>().slice, s.operand(0), s.result()); }
bool DropPad(const Site& s) { return DropEntries(s.attrs<PadAttrs>().padding, s.operand(0), s.result()); }

/// Start indices from operand `first` on, one per dimension.
bool DropIndices(const Site& s, int64_t first) {
  const Shape& whole = s.operand(0);
  if (s.inst.operand_count() != first + whole.rank()) return false;
  llvm::SmallVector<Instruction*, 8> operands(s.inst.operands().take_front(static_cast<size_t>(first)));
  for (int64_t d = 0; d < whole.rank(); ++d)
    if (!IsDropped(whole, d)) operands.push_back(s.inst.operand(first + d));
  s.inst.SetOperands(operands);
  return true;
}
bool DropDynamicSlice(const Site& s) {
  return DropEntries(s.attrs<DynamicSliceAttrs>().dynamic_slice_sizes, s.operand(0), s.result()) &&
         DropIndices(s, 1);
}
bool DropUpdate(const Site& s) {
  Dims sizes(s.operand(0).dims());
  return DropEntries(sizes, s.operand(0), s.operand(1)) && DropIndices(s, 2);
}

bool DropDot(const Site& s) {
  auto& dot = s.attrs<DotAttrs>();
  dot.lhs_batch_dims = Renumbered(dot.lhs_batch_dims, s.operand(0));
  dot.lhs_contracting_dims = Renumbered(dot.lhs_contracting_dims, s.operand(0));
  dot.rhs_batch_dims = Renumbered(dot.rhs_batch_dims, s.operand(1));
  dot.rhs_contracting_dims = Renumbered(dot.rhs_contracting_dims, s.operand(1));
  return true;
}

bool DropInferred(const Site& s) {
  s.attrs<ReshapeAttrs>().inferred_dimension = -1;
  return true;
}

struct Row {
  OpKind kind;
  bool (*drop)(const Site& site);
};
/// What is not elementwise and can do without dimensions of size 1.
constexpr Row kRows[] = {
    {OpKind::Parameter, &Keep},
    {OpKind::Constant, &Keep},
    {OpKind::Tuple, &Keep},
    {OpKind::GetTupleElement, &Keep},
    {OpKind::While, &Keep},
    {OpKind::Conditional, &Keep},
    {OpKind::Call, &Keep},
    {OpKind::Fusion, &Keep},
    {OpKind::OptimizationBarrier, &Keep},
    {OpKind::AfterAll, &Keep},
    {OpKind::Reshape, &DropInferred},
    {OpKind::Broadcast, &DropBroadcast},
    {OpKind::Transpose, &DropNamed},
    {OpKind::Reverse, &DropNamed},
    {OpKind::Concatenate, &DropJoined},
    {OpKind::Reduce, &DropReduced},
    {OpKind::Map, &DropMapped},
    {OpKind::Iota, &DropIota},
    {OpKind::Sort, &DropSorted},
    {OpKind::Slice, &DropSlice},
    {OpKind::Pad, &DropPad},
    {OpKind::DynamicSlice, &DropDynamicSlice},
    {OpKind::DynamicUpdateSlice, &DropUpdate},
    {OpKind::Dot, &DropDot},
};

}  // namespace

bool SqueezeRanks(Module& module) {
  OldShapes old;
  bool any = false;
  for (const auto& c : module.computations())
    for (const Instruction* i : c->instructions()) {
      old[i] = i->shape();
      ForEachLeaf(i->shape(), [&](const ShapeIndex&, const Shape& leaf) {
        for (int64_t d = 0; leaf.IsArray() && d < leaf.rank(); ++d) any |= IsDropped(leaf, d);
      });
    }
  if (!any) return false;
  return ChangeShapes(module, Squeezed, [&](Instruction& inst) {
    const auto* row = llvm::find_if(kRows, [&](const Row& r) { return r.kind == inst.kind(); });
    if (row == std::end(kRows)) return inst.info().Is(kElementwise);
    if (!row->drop({inst, old})) return false;
    if (inst.kind() != OpKind::Constant || !inst.shape().IsArray()) return true;
    auto& literal = inst.mutable_attrs().Mutable<ConstantAttrs>().literal;
    if (literal)
      literal =
          std::make_shared<const Literal>(literal->WithShape(Squeezed(inst.shape()).WithDefaultLayouts()));
    return true;
  });
}

}  // namespace hlo
