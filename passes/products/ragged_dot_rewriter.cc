// ragged_dot_rewriter: ragged-dot as dot and masks (passes.md §2.3, ops-structured §3.2).
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: with a ragged free dimension, a dot with all groups, of which each row keeps its own; with a
// ragged contracting dimension, a dot per group of operands that are zero outside it; with a ragged batch
// dimension, a dot. What no group covers becomes zero. Left alone: dynamic shapes.
#include "passes/analysis/reducers.h"
#include "passes/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/prefix.h"

namespace hlo {
namespace {

constexpr ElementType kS64 = ElementType::S64;

Dims FreeDims(const Shape& shape, llvm::ArrayRef<int64_t> batch, llvm::ArrayRef<int64_t> contracting) {
  Dims free;
  for (int64_t d = 0; d < shape.rank(); ++d)
    if (!llvm::is_contained(batch, d) && !llvm::is_contained(contracting, d)) free.push_back(d);
  return free;
}

int64_t PositionOf(llvm::ArrayRef<int64_t> list, int64_t value) {
  return llvm::find(list, value) - list.begin();
}

Dims Shifted(llvm::ArrayRef<int64_t> dims, std::optional<int64_t> first) {
  Dims shifted;
  if (first) shifted.push_back(*first);
  for (const int64_t d : dims) shifted.push_back(d + 1);
  return shifted;
}

class Rewrite {
 public:
  explicit Rewrite(Instruction* inst)
      : make_(inst),
        inst_(inst),
        a_(inst->attr<RaggedDotAttrs>()),
        lhs_(make_, inst->operand(0)),
        rhs_(make_, inst->operand(1)),
        ragged_(a_.lhs_ragged_dims[0]) {
    // Group i covers the positions from begin_ to end_ of the ragged dimension.
    const int64_t limit = lhs_.dim(ragged_);
    const Expr sizes = Min(Max(Expr(make_, inst->operand(2)).To(kS64), 0), limit);
    groups_ = sizes.shape().dims().back();
    const int64_t last = sizes.shape().rank() - 1;
    end_ = PrefixReduce(sizes, Expr(make_, make_.ScalarInt(kS64, 0)), {last, false, false},
                        make_.ScalarComputation(OpKind::Add, kS64));
    begin_ = end_ - sizes;
    lhs_free_ = FreeDims(lhs_.shape(), a_.lhs_batch_dims, a_.lhs_contracting_dims);
  }

  Instruction* Run() {
    if (llvm::is_contained(a_.lhs_contracting_dims, ragged_)) return Contracting();
    if (llvm::is_contained(a_.lhs_batch_dims, ragged_)) return Batch();
    return Free();
  }

 private:
  /// Dimension `d` of the left operand as dimension of a plain result.
  [[nodiscard]] int64_t ResultDim(int64_t d) const {
    if (llvm::is_contained(a_.lhs_batch_dims, d)) return PositionOf(a_.lhs_batch_dims, d);
    return static_cast<int64_t>(a_.lhs_batch_dims.size()) + PositionOf(lhs_free_, d);
  }
  /// The dimensions of the left operand that the dimensions of group_sizes before the last stand for.
  [[nodiscard]] Dims PrefixDims() const {
    Dims prefix;
    if (begin_.shape().rank() == 1) return prefix;
    const bool contracting = llvm::is_contained(a_.lhs_contracting_dims, ragged_);
    for (const int64_t d : a_.lhs_batch_dims)
      if (d == ragged_)
        return prefix;
      else
        prefix.push_back(d);
    for (const int64_t d : contracting ? llvm::ArrayRef(a_.lhs_contracting_dims) : llvm::ArrayRef(lhs_free_))
      if (d == ragged_)
        break;
      else
        prefix.push_back(d);
    return prefix;
  }
  /// Whether the position in dimension `ragged` belongs to the group of dimension `group`; `map` takes
  /// dimensions of the left operand to those of `dims`.
  Expr Mask(llvm::ArrayRef<int64_t> dims, int64_t ragged, int64_t group,
            llvm::function_ref<int64_t(int64_t)> map) {
    Dims to;
    for (const int64_t d : PrefixDims()) to.push_back(map(d));
    to.push_back(group);
    const Expr position = IotaOf(make_, kS64, dims, ragged);
    return Ge(position, begin_.Broadcast(dims, to)) & Lt(position, end_.Broadcast(dims, to));
  }
  DotAttrs Plain() const {
    DotAttrs attrs;
    attrs.lhs_batch_dims = a_.lhs_batch_dims;
    attrs.rhs_batch_dims = a_.rhs_batch_dims;
    attrs.lhs_contracting_dims = a_.lhs_contracting_dims;
    attrs.rhs_contracting_dims = a_.rhs_contracting_dims;
    attrs.operand_precision = a_.operand_precision;
    return attrs;
  }
  Expr Dot(const Expr& lhs, const Expr& rhs, DotAttrs attrs) {
    return {make_, make_.Dot(lhs, rhs, std::move(attrs), inst_->shape().element_type())};
  }

  /// Every row with every group; then each row keeps the product with its own.
  Instruction* Free() {
    const Expr all = Dot(lhs_, rhs_, Plain());
    const Dims rhs_free = FreeDims(rhs_.shape(), a_.rhs_batch_dims, a_.rhs_contracting_dims);
    const auto group = static_cast<int64_t>(a_.lhs_batch_dims.size() + lhs_free_.size()) +
                       PositionOf(rhs_free, a_.rhs_group_dims[0]);
    const Expr mask =
        Mask(all.shape().dims(), ResultDim(ragged_), group, [&](int64_t d) { return ResultDim(d); });
    return Select(mask, all, 0).Reduce(OpKind::Add, 0, {group});
  }

  Instruction* Contracting() {
    const auto pair = [&](int64_t d) {
      const bool batch = llvm::is_contained(a_.lhs_batch_dims, d);
      return batch ? a_.rhs_batch_dims[static_cast<size_t>(PositionOf(a_.lhs_batch_dims, d))]
                   : a_.rhs_contracting_dims[static_cast<size_t>(PositionOf(a_.lhs_contracting_dims, d))];
    };
    const auto masked = [&](const Expr& x, int64_t ragged, llvm::function_ref<int64_t(int64_t)> map) {
      Dims dims(x.shape().dims()), kept;
      dims.insert(dims.begin(), groups_);
      for (int64_t d = 0; d < x.shape().rank(); ++d) kept.push_back(d + 1);
      const Expr mask = Mask(dims, ragged + 1, 0, [&](int64_t d) { return map(d) + 1; });
      return Select(mask, x.Broadcast(dims, kept), 0);
    };
    DotAttrs attrs = Plain();
    attrs.lhs_batch_dims = Shifted(a_.lhs_batch_dims, 0);
    attrs.rhs_batch_dims = Shifted(a_.rhs_batch_dims, 0);
    attrs.lhs_contracting_dims = Shifted(a_.lhs_contracting_dims, std::nullopt);
    attrs.rhs_contracting_dims = Shifted(a_.rhs_contracting_dims, std::nullopt);
    return Dot(masked(lhs_, ragged_, [](int64_t d) { return d; }), masked(rhs_, pair(ragged_), pair),
               std::move(attrs));
  }

  Instruction* Batch() {
    const Expr all = Dot(lhs_, rhs_, Plain());
    const int64_t last = end_.shape().rank() - 1;
    Dims rows(end_.shape().dims().drop_back());
    const Expr total = end_.Slice(last, groups_ - 1, groups_).Reshape(rows);
    Dims to;
    for (const int64_t d : PrefixDims()) to.push_back(ResultDim(d));
    const Expr position = IotaOf(make_, kS64, all.shape().dims(), ResultDim(ragged_));
    return Select(Lt(position, total.Broadcast(all.shape().dims(), to)), all, 0);
  }

  Maker make_;
  Instruction* inst_;
  const RaggedDotAttrs& a_;
  Expr lhs_, rhs_;
  int64_t ragged_;
  int64_t groups_ = 0;
  Expr begin_, end_;
  Dims lhs_free_;
};

bool Matches(const Instruction& inst) {
  return inst.kind() == OpKind::RaggedDot && HasStaticShapes(inst) &&
         inst.operand(2)->shape().ElementCount() > 0;
}

Result<bool> RunRaggedDotRewriter(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(module, context, Matches,
                       [](Instruction* inst) -> Result<Instruction*> { return Rewrite(inst).Run(); });
}

}  // namespace

HLO_DEFINE_PASS(RaggedDotRewriter, NoPassOptions);

}  // namespace hlo
