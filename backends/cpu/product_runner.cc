#include "backends/cpu/product_runner.h"

#include "backends/cpu/eval_step.h"
#include "backends/cpu/product_problem.h"
#include "backends/products/common/sums.h"
#include "backends/products/explain_ways.h"
#include "ir/numeric/narrow_float.h"

namespace hlo::cpu {
namespace {

/// Of a convolution cut where windows begin to reach beyond the input.
constexpr size_t kMostUnpadded = 1024;

class ProductRunner final : public StepRunner {
 public:
  /// `general` computes the instruction where infinite weights would meet padding, which takes no part.
  ProductRunner(const Step& step, PointerList& pointers, const ProductTerms& terms,
                std::vector<gemm::Product> products, std::unique_ptr<StepRunner> general)
      : inst_(*step.instruction),
        terms_(terms),
        products_(std::move(products)),
        general_(std::move(general)),
        looks_at_result_(ShowsNan(inst_)),
        pointers_(pointers.AddPointers({step.operands[0].leaves[0].slice, step.operands[1].leaves[0].slice,
                                        step.result.leaves[0].slice})) {}

  Status Run(Frame& frame) const override {
    void* const* arrays = frame.Pointers(pointers_);
    if (library() != nullptr && RunLibrary(frame, arrays)) return frame.CheckInterrupt();
    if (general_ && !looks_at_result_ && HasNonFinite(*inst_.operand(1), arrays[1]))
      return general_->Run(frame);
    frame.Observe(inst_);
    for (const gemm::Product& product : products_) product.Run(arrays[0], arrays[1], arrays[2]);
    HLO_CHECK_OK(frame.CheckInterrupt());
    if (general_ && looks_at_result_ && HasNonFinite(inst_, arrays[2]) &&
        HasNonFinite(*inst_.operand(1), arrays[1]))
      return general_->Run(frame);
    return {};
  }
  [[nodiscard]] std::string Explain() const override {
    if (products_.empty()) return "matrix product: nothing to compute";
    const std::string refusal = library() == nullptr ? "" : library()->Refusal();
    if (library() != nullptr && refusal.empty()) return "library: " + library()->Detail();
    return "matrix product: " + products_.front().Describe() +
           (products_.size() > 1 ? ", " + std::to_string(products_.size()) + " parts" : "") +
           (refusal.empty() ? "" : "; own loops: " + refusal);
  }
  [[nodiscard]] std::string ExplainChoice() const override {
    if (products_.empty()) return "";
    const gemm::Product& product = products_.front();
    const bool by_library = library() != nullptr && library()->Refusal().empty();
    const gemm::Way& way = by_library ? *product.library_way() : product.way();
    const gemm::Problem problem = std::move(ProblemsOf(inst_).front());
    const bool is_best = &way == gemm::SuitingWay(problem, terms_.target, /*libraries=*/true);
    return gemm::ExplainWays(problem, terms_.target, way, product.is_forced() && (terms_.forced || !is_best));
  }
  [[nodiscard]] std::function<void()> Preparation() const override {
    if (library() == nullptr) return {};
    return [this] { library()->Prepare(); };
  }

 private:
  /// Null: it is not asked.
  [[nodiscard]] const gemm::Plan* library() const {
    return products_.size() == 1 ? products_.front().library() : nullptr;
  }
  /// False if others have to compute it: the library cannot, or infinite weights would meet padding.
  bool RunLibrary(Frame& frame, void* const* arrays) const {
    if (!library()->Prepare()) return false;
    const bool padded = llvm::any_of(inst_.attr<ConvolutionAttrs>().window.dims,
                                     [](const WindowDim& d) { return d.pad_low + d.pad_high > 0; });
    if (padded && HasNonFinite(*inst_.operand(1), arrays[1])) return false;
    frame.Observe(inst_);
    return frame.CheckInterrupt() && library()->Run(arrays[0], arrays[1], arrays[2]);
  }
  static bool HasNonFinite(const Instruction& of, const void* array) {
    return gemm::HasNonFinite(of.shape().element_type(), array, of.shape().ElementCount());
  }

  /// Weights that met padding and should not have are seen in the result, as NaN, with less to look at.
  static bool ShowsNan(const Instruction& inst) {
    const ElementType type = inst.shape().element_type();
    return IsFloat(type) && HasNan(type) && 2 * ByteSize(inst.shape()) <= ByteSize(inst.operand(1)->shape());
  }

  const Instruction& inst_;
  ProductTerms terms_;
  std::vector<gemm::Product> products_;
  std::unique_ptr<StepRunner> general_;
  bool looks_at_result_;  // to find out whether `general_` is needed, not at the weights
  size_t pointers_;       // operands and result, in the PointerList
};

/// The convolution without products with padding, which infinite weights make NaN.
std::unique_ptr<StepRunner> LoadUnpadded(const Step& step, PointerList& pointers, const ProductTerms& terms) {
  std::vector<gemm::Product> products;
  for (gemm::Problem& problem : UnpaddedConvolutionProblems(*step.instruction, kMostUnpadded))
    products.emplace_back(problem, terms.target);
  if (products.empty() || llvm::any_of(products, [](const gemm::Product& product) {
        return product.IsSlow() || product.MultipliesPadding();
      }))
    return LoadEvaluation(step);
  return std::make_unique<ProductRunner>(step, pointers, terms, std::move(products), nullptr);
}

}  // namespace

std::vector<gemm::Problem> ProblemsOf(const Instruction& inst) {
  if (inst.kind() == OpKind::Convolution) return ConvolutionProblems(inst);
  std::vector<gemm::Problem> problems;
  problems.push_back(DotProblem(inst));
  return problems;
}

std::vector<gemm::Product> MakeProducts(const Instruction& inst, const gemm::Target& target,
                                        const WaysOfParts& ways) {
  std::vector<gemm::Product> products;
  for (const gemm::Problem& problem : ProblemsOf(inst))
    products.emplace_back(problem, target, ways[ways.size() > 1 ? products.size() : 0]);
  return products;
}

std::unique_ptr<StepRunner> MakeProductRunner(const Step& step, PointerList& pointers,
                                              const ProductTerms& terms,
                                              std::vector<gemm::Product> products) {
  std::unique_ptr<StepRunner> general;
  if (llvm::any_of(products, [](const gemm::Product& product) { return product.MultipliesPadding(); }))
    general = LoadUnpadded(step, pointers, terms);
  return std::make_unique<ProductRunner>(step, pointers, terms, std::move(products), std::move(general));
}

}  // namespace hlo::cpu
