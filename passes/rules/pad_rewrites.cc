#include "passes/rules/slice_rewrites.h"

namespace hlo {

Instruction* PadOfNothing(Match& m) {
  if (m.root->operand(0)->shape().ElementCount() != 0) return nullptr;
  return m.make.Splat(m.shape(), m.root->operand(1));
}

Instruction* PadWithoutHoles(Match& m) {
  Instruction* x = m.root->operand(0);
  Padding padding = m.root->attr<PadAttrs>().padding;
  bool changed = false;
  for (int64_t d = 0; d < m.shape().rank(); ++d) {
    if (x->shape().dim(d) > 1 || padding[At(d)].interior == 0) continue;
    padding[At(d)].interior = 0;
    changed = true;
  }
  return changed ? m.make.Pad(x, m.root->operand(1), padding) : nullptr;
}

Instruction* PadOfBroadcast(Match& m) {
  Instruction* broadcast = m.root->operand(0);
  const Dims& from = Dimensions(*broadcast);
  Dims padded, place(At(m.shape().rank()), -1);
  Padding padding;
  for (int64_t d = 0; d < m.shape().rank(); ++d) {
    const PaddingDim& p = m.root->attr<PadAttrs>().padding[At(d)];
    if (p == PaddingDim()) continue;
    place[At(d)] = static_cast<int64_t>(padded.size());
    padded.push_back(d);
    padding.push_back(p);
  }
  if (static_cast<int64_t>(padded.size()) == m.shape().rank() ||
      llvm::any_of(from, [&](int64_t d) { return place[At(d)] < 0; }))
    return nullptr;
  const Shape narrow = Resized(m.shape(), Permuted(broadcast->shape().dims(), padded));
  Instruction* x = broadcast->operand(0);
  if (from != padded) x = m.make.Broadcast(x, narrow, Permuted(place, from));
  return m.make.Broadcast(m.make.Pad(x, m.root->operand(1), padding), m.shape(), padded);
}

Instruction* PadWithoutNegative(Match& m) {
  Instruction* x = m.root->operand(0);
  Padding padding = m.root->attr<PadAttrs>().padding;
  SliceRanges cut;
  bool grows = false;
  for (int64_t d = 0; d < m.shape().rank(); ++d) {
    PaddingDim& p = padding[At(d)];
    const int64_t start = std::max<int64_t>(-p.low, 0);
    cut.push_back({start, start + m.shape().dim(d), 1});
    p.low = std::max<int64_t>(p.low, 0);
    p.high = std::max<int64_t>(p.high, 0);
    grows |= p != PaddingDim();
  }
  if (padding == m.root->attr<PadAttrs>().padding) return nullptr;
  return m.make.Slice(grows ? m.make.Pad(x, m.root->operand(1), padding) : x, cut);
}

}  // namespace hlo
