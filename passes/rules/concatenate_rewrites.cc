#include "passes/rules/slice_rewrites.h"

namespace hlo {
namespace {

int64_t Along(const Instruction& concatenate) { return Dimensions(concatenate)[0]; }

/// `b` begins in dimension d where `a` ends, both unstrided slices of one value that agree elsewhere.
bool Continues(const Instruction& a, const Instruction& b, int64_t d) {
  if (a.kind() != OpKind::Slice || b.kind() != OpKind::Slice || a.operand(0) != b.operand(0) ||
      !IsUnstrided(a) || !IsUnstrided(b))
    return false;
  const SliceRanges &ra = a.attr<SliceAttrs>().slice, &rb = b.attr<SliceAttrs>().slice;
  for (size_t i = 0; i < ra.size(); ++i)
    if (static_cast<int64_t>(i) == d ? ra[i].limit != rb[i].start : ra[i] != rb[i]) return false;
  return true;
}

/// One slice in the place of adjacent ones.
Instruction* JoinSlices(Match& m, llvm::ArrayRef<Instruction*> run, int64_t d) {
  if (run.size() == 1) return run.front();
  SliceRanges ranges = run.front()->attr<SliceAttrs>().slice;
  ranges[At(d)].limit = run.back()->attr<SliceAttrs>().slice[At(d)].limit;
  return m.make.Slice(run.front()->operand(0), ranges);
}

Instruction* ConcatenateAll(Match& m, llvm::ArrayRef<Instruction*> operands, int64_t d) {
  return operands.size() == 1 ? operands.front() : m.make.Concatenate(operands, d);
}

}  // namespace

Instruction* ConcatenateOne(Match& m) { return m.root->operand(0); }

Instruction* ConcatenateWithoutEmpty(Match& m) {
  llvm::SmallVector<Instruction*, 8> kept;
  for (Instruction* o : m.root->operands())
    if (o->shape().ElementCount() != 0) kept.push_back(o);
  if (kept.empty() || kept.size() == m.root->operands().size()) return nullptr;
  return ConcatenateAll(m, kept, Along(*m.root));
}

Instruction* FlattenConcatenate(Match& m) {
  llvm::SmallVector<Instruction*, 8> flat;
  for (Instruction* o : m.root->operands()) {
    // A concatenation with other users would be done twice.
    if (o->kind() == OpKind::Concatenate && !o->IsRoot() && o->users().size() == 1 &&
        Along(*o) == Along(*m.root))
      flat.append(o->operands().begin(), o->operands().end());
    else
      flat.push_back(o);
  }
  return flat.size() == m.root->operands().size() ? nullptr : m.make.Concatenate(flat, Along(*m.root));
}

Instruction* JoinAdjacentSlices(Match& m) {
  const int64_t d = Along(*m.root);
  const llvm::ArrayRef<Instruction*> all = m.root->operands();
  auto continues = [&](size_t i) { return Continues(*all[i - 1], *all[i], d); };
  llvm::SmallVector<size_t, 8> starts = {0};
  for (size_t i = 1; i < all.size(); ++i)
    if (!continues(i)) starts.push_back(i);
  if (starts.size() == all.size()) return nullptr;
  llvm::SmallVector<Instruction*, 8> joined;
  for (size_t k = 0; k < starts.size(); ++k) {
    const size_t end = k + 1 < starts.size() ? starts[k + 1] : all.size();
    joined.push_back(JoinSlices(m, all.slice(starts[k], end - starts[k]), d));
  }
  return ConcatenateAll(m, joined, d);
}

Instruction* ConcatenateWithSplat(Match& m) {
  Instruction *a = m.root->operand(0), *b = m.root->operand(1);
  auto is_splat = [](const Instruction* i) {
    return i->kind() == OpKind::Broadcast && i->operand(0)->shape().rank() == 0;
  };
  if (is_splat(a) == is_splat(b)) return nullptr;
  Instruction* splat = is_splat(a) ? a : b;
  if (splat->shape().element_type() != m.type() || (splat == a ? b : a)->shape().element_type() != m.type())
    return nullptr;
  Padding padding(At(m.shape().rank()));
  const int64_t d = Along(*m.root), size = splat->shape().dim(d);
  (splat == a ? padding[At(d)].low : padding[At(d)].high) = size;
  return m.make.Pad(splat == a ? b : a, splat->operand(0), padding);
}

Instruction* ConcatenateCopies(Match& m) {
  Instruction* x = m.root->operand(0);
  const int64_t d = Along(*m.root);
  if (m.root->operand_count() == 1 || x->shape().dim(d) != 1 || !llvm::all_equal(m.root->operands()))
    return nullptr;
  Dims rest(x->shape().dims()), dims;
  rest.erase(rest.begin() + d);
  for (int64_t i = 0; i < m.shape().rank(); ++i)
    if (i != d) dims.push_back(i);
  return m.make.Broadcast(m.make.Reshape(x, rest), m.shape(), dims);
}

Instruction* ConcatenateSplats(Match& m) {
  Instruction* scalar = nullptr;
  for (const Instruction* o : m.root->operands()) {
    if (o->kind() != OpKind::Broadcast || !o->operand(0)->shape().IsScalar()) return nullptr;
    if (!scalar) scalar = o->operand(0);
    if (scalar != o->operand(0)) return nullptr;
  }
  return m.make.Splat(m.shape(), scalar);
}

Instruction* SliceOfConcatenate(Match& m) {
  Instruction* concatenate = m.root->operand(0);
  const int64_t d = Along(*concatenate);
  SliceRanges ranges = m.root->attr<SliceAttrs>().slice;
  // The operands that the slice meets, and where the first of them begins.
  llvm::SmallVector<Instruction*, 8> met;
  int64_t begin = 0, first = 0;
  for (Instruction* o : concatenate->operands()) {
    const int64_t end = begin + o->shape().dim(d);
    if (end > ranges[At(d)].start && begin < ranges[At(d)].limit) {
      if (met.empty()) first = begin;
      met.push_back(o);
    }
    begin = end;
  }
  if (met.empty() || met.size() == concatenate->operands().size()) return nullptr;
  if (met.size() > 1 && !HasOneUse(*concatenate)) return nullptr;
  Instruction* source = ConcatenateAll(m, met, d);
  ranges[At(d)].start -= first;
  ranges[At(d)].limit -= first;
  return SameDims(source->shape(), m.shape()) ? source : m.make.Slice(source, ranges);
}

}  // namespace hlo
