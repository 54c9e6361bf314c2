// Sums of scatters that add (passes.md §3.1, add.8–10).
#include "passes/rules/arithmetic_rewrites.h"

namespace hlo {
namespace {

using namespace pattern;

/// One operand, combined by addition of the parameters.
bool AddsUpdates(const Instruction& scatter) {
  if (scatter.operand_count() != 3) return false;
  const Computation& by = *scatter.callee();
  return by.root()->kind() == OpKind::Add && by.instruction_count() == 3 &&
         by.root()->operand(0) != by.root()->operand(1);
}

/// The scatter with another operand, its indices and updates.
Instruction* ScatterInto(Match& m, Instruction* scatter, Instruction* operand) {
  return m.make.AddWithShape(OpKind::Scatter, m.shape(), {operand, scatter->operand(1), scatter->operand(2)},
                             scatter->attrs(), scatter->callees());
}

bool UpdatesFit(const Match& m) {
  const int64_t updates = m[A]->operand(2)->shape().ElementCount() + m[B]->operand(2)->shape().ElementCount();
  return updates < m.shape().ElementCount();
}

/// Updates and indices of the same form, so that they can stand behind one another: the dimension of the
/// indices and that of the updates in which they may differ; nothing if there are several or none.
std::optional<std::pair<int64_t, int64_t>> JoiningDims(const Instruction& a, const Instruction& b) {
  const auto& attrs = a.attr<ScatterAttrs>();
  if (a.attrs() != b.attrs() || attrs.unique_indices || attrs.indices_are_sorted ||
      !attrs.scatter_indices_batching_dims.empty())
    return std::nullopt;
  const Shape &ai = a.operand(1)->shape(), &bi = b.operand(1)->shape();
  const Shape &au = a.operand(2)->shape(), &bu = b.operand(2)->shape();
  if (ai.element_type() != bi.element_type() || ai.rank() != bi.rank() || au.rank() != bu.rank())
    return std::nullopt;
  for (const int64_t d : attrs.update_window_dims)
    if (au.dim(d) != bu.dim(d)) return std::nullopt;
  llvm::SmallVector<int64_t, 4> update_dims;  // of the updates, that are no window dimensions
  for (int64_t d = 0; d < au.rank(); ++d)
    if (!llvm::is_contained(attrs.update_window_dims, d)) update_dims.push_back(d);
  std::optional<std::pair<int64_t, int64_t>> found;
  size_t position = 0;  // among the update dimensions
  for (int64_t d = 0; d < ai.rank(); ++d) {
    if (d == attrs.index_vector_dim) {
      if (ai.dim(d) != bi.dim(d)) return std::nullopt;
      continue;
    }
    const int64_t update_dim = update_dims[position++];
    if (ai.dim(d) == bi.dim(d) && found) continue;
    if (ai.dim(d) != bi.dim(d) && found && ai.dim(found->first) != bi.dim(found->first)) return std::nullopt;
    found = {d, update_dim};
  }
  return found;
}

}  // namespace

Instruction* MergeScatters(Match& m) {
  Instruction *a = m[A], *b = m[B];
  if (a == b || !AddsUpdates(*a) || !AddsUpdates(*b) || !UpdatesFit(m)) return nullptr;
  const auto dims = JoiningDims(*a, *b);
  if (!dims) return nullptr;
  Instruction* operand = m.make.Binary(OpKind::Add, a->operand(0), b->operand(0));
  Instruction* indices = m.make.Concatenate({a->operand(1), b->operand(1)}, dims->first);
  Instruction* updates = m.make.Concatenate({a->operand(2), b->operand(2)}, dims->second);
  return m.make.AddWithShape(OpKind::Scatter, m.shape(), {operand, indices, updates}, a->attrs(),
                             a->callees());
}

Instruction* NestScatters(Match& m) {
  Instruction *a = m[A], *b = m[B];
  if (a == b || !AddsUpdates(*a) || !AddsUpdates(*b) || !UpdatesFit(m)) return nullptr;
  Instruction* operand = m.make.Binary(OpKind::Add, a->operand(0), b->operand(0));
  return ScatterInto(m, a, ScatterInto(m, b, operand));
}

Instruction* AddToScattered(Match& m) {
  Instruction* a = m[A];
  if (a == m[B] || !AddsUpdates(*a)) return nullptr;
  return ScatterInto(m, a, m.make.Binary(OpKind::Add, a->operand(0), m[B]));
}

}  // namespace hlo
