#include "passes/rules/reshape_rewrites.h"

namespace hlo {
namespace {

/// The broadcast operand that is no scalar, if any; all such operands must be alike.
const Instruction* WidestBroadcast(const Instruction& f) {
  for (const Instruction* o : f.operands())
    if (o->kind() == OpKind::Broadcast && o->operand(0)->shape().rank() > 0) return o;
  return nullptr;
}

}  // namespace

bool SameMemory(const Match& m) {
  auto space = [](const Shape& s) { return s.IsArray() && s.has_layout() ? s.layout().memory_space : 0; };
  return m.shape().IsArray() && llvm::all_of(m.root->operands(), [&](const Instruction* o) {
           return space(o->shape()) == space(m.shape());
         });
}

Instruction* FreeReshape(Match& m, Instruction* x, const Shape& shape) {
  if (m.layout_sensitive && !ReshapeIsBitcast(x->shape(), shape)) return nullptr;
  return m.make.Reshape(x, shape);
}

Instruction* BroadcastToReshape(Match& m) {
  Instruction* x = m.root->operand(0);
  if (x->shape().ElementCount() != m.shape().ElementCount() || !llvm::is_sorted(Dimensions(*m.root)))
    return nullptr;
  return FreeReshape(m, x, m.shape());
}

Instruction* BroadcastToTranspose(Match& m) {
  Instruction* x = m.root->operand(0);
  const Dims& dims = Dimensions(*m.root);
  if (x->shape().rank() != m.shape().rank() || llvm::is_sorted(dims)) return nullptr;
  return m.make.Transpose(x, InversePermutation(dims));
}

Instruction* BroadcastOfInsertedOnes(Match& m) {
  Instruction* reshape = m.root->operand(0);
  Instruction* x = reshape->operand(0);
  const auto degenerate = AsDegenerateReshape(x->shape().dims(), reshape->shape().dims());
  if (!degenerate || !degenerate->deleted.empty()) return nullptr;
  Dims dims;
  for (int64_t d = 0; d < reshape->shape().rank(); ++d)
    if (!Contains(degenerate->inserted, d)) dims.push_back(Dimensions(*m.root)[At(d)]);
  return m.make.Broadcast(x, m.shape(), dims);
}

bool AllOperandsBroadcast(const Instruction& f) {
  if (!f.shape().IsArray() || f.shape().rank() == 0) return false;
  const Instruction* widest = WidestBroadcast(f);
  return llvm::all_of(f.operands(), [&](const Instruction* o) {
    if (o->shape().IsScalar()) return true;
    if (o->kind() != OpKind::Broadcast) return false;
    return o->operand(0)->shape().rank() == 0 ||
           (Dimensions(*o) == Dimensions(*widest) &&
            SameDims(o->operand(0)->shape(), widest->operand(0)->shape()));
  });
}

Instruction* SinkBroadcasts(Match& m) {
  const Instruction* widest = WidestBroadcast(*m.root);
  const Dims sizes(widest ? widest->operand(0)->shape().dims() : llvm::ArrayRef<int64_t>());
  llvm::SmallVector<Instruction*, 3> operands;
  for (Instruction* o : m.root->operands()) {
    Instruction* x = o->kind() == OpKind::Broadcast ? o->operand(0) : o;
    // Scalar operands of select and clamp stay scalars.
    const bool splat = x->shape().rank() == 0 && o->shape().rank() != 0;
    operands.push_back(splat ? m.make.Splat(Resized(x->shape(), sizes), x) : x);
  }
  Instruction* f = m.make.AddWithShape(m.root->kind(), Resized(m.shape(), sizes), operands, m.root->attrs());
  if (m.root->has_extras()) f->MutableExtras().result_accuracy = m.root->extras().result_accuracy;
  return m.make.Broadcast(f, m.shape(), widest ? Dimensions(*widest) : Dims());
}

Instruction* MoveSplat(Match& m) {
  Instruction* x = m.root->operand(0);
  if (!m.shape().IsArray() || x->kind() != OpKind::Broadcast || x->operand(0)->shape().rank() != 0)
    return nullptr;
  return m.make.Splat(m.shape(), x->operand(0));
}

Instruction* BroadcastOfIota(Match& m) {
  const int64_t d = m.root->operand(0)->attr<IotaAttrs>().iota_dimension;
  return m.make.Iota(m.shape(), Dimensions(*m.root)[At(d)]);
}

Instruction* BroadcastOfBroadcast(Match& m) {
  Instruction* inner = m.root->operand(0);
  return m.make.Broadcast(inner->operand(0), m.shape(), Permuted(Dimensions(*m.root), Dimensions(*inner)));
}

Instruction* BroadcastWithoutOnes(Match& m) {
  Instruction* x = m.root->operand(0);
  const Dims rest = WithoutSizeOne(x->shape().dims());
  if (static_cast<int64_t>(rest.size()) == x->shape().rank()) return nullptr;
  Dims dims;
  for (int64_t d = 0; d < x->shape().rank(); ++d)
    if (x->shape().dim(d) != 1) dims.push_back(Dimensions(*m.root)[At(d)]);
  return m.make.Broadcast(m.make.Reshape(x, rest), m.shape(), dims);
}

}  // namespace hlo
