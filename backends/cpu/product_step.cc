#include "backends/cpu/product_step.h"

#include "backends/compile/kernel_ops.h"
#include "backends/cpu/compile.h"
#include "backends/cpu/eval_step.h"
#include "backends/cpu/kernel_target.h"
#include "backends/cpu/product_problem.h"
#include "backends/cpu/product_ways.h"
#include "backends/products/common/sums.h"
#include "backends/products/common/vnni_kernels.h"
#include "backends/products/explain_ways.h"
#include "backends/products/product.h"
#include "ir/numeric/narrow_float.h"

namespace hlo::cpu {
namespace {

/// Of a convolution, one per residue class of positions.
constexpr double kMostProducts = 256;
/// Of a convolution cut where windows begin to reach beyond the input.
constexpr size_t kMostUnpadded = 1024;

class ProductRunner final : public StepRunner {
 public:
  /// `general` computes the instruction where infinite weights would meet padding, which takes no part.
  ProductRunner(const Step& step, Program& program, const ProductChoice& choice,
                std::vector<gemm::Product> products, std::unique_ptr<StepRunner> general)
      : inst_(*step.instruction),
        target_(choice.target),
        is_forced_(choice.forced != nullptr),
        products_(std::move(products)),
        general_(std::move(general)),
        looks_at_result_(ShowsNan(inst_)),
        pointers_(program.AddPointers({step.operands[0].leaves[0].slice, step.operands[1].leaves[0].slice,
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
    const bool is_best = &way == gemm::SuitingWay(problem, target_, /*libraries=*/true);
    return gemm::ExplainWays(problem, target_, way, product.is_forced() && (is_forced_ || !is_best));
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
  gemm::Target target_;
  bool is_forced_;  // by an option
  std::vector<gemm::Product> products_;
  std::unique_ptr<StepRunner> general_;
  bool looks_at_result_;  // to find out whether `general_` is needed, not at the weights
  size_t pointers_;       // operands and result, in Program::pointers
};

/// Whether the way that was to be forced is taken.
void Note(const Instruction& inst, llvm::ArrayRef<gemm::Product> products, ProductChoice& choice) {
  if (choice.forced == nullptr) return;
  std::string why;
  if (products.empty()) why = "nothing to compute";
  const std::vector<gemm::Problem> problems = ProblemsOf(inst);
  for (size_t i = 0; i < products.size() && why.empty(); ++i) {
    const gemm::Plan* library = products[i].library();
    if (!products[i].is_forced())
      why = gemm::FitOf(*choice.forced, problems[i], choice.target).why();
    else if (choice.forced->by_library && library != nullptr)
      why = library->Refusal();
  }
  if (why.empty())
    ++choice.applied;
  else if (choice.refusal.empty())
    choice.refusal = "%" + inst.name().str() + ": " + why, choice.refused = inst.loc();
}

/// The convolution without products with padding, which infinite weights make NaN.
std::unique_ptr<StepRunner> LoadUnpadded(const Step& step, Program& program, const ProductChoice& choice) {
  std::vector<gemm::Product> products;
  for (gemm::Problem& problem : UnpaddedConvolutionProblems(*step.instruction, kMostUnpadded))
    products.emplace_back(problem, choice.target);
  if (products.empty() || llvm::any_of(products, [](const gemm::Product& product) {
        return product.IsSlow() || product.MultipliesPadding();
      }))
    return LoadEvaluation(step);
  return std::make_unique<ProductRunner>(step, program, choice, std::move(products), nullptr);
}

/// What ways cost by the figures of the machine.
gemm::Rates RatesOf(const compile::Machine& machine) {
  gemm::Rates rates;
  rates.cycles_per_ns = machine.cycles_per_ns;
  rates.vectors = static_cast<double>(machine.vectors.multiplied);
  const double floats = rates.vectors * static_cast<double>(machine.LanesOf(ElementType::F32));
  for (const compile::Machine::MatrixUnit& unit : machine.matrix_units) {
    const bool pairs = unit.type == ElementType::BF16;
    double& rate = unit.rows > 1 ? (pairs ? rates.pairs_of_tiles : rates.fours_of_tiles)
                                 : (pairs ? rates.pairs : rates.fours);
    rate = static_cast<double>(unit.rows * unit.columns * unit.depth) / unit.cycles / floats;
  }
  return rates;
}

}  // namespace

std::vector<gemm::Problem> ProblemsOf(const Instruction& inst) {
  if (inst.kind() == OpKind::Convolution) return ConvolutionProblems(inst);
  std::vector<gemm::Problem> problems;
  problems.push_back(DotProblem(inst));
  return problems;
}

std::string ObstacleToProduct(const Instruction& inst) {
  const Shape &lhs = inst.operand(0)->shape(), &rhs = inst.operand(1)->shape();
  if (!lhs.IsArray() || !rhs.IsArray() || inst.operand_count() != 2) return "sparse operands";
  if (inst.shape().HasDynamicDimension() || lhs.HasDynamicDimension() || rhs.HasDynamicDimension())
    return "dynamic dimensions";
  if (!gemm::IsSupported(lhs.element_type(), rhs.element_type(), inst.shape().element_type()))
    return "element types of products";
  if (compile::KeepsOrder(inst)) return "few complex numbers in double precision keep their order";
  if (inst.kind() == OpKind::Convolution && CountConvolutionProblems(inst) > kMostProducts)
    return "an input dilated too much";
  return "";
}

gemm::Target ProductTarget(const Machine& machine) {
  gemm::Target target;
  target.rates = RatesOf(CpuMachine());
  if (gemm::HostIsa() >= gemm::Isa::Avx512 && HasFeatures(machine, "+avx512f,+avx512dq,+avx512bw,+avx512vl"))
    target.isa = gemm::Isa::Avx512;
  if (target.isa == gemm::Isa::Avx512) {
    target.amx =
        gemm::TileRegisterKernels() != nullptr && HasFeatures(machine, "+amx-tile,+amx-bf16,+amx-int8");
    target.pairs = gemm::PairKernels() != nullptr && HasFeatures(machine, "+avx512bf16");
    target.fours = gemm::FourKernels() != nullptr && HasFeatures(machine, "+avx512vnni");
  } else if (gemm::HostIsa() >= gemm::Isa::Avx2 && HasFeatures(machine, "+avx2,+fma"))
    target.isa = gemm::Isa::Avx2;
  return target;
}

std::unique_ptr<StepRunner> LoadProduct(const Step& step, Program& program, ProductChoice& choice,
                                        std::string& why) {
  const Instruction& inst = *step.instruction;
  why = ObstacleToProduct(inst);
  if (!why.empty()) return nullptr;
  WaysOfParts ways = {choice.forced};
  // What is wrong was refused before (CheckWays).
  if (const auto written = WrittenWays(inst); choice.forced == nullptr && written && !written->empty())
    ways = *written;
  std::vector<gemm::Product> products;
  for (const gemm::Problem& problem : ProblemsOf(inst))
    products.emplace_back(problem, choice.target, ways[ways.size() > 1 ? products.size() : 0]);
  if (llvm::any_of(products, [](const gemm::Product& product) { return product.IsSlow(); })) {
    why = "groups of few features";
    return nullptr;
  }
  Note(inst, products, choice);
  std::unique_ptr<StepRunner> general;
  if (llvm::any_of(products, [](const gemm::Product& product) { return product.MultipliesPadding(); }))
    general = LoadUnpadded(step, program, choice);
  return std::make_unique<ProductRunner>(step, program, choice, std::move(products), std::move(general));
}

}  // namespace hlo::cpu

std::vector<llvm::StringRef> hlo::ProductPaths() {
  std::vector<llvm::StringRef> names;
  for (const gemm::Way& way : gemm::Ways()) names.emplace_back(way.name);
  return names;
}
