#include "passes/rules/reshape_rewrites.h"

namespace hlo {
namespace {

constexpr int kChain = 8;  // instructions looked through

/// Numbers of the dimensions that are not of size 1.
Dims PlacesThatCount(const Shape& shape) {
  Dims places;
  for (int64_t d = 0; d < shape.rank(); ++d)
    if (shape.dim(d) != 1) places.push_back(d);
  return places;
}

/// A bitcast that leaves the logical order of elements as it is.
bool IsLogicalBitcast(const Instruction& inst) {
  return inst.kind() == OpKind::Bitcast &&
         inst.shape().element_type() == inst.operand(0)->shape().element_type() &&
         ReshapeIsBitcast(inst.operand(0)->shape(), inst.shape());
}

/// The numbers 0…n−1 can be told apart in the type.
bool CountsTo(ElementType type, int64_t n) {
  if (type == ElementType::F32) return n <= int64_t{1} << 24;
  if (type == ElementType::F64) return n <= int64_t{1} << 53;
  return IsIntegral(type) && (Info(type).bits >= 64 || n <= int64_t{1} << (Info(type).bits - 1));
}

/// The size-1 dimensions in [begin, end), as runs.
bool OnlyCounts(llvm::ArrayRef<int64_t> dims, int64_t begin, int64_t end, int64_t d) {
  for (int64_t i = begin; i < end; ++i)
    if (i != d && dims[At(i)] != 1) return false;
  return true;
}

}  // namespace

Instruction* EmptyConstant(Match& m) {
  return m.shape().ElementCount() == 0 ? m.make.Constant(Literal::Zeros(m.shape())) : nullptr;
}

Instruction* ReshapeOfReshape(Match& m) { return FreeReshape(m, m.root->operand(0)->operand(0), m.shape()); }

Instruction* RngOfRootShape(Match& m) {
  Instruction* rng = m.root->operand(0);
  m.superseded.push_back(rng);
  return m.make.AddWithShape(OpKind::Rng, m.shape(), rng->operands(), rng->attrs());
}

Instruction* CancelRearrangements(Match& m) {
  const Dims wanted = PlacesThatCount(m.shape());
  Dims places = wanted;  // where the dimensions of the root that count lie in `at`
  Instruction* at = m.root;
  for (int step = 0; step < kChain; ++step) {
    if (at->kind() == OpKind::Transpose) {
      places = Permuted(Dimensions(*at), places);
    } else if (at->kind() == OpKind::Reshape || IsLogicalBitcast(*at)) {
      const Shape& from = at->operand(0)->shape();
      if (!AsDegenerateReshape(from.dims(), at->shape().dims())) return nullptr;
      const Dims before = PlacesThatCount(from), after = PlacesThatCount(at->shape());
      for (int64_t& p : places) p = before[At(llvm::find(after, p) - after.begin())];
    } else {
      return nullptr;
    }
    at = at->operand(0);
    if (step > 0 && places == wanted && SameDims(at->shape(), m.shape())) return at;
  }
  return nullptr;
}

Instruction* HoistTransposeOfReshape(Match& m) {
  Instruction* transpose = m.root->operand(0);
  const Dims& perm = Dimensions(*transpose);
  const Dims& inner = Dims(transpose->operand(0)->shape().dims());
  llvm::SmallVector<std::pair<int64_t, int64_t>, 6> runs;  // (first dimension of the input, result dimension)
  for (const ReshapeGroup& group : ReshapeGroups(transpose->shape().dims(), m.shape().dims())) {
    if (group.to_end - group.to_begin != 1 || group.from_begin == group.from_end) return nullptr;
    for (int64_t i = group.from_begin + 1; i < group.from_end; ++i)
      if (perm[At(i)] != perm[At(i - 1)] + 1) return nullptr;
    runs.emplace_back(perm[At(group.from_begin)], group.to_begin);
  }
  if (runs.size() == inner.size()) return nullptr;  // merges nothing
  llvm::sort(runs);
  Dims merged, order;
  for (const auto& [unused, to] : runs) {
    merged.push_back(m.shape().dim(to));
    order.push_back(to);
  }
  Instruction* x = m.make.Reshape(transpose->operand(0)->operand(0), merged);
  return m.make.Transpose(x, InversePermutation(order));
}

Instruction* ReshapeOfBroadcast(Match& m) {
  Instruction* broadcast = m.root->operand(0);
  const Dims targets = UnmodifiedTargets(broadcast->shape().dims(), m.shape().dims());
  Dims dims;
  for (const int64_t d : Dimensions(*broadcast)) {
    if (targets[At(d)] < 0) return nullptr;
    dims.push_back(targets[At(d)]);
  }
  return m.make.Broadcast(broadcast->operand(0), m.shape(), dims);
}

Instruction* ReshapeOfIota(Match& m) {
  Instruction* iota = m.root->operand(0);
  const int64_t d = iota->attr<IotaAttrs>().iota_dimension, size = iota->shape().dim(d);
  if (m.shape().ElementCount() == 0) return nullptr;
  for (const ReshapeGroup& group : ReshapeGroups(iota->shape().dims(), m.shape().dims())) {
    if (d < group.from_begin || d >= group.from_end) continue;
    const auto split = m.shape().dims().slice(At(group.to_begin), At(group.to_end - group.to_begin));
    const bool sums = llvm::count_if(split, [](int64_t n) { return n > 1; }) > 1;
    if (!OnlyCounts(iota->shape().dims(), group.from_begin, group.from_end, d) ||
        (sums && !CountsTo(m.type(), size)))
      return nullptr;
    Instruction* sum = nullptr;
    int64_t stride = 1;
    for (int64_t to = group.to_end - 1; to >= group.to_begin; stride *= m.shape().dim(to--)) {
      if (m.shape().dim(to) == 1) continue;
      Instruction* term = m.make.Iota(m.shape(), to);
      if (stride != 1)
        term = m.make.Binary(OpKind::Multiply, term,
                             m.make.Splat(m.shape(), m.make.ScalarInt(m.type(), stride)));
      sum = sum ? m.make.Binary(OpKind::Add, sum, term) : term;
    }
    return sum ? sum : m.make.Full(m.shape(), 0);
  }
  return nullptr;
}

Instruction* ReshapeOfDynamicUpdateSlice(Match& m) {
  Instruction* dus = m.root->operand(0);
  const Shape& update = dus->operand(1)->shape();
  const llvm::ArrayRef<int64_t> from = dus->shape().dims(), to = m.shape().dims();
  const bool fits = dus->operand_count() > 2 && !dus->extras().sharding && update.ElementCount() != 0 &&
                    AsDegenerateReshape(from, to);
  if (!fits) return nullptr;
  Dims sizes;
  llvm::SmallVector<Instruction*, 6> indices;
  for (const ReshapeGroup& group : ReshapeGroups(from, to)) {
    if (group.to_begin == group.to_end) continue;
    const bool inserted = group.from_begin == group.from_end;
    sizes.push_back(inserted ? 1 : update.dim(group.from_begin));
    indices.push_back(inserted ? m.make.ScalarInt(dus->operand(2)->shape().element_type(), 0)
                               : dus->operand(2 + group.from_begin));
  }
  return m.make.DynamicUpdateSlice(m.make.Reshape(dus->operand(0), m.shape()),
                                   m.make.Reshape(dus->operand(1), sizes), indices);
}

}  // namespace hlo
