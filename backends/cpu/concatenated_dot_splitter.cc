// concatenated-dot-splitter: products of few rows with a concatenated factor become products with its parts,
// so that no copy of them is made.
//
// Requires row-major. Preserves flat-calls, row-major. Where the summed dimension is concatenated, sums come
// out in another order: not with --strict-fp.
#include "backends/cpu/product_problem.h"
#include "backends/products/dot/gemv.h"
#include "ir/op.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"

namespace hlo::cpu {
namespace {

/// Copying less than `min_bytes` costs no more than another step.
struct ConcatenatedDotSplitterOptions {
  int64_t max_parts = 4;
  int64_t min_bytes = 128 << 10;
  static llvm::ArrayRef<PassOptionRow> Rows() {
    static constexpr PassOptionRow kRows[] = {
        PassOption<&ConcatenatedDotSplitterOptions::max_parts>("max_parts", "of a factor"),
        PassOption<&ConcatenatedDotSplitterOptions::min_bytes>("min_bytes", "of a factor"),
    };
    return kRows;
  }
};

/// The concatenated dimension of one factor, as the dot sees it.
struct Split {
  int64_t factor;       // 0 or 1
  int64_t dimension;    // of the factor
  int64_t other = -1;   // the summed dimension of the other factor that goes with it, or
  int64_t result = -1;  // the one of the result
};

/// A dimension of factor `i` that is neither batch nor summed lies here in the result.
int64_t ResultDimension(const Instruction& dot, int64_t i, int64_t dimension) {
  const auto& attrs = dot.attr<DotAttrs>();
  const Dims &batch = i == 0 ? attrs.lhs_batch_dims : attrs.rhs_batch_dims,
             &summed = i == 0 ? attrs.lhs_contracting_dims : attrs.rhs_contracting_dims;
  int64_t at = static_cast<int64_t>(batch.size());
  if (i == 1)
    at = dot.shape().rank() -
         (dot.operand(1)->shape().rank() - static_cast<int64_t>(batch.size() + summed.size()));
  for (int64_t d = 0; d < dimension; ++d)
    if (!llvm::is_contained(batch, d) && !llvm::is_contained(summed, d)) ++at;
  return at;
}

/// Products are as good with parts of factor `i`.
std::optional<Split> SplitOf(const Instruction& dot, int64_t i,
                             const ConcatenatedDotSplitterOptions& options) {
  const Instruction &parts = *dot.operand(i), &other = *dot.operand(1 - i);
  if (parts.kind() != OpKind::Concatenate || parts.users().size() != 1 ||
      parts.operand_count() > options.max_parts || parts.has_extras() ||
      ByteSize(parts.shape()) < options.min_bytes || ByteSize(parts.shape()) < ByteSize(other.shape()))
    return std::nullopt;
  for (const Shape* shape : {&parts.shape(), &other.shape(), &dot.shape()})
    if (shape->HasDynamicDimension()) return std::nullopt;
  const auto& attrs = dot.attr<DotAttrs>();
  const Dims &batch = i == 0 ? attrs.lhs_batch_dims : attrs.rhs_batch_dims,
             &summed = i == 0 ? attrs.lhs_contracting_dims : attrs.rhs_contracting_dims,
             &summed_other = i == 0 ? attrs.rhs_contracting_dims : attrs.lhs_contracting_dims;
  Split split{i, parts.attr<DimensionsAttrs>().dimensions[0]};
  if (llvm::is_contained(batch, split.dimension)) return std::nullopt;
  const auto at = llvm::find(summed, split.dimension);
  if (at == summed.end()) {
    split.result = ResultDimension(dot, i, split.dimension);
    return split;
  }
  const ElementType type = dot.shape().element_type();
  if (IsFloat(type) && Info(type).bits < 32) return std::nullopt;
  split.other = summed_other[static_cast<size_t>(at - summed.begin())];
  return split;
}

/// The product is bound by reading factor `i`.
bool IsThinProduct(const Instruction& dot, int64_t i) {
  gemm::Problem problem = DotProblem(dot);
  if (i == 0) problem.Exchange();
  return gemm::IsThin(problem);
}

void Rewrite(Instruction* dot, const Split& split) {
  Maker make(dot);
  const Instruction* concatenate = dot->operand(split.factor);
  Instruction* other = dot->operand(1 - split.factor);
  std::vector<Instruction*> products;
  int64_t begin = 0;
  for (Instruction* part : concatenate->operands()) {
    const int64_t end = begin + part->shape().dim(split.dimension);
    Instruction* factors[2] = {part, part};
    factors[1 - split.factor] = split.other < 0 ? other : make.SliceDim(other, split.other, begin, end);
    products.push_back(make.Dot(factors[0], factors[1], dot->attr<DotAttrs>(), dot->shape().element_type()));
    begin = end;
  }
  if (split.other < 0) return ReplaceAndRemove(dot, make.Concatenate(products, split.result));
  Instruction* sum = products[0];
  for (size_t i = 1; i < products.size(); ++i) sum = make.Binary(OpKind::Add, sum, products[i]);
  ReplaceAndRemove(dot, sum);
}

Result<bool> RunConcatenatedDotSplitter(Module& module, const ConcatenatedDotSplitterOptions& options,
                                        PassContext& context) {
  bool changed = false;
  for (Computation* computation : context.Computations(module)) {
    std::vector<Instruction*> dots;
    for (Instruction* inst : computation->instructions())
      if (inst->kind() == OpKind::Dot && inst->operand_count() == 2 && !inst->has_extras())
        dots.push_back(inst);
    for (Instruction* dot : dots)
      for (const int64_t i : {0, 1})
        if (const auto split = SplitOf(*dot, i, options); split && IsThinProduct(*dot, i)) {
          const bool reorders = split->other >= 0 && !IsIntegral(dot->shape().element_type());
          if ((reorders && context.policy().strict_fp) || !context.TakeRewrite()) continue;
          Rewrite(dot, *split);
          changed = true;
          break;
        }
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(ConcatenatedDotSplitter, ConcatenatedDotSplitterOptions);

}  // namespace hlo::cpu
