// reduce-window-rewriter: long prefix reductions as trees of short ones (passes.md §4.10).
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: a reduce-window that reduces all elements up to each one along a dimension (or from each one on,
// with or without it) of more than base_length elements becomes one over rows of base_length elements, one
// over the totals of the rows, and their combination; repeated until all are short. The init counts once.
// What kernels scan as rows (IsRowScan) may stay up to row_length.
// Windows over vectors that are left become windows over matrices of one column.
// Floating sums and products are grouped anew (not under strict floating point). Left alone: reducers other
// than one commutative operation, dynamic shapes.
#include "passes/analysis/reducers.h"
#include "passes/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/prefix.h"
#include "passes/rewrite/vector_windows.h"

namespace hlo {
namespace {

struct ReduceWindowRewriterOptions {
  int64_t base_length = 16;
  int64_t row_length = 0;
  bool vectors = false;  // stay windows over vectors
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&ReduceWindowRewriterOptions::base_length>("base_length", "longest reduction that stays"),
    PassOption<&ReduceWindowRewriterOptions::row_length>("row_length",
                                                         "the same of those that kernels scan as rows"),
    PassOption<&ReduceWindowRewriterOptions::vectors>("vectors", "windows over vectors stay"),
};

/// The longest that stays.
int64_t BaseOf(const Instruction& inst, const ReduceWindowRewriterOptions& options) {
  return std::max({int64_t{2}, options.base_length, IsRowScan(inst) ? options.row_length : 0});
}

/// How long rows are of what is cut. Those that kernels scan are as long that none has to be filled up, if
/// there is such a length.
int64_t RowLength(const Instruction& inst, const ReduceWindowRewriterOptions& options) {
  constexpr int64_t kLeastPart = 4, kNeighbours = 4;  // of the longest; elements that are read at once
  const int64_t base = BaseOf(inst, options);
  if (base == options.base_length || base < kLeastPart * kNeighbours) return base;
  const int64_t n = inst.shape().dims().back();
  for (int64_t length = base / kNeighbours * kNeighbours; length >= base / kLeastPart; length -= kNeighbours)
    if (n % length == 0) return length;
  return base;
}

bool Matches(const Instruction& inst, const ReduceWindowRewriterOptions& options, bool strict_fp) {
  if (inst.kind() != OpKind::ReduceWindow || !HasStaticShapes(inst)) return false;
  const auto op = PlainReductionOp(inst);
  if (!op) return false;
  const ElementType type = inst.shape().element_type();
  if (strict_fp && RoundsByOrder(*op, type)) return false;
  const bool selects = *op == OpKind::Maximum || *op == OpKind::Minimum;
  if (selects && IsFloat(type) && Info(type).special != FloatSpecial::Ieee) return false;  // no identity
  const auto prefix = MatchPrefix(inst);
  return prefix && inst.shape().dim(prefix->dimension) > BaseOf(inst, options) &&
         inst.shape().ElementCount() > 0;
}

Instruction* MakeTree(Instruction* inst, int64_t base) {
  Maker make(inst);
  const OpKind op = *PlainReductionOp(*inst);
  Computation* reducer = inst->callee();
  const Prefix prefix = *MatchPrefix(*inst);
  const Expr x(make, inst->operand(0)), init(make, inst->operand(1));
  const int64_t d = prefix.dimension, n = x.dim(d), rows = (n + base - 1) / base;
  const Expr identity = *IdentityOf(make, op, x.type());
  // Rows of `base` elements, the last one filled up.
  llvm::SmallVector<PaddingDim, 4> padding(static_cast<size_t>(x.shape().rank()));
  padding[static_cast<size_t>(d)].high = rows * base - n;
  const Expr padded = rows * base == n ? x : Expr(make, make.Pad(x, identity, padding));
  Dims dims(x.shape().dims());
  dims[static_cast<size_t>(d)] = rows;
  const Dims outer_dims = dims;
  dims.insert(dims.begin() + d + 1, base);
  const Expr matrix = padded.Reshape(dims);
  const Expr inner = PrefixReduce(matrix, identity, {d + 1, prefix.reverse, prefix.exclusive}, reducer);
  const int64_t last = prefix.reverse ? 0 : base - 1;
  const Expr totals = prefix.exclusive ? Expr(make, make.Reduce(matrix, identity, {d + 1}, reducer))
                                       : inner.Slice(d + 1, last, last + 1).Reshape(outer_dims);
  const Expr before = PrefixReduce(totals, init, {d, prefix.reverse, true}, reducer);
  Dims kept;
  for (int64_t i = 0; i <= x.shape().rank(); ++i)
    if (i != d + 1) kept.push_back(i);
  Dims flat(x.shape().dims());
  flat[static_cast<size_t>(d)] = rows * base;
  return Binary(op, before.Broadcast(dims, kept), inner).Reshape(flat).Slice(d, 0, n);
}

llvm::ArrayRef<PassOptionRow> ReduceWindowRewriterOptions::Rows() { return kRows; }

Result<bool> RunReduceWindowRewriter(Module& module, const ReduceWindowRewriterOptions& options,
                                     PassContext& context) {
  bool changed = false;
  for (bool more = true; more; changed |= more) {
    HLO_TRY(more,
            ExpandMatches(
                module, context,
                [&](const Instruction& inst) { return Matches(inst, options, context.policy().strict_fp); },
                [&](Instruction* inst) -> Result<Instruction*> {
                  return MakeTree(inst, RowLength(*inst, options));
                }));
  }
  if (options.vectors) return changed;
  HLO_TRY(const bool resized, ExpandMatches(module, context, HasVectorWindows, WithMatrixWindows));
  return changed || resized;
}

}  // namespace

HLO_DEFINE_PASS(ReduceWindowRewriter, ReduceWindowRewriterOptions);

}  // namespace hlo
