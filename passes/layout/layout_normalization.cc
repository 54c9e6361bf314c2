// layout_normalization: dimensions in the order in which they lie in memory (passes.md §2.1).
//
// Requires nothing. Preserves flat-calls, layouts, canonical-dots, fusions.
// Changes: elementwise instructions and data movement on arrays with other than descending layouts work on
// bitcasts of them, whose dimensions stand in memory order; their result is a bitcast back. Copies that
// change the layout become transposes, reshapes that move no data bitcasts. Dimensions of size 1 stay. Left
// alone: other opcodes, operands of different layouts, layouts with properties, shardings, dynamic shapes;
// with strict-fp also reductions of floats whose order would change.
#include "passes/analysis/reducers.h"
#include "passes/analysis/reshape_facts.h"
#include "passes/pass.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/edit.h"

namespace hlo {
namespace {

bool IsPlain(const Shape& shape) {
  return shape.IsArray() && shape.has_layout() && !shape.layout().HasProperties() &&
         !shape.HasDynamicDimension();
}

/// The logical dimensions in memory order, the slowest first.
Dims MemoryOrder(const Shape& shape) { return Dims(llvm::reverse(shape.layout().minor_to_major)); }
/// For each logical dimension its place in memory order.
Dims Places(const Shape& shape) { return InversePermutation(MemoryOrder(shape)); }
bool SameOrder(const Shape& a, const Shape& b) {
  return a.layout().minor_to_major == b.layout().minor_to_major;
}

/// The array as it lies in memory, dimensions in that order.
Shape Normal(const Shape& shape) {
  return Shape::ArrayWithDefaultLayout(shape.element_type(), Permuted(shape.dims(), MemoryOrder(shape)));
}
Instruction* ToNormal(Maker& make, Instruction* x) {
  const Shape normal = Normal(x->shape());
  if (x->shape() == normal) return x;
  if (x->kind() == OpKind::Bitcast && x->operand(0)->shape() == normal) return x->operand(0);
  return make.Bitcast(x, normal);
}

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
  return make.AddWithShape(inst.kind(), Normal(inst.shape()), operands, std::move(attrs), inst.callees());
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

Instruction* NormalReduce(Maker& make, const Instruction& inst) {
  const Dims& reduced = inst.attr<ReduceAttrs>().dimensions;
  const Shape& shape = inst.operand(0)->shape();
  Dims kept;  // dimensions of the result in the memory order of the operand
  for (const int64_t d : MemoryOrder(shape))
    if (!llvm::is_contained(reduced, d))
      kept.push_back(d - llvm::count_if(reduced, [&](int64_t r) { return r < d; }));
  if (kept != MemoryOrder(inst.shape())) return nullptr;
  Dims places = AsPlaces(ReducedDims(inst), shape);
  // A reducer that is no known operation takes elements in the order of the dimensions' numbers.
  const bool may_reorder = inst.operand_count() == 2 && ReducerOp(*inst.callee());
  if (!may_reorder && !llvm::is_sorted(places)) return nullptr;
  llvm::sort(places);
  return Remade(make, inst, ReduceAttrs{places});
}
Instruction* NormalReduceWindow(Maker& make, const Instruction& inst) {
  return Remade(make, inst,
                ReduceWindowAttrs{{InMemoryOrder(inst.attr<ReduceWindowAttrs>().window.dims, inst.shape())}});
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

bool IsSorted(llvm::ArrayRef<int64_t> dims) { return std::is_sorted(dims.begin(), dims.end()); }

/// Of one array, where the numbers of dimensions keep the orders that a scatter demands.
Instruction* NormalScatter(Maker& make, const Instruction& inst) {
  ScatterAttrs a = inst.attr<ScatterAttrs>();
  if (inst.operand_count() != 3 || !a.input_batching_dims.empty()) return nullptr;
  const Shape &x = inst.operand(0)->shape(), &indices = inst.operand(1)->shape(),
              &update = inst.operand(2)->shape();
  if (!SameOrder(x, inst.shape())) return nullptr;
  // Dimensions of windows and of indices as they follow in memory, in the numbers of the other side.
  Dims window_in_memory, window_of_update, scattered, index_order;
  for (const int64_t d : MemoryOrder(x))
    if (!llvm::is_contained(a.inserted_window_dims, d))
      window_in_memory.push_back(d -
                                 llvm::count_if(a.inserted_window_dims, [&](int64_t i) { return i < d; }));
  for (const int64_t d : MemoryOrder(update))
    if (const auto* at = llvm::find(a.update_window_dims, d); at != a.update_window_dims.end())
      window_of_update.push_back(at - a.update_window_dims.begin());
    else
      scattered.push_back(d);
  for (const int64_t d : MemoryOrder(indices))
    if (d != a.index_vector_dim) index_order.push_back(d);
  if (window_in_memory != window_of_update || !IsSorted(scattered) || !IsSorted(index_order)) return nullptr;
  for (Dims* dims : {&a.inserted_window_dims, &a.scatter_dims_to_operand_dims}) *dims = AsPlaces(*dims, x);
  llvm::sort(a.inserted_window_dims);
  a.update_window_dims = AsPlaces(a.update_window_dims, update);
  llvm::sort(a.update_window_dims);
  if (a.index_vector_dim < indices.rank()) a.index_vector_dim = AsPlaces({a.index_vector_dim}, indices)[0];
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
    {OpKind::DynamicSlice, NormalDynamicSlice, Orders::Equal},
    {OpKind::DynamicUpdateSlice, NormalDynamicUpdateSlice, Orders::Equal},
    {OpKind::Iota, NormalIota, Orders::Equal},
    {OpKind::Pad, NormalPad, Orders::Equal},
    {OpKind::Reduce, NormalReduce, Orders::Any},
    {OpKind::ReduceWindow, NormalReduceWindow, Orders::Equal},
    {OpKind::Reshape, NormalReshape, Orders::Any},
    {OpKind::Reverse, NormalAlongDims, Orders::Equal},
    {OpKind::Scatter, NormalScatter, Orders::Any},
    {OpKind::Slice, NormalSlice, Orders::Equal},
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
  if (!IsPlain(inst.shape()) || inst.extras().sharding) return false;
  bool normal = IsNormal(inst.shape());
  for (const Instruction* o : inst.operands()) {
    if (!IsPlain(o->shape())) return false;
    normal = normal && IsNormal(o->shape());
    const bool scalar = o->shape().rank() == 0 && inst.shape().rank() != 0;
    if (row.orders == Orders::Equal && !scalar && !SameOrder(o->shape(), inst.shape())) return false;
  }
  return !normal;
}

bool ReordersFloatSum(const Instruction& inst) {
  return (inst.kind() == OpKind::Reduce || inst.kind() == OpKind::ReduceWindow ||
          inst.kind() == OpKind::Convolution) &&
         !IsIntegral(inst.shape().element_type());
}

Result<bool> RunLayoutNormalization(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    HLO_CHECK_OK(context.CheckInterrupt());
    const auto is_normal = [](const Instruction* i) {
      return !i->shape().IsArray() || !i->shape().has_layout() || IsNormal(i->shape());
    };
    if (llvm::all_of(c->instructions(), is_normal)) continue;
    // Operands come first: bitcasts back meet the bitcasts of users, and what dies has been visited.
    for (const std::vector<Instruction*> order = c->PostOrder(); Instruction * inst : order) {
      const Normalization* row = NormalizationOf(*inst);
      if (!row || !MayNormalize(*inst, *row)) continue;
      if (context.policy().strict_fp && ReordersFloatSum(*inst)) continue;
      if (!context.TakeRewrite()) return changed;
      Maker make(inst);
      Instruction* normal = row->make(make, *inst);
      if (!normal) continue;
      changed = true;
      ReplaceAndRemove(inst, inst->shape() == normal->shape() ? normal : make.Bitcast(normal, inst->shape()));
    }
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(LayoutNormalization, NoPassOptions);

}  // namespace hlo
