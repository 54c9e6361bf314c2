#include "ir/numeric/narrow_float.h"
#include "passes/analysis/reducers.h"
#include "passes/analysis/reshape_facts.h"
#include "passes/analysis/value_facts.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/fold.h"
#include "passes/rules/reduction_rewrites.h"

namespace hlo {
namespace {

using namespace pattern;

constexpr int64_t kMaxEvaluated = 1 << 20;  // elements of a pattern evaluated at compile time
constexpr size_t kMaxNeighbours = 64;       // users of a value looked at

Instruction* ReduceLike(Match& m, Instruction* x, llvm::ArrayRef<int64_t> dims) {
  return m.make.Reduce(x, m.root->operand(1), dims, m.root->callee());
}

/// Dimensions 0…rank-1 that are not among `dims`, ascending.
Dims Others(int64_t rank, llvm::ArrayRef<int64_t> dims) {
  Dims others;
  for (int64_t d = 0; d < rank; ++d)
    if (!llvm::is_contained(dims, d)) others.push_back(d);
  return others;
}

bool AllUsersReduce(const Instruction& inst) {
  return !inst.IsRoot() &&
         llvm::all_of(inst.users(), [](const Instruction* u) { return u->kind() == OpKind::Reduce; });
}

double Flops(const Shape& result, double contracted) {
  return static_cast<double>(result.ElementCount()) * contracted;
}

}  // namespace

Instruction* ReductionOfNothing(Match& m) {
  const int64_t n = m.root->operand_count() / 2;
  const bool tuple = m.shape().IsTuple();
  if (n == 0 || !m.root->operand(0)->shape().IsArray()) return nullptr;
  const Shape& first = tuple ? m.shape().tuple_shape(0) : m.shape();
  if (m.root->operand(0)->shape().ElementCount() != 0 && first.ElementCount() != 0) return nullptr;
  if (m.root->operand(0)->shape().HasDynamicDimension() || m.shape().HasDynamicDimension()) return nullptr;
  llvm::SmallVector<Instruction*, 2> values;
  for (int64_t i = 0; i < n; ++i) {
    const Shape& shape = tuple ? m.shape().tuple_shape(i) : m.shape();
    values.push_back(m.make.Splat(shape, m.make.Convert(m.root->operand(n + i), shape.element_type())));
  }
  return tuple ? m.make.Tuple(values) : values[0];
}

Instruction* UnwrapSingleReduction(Match& m) {
  if (m.root->operand_count() != 2 || !m.shape().IsTuple()) return nullptr;
  Computation* callee = CloneComputation(*m.root->callee());
  Instruction* root = callee->root();
  callee->set_root(root->kind() == OpKind::Tuple ? root->operand(0) : Maker(*callee, root).Gte(root, 0));
  RemoveIfDead(root);
  return m.make.Tuple({m.make.AddWithShape(m.root->kind(), m.shape().tuple_shape(0), m.root->operands(),
                                           m.root->attrs(), {callee})});
}

bool ReducesSizeOneToIdentity(const Match& m) {
  const auto op = ReducerOp(*m.root->callee());
  return op && IsIdentityOf(*op, *m.root->operand(1));
}

/// The operand without its reduced dimensions, which are of size 1; null if there are others.
static Instruction* WithoutReducedDims(Match& m) {
  Instruction* x = m.root->operand(0);
  if (x->shape().ElementCount() != m.shape().ElementCount() || m.shape().ElementCount() == 0) return nullptr;
  return ReshapeIfNeeded(m.make, x, m.shape().dims());
}

Instruction* ReduceOfSizeOne(Match& m) { return WithoutReducedDims(m); }

Instruction* ReduceOfSizeOneFolded(Match& m) {
  const auto op = ReducerOp(*m.root->callee());
  Instruction* x = op ? WithoutReducedDims(m) : nullptr;
  return x ? m.make.Binary(*op, m.make.Splat(m.shape(), m.root->operand(1)), x) : nullptr;
}

Instruction* ReduceOfNegate(Match& m) {
  return m.make.Unary(OpKind::Negate, ReduceLike(m, m[A], ReducedDims(*m.root)));
}

/// Inputs that are the same along all kept dimensions, and known: what one of them gives, everywhere.
Instruction* ReduceOfKnownPattern(Match& m) {
  const int64_t n = m.root->operand_count() / 2;
  if (n < 2 || !m.shape().IsTuple() || !IsPure(*m.root)) return nullptr;
  const Dims dims = ReducedDims(*m.root);
  const Dims sizes = SizesOf(m.root->operand(0)->shape(), dims);
  if (ProductOf(m.root->operand(0)->shape(), dims) > kMaxEvaluated) return nullptr;
  llvm::SmallVector<Instruction*, 4> operands;
  for (int64_t i = 0; i < 2 * n; ++i) {
    Instruction* x = m.root->operand(i);
    Instruction* scalar = ScalarOrSplat(*x);
    const bool counts =
        x->kind() == OpKind::Iota && llvm::is_contained(dims, x->attr<IotaAttrs>().iota_dimension);
    if (!counts && (!scalar || ConstnessOf(*scalar) != Constness::Data)) return nullptr;
    if (i >= n) {
      operands.push_back(scalar);
      continue;
    }
    const Shape shape = Shape::ArrayWithDefaultLayout(x->shape().element_type(), sizes);
    operands.push_back(
        counts ? m.make.Iota(shape, llvm::find(dims, x->attr<IotaAttrs>().iota_dimension) - dims.begin())
               : m.make.Splat(shape, scalar));
  }
  ReduceAttrs attrs;
  attrs.dimensions = Range(0, static_cast<int64_t>(dims.size()));
  Folder folder;
  const Result<Literal> value =
      folder.Evaluate(*m.make.Add(OpKind::Reduce, operands, attrs, m.root->callees()));
  if (!value) return nullptr;
  llvm::SmallVector<Instruction*, 2> results;
  for (int64_t i = 0; i < n; ++i)
    results.push_back(m.make.Splat(m.shape().tuple_shape(i), m.make.Constant(value->element(i))));
  return m.make.Tuple(results);
}

Instruction* ReduceOfDotFree(Match& m) {
  const Instruction& dot = *m[B];
  if (!HasStaticArrays(dot) || dot.operand(0)->shape().element_type() != m.type() ||
      dot.operand(1)->shape().element_type() != m.type())
    return nullptr;
  const DotRoles left = RolesOf(dot, 0), right = RolesOf(dot, 1);
  if (!left.batch.empty()) return nullptr;
  const Dims free[] = {left.free, right.free};
  Dims sums[2];
  for (const int64_t d : ReducedDims(*m.root)) {
    const auto at = static_cast<size_t>(d);
    const bool on_left = at < free[0].size();
    sums[on_left ? 0 : 1].push_back(on_left ? free[0][at] : free[1][at - free[0].size()]);
  }
  const auto contracted = static_cast<double>(ProductOf(m[A]->shape(), left.contracting));
  const double before = Flops(dot.shape(), contracted);
  double after = Flops(m.shape(), contracted);
  for (const size_t side : {0, 1})
    if (!sums[side].empty())
      after += static_cast<double>(dot.operand(static_cast<int64_t>(side))->shape().ElementCount());
  if (before <= after * Options(m).raise_slice_and_reduce_through_dot_threshold) return nullptr;
  DotAttrs attrs = dot.attr<DotAttrs>();
  auto lower = [](Dims& dims, const Dims& gone) {
    for (int64_t& d : dims) d -= llvm::count_if(gone, [&](int64_t g) { return g < d; });
  };
  lower(attrs.lhs_contracting_dims, sums[0]);
  lower(attrs.rhs_contracting_dims, sums[1]);
  Instruction* x = sums[0].empty() ? m[A] : ReduceLike(m, m[A], sums[0]);
  Instruction* y = sums[1].empty() ? m[C] : ReduceLike(m, m[C], sums[1]);
  return MakeDotLike(m.make, dot, x, y, std::move(attrs));
}

Instruction* ReduceOfDotBatch(Match& m) {
  const Instruction& dot = *m[B];
  if (!HasStaticArrays(dot)) return nullptr;
  DotAttrs attrs = dot.attr<DotAttrs>();
  const auto batches = static_cast<int64_t>(attrs.lhs_batch_dims.size());
  Dims rest;  // reduced dimensions that stay, numbered as in the new dot
  int64_t moved = 0;
  const Dims dims = ReducedDims(*m.root);
  for (const int64_t d : dims) {
    if (d >= batches) {
      rest.push_back(d - moved);
      continue;
    }
    const auto at = static_cast<size_t>(d - moved++);
    attrs.lhs_contracting_dims.push_back(attrs.lhs_batch_dims[at]);
    attrs.rhs_contracting_dims.push_back(attrs.rhs_batch_dims[at]);
    attrs.lhs_batch_dims.erase(attrs.lhs_batch_dims.begin() + static_cast<int64_t>(at));
    attrs.rhs_batch_dims.erase(attrs.rhs_batch_dims.begin() + static_cast<int64_t>(at));
  }
  if (moved == 0) return nullptr;
  Instruction* made = MakeDotLike(m.make, dot, m[A], m[C], std::move(attrs));
  return rest.empty() ? made : ReduceLike(m, made, rest);
}

bool KeepsReducedOrder(const Match& m) {
  const Dims moved = Permuted(m[B]->attr<DimensionsAttrs>().dimensions, ReducedDims(*m.root));
  return llvm::is_sorted(moved);
}
bool HasReducerOp(const Match& m) { return ReducerOp(*m.root->callee()).has_value(); }

Instruction* ReduceOfTranspose(Match& m) {
  const bool pays = Options(m).unconditionally_simplify_reduce_of_transpose_or_reshape ||
                    m.shape().rank() < 2 || HasOneUse(*m[B]) || AllUsersReduce(*m[B]);
  if (!pays) return nullptr;
  const Dims& permutation = m[B]->attr<DimensionsAttrs>().dimensions;
  const Dims dims = ReducedDims(*m.root);
  Dims from = Permuted(permutation, dims);
  llvm::sort(from);
  const Dims kept = Permuted(permutation, Others(m[A]->shape().rank(), dims));
  const Dims kept_in_order = Others(m[A]->shape().rank(), from);
  Dims back;
  for (const int64_t d : kept) back.push_back(llvm::find(kept_in_order, d) - kept_in_order.begin());
  return TransposeIfNeeded(m.make, ReduceLike(m, m[A], from), back);
}

Instruction* ReduceOfReduce(Match& m) {
  const auto inner = PlainReductionOp(*m[B]), outer = PlainReductionOp(*m.root);
  if (!inner || inner != outer || !IsSameScalar(*m[P], *m[Q]) || !MayRepeatInit(*outer, *m[Q]))
    return nullptr;
  Dims dims = ReducedDims(*m[B]);
  const Dims kept = Others(m[A]->shape().rank(), dims);
  for (const int64_t d : ReducedDims(*m.root)) dims.push_back(kept[static_cast<size_t>(d)]);
  llvm::sort(dims);
  return ReduceLike(m, m[A], dims);
}

Instruction* ReduceOfMergingReshape(Match& m) {
  const Dims dims = ReducedDims(*m.root);
  Dims from;
  for (const ReshapeGroup& group : ReshapeGroups(m[A]->shape().dims(), m[B]->shape().dims())) {
    int64_t reduced = 0;
    for (int64_t d = group.to_begin; d < group.to_end; ++d) reduced += llvm::is_contained(dims, d);
    if (group.IsOneToOne() && reduced == 0) continue;
    if (reduced != group.to_end - group.to_begin) return nullptr;
    for (int64_t d = group.from_begin; d < group.from_end; ++d) from.push_back(d);
  }
  return ReduceLike(m, m[A], from);
}

Instruction* ReduceOfOtherReshape(Match& m) {
  if (!HasOneUse(*m[B]) && !Options(m).unconditionally_simplify_reduce_of_transpose_or_reshape)
    return nullptr;
  const Dims sources = UnmodifiedTargets(m[B]->shape().dims(), m[A]->shape().dims());
  Dims from;
  for (const int64_t d : ReducedDims(*m.root)) {
    if (sources[static_cast<size_t>(d)] < 0) return nullptr;
    from.push_back(sources[static_cast<size_t>(d)]);
  }
  return ReshapeIfNeeded(m.make, ReduceLike(m, m[A], from), m.shape().dims());
}

Instruction* ReduceOfConcatenate(Match& m) {
  const auto parts = m[B]->operands();
  const auto op = ReducerOp(*m.root->callee());
  const Dims dims = ReducedDims(*m.root);
  if (!op || !MayRepeatInit(*op, *m[Q]) ||
      !llvm::is_contained(dims, m[B]->attr<DimensionsAttrs>().dimensions[0]))
    return nullptr;
  const bool equal =
      llvm::all_of(parts, [&](const Instruction* p) { return SameDims(p->shape(), parts[0]->shape()); });
  if (!equal && !m.shape().IsScalar() && !Options(m).enable_unconditional_reduce_of_concat_replacement)
    return nullptr;
  Instruction* sum = nullptr;
  for (Instruction* part : parts) {
    Instruction* reduced = ReduceLike(m, part, dims);
    sum = sum ? m.make.Binary(*op, sum, reduced) : reduced;
  }
  return sum;
}

Instruction* ReduceBesideArgReduce(Match& m) {
  const auto op = ReducerOp(*m.root->callee());
  if (op != OpKind::Maximum && op != OpKind::Minimum) return nullptr;
  if (m[A]->users().size() > kMaxNeighbours) return nullptr;
  for (Instruction* other : m[A]->users()) {
    if (other->kind() != OpKind::Reduce || other->operand_count() != 4 || other->operand(0) != m[A]) continue;
    if (other->operand(1)->kind() != OpKind::Iota || ArgReducerOp(*other->callee()) != op) continue;
    if (other->operand(3)->kind() != OpKind::Constant || !IsSameScalar(*other->operand(2), *m[Q]) ||
        !IsIdentityOf(*op, *m[Q]))
      continue;
    if (ReducedDims(*other) == ReducedDims(*m.root)) return m.make.Gte(other, 0);
  }
  return nullptr;
}

Instruction* ReduceOfScalarSplat(Match& m) {
  const auto op = ReducerOp(*m.root->callee());
  Instruction* x = m.root->operand(0);
  Instruction* scalar = ScalarOrSplat(*x);
  if (!op || !Info(*op).Is(kIdempotent) || !scalar || x->shape().ElementCount() == 0 || x == scalar)
    return nullptr;
  return m.make.Splat(m.shape(), m.make.Binary(*op, m.root->operand(1), scalar));
}

Instruction* ReduceOfBroadcastDims(Match& m) {
  const Dims& targets = m[B]->attr<DimensionsAttrs>().dimensions;
  const Dims dims = ReducedDims(*m.root);
  Dims from;
  for (const int64_t d : dims) {
    const auto at = llvm::find(targets, d);
    if (at == targets.end()) return nullptr;
    from.push_back(at - targets.begin());
  }
  if (from.empty() || !llvm::is_sorted(targets)) return nullptr;
  const Dims kept = Others(m[B]->shape().rank(), dims);
  Dims to;
  for (const int64_t d : Permuted(targets, Others(m[A]->shape().rank(), from)))
    to.push_back(llvm::find(kept, d) - kept.begin());
  return BroadcastTo(m.make, ReduceLike(m, m[A], from), m.shape().dims(), to);
}

/// n in the type: integers wrap as repeated addition does; floats only if exact.
static Instruction* CountIn(Match& m, int64_t n) {
  const TypeInfo& info = Info(m.type());
  if (IsIntegral(m.type())) {
    const int unused = 64 - info.bits;
    const auto top = static_cast<uint64_t>(n) << unused;
    return m.make.ScalarInt(m.type(), IsSigned(m.type()) ? static_cast<int64_t>(top) >> unused
                                                         : static_cast<int64_t>(top >> unused));
  }
  const ElementType real = RealPartType(m.type());
  const auto value = static_cast<double>(n);
  if (ToDouble(real, FromDouble(real, value)) != value) return nullptr;
  return m.make.Scalar(m.type(), value);
}

Instruction* SumOfAddedDims(Match& m) {
  const Dims& targets = m[B]->attr<DimensionsAttrs>().dimensions;
  const Dims dims = ReducedDims(*m.root);
  if (dims.empty() || llvm::any_of(dims, [&](int64_t d) { return llvm::is_contained(targets, d); }))
    return nullptr;
  Instruction* n = CountIn(m, ProductOf(m[B]->shape(), dims));
  if (!n) return nullptr;
  const Dims kept = Others(m[B]->shape().rank(), dims);
  Dims to;
  for (const int64_t d : targets) to.push_back(llvm::find(kept, d) - kept.begin());
  Instruction* x = BroadcastTo(m.make, m[A], m.shape().dims(), to);
  Instruction* product = m.make.Binary(OpKind::Multiply, x, m.make.Splat(x->shape(), n));
  if (IsAll(*m[Q], 0)) return product;
  return m.make.Binary(OpKind::Add, product, m.make.Splat(x->shape(), m[Q]));
}

}  // namespace hlo
