#include "passes/rules/reshape_rewrites.h"

namespace hlo {
namespace {

constexpr int64_t kMaxChunks = 5;  // slices that tr.7 makes at most

/// A dot of the form of dot_decomposer: batch dimensions first, one contracting and at most one free
/// dimension.
bool IsCanonicalDot(const DotAttrs& a, int64_t lhs_rank, int64_t rhs_rank) {
  const auto batch = static_cast<int64_t>(a.lhs_batch_dims.size());
  return IsIdentityPermutation(a.lhs_batch_dims) && IsIdentityPermutation(a.rhs_batch_dims) &&
         a.lhs_contracting_dims.size() == 1 && lhs_rank <= batch + 2 && rhs_rank <= batch + 2;
}

/// The dimension of the reshape's operand that becomes two, all others staying as they are; -1 if it does
/// else.
int64_t SplitDimension(const Shape& from, const Shape& to) {
  if (to.rank() != from.rank() + 1 || from.ElementCount() == 0) return -1;
  int64_t split = -1;
  for (const ReshapeGroup& group : ReshapeGroups(from.dims(), to.dims())) {
    if (group.IsOneToOne()) continue;
    if (group.from_end - group.from_begin != 1 || group.to_end - group.to_begin != 2 || split >= 0) return -1;
    split = group.from_begin;
  }
  return split;
}

/// The scatter has the form of scatter_simplifier: one operand, whole windows behind one scatter dimension.
bool IsSimplifiedScatter(const Instruction& scatter) {
  const auto& a = scatter.attr<ScatterAttrs>();
  const int64_t rank = scatter.operand(0)->shape().rank();
  if (!a.inserted_window_dims.empty() || !a.input_batching_dims.empty() || a.index_vector_dim != 1 ||
      scatter.operand(1)->shape().rank() != 2 || static_cast<int64_t>(a.update_window_dims.size()) != rank)
    return false;
  for (int64_t d = 0; d < rank; ++d)
    if (a.update_window_dims[At(d)] != d + 1) return false;
  return true;
}

}  // namespace

Instruction* TransposeOfTranspose(Match& m) {
  Instruction* inner = m.root->operand(0);
  return m.make.Transpose(inner->operand(0), ComposePermutations(Dimensions(*inner), Dimensions(*m.root)));
}

Instruction* TransposeOfDot(Match& m) {
  Instruction* dot = m.root->operand(0);
  Instruction *lhs = dot->operand(0), *rhs = dot->operand(1);
  DotAttrs a = dot->attr<DotAttrs>();
  const auto batch = static_cast<int64_t>(a.lhs_batch_dims.size());
  const int64_t lhs_free = lhs->shape().rank() - batch - static_cast<int64_t>(a.lhs_contracting_dims.size());
  Dims wanted;  // batch, free dimensions of rhs, of lhs
  for (int64_t d = 0; d < m.shape().rank(); ++d) wanted.push_back(d);
  std::rotate(wanted.begin() + batch, wanted.begin() + batch + lhs_free, wanted.end());
  const bool form =
      Options(m).supports_non_canonical_dots || IsCanonicalDot(a, lhs->shape().rank(), rhs->shape().rank());
  const bool moves_parameter = Options(m).enable_move_dot_param_to_rhs && rhs->kind() == OpKind::Parameter &&
                               lhs->kind() != OpKind::Parameter;
  if (!form || moves_parameter || Dimensions(*m.root) != wanted || dot->extras().sharding) return nullptr;
  std::swap(a.lhs_batch_dims, a.rhs_batch_dims);
  std::swap(a.lhs_contracting_dims, a.rhs_contracting_dims);
  if (a.operand_precision.size() == 2) std::swap(a.operand_precision[0], a.operand_precision[1]);
  return m.make.AddWithShape(OpKind::Dot, m.shape(), {rhs, lhs}, std::move(a));
}

Instruction* TransposeToReshape(Match& m) {
  Instruction* x = m.root->operand(0);
  return MovesOnlySizeOne(x->shape().dims(), Dimensions(*m.root)) ? m.make.Reshape(x, m.shape()) : nullptr;
}

Instruction* TransposeToBitcast(Match& m) {
  Instruction* x = m.root->operand(0);
  return TransposeIsBitcast(x->shape(), m.shape(), Dimensions(*m.root)) ? m.make.Bitcast(x, m.shape())
                                                                        : nullptr;
}

Instruction* SpaceToDepth(Match& m) {
  Instruction* transpose = m.root->operand(0);
  Instruction* split = transpose->operand(0);
  Instruction* x = split->operand(0);
  const Dims& perm = Dimensions(*transpose);
  // Dimension d of x becomes chunks and what each holds; only the chunks move, to place `to`.
  const int64_t d = SplitDimension(x->shape(), split->shape());
  if (d < 0 || split->shape().dim(d) < 2 || split->shape().dim(d) > kMaxChunks) return nullptr;
  const int64_t to = llvm::find(perm, d) - perm.begin(), chunk = split->shape().dim(d + 1);
  Dims rest(perm);
  rest.erase(rest.begin() + to);
  if (to == d || to >= x->shape().rank() || !llvm::is_sorted(rest)) return nullptr;
  llvm::SmallVector<Instruction*, kMaxChunks> slices;
  for (int64_t i = 0; i < split->shape().dim(d); ++i)
    slices.push_back(m.make.SliceDim(x, d, i * chunk, (i + 1) * chunk));
  return m.make.Reshape(m.make.Concatenate(slices, to), m.shape());
}

Instruction* TransposeOfBroadcast(Match& m) {
  Instruction* broadcast = m.root->operand(0);
  const Dims dims = Permuted(InversePermutation(Dimensions(*m.root)), Dimensions(*broadcast));
  if (!llvm::is_sorted(dims)) return nullptr;
  return m.make.Broadcast(broadcast->operand(0), m.shape(), dims);
}

Instruction* TransposeOfScatter(Match& m) {
  Instruction* scatter = m.root->operand(0);
  if (!IsSimplifiedScatter(*scatter) || !m.shape().IsArray()) return nullptr;
  const Dims& perm = Dimensions(*m.root);
  Dims update_perm = {0};
  for (const int64_t d : perm) update_perm.push_back(d + 1);
  ScatterAttrs a = scatter->attr<ScatterAttrs>();
  a.scatter_dims_to_operand_dims = Permuted(InversePermutation(perm), a.scatter_dims_to_operand_dims);
  return m.make.Add(OpKind::Scatter,
                    {m.make.Transpose(scatter->operand(0), perm), scatter->operand(1),
                     m.make.Transpose(scatter->operand(2), update_perm)},
                    std::move(a), scatter->callees());
}

Instruction* ReverseOfReverse(Match& m) {
  Instruction* inner = m.root->operand(0);
  Dims dims;  // reversed once
  for (int64_t d = 0; d < m.shape().rank(); ++d)
    if (Contains(Dimensions(*m.root), d) != Contains(Dimensions(*inner), d)) dims.push_back(d);
  return dims.empty() ? inner->operand(0) : m.make.Reverse(inner->operand(0), dims);
}

Instruction* ReverseOfBinaryWithSplat(Match& m) {
  Instruction* binary = m.root->operand(0);
  auto is_splat = [](const Instruction* i) {
    return i->kind() == OpKind::Broadcast && i->operand(0)->shape().rank() == 0;
  };
  if (binary->kind() == OpKind::Compare || is_splat(binary->operand(0)) == is_splat(binary->operand(1)))
    return nullptr;
  llvm::SmallVector<Instruction*, 2> operands;
  for (Instruction* o : binary->operands())
    operands.push_back(is_splat(o) ? o : m.make.Reverse(o, Dimensions(*m.root)));
  Instruction* made = m.make.AddWithShape(binary->kind(), m.shape(), operands, binary->attrs());
  if (binary->has_extras()) made->MutableExtras().result_accuracy = binary->extras().result_accuracy;
  return made;
}

Instruction* ReverseOfInsertedOnes(Match& m) {
  Instruction* x = m.root->operand(0)->operand(0);
  const auto degenerate = AsDegenerateReshape(x->shape().dims(), m.shape().dims());
  if (!degenerate || !degenerate->deleted.empty()) return nullptr;
  Dims dims;
  for (int64_t from = 0, d = 0; d < m.shape().rank(); ++d) {
    if (Contains(degenerate->inserted, d)) continue;
    if (Contains(Dimensions(*m.root), d)) dims.push_back(from);
    ++from;
  }
  return m.make.Reshape(dims.empty() ? x : m.make.Reverse(x, dims), m.shape());
}

}  // namespace hlo
