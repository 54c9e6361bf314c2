// layout_normalization: dimensions in the order in which they lie in memory (passes.md §2.1).
//
// Requires nothing. Preserves flat-calls, layouts, canonical-dots, fusions.
// Changes: elementwise instructions, data movement, indexing, products, reductions and sorts on arrays with
// other than descending layouts work on bitcasts of them, whose dimensions stand in memory order; their
// results are bitcasts back. Copies that change the layout become transposes, reshapes that move no data
// bitcasts, a dot whose result lies transposed the dot of exchanged operands. Dimensions of size 1 stay. Left
// alone: other opcodes, operands of different layouts, where an opcode fixes the order of dimensions and
// memory has another, dots that would lose their canonical form, layouts with properties, shardings, control
// edges, dynamic shapes; reducers and scatters by an operation that minds the order, if that would change;
// with strict-fp also reductions and products of floats, whose order would change.
#include "llvm/ADT/SmallPtrSet.h"
#include "passes/analysis/reducers.h"
#include "passes/analysis/reshape_facts.h"
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/bitcasts.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/edit.h"

namespace hlo {
namespace {

/// The logical dimensions in memory order, the slowest first.
Dims MemoryOrder(const Shape& shape) { return Dims(llvm::reverse(shape.layout().minor_to_major)); }
/// For each logical dimension its place in memory order.
Dims Places(const Shape& shape) { return InversePermutation(MemoryOrder(shape)); }
bool SameOrder(const Shape& a, const Shape& b) {
  return a.layout().minor_to_major == b.layout().minor_to_major;
}

/// The dimensions but those left out, in memory order, numbered without the others.
Dims OrderWithout(const Shape& shape, llvm::ArrayRef<int64_t> left_out) {
  Dims order;
  for (const int64_t d : MemoryOrder(shape))
    if (!llvm::is_contained(left_out, d))
      order.push_back(d - llvm::count_if(left_out, [&](int64_t other) { return other < d; }));
  return order;
}
/// The dimensions that are not in the list.
Dims Others(const Shape& shape, llvm::ArrayRef<int64_t> dims) {
  Dims others = Range(0, shape.rank());
  llvm::erase_if(others, [&](int64_t d) { return llvm::is_contained(dims, d); });
  return others;
}

/// The array as it lies in memory, dimensions in that order.
Shape Normal(const Shape& shape) {
  return Shape::ArrayWithDefaultLayout(shape.element_type(), Permuted(shape.dims(), MemoryOrder(shape)));
}
Instruction* ToNormal(Maker& make, Instruction* x) { return BitcastTo(make, x, Normal(x->shape())); }

/// One value per logical dimension, in memory order.
template <class List>
List InMemoryOrder(const List& list, const Shape& shape) {
  List result;
  for (const int64_t d : MemoryOrder(shape)) result.push_back(list[static_cast<size_t>(d)]);
  return result;
}
/// Dimension numbers as places in memory order.
Dims AsPlaces(llvm::ArrayRef<int64_t> dims, const Shape& shape) { return Permuted(Places(shape), dims); }

/// Makes the instruction on arrays in normal form; null, and nothing made, if that is not possible.
using NormalFn = Instruction* (*)(Maker& make, const Instruction& inst);

/// The same opcode on the operands in normal form.
Instruction* Remade(Maker& make, const Instruction& inst, Attrs attrs) {
  llvm::SmallVector<Instruction*, 4> operands;
  for (Instruction* o : inst.operands()) operands.push_back(ToNormal(make, o));
  llvm::SmallVector<Shape, 4> shapes;
  for (const Shape& shape : ResultShapes(inst.shape())) shapes.push_back(Normal(shape));
  return RemakeWith(make, inst, ResultShapeLike(inst.shape(), shapes), operands, std::move(attrs));
}

Instruction* NormalElementwise(Maker& make, const Instruction& inst) {
  llvm::SmallVector<Instruction*, 4> operands;
  for (Instruction* o : inst.operands()) operands.push_back(ToNormal(make, o));
  return RemakeWith(make, inst, Normal(inst.shape()), operands);
}

/// Result dimension i is dimension `from[i]` of x.
Instruction* NormalRearranged(Maker& make, Instruction* x, const Shape& shape, llvm::ArrayRef<int64_t> from) {
  Instruction* normal = ToNormal(make, x);
  return TransposeIfNeeded(make, normal, AsPlaces(Permuted(from, MemoryOrder(shape)), x->shape()));
}
Instruction* NormalCopy(Maker& make, const Instruction& inst) {
  if (SameOrder(inst.operand(0)->shape(), inst.shape())) return NormalElementwise(make, inst);
  return NormalRearranged(make, inst.operand(0), inst.shape(), Range(0, inst.shape().rank()));
}
Instruction* NormalTranspose(Maker& make, const Instruction& inst) {
  return NormalRearranged(make, inst.operand(0), inst.shape(), inst.attr<DimensionsAttrs>().dimensions);
}

Instruction* NormalReshape(Maker& make, const Instruction& inst) {
  if (!ReshapeIsBitcast(inst.operand(0)->shape(), inst.shape())) return nullptr;
  Instruction* x = ToNormal(make, inst.operand(0));
  const Shape normal = Normal(inst.shape());
  return x->shape() == normal ? x : make.Bitcast(x, normal);
}

Instruction* NormalBroadcast(Maker& make, const Instruction& inst) {
  const Dims to = AsPlaces(inst.attr<DimensionsAttrs>().dimensions, inst.shape());
  return Remade(make, inst, DimensionsAttrs{Permuted(to, MemoryOrder(inst.operand(0)->shape()))});
}

Instruction* NormalIota(Maker& make, const Instruction& inst) {
  return make.Iota(Normal(inst.shape()), AsPlaces({inst.attr<IotaAttrs>().iota_dimension}, inst.shape())[0]);
}

/// Reverse and concatenate.
Instruction* NormalAlongDims(Maker& make, const Instruction& inst) {
  return Remade(make, inst, DimensionsAttrs{AsPlaces(inst.attr<DimensionsAttrs>().dimensions, inst.shape())});
}
Instruction* NormalSlice(Maker& make, const Instruction& inst) {
  return Remade(make, inst, SliceAttrs{InMemoryOrder(inst.attr<SliceAttrs>().slice, inst.shape())});
}
Instruction* NormalPad(Maker& make, const Instruction& inst) {
  return Remade(make, inst, PadAttrs{InMemoryOrder(inst.attr<PadAttrs>().padding, inst.shape())});
}

/// Dynamic slices and updates with scalar indices, the last `rank` operands.
Instruction* NormalIndexed(Maker& make, const Instruction& inst, int64_t arrays, Attrs attrs) {
  const int64_t rank = inst.shape().rank();
  if (inst.operand_count() != arrays + rank || inst.operand(arrays)->shape().rank() != 0) return nullptr;
  llvm::SmallVector<Instruction*, 6> operands;
  for (int64_t i = 0; i < arrays; ++i) operands.push_back(ToNormal(make, inst.operand(i)));
  for (const int64_t d : MemoryOrder(inst.shape())) operands.push_back(inst.operand(arrays + d));
  return make.AddWithShape(inst.kind(), Normal(inst.shape()), operands, std::move(attrs));
}
Instruction* NormalDynamicSlice(Maker& make, const Instruction& inst) {
  const Dims& sizes = inst.attr<DynamicSliceAttrs>().dynamic_slice_sizes;
  return NormalIndexed(make, inst, 1, DynamicSliceAttrs{InMemoryOrder(sizes, inst.shape())});
}
Instruction* NormalDynamicUpdateSlice(Maker& make, const Instruction& inst) {
  return NormalIndexed(make, inst, 2, inst.attrs());
}

bool IsSorted(llvm::ArrayRef<int64_t> dims) { return std::is_sorted(dims.begin(), dims.end()); }

Instruction* NormalReduce(Maker& make, const Instruction& inst) {
  const Shape& shape = inst.operand(0)->shape();
  const Dims kept = OrderWithout(shape, inst.attr<ReduceAttrs>().dimensions);
  for (int64_t i = 0; i < inst.operand_count() / 2; ++i)
    if (!SameOrder(inst.operand(i)->shape(), shape) ||
        kept != MemoryOrder(ResultShapes(inst.shape())[static_cast<size_t>(i)]))
      return nullptr;
  Dims places = AsPlaces(ReducedDims(inst), shape);
  // A reducer that is no known operation takes elements in the order of the dimensions' numbers.
  const bool may_reorder = inst.operand_count() == 2 && ReducerOp(*inst.callee());
  if (!may_reorder && !IsSorted(places)) return nullptr;
  llvm::sort(places);
  return Remade(make, inst, ReduceAttrs{places});
}

/// Dimensions along which windows have more than one element keep their order.
bool KeepsOrderInWindows(const Instruction& inst, const Window& window) {
  Dims extended = MemoryOrder(inst.operand(0)->shape());
  llvm::erase_if(extended, [&](int64_t d) { return window.dims[static_cast<size_t>(d)].size == 1; });
  return IsSorted(extended);
}
Instruction* NormalReduceWindow(Maker& make, const Instruction& inst) {
  const Window& window = inst.attr<ReduceWindowAttrs>().window;
  const bool may_reorder = inst.operand_count() == 2 && ReducerOp(*inst.callee());
  if (!may_reorder && !KeepsOrderInWindows(inst, window)) return nullptr;
  return Remade(make, inst, ReduceWindowAttrs{{InMemoryOrder(window.dims, inst.operand(0)->shape())}});
}
/// Of equal elements of a window the first is selected.
Instruction* NormalSelectAndScatter(Maker& make, const Instruction& inst) {
  const Window& window = inst.attr<SelectAndScatterAttrs>().window;
  if (!KeepsOrderInWindows(inst, window)) return nullptr;
  return Remade(make, inst, SelectAndScatterAttrs{{InMemoryOrder(window.dims, inst.shape())}});
}

Instruction* NormalSort(Maker& make, const Instruction& inst) {
  SortAttrs a = inst.attr<SortAttrs>();
  a.dimensions = AsPlaces(a.dimensions, inst.operand(0)->shape());
  return Remade(make, inst, std::move(a));
}

/// Of equal widths as other elementwise operations; otherwise the dimension that comes or goes has to be the
/// fastest, and all others have to lie in the same order.
Instruction* NormalBitcastConvert(Maker& make, const Instruction& inst) {
  Dims from = MemoryOrder(inst.operand(0)->shape()), to = MemoryOrder(inst.shape());
  if (from.size() > to.size() && from.back() == static_cast<int64_t>(to.size())) from.pop_back();
  if (to.size() > from.size() && to.back() == static_cast<int64_t>(from.size())) to.pop_back();
  return from == to ? Remade(make, inst, inst.attrs()) : nullptr;
}

Instruction* NormalConvolution(Maker& make, const Instruction& inst) {
  ConvolutionAttrs a = inst.attr<ConvolutionAttrs>();
  if (!a.dim_labels || !(a.sparsity_config == SparsityConfig())) return nullptr;
  const auto renumber = [](const Shape& shape, llvm::MutableArrayRef<int64_t> spatial,
                           std::initializer_list<int64_t*> others) {
    const Dims places = Places(shape);
    for (int64_t& d : spatial) d = places[static_cast<size_t>(d)];
    for (int64_t* d : others) *d = places[static_cast<size_t>(*d)];
  };
  ConvDimLabels& l = *a.dim_labels;
  renumber(inst.operand(0)->shape(), l.input_spatial, {&l.input_batch, &l.input_feature});
  renumber(inst.operand(1)->shape(), l.kernel_spatial, {&l.kernel_input_feature, &l.kernel_output_feature});
  renumber(inst.shape(), l.output_spatial, {&l.output_batch, &l.output_feature});
  return Remade(make, inst, std::move(a));
}

/// The result has batch, free left and free right dimensions in this order; with exchanged operands left and
/// right are exchanged.
Instruction* NormalDot(Maker& make, const Instruction& inst) {
  const auto& a = inst.attr<DotAttrs>();
  const Shape shapes[] = {inst.operand(0)->shape(), inst.operand(1)->shape()};
  const auto batch = static_cast<int64_t>(a.lhs_batch_dims.size());
  Dims free[2];  // numbers in the result as their dimensions follow in memory
  for (const int64_t side : {0, 1}) {
    const DotRoles roles = RolesOf(inst, side);
    const int64_t first = side == 0 ? batch : batch + static_cast<int64_t>(RolesOf(inst, 0).free.size());
    for (const int64_t d : OrderWithout(shapes[side], Joined({roles.batch, roles.contracting})))
      free[side].push_back(first + d);
  }
  const Dims order = MemoryOrder(inst.shape());
  // The first dimensions of the result have to be batch dimensions, or `rest` holds one and differs.
  const Dims batch_order(llvm::ArrayRef(order).take_front(static_cast<size_t>(batch)));
  const Dims rest(llvm::ArrayRef(order).drop_front(static_cast<size_t>(batch)));
  const bool exchanged = rest != Joined({free[0], free[1]});
  if (exchanged && rest != Joined({free[1], free[0]})) return nullptr;
  DotAttrs b;
  b.lhs_batch_dims = AsPlaces(Permuted(a.lhs_batch_dims, batch_order), shapes[0]);
  b.rhs_batch_dims = AsPlaces(Permuted(a.rhs_batch_dims, batch_order), shapes[1]);
  b.lhs_contracting_dims = AsPlaces(a.lhs_contracting_dims, shapes[0]);
  b.rhs_contracting_dims = AsPlaces(a.rhs_contracting_dims, shapes[1]);
  const Dims leading = Range(0, batch);
  if (IsCanonicalDot(inst) && (b.lhs_batch_dims != leading || b.rhs_batch_dims != leading)) return nullptr;
  Instruction* sides[] = {ToNormal(make, inst.operand(0)), ToNormal(make, inst.operand(1))};
  if (!exchanged) return MakeDotLike(make, inst, sides[0], sides[1], std::move(b));
  std::swap(b.lhs_batch_dims, b.rhs_batch_dims);
  std::swap(b.lhs_contracting_dims, b.rhs_contracting_dims);
  return MakeDotLike(make, inst, sides[1], sides[0], std::move(b), /*exchanged=*/true);
}

/// Batching dimensions as places, in the order of those of the operand.
void RenumberBatching(Dims& of_operand, Dims& of_indices, const Shape& operand, const Shape& indices) {
  const Dims x = AsPlaces(of_operand, operand), i = AsPlaces(of_indices, indices);
  Dims order = Range(0, static_cast<int64_t>(x.size()));
  llvm::sort(order,
             [&](int64_t a, int64_t b) { return x[static_cast<size_t>(a)] < x[static_cast<size_t>(b)]; });
  of_operand = Permuted(x, order);
  of_indices = Permuted(i, order);
}
/// Lists of dimensions that stand in ascending order.
void RenumberSorted(Dims& dims, const Shape& shape) {
  dims = AsPlaces(dims, shape);
  llvm::sort(dims);
}
int64_t IndexVectorPlace(int64_t dim, const Shape& indices) {
  return dim < indices.rank() ? AsPlaces({dim}, indices)[0] : dim;
}

/// Windows and index vectors have to follow in the same order on both sides.
Instruction* NormalGather(Maker& make, const Instruction& inst) {
  GatherAttrs a = inst.attr<GatherAttrs>();
  const Shape &x = inst.operand(0)->shape(), &indices = inst.operand(1)->shape(), &result = inst.shape();
  const Dims no_window = Joined({a.collapsed_slice_dims, a.operand_batching_dims});
  if (OrderWithout(x, no_window) != OrderWithout(result, Others(result, a.offset_dims)) ||
      OrderWithout(indices, {a.index_vector_dim}) != OrderWithout(result, a.offset_dims))
    return nullptr;
  RenumberSorted(a.offset_dims, result);
  RenumberSorted(a.collapsed_slice_dims, x);
  a.start_index_map = AsPlaces(a.start_index_map, x);
  RenumberBatching(a.operand_batching_dims, a.start_indices_batching_dims, x, indices);
  a.slice_sizes = InMemoryOrder(a.slice_sizes, x);
  a.index_vector_dim = IndexVectorPlace(a.index_vector_dim, indices);
  return Remade(make, inst, std::move(a));
}

/// Updates that are not known to commute, and sums of floats, keep the order of their index vectors.
bool MayReorderUpdates(const Instruction& scatter) {
  if (scatter.attr<ScatterAttrs>().unique_indices) return true;
  return scatter.operand_count() == 3 && IsIntegral(scatter.shape().element_type()) &&
         ReducerOp(*scatter.callee()) &&
         scatter.callee()->root()->shape().element_type() == scatter.shape().element_type();
}

Instruction* NormalScatter(Maker& make, const Instruction& inst) {
  ScatterAttrs a = inst.attr<ScatterAttrs>();
  const int64_t n = inst.operand_count() / 2;
  const Shape &x = inst.operand(0)->shape(), &indices = inst.operand(n)->shape(),
              &update = inst.operand(n + 1)->shape();
  for (int64_t i = 0; i < n; ++i)
    if (!SameOrder(inst.operand(i)->shape(), x) ||
        !SameOrder(ResultShapes(inst.shape())[static_cast<size_t>(i)], x) ||
        !SameOrder(inst.operand(n + 1 + i)->shape(), update))
      return nullptr;
  const Dims no_window = Joined({a.inserted_window_dims, a.input_batching_dims});
  const Dims scattered = OrderWithout(update, a.update_window_dims);
  if (OrderWithout(x, no_window) != OrderWithout(update, Others(update, a.update_window_dims)) ||
      OrderWithout(indices, {a.index_vector_dim}) != scattered ||
      (!IsSorted(scattered) && !MayReorderUpdates(inst)))
    return nullptr;
  RenumberSorted(a.update_window_dims, update);
  RenumberSorted(a.inserted_window_dims, x);
  a.scatter_dims_to_operand_dims = AsPlaces(a.scatter_dims_to_operand_dims, x);
  RenumberBatching(a.input_batching_dims, a.scatter_indices_batching_dims, x, indices);
  a.index_vector_dim = IndexVectorPlace(a.index_vector_dim, indices);
  return Remade(make, inst, std::move(a));
}

/// What operands an opcode may have in a layout that differs from the result's.
enum class Orders : uint8_t { Equal, Any };
struct Normalization {
  OpKind kind;
  NormalFn make;
  Orders orders;
};
constexpr Normalization kNormalizations[] = {
    {OpKind::BitcastConvert, NormalBitcastConvert, Orders::Any},
    {OpKind::Broadcast, NormalBroadcast, Orders::Any},
    {OpKind::Concatenate, NormalAlongDims, Orders::Equal},
    {OpKind::Convolution, NormalConvolution, Orders::Any},
    {OpKind::Copy, NormalCopy, Orders::Any},
    {OpKind::Dot, NormalDot, Orders::Any},
    {OpKind::DynamicSlice, NormalDynamicSlice, Orders::Equal},
    {OpKind::DynamicUpdateSlice, NormalDynamicUpdateSlice, Orders::Equal},
    {OpKind::Gather, NormalGather, Orders::Any},
    {OpKind::Iota, NormalIota, Orders::Equal},
    {OpKind::Pad, NormalPad, Orders::Equal},
    {OpKind::Reduce, NormalReduce, Orders::Any},
    {OpKind::ReduceWindow, NormalReduceWindow, Orders::Equal},
    {OpKind::Reshape, NormalReshape, Orders::Any},
    {OpKind::Reverse, NormalAlongDims, Orders::Equal},
    {OpKind::Scatter, NormalScatter, Orders::Any},
    {OpKind::SelectAndScatter, NormalSelectAndScatter, Orders::Equal},
    {OpKind::Slice, NormalSlice, Orders::Equal},
    {OpKind::Sort, NormalSort, Orders::Equal},
    {OpKind::Transpose, NormalTranspose, Orders::Any},
};
constexpr Normalization kElementwiseOp = {OpKind::Map, NormalElementwise, Orders::Equal};

/// Null for opcodes that are left alone.
const Normalization* NormalizationOf(const Instruction& inst) {
  const Normalization* row =
      llvm::find_if(kNormalizations, [&](const Normalization& n) { return n.kind == inst.kind(); });
  if (row != std::end(kNormalizations)) return row;
  return inst.info().Is(kElementwise) && inst.kind() != OpKind::Map ? &kElementwiseOp : nullptr;
}

bool IsNormal(const Shape& shape) { return shape.layout().IsDescending(); }

/// Something is not in normal form, and everything is clear.
bool MayNormalize(const Instruction& inst, const Normalization& row) {
  if (inst.extras().sharding || HasControlEdges(inst) || !HasPlainArrays(inst)) return false;
  llvm::SmallVector<const Shape*, 6> shapes;
  for (const Shape& shape : ResultShapes(inst.shape())) shapes.push_back(&shape);
  for (const Instruction* o : inst.operands()) shapes.push_back(&o->shape());
  const Shape& first = *shapes.front();
  const auto agrees = [&](const Shape* s) {
    return (s->rank() == 0 && first.rank() != 0) || SameOrder(*s, first);
  };
  return (row.orders == Orders::Any || llvm::all_of(shapes, agrees)) &&
         !llvm::all_of(shapes, [](const Shape* s) { return IsNormal(*s); });
}

bool ReordersFloatSum(const Instruction& inst) {
  return (inst.kind() == OpKind::Reduce || inst.kind() == OpKind::ReduceWindow ||
          inst.kind() == OpKind::Convolution || inst.kind() == OpKind::Dot) &&
         inst.shape().IsArray() && !IsIntegral(inst.shape().element_type());
}

Result<bool> RunLayoutNormalization(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    HLO_CHECK_OK(context.CheckInterrupt());
    const auto is_normal = [](const Instruction* i) {
      return !i->shape().IsArray() || !i->shape().has_layout() || IsNormal(i->shape());
    };
    if (llvm::all_of(c->instructions(), is_normal)) continue;
    llvm::SmallPtrSet<const Instruction*, 4> tuples;  // of bitcasts back
    // Operands come first: bitcasts back meet the bitcasts of users, and what dies has been visited.
    for (const std::vector<Instruction*> order = c->PostOrder(); Instruction * inst : order) {
      if (inst->kind() == OpKind::GetTupleElement && tuples.contains(inst->operand(0))) {
        ReplaceAndRemove(inst, inst->operand(0)->operand(inst->attr<GetTupleElementAttrs>().index));
        continue;
      }
      const Normalization* row = NormalizationOf(*inst);
      if (!row || !MayNormalize(*inst, *row)) continue;
      if (context.policy().strict_fp && ReordersFloatSum(*inst)) continue;
      if (!context.TakeRewrite()) return changed;
      Maker make(inst);
      Instruction* normal = row->make(make, *inst);
      if (!normal) continue;
      changed = true;
      Instruction* back = BitcastTo(make, normal, inst->shape());
      if (back->kind() == OpKind::Tuple) tuples.insert(back);
      ReplaceAndRemove(inst, back);
    }
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(LayoutNormalization, NoPassOptions);

}  // namespace hlo
