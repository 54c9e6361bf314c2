// dot-convert-folding: products of few rows read BF16, F16 and bytes as they lie and widen them on the way:
// all they do is wait for memory.
//
// Requires row-major. Preserves flat-calls, row-major. Converts that nobody else reads go away. Changes no
// value, as a number is the same before and after it is widened.
#include "backends/cpu/product_problem.h"
#include "backends/products/dot/gemv.h"
#include "ir/op.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"

namespace hlo::cpu {
namespace {

/// Products of so many rows read each weight once or twice: to widen them all first is a way through memory
/// more, where caches do not hold them.
struct DotConvertFoldingOptions {
  int64_t max_rows = 256;
  int64_t min_bytes = 16 << 20;
  static llvm::ArrayRef<PassOptionRow> Rows() {
    static constexpr PassOptionRow kRows[] = {
        PassOption<&DotConvertFoldingOptions::max_rows>("max_rows",
                                                        "of products that pack the weights they widen"),
        PassOption<&DotConvertFoldingOptions::min_bytes>("min_bytes",
                                                         "of weights that are widened while they are packed"),
    };
    return kRows;
  }
};

/// Operand `i` of a dot widens weights.
bool Widens(const Instruction& dot, int64_t i) {
  const Instruction &convert = *dot.operand(i), &other = *dot.operand(1 - i);
  if (convert.kind() != OpKind::Convert || other.shape().element_type() != ElementType::F32 ||
      convert.shape().element_type() != ElementType::F32 || dot.shape().element_type() != ElementType::F32)
    return false;
  const Shape& stored = convert.operand(0)->shape();
  return gemm::IsWidenedWhenRead(stored.element_type()) && !stored.HasDynamicDimension() &&
         !other.shape().HasDynamicDimension() && stored.ElementCount() > other.shape().ElementCount();
}

/// The product is bound by reading the larger factor.
bool IsThinProduct(const Instruction& dot) {
  gemm::Problem problem = DotProblem(dot);
  if (gemm::IsThin(problem)) return true;
  problem.Exchange();
  return gemm::IsThin(problem);
}

/// A product of weights as the right factor that are packed in any case, and widened then.
bool IsWidenedWhilePacked(const Instruction& dot, const Instruction& convert,
                          const DotConvertFoldingOptions& options) {
  const gemm::Problem problem = DotProblem(dot);
  return dot.operand(1) == convert.operand(0) && convert.users().empty() && problem.batches() == 1 &&
         problem.rows() <= options.max_rows && ByteSize(convert.shape()) >= options.min_bytes;
}

Result<bool> RunDotConvertFolding(Module& module, const DotConvertFoldingOptions& options,
                                  PassContext& context) {
  bool changed = false;
  for (Computation* computation : context.Computations(module)) {
    std::vector<Instruction*> dots;
    for (Instruction* inst : computation->instructions())
      if (inst->kind() == OpKind::Dot && inst->operand_count() == 2 &&
          inst->attr<DotAttrs>().algorithm == DotAlgorithm::Unset)
        dots.push_back(inst);
    for (Instruction* dot : dots)
      for (const int64_t i : {0, 1}) {
        if (!Widens(*dot, i)) continue;
        Instruction* convert = dot->operand(i);
        dot->SetOperand(i, convert->operand(0));
        const bool folds = IsThinProduct(*dot) || IsWidenedWhilePacked(*dot, *convert, options);
        if (folds && context.TakeRewrite()) {
          RemoveIfDead(convert);
          changed = true;
        } else {
          dot->SetOperand(i, convert);
        }
      }
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(DotConvertFolding, DotConvertFoldingOptions);

}  // namespace hlo::cpu
