// Convolutions as graphs of the library's operations, and the engine that computes one.
#include "backends/gpu/libraries/convolution.h"
#include "backends/gpu/libraries/cudnn_graph.h"

namespace hlo::gpu {
namespace {

using A = CudnnAttribute;
using T = CudnnAttributeType;
using Direction = LibraryConvolution::Direction;

/// The operation of a direction, and its attributes.
struct OperationRow {
  Direction direction;
  CudnnDescriptorKind kind;
  A image, filter, response, convolution, alpha, beta;
};
constexpr OperationRow kOperations[] = {
    {Direction::Forward, CudnnDescriptorKind::Forward, A::ForwardImage, A::ForwardFilter, A::ForwardResponse,
     A::ForwardConvolution, A::ForwardAlpha, A::ForwardBeta},
    {Direction::BackwardFilter, CudnnDescriptorKind::BackwardFilter, A::FilterImage, A::FilterFilter,
     A::FilterResponse, A::FilterConvolution, A::FilterAlpha, A::FilterBeta},
    {Direction::BackwardData, CudnnDescriptorKind::BackwardData, A::DataImage, A::DataFilter, A::DataResponse,
     A::DataConvolution, A::DataAlpha, A::DataBeta},
};

struct StepRow {
  EpilogueStep::Op op;
  CudnnPointwise mode;
};
constexpr StepRow kSteps[] = {{EpilogueStep::Op::Add, CudnnPointwise::Add},
                              {EpilogueStep::Op::Multiply, CudnnPointwise::Multiply},
                              {EpilogueStep::Op::Relu, CudnnPointwise::Relu}};

/// Describes a convolution and what is done to it.
class Describer {
 public:
  Describer(CudnnGraph& graph, const LibraryConvolution& convolution, const LibraryArrays& alignments)
      : graph_(graph), convolution_(convolution), alignments_(AddressesOf(convolution, alignments)) {}

  Status Describe() {
    HLO_CHECK_OK(AddTensors());
    HLO_CHECK_OK(AddConvolution());
    return AddSteps();
  }

 private:
  /// Those in memory count from 0 as Tensors() has them; behind these what only is on the way.
  Status AddTensors() {
    using Place = CudnnTensor::Place;
    const auto all = convolution_.Tensors();
    for (size_t i = 0; i < all.size(); ++i) {
      HLO_TRY(tensors_.emplace_back(), graph_.AddTensor({CudnnTypeOf(all[i]->type), all[i]->dims,
                                                         Place::Memory, UsefulAlignment(alignments_[i])}));
      if (all[i] == &convolution_.result()) result_ = tensors_.back();
    }
    for (size_t i = 0; i < convolution_.steps.size(); ++i) {
      HLO_TRY(on_the_way_.emplace_back(), graph_.AddTensor({CudnnTypeOf(convolution_.types->sums),
                                                            convolution_.result().dims, Place::OnTheWay}));
    }
    return {};
  }
  /// What the convolution writes, or a step.
  [[nodiscard]] const Descriptor& After(size_t steps) const {
    return steps == on_the_way_.size() ? *result_ : *on_the_way_[steps];
  }

  Result<Descriptor*> AddWindow() {
    HLO_TRY(Descriptor* const made, graph_.Add(CudnnDescriptorKind::Convolution));
    const auto each = [&](A attribute, int64_t LibraryConvolution::Dim::* figure) {
      llvm::SmallVector<int64_t, 3> figures;
      for (const LibraryConvolution::Dim& dim : convolution_.dims) figures.push_back(dim.*figure);
      return made->SetEach(attribute, T::Int64, llvm::ArrayRef<int64_t>(figures));
    };
    const CudnnMode mode = convolution_.flipped ? CudnnMode::Convolution : CudnnMode::CrossCorrelation;
    const auto dims = static_cast<int64_t>(convolution_.dims.size());
    HLO_CHECK_OK(made->Set(A::ConvolutionDims, T::Int64, dims));
    HLO_CHECK_OK(made->Set(A::ConvolutionType, T::DataType, CudnnTypeOf(convolution_.types->sums)));
    HLO_CHECK_OK(made->Set(A::ConvolutionMode, T::ConvolutionMode, mode));
    HLO_CHECK_OK(each(A::ConvolutionStrides, &LibraryConvolution::Dim::stride));
    HLO_CHECK_OK(each(A::ConvolutionDilations, &LibraryConvolution::Dim::dilation));
    HLO_CHECK_OK(each(A::ConvolutionPrePaddings, &LibraryConvolution::Dim::before));
    HLO_CHECK_OK(each(A::ConvolutionPostPaddings, &LibraryConvolution::Dim::after));
    HLO_CHECK_OK(made->Finish());
    return made;
  }

  Status AddConvolution() {
    HLO_TRY(const Descriptor* const window, AddWindow());
    const OperationRow& row = *llvm::find_if(
        kOperations, [&](const OperationRow& r) { return r.direction == convolution_.direction; });
    HLO_TRY(Descriptor* const made, graph_.Add(row.kind));
    const std::pair<A, const LibraryTensor*> arrays[] = {{row.image, &convolution_.image},
                                                         {row.filter, &convolution_.filter},
                                                         {row.response, &convolution_.response}};
    for (size_t i = 0; i < std::size(arrays); ++i) {
      const bool written = arrays[i].second == &convolution_.result();
      HLO_CHECK_OK(made->Set(arrays[i].first, written ? After(0) : *tensors_[i]));
    }
    HLO_CHECK_OK(made->Set(row.convolution, *window));
    const auto factor = [&](A attribute, double value) {
      if (convolution_.types->sums == ElementType::F64) return made->Set(attribute, T::Double, value);
      return made->Set(attribute, T::Float, static_cast<float>(value));
    };
    HLO_CHECK_OK(factor(row.alpha, convolution_.alpha));
    HLO_CHECK_OK(factor(row.beta, 0));
    return graph_.AddOperation(*made);
  }

  Status AddSteps() {
    constexpr size_t kOfConvolution = 3;  // tensors in front of those of steps
    size_t operand = kOfConvolution;
    for (size_t i = 0; i < convolution_.steps.size(); ++i) {
      const EpilogueStep::Op op = convolution_.steps[i].op;
      const StepRow& row = *llvm::find_if(kSteps, [&](const StepRow& r) { return r.op == op; });
      HLO_CHECK_OK(graph_.AddPointwise({.mode = row.mode,
                                        .x = &After(i),
                                        .y = &After(i + 1),
                                        .b = op == EpilogueStep::Op::Relu ? nullptr : tensors_[operand++],
                                        .precision = CudnnTypeOf(convolution_.types->sums)}));
    }
    return {};
  }

  CudnnGraph& graph_;
  const LibraryConvolution& convolution_;
  llvm::SmallVector<uint64_t, 5> alignments_;
  llvm::SmallVector<const Descriptor*, 6> tensors_, on_the_way_;
  const Descriptor* result_ = nullptr;
};

class ConvolutionPlan final : public LibraryPlan {
 public:
  ConvolutionPlan(std::shared_ptr<Cudnn> library, LibraryConvolution convolution)
      : convolution_(std::move(convolution)), plan_(std::move(library)) {}

  Status Search(const LibraryArrays& alignments) {
    HLO_CHECK_OK(Describer(plan_.graph(), convolution_, alignments).Describe());
    return plan_.Search();
  }
  [[nodiscard]] size_t workspace_bytes() const override { return plan_.workspace_bytes(); }
  Status Run(const LibraryCall& call) const override {
    return plan_.Execute(call.stream, call.workspace, AddressesOf(convolution_, call.at));
  }

 private:
  LibraryConvolution convolution_;
  CudnnPlan plan_;
};

}  // namespace

Result<std::unique_ptr<LibraryPlan>> PlanConvolution(std::shared_ptr<Cudnn> library,
                                                     const LibraryConvolution& convolution,
                                                     const LibraryArrays& alignments) {
  auto plan = std::make_unique<ConvolutionPlan>(std::move(library), convolution);
  HLO_CHECK_OK(plan->Search(alignments));
  return std::unique_ptr<LibraryPlan>(std::move(plan));
}

}  // namespace hlo::gpu
