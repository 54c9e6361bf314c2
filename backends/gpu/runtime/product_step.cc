// Products that a library does.
#include "backends/gpu/runtime/steps.h"

namespace hlo::gpu {
namespace {

/// Addresses that are multiples of more are no better. Bytes.
constexpr uint64_t kMostAlignment = 256;

/// Why the arrays of a step are not such that a library can take them.
const char* WhyNot(const Step& step) {
  if (!step.call.copies.empty()) return "it writes over an operand";
  if (step.result.leaves.size() != 1) return "it has several results";
  const Slice& result = step.result.leaves[0].slice;
  for (const Value& operand : step.operands)
    for (const Leaf& leaf : operand.leaves) {
      if (leaf.slice.sizes >= 0) return "sizes of an operand are not known";
      if (leaf.slice.Overlaps(result)) return "it writes over an operand";
    }
  return result.sizes >= 0 ? "its size is not known" : nullptr;
}

LibraryStep LibraryStepOf(const Step& step) {
  if (const char* const why = WhyNot(step)) return {std::nullopt, why};
  Result<LibraryProduct> product = ProductOf(*step.instruction);
  if (!product) return {std::nullopt, std::move(product).error().message};
  return {*product, ""};
}

class ProductRunner final : public StepRunner {
 public:
  ProductRunner(const Step& step, std::unique_ptr<StepRunner> kernel)
      : step_(step), kernel_(std::move(kernel)), library_(LibraryStepOf(step)) {}

  Status Run(Frame& frame) const override {
    const ProductPlan* const plan = frame.PlanOf(step_);
    if (plan == nullptr) return kernel_->Run(frame);
    frame.Observe(*step_.instruction);
    Gpu& gpu = frame.stream().gpu();
    // Says so if it is lost.
    HLO_CHECK_OK(gpu.MakeCurrent());
    const Slice& result = step_.result.leaves[0].slice;
    gpu.Forget(frame.stream().handle(), frame.At(result), static_cast<size_t>(result.size));
    const auto at = [&](const LibraryMatrix& matrix) { return frame.At(SliceOf(matrix)) + Begin(matrix); };
    Status done = plan->Run(ForEach(at), frame.Workspace(), frame.stream().handle());
    return !done && IsDeclined(done.error()) ? kernel_->Run(frame) : done;
  }
  [[nodiscard]] std::string Explain() const override { return kernel_->Explain(); }
  [[nodiscard]] const LibraryStep* library_step() const override { return &library_; }

  /// Of the addresses of its arrays in all runs.
  [[nodiscard]] ProductAddresses Alignments() const {
    return ForEach([&](const LibraryMatrix& matrix) {
      const int64_t bytes = Info(matrix.type).host_bytes();
      // Buffers begin at multiples of the most.
      const uint64_t all = kMostAlignment | static_cast<uint64_t>(SliceOf(matrix).offset) | Begin(matrix) |
                           static_cast<uint64_t>(matrix.call_stride * bytes);
      return all & (~all + 1);
    });
  }

 private:
  [[nodiscard]] const Slice& SliceOf(const LibraryMatrix& matrix) const {
    const Value& value = matrix.array < 0 ? step_.result : step_.operands[static_cast<size_t>(matrix.array)];
    return value.leaves[0].slice;
  }
  static uint64_t Begin(const LibraryMatrix& matrix) {
    return static_cast<uint64_t>(matrix.offset * Info(matrix.type).host_bytes());
  }
  /// A number for each array that there is.
  [[nodiscard]] ProductAddresses ForEach(llvm::function_ref<uint64_t(const LibraryMatrix&)> number) const {
    const LibraryProduct& product = *library_.product;
    ProductAddresses numbers;
    numbers.a = number(product.a);
    numbers.b = number(product.b);
    numbers.d = number(product.d);
    if (product.c) numbers.c = number(*product.c);
    if (product.bias) numbers.bias = number(*product.bias);
    return numbers;
  }

  const Step& step_;
  std::unique_ptr<StepRunner> kernel_;
  LibraryStep library_;
};

}  // namespace

std::unique_ptr<StepRunner> LoadProduct(const Step& step, std::unique_ptr<StepRunner> kernel) {
  if (!HasProduct(*step.instruction)) return kernel;
  return std::make_unique<ProductRunner>(step, std::move(kernel));
}

Result<ProductPlans> PlanProducts(const Program& program, const LibraryOptions& options,
                                  const LentDriver* lent) {
  using Use = LibraryOptions::Use;
  ProductPlans plans;
  if (!UsesLibraries(options, /*emulated=*/lent != nullptr)) return plans;
  std::shared_ptr<CublasLt> library;
  std::vector<const Sequence*> work = {&program.entry};
  while (!work.empty()) {
    const Sequence& sequence = *work.back();
    work.pop_back();
    for (const std::unique_ptr<Step>& step : sequence) {
      for (const Sequence& part : step->parts) work.push_back(&part);
      const LibraryStep* const wanted = RunnerOf(*step).library_step();
      if (wanted == nullptr || !wanted->product) continue;
      if (library == nullptr) {
        auto opened = CublasLt::Open(options, lent);
        if (!opened && options.use != Use::Named) return plans;
        HLO_CHECK_OK(opened);
        library = std::move(*opened);
      }
      auto plan = ProductPlan::Make(library, *wanted->product,
                                    static_cast<const ProductRunner&>(RunnerOf(*step)).Alignments());
      if (plan)
        plans[step.get()] = std::move(*plan);
      else if (!IsDeclined(plan.error()) && options.use == Use::Named)
        return Error(std::move(plan).error());
    }
  }
  return plans;
}

}  // namespace hlo::gpu
