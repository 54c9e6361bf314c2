#include "passes/rules/reshape_rewrites.h"

namespace hlo {
namespace {

constexpr int kChain = 16;  // instructions looked through

/// The array lies in the memory space of `shape`.
bool InMemoryOf(const Shape& shape, const Instruction& inst) {
  return inst.shape().IsArray() && inst.shape().layout().memory_space == shape.layout().memory_space;
}

Instruction* CopyTo(Match& m, Instruction* x, const Shape& shape) {
  return x->shape() == shape ? x : m.make.AddWithShape(OpKind::Copy, shape, {x});
}

}  // namespace

Instruction* ChainToBitcast(Match& m) {
  Instruction* source = nullptr;
  Instruction* at = m.root;
  for (int step = 0; step < kChain && (at->kind() == OpKind::Reshape || at->kind() == OpKind::Copy); ++step) {
    at = at->operand(0);
    if (!InMemoryOf(m.shape(), *at)) break;
    if (ReshapeIsBitcast(at->shape(), m.shape())) source = at;
  }
  if (!source || source->shape() == m.shape()) return source;
  return m.make.Bitcast(source, m.shape());
}

Instruction* ReshapeOfCopy(Match& m) {
  Instruction* copy = m.root->operand(0);
  if (ReshapeIsBitcast(copy->shape(), m.shape())) return nullptr;
  const std::optional<Shape> shape = BitcastReshapeShape(copy->operand(0)->shape(), m.shape().dims());
  return shape ? CopyTo(m, m.make.Reshape(copy->operand(0), *shape), m.shape()) : nullptr;
}

Instruction* CopyOfBitcastReshape(Match& m) {
  Instruction* reshape = m.root->operand(0);
  if (!ReshapeIsBitcast(reshape->operand(0)->shape(), reshape->shape())) return nullptr;
  return m.make.Reshape(reshape->operand(0), m.shape());
}

Instruction* CopyOfBitcastOfCopy(Match& m) {
  Instruction* bitcast = m.root->operand(0);
  while (bitcast->operand(0)->kind() == OpKind::Bitcast) bitcast = bitcast->operand(0);
  Instruction* copy = bitcast->operand(0);
  if (copy->kind() != OpKind::Copy) return nullptr;
  Instruction* x = copy->operand(0);
  const Shape& turned = m.root->operand(0)->shape();
  // The bitcasts have to keep the order of elements, so that they can be done in another layout.
  if (!InMemoryOf(m.shape(), *x) || !InMemoryOf(m.shape(), *copy) ||
      !ReshapeIsBitcast(copy->shape(), turned) || copy->shape().element_type() != m.type())
    return nullptr;
  if (const auto shape = BitcastReshapeShape(x->shape(), m.shape().dims()))
    return CopyTo(m, m.make.Bitcast(x, *shape), m.shape());
  if (const auto shape = BitcastReshapeShape(m.shape(), x->shape().dims()))
    return m.make.Bitcast(CopyTo(m, x, *shape), m.shape());
  return nullptr;
}

Instruction* CopyOfReshape(Match& m) {
  Instruction* reshape = m.root->operand(0);
  Instruction* x = reshape->operand(0);
  if (ReshapeIsBitcast(x->shape(), reshape->shape())) return nullptr;
  const std::optional<Shape> shape = BitcastReshapeShape(m.shape(), x->shape().dims());
  return shape ? m.make.Reshape(CopyTo(m, x, *shape), m.shape()) : nullptr;
}

Instruction* BitcastOfUnaryOfBitcast(Match& m) {
  Instruction* unary = m.root->operand(0);
  Instruction* x = unary->operand(0)->operand(0);
  const ElementType type = x->shape().element_type();
  auto plain = [&](const Instruction* i) {
    return i->shape().IsArray() && i->shape().element_type() == type && i->shape().layout().tiles.empty();
  };
  if (!plain(m.root) || !plain(unary) || !plain(unary->operand(0)) || !plain(x)) return nullptr;
  // Where the operation itself moves elements, the bitcasts do not meet.
  if (unary->shape().layout() != unary->operand(0)->shape().layout()) return nullptr;
  Instruction* made = m.make.AddWithShape(unary->kind(), x->shape(), {x}, unary->attrs());
  if (unary->has_extras()) made->MutableExtras().result_accuracy = unary->extras().result_accuracy;
  return m.make.Bitcast(made, m.shape());
}

Instruction* BitcastOfBitcast(Match& m) { return m.make.Bitcast(m.root->operand(0)->operand(0), m.shape()); }

Instruction* BitcastOfBroadcast(Match& m) {
  Instruction* broadcast = m.root->operand(0);
  if (m.type() != broadcast->shape().element_type()) return nullptr;
  const std::optional<Dims> perm = BitcastAsTranspose(broadcast->shape(), m.shape());
  if (!perm) return nullptr;
  const Dims dims = Permuted(InversePermutation(*perm), Dimensions(*broadcast));
  return llvm::is_sorted(dims) ? m.make.Broadcast(broadcast->operand(0), m.shape(), dims) : nullptr;
}

}  // namespace hlo
