#include "passes/analysis/reducers.h"
#include "passes/analysis/value_facts.h"
#include "passes/rewrite/index_matrix.h"
#include "passes/rules/slice_rewrites.h"

namespace hlo {
namespace {

/// Dimensions of a gather's result that stand for dimensions of its indices, in order.
Dims BatchDims(const Instruction& gather) {
  Dims dims;
  for (int64_t d = 0; d < gather.shape().rank(); ++d)
    if (!Contains(gather.attr<GatherAttrs>().offset_dims, d)) dims.push_back(d);
  return dims;
}

/// The result dimension that is all of operand dimension d whatever the indices; -1 if there is none.
int64_t PassThroughDim(const Instruction& gather, int64_t d) {
  const auto& a = gather.attr<GatherAttrs>();
  auto is_window = [&](int64_t k) {
    return !Contains(a.collapsed_slice_dims, k) && !Contains(a.operand_batching_dims, k);
  };
  if (!is_window(d) || a.slice_sizes[At(d)] != gather.operand(0)->shape().dim(d)) return -1;
  int64_t windows = 0;
  for (int64_t k = 0; k < d; ++k) windows += is_window(k);
  return a.offset_dims[At(windows)];
}

/// A batching dimension of the operand and its partner of the indices, padded alike: the result dimension.
int64_t BatchingDimPaddedAlike(const Instruction& gather, int64_t d, const PaddingDim& p) {
  const auto& a = gather.attr<GatherAttrs>();
  const auto* at = llvm::find(a.operand_batching_dims, d);
  const Instruction* indices = gather.operand(1);
  if (at == a.operand_batching_dims.end() || indices->kind() != OpKind::Pad) return -1;
  const int64_t partner = a.start_indices_batching_dims[At(at - a.operand_batching_dims.begin())];
  if (indices->attr<PadAttrs>().padding[At(partner)] != p) return -1;
  return BatchDims(gather)[At(partner - (a.index_vector_dim < partner ? 1 : 0))];
}

/// gather(pad(x, value)) as pad(gather(x), value), where `padding` is that of the gather's operand.
Instruction* GatherThenPad(Match& m, Instruction* x, Instruction* value, llvm::ArrayRef<PaddingDim> padding) {
  Instruction* indices = m.root->operand(1);
  GatherAttrs a = m.root->attr<GatherAttrs>();
  Padding result(At(m.shape().rank()));
  int64_t batching = 0;
  for (int64_t d = 0; d < x->shape().rank(); ++d) {
    const PaddingDim& p = padding[At(d)];
    if (p == PaddingDim()) continue;
    if (p.low < 0 || p.high < 0) return nullptr;
    int64_t to = PassThroughDim(*m.root, d);
    if (to >= 0) {
      a.slice_sizes[At(d)] = x->shape().dim(d);
    } else {
      to = BatchingDimPaddedAlike(*m.root, d, p);
      if (to < 0) return nullptr;
      ++batching;
    }
    result[At(to)] = p;
  }
  if (batching > 0) {
    const auto padded = llvm::count_if(indices->attr<PadAttrs>().padding,
                                       [](const PaddingDim& p) { return p != PaddingDim(); });
    if (padded != batching) return nullptr;
    indices = indices->operand(0);
  }
  return m.make.Pad(m.make.Add(OpKind::Gather, {x, indices}, std::move(a)), value, result);
}

Instruction* TupleUnlessOne(Match& m, llvm::ArrayRef<Instruction*> values) {
  return values.size() == 1 && m.shape().IsArray() ? values.front() : m.make.Tuple(values);
}

/// The elements of a constant, or the one all of whose copies the instruction consists of.
const Literal* ConstantElements(const Instruction& inst) {
  const Instruction* constant = inst.kind() == OpKind::Constant ? &inst : SplatConstant(inst);
  return constant ? constant->attr<ConstantAttrs>().literal.get() : nullptr;
}

/// How many windows the updates of a scatter are.
int64_t UpdateCount(const Instruction& update, const ScatterAttrs& attrs) {
  int64_t count = 1;
  for (int64_t d = 0; d < update.shape().rank(); ++d)
    if (!Contains(attrs.update_window_dims, d)) count *= update.shape().dim(d);
  return count;
}

/// The ranges that a scatter's window covers where it starts at zero.
SliceRanges WindowAtZero(const Instruction& scatter) {
  const auto& attrs = scatter.attr<ScatterAttrs>();
  const auto* window = attrs.update_window_dims.begin();
  SliceRanges ranges;
  for (int64_t d = 0; d < scatter.shape().rank(); ++d)
    ranges.push_back(
        {0, Contains(attrs.inserted_window_dims, d) ? 1 : scatter.operand(2)->shape().dim(*window++), 1});
  return ranges;
}

}  // namespace

Instruction* GatherFromNothing(Match& m) {
  const bool nothing = m.root->operand(0)->shape().ElementCount() == 0 ||
                       llvm::is_contained(m.root->attr<GatherAttrs>().slice_sizes, 0);
  return nothing ? m.make.Full(m.shape(), 0) : nullptr;
}

Instruction* GatherFromOneElement(Match& m) {
  Instruction* x = m.root->operand(0);
  if (x->shape().ElementCount() != 1 || m.shape().ElementCount() == 0) return nullptr;
  return m.make.Splat(m.shape(), x->shape().rank() == 0 ? x : m.make.Reshape(x, Dims()));
}

Instruction* GatherToSelects(Match& m) {
  Instruction *x = m.root->operand(0), *indices = m.root->operand(1);
  const auto& a = m.root->attr<GatherAttrs>();
  constexpr int kIndexBits = 8;  // every index value can be told apart
  if (x->shape().rank() != 1 || x->shape().dim(0) > Options(m).very_small_gather_size ||
      a.slice_sizes[0] != 1 || a.start_index_map.size() != 1 || x->shape().dim(0) > 127 ||
      Info(indices->shape().element_type()).bits < kIndexBits)
    return nullptr;
  // One index per element of the result, in the same order.
  Instruction* index = m.make.Reshape(indices, m.shape().dims());
  auto element = [&](int64_t i) {
    return m.make.Splat(m.shape(), m.make.Reshape(m.make.SliceDim(x, 0, i, i + 1), Dims()));
  };
  Instruction* value = element(0);
  for (int64_t i = 1; i < x->shape().dim(0); ++i) {
    Instruction* bound = m.make.Splat(index->shape(), m.make.ScalarInt(index->shape().element_type(), i));
    value = m.make.Select(m.make.Compare(Direction::GE, index, bound), element(i), value);
  }
  return value;
}

Instruction* GatherOfPad(Match& m) {
  const Instruction* pad = m.root->operand(0);
  return GatherThenPad(m, pad->operand(0), pad->operand(1), pad->attr<PadAttrs>().padding);
}

Instruction* GatherOfReshapedPad(Match& m) {
  const Shape& reshaped = m.root->operand(0)->shape();
  const Instruction* pad = m.root->operand(0)->operand(0);
  Instruction* x = pad->operand(0);
  const Dims targets = UnmodifiedTargets(pad->shape().dims(), reshaped.dims());
  Dims sizes(reshaped.dims());
  Padding padding(At(reshaped.rank()));
  for (int64_t d = 0; d < x->shape().rank(); ++d) {
    const PaddingDim& p = pad->attr<PadAttrs>().padding[At(d)];
    if (p == PaddingDim()) continue;
    if (targets[At(d)] < 0) return nullptr;
    sizes[At(targets[At(d)])] = x->shape().dim(d);
    padding[At(targets[At(d)])] = p;
  }
  Instruction* y = FreeReshape(m, x, Resized(reshaped, sizes));
  return y ? GatherThenPad(m, y, pad->operand(1), padding) : nullptr;
}

Instruction* ScatterOfNothing(Match& m) {
  if (m.root->operands().back()->shape().ElementCount() != 0) return nullptr;
  return TupleUnlessOne(m, m.root->operands().take_front(m.root->operands().size() / 2));
}

Instruction* ScatterOfWholeWindow(Match& m) {
  Instruction *x = m.root->operand(0), *update = m.root->operand(2);
  const Computation* combiner = m.root->callee();
  auto has_type = [&](const Instruction* i) { return i->shape().IsScalarOf(m.type()); };
  if (!m.shape().IsArray() || m.root->operand(1)->shape().ElementCount() != 0 ||
      update->shape().ElementCount() == 0 || !SameDims(update->shape(), m.shape()) ||
      static_cast<int64_t>(m.root->attr<ScatterAttrs>().update_window_dims.size()) != m.shape().rank() ||
      !llvm::all_of(combiner->parameters(), has_type) || !has_type(combiner->root()))
    return nullptr;
  MapAttrs map;
  for (int64_t d = 0; d < m.shape().rank(); ++d) map.dimensions.push_back(d);
  return m.make.Add(OpKind::Map, {x, update}, std::move(map), m.root->callees());
}

Instruction* ScatterOfOneWindow(Match& m) {
  Instruction *x = m.root->operand(0), *update = m.root->operand(2);
  const Instruction& indices = *m.root->operand(1);
  const auto& attrs = m.root->attr<ScatterAttrs>();
  const Computation& combiner = *m.root->callee();
  const Literal* starts = ConstantElements(indices);
  const auto combine = ReducerOp(combiner);
  const bool overwrites =
      combiner.root()->kind() == OpKind::Parameter && combiner.root() != combiner.parameter(0);
  if (!m.shape().IsArray() || !starts || !(combine || overwrites) || !attrs.input_batching_dims.empty() ||
      indices.shape().ElementCount() != static_cast<int64_t>(attrs.scatter_dims_to_operand_dims.size()) ||
      update->shape().ElementCount() == 0 || !combiner.parameter(0)->shape().IsScalarOf(m.type()))
    return nullptr;
  // Indices of no numbers may still be many.
  if (indices.shape().ElementCount() == 0 && UpdateCount(*update, attrs) != 1) return nullptr;
  SliceRanges place = WindowAtZero(*m.root);
  for (size_t i = 0; i < attrs.scatter_dims_to_operand_dims.size(); ++i) {
    SliceRange& range = place[At(attrs.scatter_dims_to_operand_dims[i])];
    const double start =
        LiteralValue(*starts, std::min<int64_t>(static_cast<int64_t>(i), starts->shape().ElementCount() - 1));
    // A window that does not lie wholly inside is dropped.
    const int64_t last = m.shape().dim(attrs.scatter_dims_to_operand_dims[i]) - range.limit;
    if (!(start >= 0 && start <= static_cast<double>(last))) return x;
    range.start += static_cast<int64_t>(start);
    range.limit += static_cast<int64_t>(start);
  }
  Instruction* windows = UpdateMatrix(m.make, update, attrs, m.shape().rank());
  Instruction* window = m.make.Reshape(windows, windows->shape().dims().drop_front());
  if (combine) window = m.make.Binary(*combine, m.make.Slice(x, place), window);
  llvm::SmallVector<Instruction*, 4> indexes;
  // Indices are clamped in their own type, which must hold the sizes.
  const bool large = llvm::any_of(m.shape().dims(), [](int64_t size) { return size > INT32_MAX; });
  for (const SliceRange& range : place)
    indexes.push_back(m.make.ScalarInt(large ? ElementType::S64 : ElementType::S32, range.start));
  return m.make.DynamicUpdateSlice(x, window, indexes);
}

Instruction* SortOfNothing(Match& m) {
  const Shape& x = m.root->operand(0)->shape();
  if (x.ElementCount() != 0 && x.dim(m.root->attr<SortAttrs>().dimensions[0]) > 1) return nullptr;
  return TupleUnlessOne(m, m.root->operands());
}

}  // namespace hlo
