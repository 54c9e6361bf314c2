// Attention as a graph of the library's operations: it knows this order of them, and does all in one kernel.
#include "backends/gpu/libraries/attention.h"
#include "backends/gpu/libraries/cudnn_graph.h"

namespace hlo::gpu {
namespace {

using A = CudnnAttribute;
using T = CudnnAttributeType;
using Place = CudnnTensor::Place;
using Dims4 = llvm::SmallVector<ViewDim, 4>;

/// Dimensions of scores.
enum Dim : size_t { Batch, Heads, Queries, Keys };

/// Elements one after the other.
Dims4 Packed(llvm::ArrayRef<int64_t> sizes) {
  Dims4 dims;
  int64_t stride = 1;
  for (const int64_t size : llvm::reverse(sizes)) {
    dims.insert(dims.begin(), {size, stride});
    stride *= size;
  }
  return dims;
}

/// Describes the operations one after the other: what each makes is the next one's.
class Describer {
 public:
  Describer(CudnnGraph& graph, const LibraryAttention& attention, llvm::ArrayRef<uint64_t> alignments)
      : graph_(graph), attention_(attention), alignments_(alignments) {
    const int64_t queries = attention.queries.dims[Queries].size, keys = attention.keys.dims[Queries].size;
    const int64_t batch = attention.queries.dims[Batch].size, heads = attention.queries.dims[Heads].size;
    scores_ = Packed({batch, heads, queries, keys});
    rows_ = Packed({batch, heads, queries, 1});
  }

  /// The numbers that a call brings, behind the arrays.
  Result<llvm::SmallVector<float, 3>> Describe() {
    HLO_CHECK_OK(AddTensors());
    HLO_TRY(at_, Product(*tensors_[0], *tensors_[1], nullptr));
    if (scale_ != nullptr) HLO_CHECK_OK(Step(CudnnPointwise::Multiply, scale_));
    if (cap_ != nullptr) {
      HLO_CHECK_OK(Step(CudnnPointwise::Tanh, nullptr));
      HLO_CHECK_OK(Step(CudnnPointwise::Multiply, cap_));
    }
    if (!attention_.bias.dims.empty()) HLO_CHECK_OK(Step(CudnnPointwise::Add, tensors_[kBias]));
    if (masked_ != nullptr) HLO_CHECK_OK(Mask());
    HLO_TRY(const Descriptor* const maxima, Reduce(CudnnReduction::Max));
    HLO_CHECK_OK(Step(CudnnPointwise::Subtract, maxima));
    HLO_CHECK_OK(Step(CudnnPointwise::Exp, nullptr));
    HLO_TRY(const Descriptor* const sums, Reduce(CudnnReduction::Add));
    HLO_CHECK_OK(DescribeStatistics(*maxima, *sums));
    // Weights are of the type of the values that they weigh.
    HLO_CHECK_OK(Step(CudnnPointwise::Divide, sums, CudnnTypeOf(attention_.values.type)));
    HLO_TRY([[maybe_unused]] const Descriptor* const result, Product(*at_, *tensors_[2], tensors_[3]));
    return std::move(numbers_);
  }

 private:
  static constexpr size_t kBias = 4;

  Result<const Descriptor*> AddArray(const View& view, size_t number, bool turned) {
    Dims4 dims(view.dims);
    if (turned) std::swap(dims[Queries], dims[Keys]);
    return graph_.AddTensor(
        {CudnnTypeOf(view.type), dims, Place::Memory, UsefulAlignment(alignments_[number])});
  }
  /// In the order of Tensors(); keys are read feature by feature.
  Status AddTensors() {
    const auto all = attention_.Tensors();
    for (size_t i = 0; i < all.size(); ++i) {
      HLO_TRY(tensors_.emplace_back(), AddArray(*all[i], i, all[i] == &attention_.keys));
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
  Result<const Descriptor*> AddNumber(double value) {
    numbers_.push_back(static_cast<float>(value));
    return graph_.AddTensor({CudnnType::F32, Packed({1, 1, 1, 1}), Place::Host, sizeof(float)});
  }
  Result<const Descriptor*> OnTheWay(llvm::ArrayRef<ViewDim> dims, CudnnType type = CudnnType::F32) {
    return graph_.AddTensor({type, dims, Place::OnTheWay});
  }

  /// Without `c` what it makes are scores.
  Result<const Descriptor*> Product(const Descriptor& a, const Descriptor& b, const Descriptor* c) {
    if (c == nullptr) {
      HLO_TRY(c, OnTheWay(scores_));
    }
    HLO_TRY(Descriptor* const kind, graph_.Add(CudnnDescriptorKind::Matmul));
    HLO_CHECK_OK(kind->Set(A::MatmulType, T::DataType, CudnnType::F32));
    HLO_CHECK_OK(kind->Finish());
    HLO_TRY(Descriptor* const made, graph_.Add(CudnnDescriptorKind::MatmulOperation));
    HLO_CHECK_OK(made->Set(A::OperationMatmulA, a));
    HLO_CHECK_OK(made->Set(A::OperationMatmulB, b));
    HLO_CHECK_OK(made->Set(A::OperationMatmulC, *c));
    HLO_CHECK_OK(made->Set(A::OperationMatmul, *kind));
    HLO_CHECK_OK(graph_.AddOperation(*made));
    return c;
  }
  Status Step(CudnnPointwise mode, const Descriptor* with, CudnnType type = CudnnType::F32) {
    HLO_TRY(const Descriptor* const made, OnTheWay(scores_, type));
    HLO_CHECK_OK(graph_.AddPointwise({.mode = mode, .x = at_, .y = made, .b = with}));
    at_ = made;
    return {};
  }
  /// What a gradient would need of each row: log(sum) + max. The library knows no attention without it,
  /// though nobody reads it here.
  Status DescribeStatistics(const Descriptor& maxima, const Descriptor& sums) {
    HLO_TRY(const Descriptor* const logarithms, OnTheWay(rows_));
    HLO_CHECK_OK(graph_.AddPointwise({.mode = CudnnPointwise::Log, .x = &sums, .y = logarithms}));
    HLO_TRY(const Descriptor* const statistics, OnTheWay(rows_));
    return graph_.AddPointwise({.mode = CudnnPointwise::Add, .x = &maxima, .y = statistics, .b = logarithms});
  }
  /// Of each row.
  Result<const Descriptor*> Reduce(CudnnReduction op) {
    HLO_TRY(const Descriptor* const rows, OnTheWay(rows_));
    HLO_TRY(Descriptor* const kind, graph_.Add(CudnnDescriptorKind::Reduction));
    HLO_CHECK_OK(kind->Set(A::ReductionOperator, T::ReductionOperator, op));
    HLO_CHECK_OK(kind->Set(A::ReductionType, T::DataType, CudnnType::F32));
    HLO_CHECK_OK(kind->Finish());
    HLO_TRY(Descriptor* const made, graph_.Add(CudnnDescriptorKind::ReductionOperation));
    HLO_CHECK_OK(made->Set(A::OperationReductionX, *at_));
    HLO_CHECK_OK(made->Set(A::OperationReductionY, *rows));
    HLO_CHECK_OK(made->Set(A::OperationReduction, *kind));
    HLO_CHECK_OK(graph_.AddOperation(*made));
    return rows;
  }
  Result<const Descriptor*> NumbersAlong(Dim dim) {
    HLO_TRY(const Descriptor* const made, OnTheWay(scores_, CudnnType::S32));
    HLO_CHECK_OK(graph_.AddPointwise(
        {.mode = CudnnPointwise::GenIndex, .x = at_, .y = made, .axis = static_cast<int64_t>(dim)}));
    return made;
  }
  /// Scores of keys behind their query are another number.
  Status Mask() {
    HLO_TRY(const Descriptor* const rows, NumbersAlong(Queries));
    HLO_TRY(const Descriptor* const columns, NumbersAlong(Keys));
    HLO_TRY(const Descriptor* const keep, OnTheWay(scores_, CudnnType::Boolean));
    HLO_CHECK_OK(graph_.AddPointwise({.mode = CudnnPointwise::GreaterEqual,
                                      .x = rows,
                                      .y = keep,
                                      .b = columns,
                                      .precision = CudnnType::Boolean}));
    HLO_TRY(const Descriptor* const made, OnTheWay(scores_));
    HLO_CHECK_OK(graph_.AddPointwise(
        {.mode = CudnnPointwise::BinarySelect, .x = at_, .y = made, .b = masked_, .t = keep}));
    at_ = made;
    return {};
  }

  CudnnGraph& graph_;
  const LibraryAttention& attention_;
  llvm::ArrayRef<uint64_t> alignments_;
  Dims4 scores_, rows_;
  llvm::SmallVector<const Descriptor*, 5> tensors_;
  const Descriptor *scale_ = nullptr, *cap_ = nullptr, *masked_ = nullptr;
  const Descriptor* at_ = nullptr;  // what the operations so far make
  llvm::SmallVector<float, 3> numbers_;
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
  llvm::SmallVector<float, 3> numbers_;  // that the library reads on the host
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
