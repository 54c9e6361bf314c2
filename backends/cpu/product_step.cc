#include "backends/cpu/product_step.h"

#include "backends/cpu/product_problem.h"
#include "backends/gemm/product.h"

namespace hlo::cpu {
namespace {

class ProductStep final : public Step {
 public:
  ProductStep(const Instruction& inst, Program& program, std::vector<gemm::Product> products,
              llvm::ArrayRef<Value> operands, const Value& result)
      : inst_(inst),
        products_(std::move(products)),
        pointers_(program.AddPointers(
            {operands[0].leaves[0].slice, operands[1].leaves[0].slice, result.leaves[0].slice})) {}

  Status Run(Frame& frame) const override {
    frame.Observe(inst_);
    void* const* arrays = frame.Pointers(pointers_);
    for (const gemm::Product& product : products_) product.Run(arrays[0], arrays[1], arrays[2]);
    return frame.CheckInterrupt();
  }
  [[nodiscard]] const Instruction* instruction() const override { return &inst_; }
  [[nodiscard]] std::string Explain() const override {
    return "matrix product: " + products_.front().Describe() +
           (products_.size() > 1 ? ", " + std::to_string(products_.size()) + " parts" : "");
  }

 private:
  const Instruction& inst_;
  std::vector<gemm::Product> products_;
  size_t pointers_;  // operands and result, in Program::pointers
};

/// Why the step cannot be made; empty: it can.
std::string Obstacle(const Instruction& inst) {
  const Shape &lhs = inst.operand(0)->shape(), &rhs = inst.operand(1)->shape();
  if (!lhs.IsArray() || !rhs.IsArray() || inst.operand_count() != 2) return "sparse operands";
  if (inst.shape().HasDynamicDimension() || lhs.HasDynamicDimension() || rhs.HasDynamicDimension())
    return "dynamic dimensions";
  if (!gemm::IsSupported(lhs.element_type(), rhs.element_type(), inst.shape().element_type()))
    return "element types of products";
  return "";
}

}  // namespace

gemm::Target ProductTarget(const Machine& machine) {
  gemm::Target target;
  if (gemm::HostIsa() >= gemm::Isa::Avx512 && HasFeatures(machine, "+avx512f,+avx512dq,+avx512bw,+avx512vl"))
    target.isa = gemm::Isa::Avx512;
  else if (gemm::HostIsa() >= gemm::Isa::Avx2 && HasFeatures(machine, "+avx2,+fma"))
    target.isa = gemm::Isa::Avx2;
  return target;
}

std::unique_ptr<Step> MakeProductStep(const Instruction& inst, Program& program, const gemm::Target& target,
                                      llvm::ArrayRef<Value> operands, const Value& result, std::string& why) {
  why = Obstacle(inst);
  if (!why.empty()) return nullptr;
  std::vector<gemm::Product> products;
  products.emplace_back(DotProblem(inst), target);
  return std::make_unique<ProductStep>(inst, program, std::move(products), operands, result);
}

}  // namespace hlo::cpu
