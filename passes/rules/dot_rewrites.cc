#include "passes/analysis/reshape_facts.h"
#include "passes/analysis/value_facts.h"
#include "passes/rewrite/dots.h"
#include "passes/rules/contraction_rewrites.h"

namespace hlo {
namespace {

using namespace pattern;

bool Has(const DimLabels& labels, int label) { return llvm::is_contained(labels, label); }

/// The labels without those of the given positions.
DimLabels Without(const DimLabels& labels, llvm::ArrayRef<int64_t> positions) {
  DimLabels rest;
  for (size_t i = 0; i < labels.size(); ++i)
    if (!llvm::is_contained(positions, static_cast<int64_t>(i))) rest.push_back(labels[i]);
  return rest;
}

/// Everything of one element type.
bool IsUniform(const Instruction& dot) {
  const ElementType type = dot.shape().element_type();
  return dot.operand(0)->shape().element_type() == type && dot.operand(1)->shape().element_type() == type;
}

bool HasUsualAlgorithm(const Instruction& dot) {
  const DotAlgorithm algorithm = dot.attr<DotAttrs>().algorithm;
  return algorithm == DotAlgorithm::Unset || algorithm == DotAlgorithm::F32F32F32;
}

double Elements(const Instruction* x) { return static_cast<double>(x->shape().ElementCount()); }

/// How often one of its operands is read per element of the result, times the result.
double Flops(const Instruction& dot) {
  const auto& attrs = dot.attr<DotAttrs>();
  return Elements(&dot) * static_cast<double>(ProductOf(dot.operand(0)->shape(), attrs.lhs_contracting_dims));
}

/// The dimension of the other operand that pairs with contracting dimension `d` of `side`; -1: `d` is none.
int64_t ContractingPartner(const Instruction& dot, int64_t side, int64_t d) {
  const DotRoles mine = RolesOf(dot, side), theirs = RolesOf(dot, 1 - side);
  const auto at = llvm::find(mine.contracting, d) - mine.contracting.begin();
  return at < static_cast<int64_t>(theirs.contracting.size()) ? theirs.contracting[static_cast<size_t>(at)]
                                                              : -1;
}

/// The root with one or both operands exchanged for others of the same dimensions.
Instruction* WithOperands(Match& m, int64_t side, Instruction* mine, Instruction* theirs) {
  return MakeDotLike(m.make, *m.root, side == 0 ? mine : theirs, side == 0 ? theirs : mine,
                     m.root->attr<DotAttrs>());
}

}  // namespace

Instruction* DotOfNothing(Match& m) {
  const bool nothing = m.shape().ElementCount() == 0 || m.root->operand(0)->shape().ElementCount() == 0 ||
                       m.root->operand(1)->shape().ElementCount() == 0;
  return nothing ? m.make.Full(m.shape(), 0) : nullptr;
}

Instruction* DotWithoutSizeOne(Match& m) {
  return MakeDotWithoutDims(
      m.make, *m.root, [&](int64_t side, int64_t d) { return m.root->operand(side)->shape().dim(d) == 1; });
}

Instruction* DotAsProduct(Match& m) {
  const auto& attrs = m.root->attr<DotAttrs>();
  if (!attrs.lhs_contracting_dims.empty() || !HasUsualAlgorithm(*m.root)) return nullptr;
  const auto batch = static_cast<int64_t>(attrs.lhs_batch_dims.size());
  Instruction* factors[2];
  int64_t free_begin = batch;
  for (const int64_t side : {0, 1}) {
    const DotRoles roles = RolesOf(*m.root, side);
    Dims to(static_cast<size_t>(m.root->operand(side)->shape().rank()));
    for (size_t i = 0; i < roles.batch.size(); ++i)
      to[static_cast<size_t>(roles.batch[i])] = static_cast<int64_t>(i);
    for (const int64_t d : roles.free) to[static_cast<size_t>(d)] = free_begin++;
    Instruction* x = m.make.Convert(m.root->operand(side), m.type());
    factors[side] = BroadcastTo(m.make, x, m.shape().dims(), to);
  }
  return m.make.Binary(OpKind::Multiply, factors[0], factors[1]);
}

Instruction* DotReassociated(Match& m) {
  const Instruction& inner = *m[P];
  const int64_t side = m.root->operand(0) == m[P] ? 0 : 1;
  if (!HasStaticArrays(inner) || !HasStaticArrays(*m.root) || !IsUniform(inner) || !IsUniform(*m.root))
    return nullptr;
  const LabelledDot in = LabelDot(inner);
  const LabelledDot out = LabelDot(*m.root, side, in.result, in.next);
  if (in.result.empty()) return nullptr;
  const DimLabels& c = out.sides[1 - side];
  std::vector<double> sizes(static_cast<size_t>(out.next), 1);
  auto note = [&](const DimLabels& labels, const Instruction* x) {
    for (size_t i = 0; i < labels.size(); ++i)
      sizes[static_cast<size_t>(labels[i])] = static_cast<double>(x->shape().dim(static_cast<int64_t>(i)));
  };
  note(in.sides[0], m[A]);
  note(in.sides[1], m[B]);
  note(c, m[C]);
  auto flops = [&](const DimLabels& x, const DimLabels& y) {
    double product = 1;
    for (size_t i = 0; i < sizes.size(); ++i)
      if (Has(x, static_cast<int>(i)) || Has(y, static_cast<int>(i))) product *= sizes[i];
    return product;
  };
  for (const int label : in.sides[0])
    if (Has(in.sides[1], label) && Has(c, label) && !Has(out.result, label)) return nullptr;
  const double before = flops(in.sides[0], in.sides[1]) + flops(in.result, c);
  for (const size_t alone : {0, 1}) {  // the operand of the inner dot that is multiplied last
    const DimLabels &x = in.sides[alone], &y = in.sides[1 - alone];
    DimLabels middle;
    auto keep = [&](int label) { return Has(x, label) || Has(out.result, label); };
    for (const int label : y)
      if (Has(c, label) && keep(label)) middle.push_back(label);
    for (const int label : y)
      if (!Has(c, label)) middle.push_back(label);
    for (const int label : c)
      if (!Has(y, label)) middle.push_back(label);
    if (before <= (flops(y, c) + flops(x, middle)) * Options(m).associative_reordering_threshold) continue;
    Instruction* last = alone == 0 ? m[A] : m[B];
    Instruction* first = alone == 0 ? m[B] : m[A];
    Instruction* inner_made = side == 0 ? MakeLabelledDot(m.make, inner, first, y, m[C], c, middle)
                                        : MakeLabelledDot(m.make, inner, m[C], c, first, y, middle);
    return alone == 0 ? MakeLabelledDot(m.make, *m.root, last, x, inner_made, middle, out.result)
                      : MakeLabelledDot(m.make, *m.root, inner_made, middle, last, x, out.result);
  }
  return nullptr;
}

Instruction* DotOfReverse(Match& m) {
  for (const int64_t side : {0, 1}) {
    Instruction *reverse = m.root->operand(side), *other = m.root->operand(1 - side);
    if (reverse->kind() != OpKind::Reverse) continue;
    Dims moved, rest;
    for (const int64_t d : reverse->attr<DimensionsAttrs>().dimensions) {
      const int64_t partner = ContractingPartner(*m.root, side, d);
      if (partner >= 0)
        moved.push_back(partner);
      else
        rest.push_back(d);
    }
    const double threshold = Options(m).associative_reordering_threshold * (rest.empty() ? 1 : 2);
    if (moved.empty() || Elements(reverse) <= Elements(other) * threshold) continue;
    Instruction* x = reverse->operand(0);
    return WithOperands(m, side, rest.empty() ? x : m.make.Reverse(x, rest), m.make.Reverse(other, moved));
  }
  return nullptr;
}

Instruction* DotOfPad(Match& m) {
  for (const int64_t side : {0, 1}) {
    Instruction *pad = m.root->operand(side), *other = m.root->operand(1 - side);
    if (pad->kind() != OpKind::Pad || !IsAll(*pad->operand(1), 0)) continue;
    Padding rest = pad->attr<PadAttrs>().padding;
    SliceRanges ranges;
    for (const int64_t size : other->shape().dims()) ranges.push_back({0, size, 1});
    double ratio = 1;
    for (size_t i = 0; i < rest.size(); ++i) {
      const auto d = static_cast<int64_t>(i);
      const int64_t partner = ContractingPartner(*m.root, side, d), size = pad->operand(0)->shape().dim(d);
      const PaddingDim p = rest[i];
      if (partner < 0 || p.low < 0 || p.high < 0 || size == 0) continue;
      ranges[static_cast<size_t>(partner)] = {p.low, p.low + (size - 1) * (p.interior + 1) + 1,
                                              p.interior + 1};
      ratio *= static_cast<double>(pad->shape().dim(d)) / static_cast<double>(size);
      rest[i] = {};
    }
    const bool remains = llvm::any_of(rest, [](const PaddingDim& p) { return p != PaddingDim(); });
    if (ratio <= Options(m).associative_reordering_threshold * (remains ? 2 : 1)) continue;
    Instruction* x = pad->operand(0);
    return WithOperands(m, side, remains ? m.make.Pad(x, pad->operand(1), rest) : x,
                        m.make.Slice(other, ranges));
  }
  return nullptr;
}

Instruction* DotOfBroadcast(Match& m) {
  const LabelledDot l = LabelDot(*m.root);
  for (const int64_t side : {0, 1}) {
    Instruction *broadcast = m.root->operand(side), *other = m.root->operand(1 - side);
    if (broadcast->kind() != OpKind::Broadcast || !IsUniform(*m.root)) continue;
    const Dims& targets = broadcast->attr<DimensionsAttrs>().dimensions;
    Dims added, sums;
    for (int64_t d = 0; d < broadcast->shape().rank(); ++d) {
      const int64_t partner = ContractingPartner(*m.root, side, d);
      if (partner < 0 || llvm::is_contained(targets, d)) continue;
      added.push_back(d);
      sums.push_back(partner);
    }
    llvm::sort(sums);
    const auto gain = static_cast<double>(ProductOf(broadcast->shape(), added));
    Dims sizes, to;
    for (int64_t d = 0; d < broadcast->shape().rank(); ++d)
      if (!llvm::is_contained(added, d)) sizes.push_back(broadcast->shape().dim(d));
    for (const int64_t d : targets) to.push_back(d - llvm::count_if(added, [&](int64_t a) { return a < d; }));
    const bool remains = sizes.size() != to.size();
    const double after = Flops(*m.root) / gain + Elements(other);
    if (added.empty() ||
        Flops(*m.root) <= after * Options(m).associative_reordering_threshold * (remains ? 2 : 1))
      continue;
    Instruction* x = BroadcastTo(m.make, broadcast->operand(0), sizes, to);
    Instruction* y = m.make.Reduce(other, m.make.Scalar(m.type(), 0), sums, OpKind::Add);
    const DimLabels xl = Without(l.sides[side], added), yl = Without(l.sides[1 - side], sums);
    return side == 0 ? MakeLabelledDot(m.make, *m.root, x, xl, y, yl, l.result)
                     : MakeLabelledDot(m.make, *m.root, y, yl, x, xl, l.result);
  }
  return nullptr;
}

Instruction* DotAsReduce(Match& m) {
  if (!HasUsualAlgorithm(*m.root)) return nullptr;
  const bool flat[] = {RolesOf(*m.root, 0).free.empty(), RolesOf(*m.root, 1).free.empty()};
  if (Options(m).executing_on_cpu && !(flat[0] && flat[1])) return nullptr;
  return MakeDotAsReduction(m.make, *m.root);
}

Instruction* DotOfMergedTranspose(Match& m) {
  for (const int64_t side : {0, 1}) {
    Instruction *merged = m.root->operand(side), *other = m.root->operand(1 - side);
    const DotRoles mine = RolesOf(*m.root, side);
    if (merged->kind() != OpKind::Reshape || merged->operand(0)->kind() != OpKind::Transpose ||
        other->kind() != OpKind::Constant || mine.contracting.size() != 1)
      continue;
    const Instruction& transpose = *merged->operand(0);
    const Dims& p = transpose.attr<DimensionsAttrs>().dimensions;
    const auto groups = ReshapeGroups(transpose.shape().dims(), merged->shape().dims());
    const auto* group = llvm::find_if(groups, [&](const ReshapeGroup& g) {
      return g.to_begin == mine.contracting[0] && g.to_end == g.to_begin + 1;
    });
    if (group == groups.end()) continue;
    Dims within;  // the permutation among the merged dimensions
    bool only_merged = true;
    for (int64_t d = 0; d < static_cast<int64_t>(p.size()); ++d) {
      const int64_t from = p[static_cast<size_t>(d)];
      const bool inside = d >= group->from_begin && d < group->from_end;
      only_merged &= inside ? from >= group->from_begin && from < group->from_end : from == d;
      if (inside) within.push_back(from - group->from_begin);
    }
    if (!only_merged || IsIdentityPermutation(within)) continue;
    const int64_t k = RolesOf(*m.root, 1 - side).contracting[0];
    const auto split_sizes =
        transpose.shape().dims().slice(static_cast<size_t>(group->from_begin), within.size());
    const auto dims = other->shape().dims();
    const Dims split = Joined(
        {dims.take_front(static_cast<size_t>(k)), split_sizes, dims.drop_front(static_cast<size_t>(k) + 1)});
    Dims back = Range(0, static_cast<int64_t>(split.size()));
    for (size_t i = 0; i < within.size(); ++i)
      back[static_cast<size_t>(k) + i] = k + InversePermutation(within)[i];
    Instruction* moved = m.make.Reshape(m.make.Transpose(m.make.Reshape(other, split), back), dims);
    return WithOperands(m, side, m.make.Reshape(merged->operand(0)->operand(0), merged->shape().dims()),
                        moved);
  }
  return nullptr;
}

Instruction* DotOfConcatenate(Match& m) {
  if (m.shape().rank() != 2 || !m.root->attr<DotAttrs>().lhs_batch_dims.empty()) return nullptr;
  for (const int64_t side : {0, 1}) {
    Instruction *joined = m.root->operand(side), *other = m.root->operand(1 - side);
    if (joined->kind() != OpKind::Concatenate || other->kind() != OpKind::Constant) continue;
    const int64_t along = joined->attr<DimensionsAttrs>().dimensions[0];
    const int64_t k = ContractingPartner(*m.root, side, along);
    if (k < 0 || RolesOf(*m.root, side).contracting.size() != 1) continue;
    Instruction* sum = nullptr;
    int64_t start = 0;
    for (Instruction* part : joined->operands()) {
      const int64_t size = part->shape().dim(along);
      Instruction* dot = WithOperands(m, side, part, m.make.SliceDim(other, k, start, start + size));
      sum = sum ? m.make.Binary(OpKind::Add, sum, dot) : dot;
      start += size;
    }
    return sum;
  }
  return nullptr;
}

Instruction* DotOfDynamicSlice(Match& m) {
  if (m.shape().rank() != 2 || !m.root->attr<DotAttrs>().lhs_batch_dims.empty()) return nullptr;
  for (const int64_t side : {0, 1}) {
    Instruction *slice = m.root->operand(side), *other = m.root->operand(1 - side);
    const DotRoles roles = RolesOf(*m.root, side);
    if (slice->kind() != OpKind::DynamicSlice || slice->operand(0)->kind() != OpKind::Constant ||
        other->kind() != OpKind::Constant || slice->shape().rank() != 2 || roles.contracting.size() != 1 ||
        slice->operand_count() != 3)
      continue;
    const int64_t k = roles.contracting[0], free = roles.free[0];
    Instruction* table = slice->operand(0);
    if (slice->shape().dim(k) != table->shape().dim(k) || slice->shape().dim(free) != 1) continue;
    Instruction* at = slice->operand(1 + free);
    Instruction* zero = m.make.ScalarInt(at->shape().element_type(), 0);
    Instruction* all = WithOperands(m, side, table, other);
    return m.make.DynamicSlice(all, side == 0 ? llvm::ArrayRef({at, zero}) : llvm::ArrayRef({zero, at}),
                               m.shape().dims());
  }
  return nullptr;
}

Instruction* DotOfTransposes(Match& m) {
  const auto& p = m[P]->attr<DimensionsAttrs>().dimensions;
  if (!HasStaticArrays(*m.root) || p != m[Q]->attr<DimensionsAttrs>().dimensions || !IsCanonicalDot(*m.root))
    return nullptr;
  const auto batch = static_cast<int64_t>(m.root->attr<DotAttrs>().lhs_batch_dims.size());
  for (int64_t d = 0; d < static_cast<int64_t>(p.size()); ++d)
    if ((d < batch) != (p[static_cast<size_t>(d)] < batch)) return nullptr;
  const LabelledDot l = LabelDot(*m.root);
  const Dims inverse = InversePermutation(p);
  DimLabels labels[2], result;
  for (const size_t side : {0, 1})
    for (const int64_t d : inverse) labels[side].push_back(l.sides[side][static_cast<size_t>(d)]);
  const bool swapped = !p.empty() && p.back() != static_cast<int64_t>(p.size()) - 1;
  return swapped ? MakeLabelledDot(m.make, *m.root, m[B], labels[1], m[A], labels[0], l.result)
                 : MakeLabelledDot(m.make, *m.root, m[A], labels[0], m[B], labels[1], l.result);
}

/// A parameter, or a part of one in another shape.
static bool IsParameterLike(const Instruction* x) {
  constexpr OpKind kViews[] = {OpKind::Reshape, OpKind::Transpose, OpKind::Bitcast, OpKind::Copy,
                               OpKind::GetTupleElement};
  while (llvm::is_contained(kViews, x->kind())) x = x->operand(0);
  return x->kind() == OpKind::Parameter;
}

Instruction* DotWithParameterRight(Match& m) {
  Instruction *x = m.root->operand(0), *y = m.root->operand(1);
  if (!IsParameterLike(x) || IsParameterLike(y)) return nullptr;
  const LabelledDot l = LabelDot(*m.root);
  return MakeLabelledDot(m.make, *m.root, y, l.sides[1], x, l.sides[0], l.result);
}

}  // namespace hlo
