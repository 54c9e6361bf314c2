#include "backends/cpu/product_step.h"

#include "backends/compile/kernel_ops.h"
#include "backends/cpu/compile.h"
#include "backends/cpu/kernel_target.h"
#include "backends/cpu/product_problem.h"
#include "backends/cpu/product_runner.h"
#include "backends/products/common/vnni_kernels.h"

namespace hlo::cpu {
namespace {

/// Of a convolution, one per residue class of positions.
constexpr double kMostProducts = 256;
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

std::unique_ptr<StepRunner> LoadProduct(const Step& step, PointerList& pointers, ProductChoice& choice,
                                        std::string& why) {
  const Instruction& inst = *step.instruction;
  why = ObstacleToProduct(inst);
  if (!why.empty()) return nullptr;
  WaysOfParts ways = {choice.forced};
  // What is wrong was refused before (CheckWays).
  if (const auto written = WrittenWays(inst); choice.forced == nullptr && written && !written->empty())
    ways = *written;
  std::vector<gemm::Product> products = MakeProducts(inst, choice.target, ways);
  if (llvm::any_of(products, [](const gemm::Product& product) { return product.IsSlow(); })) {
    why = "groups of few features";
    return nullptr;
  }
  Note(inst, products, choice);
  return MakeProductRunner(step, pointers, {choice.target, choice.forced != nullptr}, std::move(products));
}

}  // namespace hlo::cpu

std::vector<llvm::StringRef> hlo::ProductPaths() {
  std::vector<llvm::StringRef> names;
  for (const gemm::Way& way : gemm::Ways()) names.emplace_back(way.name);
  return names;
}
