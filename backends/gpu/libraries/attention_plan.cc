// Attention as a graph of the library's operations: it knows this order of them, and does all in one kernel.
#include "backends/gpu/libraries/attention_graph.h"

namespace hlo::gpu {
namespace {

class Describer : private AttentionGraph {
 public:
  Describer(CudnnGraph& graph, const LibraryAttention& attention, llvm::ArrayRef<uint64_t> alignments)
      : AttentionGraph(graph, attention), attention_(attention), alignments_(alignments) {}

  /// The numbers that a call brings, behind the arrays.
  Result<llvm::SmallVector<float, 4>> Describe() {
    HLO_CHECK_OK(AddTensors());
    HLO_TRY(at_, Product(*TensorOf(attention_.queries), *TensorOf(attention_.keys), nullptr));
    if (scale_ != nullptr) HLO_CHECK_OK(Step(CudnnPointwise::Multiply, scale_));
    if (cap_ != nullptr) {
      HLO_CHECK_OK(Step(CudnnPointwise::Tanh, nullptr));
      HLO_CHECK_OK(Step(CudnnPointwise::Multiply, cap_));
    }
    if (!attention_.bias.dims.empty()) HLO_CHECK_OK(Step(CudnnPointwise::Add, TensorOf(attention_.bias)));
    if (masked_ != nullptr) HLO_CHECK_OK(Mask(*masked_));
    HLO_TRY(const Descriptor* const maxima, OnTheWay(rows_));
    HLO_CHECK_OK(Reduce(CudnnReduction::Max, *at_, *maxima));
    HLO_CHECK_OK(Step(CudnnPointwise::Subtract, maxima));
    HLO_CHECK_OK(Step(CudnnPointwise::Exp, nullptr));
    HLO_TRY(const Descriptor* const sums, OnTheWay(rows_));
    HLO_CHECK_OK(Reduce(CudnnReduction::Add, *at_, *sums));
    HLO_CHECK_OK(DescribeStatistics(*maxima, *sums));
    // Weights are of the type of the values that they weigh.
    HLO_CHECK_OK(Step(CudnnPointwise::Divide, sums, CudnnTypeOf(attention_.values.type)));
    HLO_TRY([[maybe_unused]] const Descriptor* const result,
            Product(*at_, *TensorOf(attention_.values), TensorOf(attention_.result)));
    return std::move(numbers_);
  }

 private:
  /// In the order of Tensors(); keys are read feature by feature.
  Status AddTensors() {
    const auto all = attention_.Tensors();
    for (size_t i = 0; i < all.size(); ++i) {
      const Dims4 dims = all[i] == &attention_.keys ? Turned(Dims4(all[i]->dims)) : Dims4(all[i]->dims);
      HLO_TRY(tensors_.emplace_back(), graph_.AddTensor({CudnnTypeOf(all[i]->type), dims, Place::Memory,
                                                         UsefulAlignment(alignments_[i])}));
    }
    if (attention_.scale != 1) {
      HLO_TRY(scale_, AddNumber(attention_.scale));
    }
    if (attention_.cap) {
      HLO_TRY(cap_, AddNumber(*attention_.cap));
    }
    if (attention_.masked) {
      HLO_TRY(masked_, AddNumber(*attention_.masked));
    }
    return {};
  }
  [[nodiscard]] const Descriptor* TensorOf(const View& view) const {
    const auto all = attention_.Tensors();
    return tensors_[static_cast<size_t>(llvm::find(all, &view) - all.begin())];
  }

  /// What a gradient needs of each row: log(sum) + max. The library knows no attention without it, even if
  /// nobody reads it.
  Status DescribeStatistics(const Descriptor& maxima, const Descriptor& sums) {
    HLO_TRY(const Descriptor* const logarithms, OnTheWay(rows_));
    HLO_CHECK_OK(graph_.AddPointwise({.mode = CudnnPointwise::Log, .x = &sums, .y = logarithms}));
    const Descriptor* statistics = nullptr;
    if (attention_.statistics.dims.empty()) {
      HLO_TRY(statistics, OnTheWay(rows_));
    } else {
      statistics = TensorOf(attention_.statistics);
    }
    return graph_.AddPointwise({.mode = CudnnPointwise::Add, .x = &maxima, .y = statistics, .b = logarithms});
  }

  const LibraryAttention& attention_;
  llvm::ArrayRef<uint64_t> alignments_;
  llvm::SmallVector<const Descriptor*, 6> tensors_;
  const Descriptor *scale_ = nullptr, *cap_ = nullptr, *masked_ = nullptr;
};

class AttentionPlan final : public LibraryPlan {
 public:
  AttentionPlan(std::shared_ptr<Cudnn> library, LibraryAttention attention)
      : attention_(std::move(attention)), plan_(std::move(library)) {}

  Status Search(const LibraryArrays& alignments) {
    const auto at = AddressesOf(attention_, alignments);
    HLO_TRY(numbers_, Describer(plan_.graph(), attention_, at).Describe());
    return plan_.Search();
  }
  [[nodiscard]] size_t workspace_bytes() const override { return plan_.workspace_bytes(); }
  Status Run(const LibraryCall& call) const override {
    auto at = AddressesOf(attention_, call.at);
    for (const float& number : numbers_) at.push_back(reinterpret_cast<uintptr_t>(&number));
    return plan_.Execute(call.stream, call.workspace, at);
  }

 private:
  LibraryAttention attention_;
  CudnnPlan plan_;
  llvm::SmallVector<float, 4> numbers_;  // that the library reads on the host
};

}  // namespace

Result<std::unique_ptr<LibraryPlan>> PlanAttention(std::shared_ptr<Cudnn> library,
                                                   const LibraryAttention& attention,
                                                   const LibraryArrays& alignments) {
  auto plan = std::make_unique<AttentionPlan>(std::move(library), attention);
  HLO_CHECK_OK(plan->Search(alignments));
  return std::unique_ptr<LibraryPlan>(std::move(plan));
}

}  // namespace hlo::gpu
