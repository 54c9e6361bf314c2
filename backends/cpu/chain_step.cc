#include "backends/cpu/chain_step.h"

#include "backends/cpu/chain_runner.h"
#include "backends/cpu/product_ways.h"

namespace hlo::cpu {
namespace {

/// A product of a chain, by the way that is forced if that has rows, or that stands there.
gemm::Product ChosenProduct(const Instruction& dot, ProductChoice& choice) {
  if (choice.forced != nullptr) {
    gemm::Product product = RowProduct(dot, choice.target, choice.forced);
    if (product.is_forced() && &product.way() == choice.forced) return ++choice.applied, std::move(product);
    if (choice.refusal.empty()) {
      choice.refusal = "%" + dot.name().str() + ": part of a chain, which computes some rows at a time";
      choice.refused = dot.loc();
    }
  }
  return RowProduct(dot, choice.target, WrittenWay(dot));
}

class LoadedChain final : public ChainRunner {
 public:
  LoadedChain(const Step& step, ChainParts parts, Program& program)
      : ChainRunner(step, std::move(parts), program), entry_(program.kernels.At(step.call.kernel)) {}

  [[nodiscard]] int32_t code() const override { return entry_.compiled; }
  [[nodiscard]] std::string Explain() const override {
    return Describe(entry_.interpreted ? "interpreted kernel" : "kernel k" + std::to_string(entry_.compiled));
  }

 private:
  void RunKernel(void* const* buffers, int64_t begin, int64_t end) const override {
    entry_.Run(buffers, begin, end);
  }

  const KernelEntry& entry_;
};

}  // namespace

llvm::SmallVector<Slice, 8> KernelSlices(const Chain& chain, llvm::ArrayRef<Value> operands) {
  llvm::SmallVector<Slice, 8> slices;
  for (const Instruction* operand : chain.middle->operands())
    slices.push_back(OutsideSlice(operand, operands));
  return slices;
}

std::unique_ptr<StepRunner> LoadChain(const Step& step, const Chain& chain, Program& program,
                                      ProductChoice& choice) {
  ChainParts parts{chain, RowsOfBlock(chain), ChosenProduct(*chain.first, choice), {}};
  if (chain.last != nullptr) parts.last.emplace(ChosenProduct(*chain.last, choice));
  return std::make_unique<LoadedChain>(step, std::move(parts), program);
}

}  // namespace hlo::cpu
