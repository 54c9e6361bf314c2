// The gradients of an attention as a graph of the library's operations, in the order that its engines know.
#include "backends/gpu/libraries/attention_gradient.h"
#include "backends/gpu/libraries/attention_graph.h"

namespace hlo::gpu {
namespace {

/// Rows that an engine reads and writes begin at multiples of that.
constexpr uint64_t kRowsAlignment = 256;

class Describer : private AttentionGraph {
 public:
  Describer(CudnnGraph& graph, const LibraryAttentionGradient& gradient, llvm::ArrayRef<uint64_t> alignments)
      : AttentionGraph(graph, gradient.attention), gradient_(gradient), alignments_(alignments) {}

  /// The numbers that a call brings, behind the arrays and the rows.
  Result<llvm::SmallVector<float, 4>> Describe() {
    HLO_CHECK_OK(AddTensors());
    HLO_CHECK_OK(SumResults());
    HLO_CHECK_OK(MakeWeights());
    const Descriptor* const weights = at_;
    HLO_CHECK_OK(MakeTurned(gradient_.result, gradient_.values));
    HLO_TRY(at_, Product(*TensorOf(gradient_.result), *turned_values_, nullptr));
    HLO_CHECK_OK(Step(CudnnPointwise::Subtract, sums_));
    HLO_CHECK_OK(Step(CudnnPointwise::Multiply, weights));
    HLO_CHECK_OK(Step(CudnnPointwise::Multiply, scale_));
    const Descriptor* const scores = at_;
    HLO_CHECK_OK(MakeTurned(gradient_.attention.queries, gradient_.keys));
    // Keys were read feature by feature.
    HLO_TRY(const Descriptor* const keys, OnTheWay(gradient_.attention.keys.dims));
    HLO_CHECK_OK(Reshape(*turned_keys_, *keys));
    HLO_TRY([[maybe_unused]] const Descriptor* const queries,
            Product(*scores, *keys, TensorOf(gradient_.queries)));
    return std::move(numbers_);
  }

 private:
  /// In the order of Tensors(), then the rows; keys and values are read feature by feature.
  Status AddTensors() {
    const auto all = gradient_.Tensors();
    for (size_t i = 0; i < all.size(); ++i) {
      const bool turned = all[i] == &gradient_.attention.keys || all[i] == &gradient_.attention.values;
      const Dims4 dims = turned ? Turned(Dims4(all[i]->dims)) : Dims4(all[i]->dims);
      HLO_TRY(tensors_.emplace_back(), graph_.AddTensor({CudnnTypeOf(all[i]->type), dims, Place::Memory,
                                                         UsefulAlignment(alignments_[i])}));
    }
    HLO_TRY(sums_, graph_.AddTensor({CudnnType::F32, rows_, Place::Memory, kRowsAlignment}));
    turned_keys_ = TensorOf(gradient_.attention.keys);
    turned_values_ = TensorOf(gradient_.attention.values);
    HLO_TRY(kept_, AddNumber(1));
    HLO_TRY(scale_, AddNumber(gradient_.attention.scale));
    if (gradient_.attention.masked) {
      HLO_TRY(masked_, AddNumber(*gradient_.attention.masked));
    }
    return {};
  }
  [[nodiscard]] const Descriptor* TensorOf(const View& view) const {
    const auto all = gradient_.Tensors();
    return tensors_[static_cast<size_t>(llvm::find(all, &view) - all.begin())];
  }

  /// Of each row, of the result times its gradient: what the sum of weights times their gradients is.
  Status SumResults() {
    const auto& result = gradient_.attention.result.dims;
    HLO_TRY(const Descriptor* const products,
            OnTheWay(Packed({result[0].size, result[1].size, result[2].size, result[3].size})));
    HLO_CHECK_OK(graph_.AddPointwise({.mode = CudnnPointwise::Multiply,
                                      .x = TensorOf(gradient_.result),
                                      .y = products,
                                      .b = TensorOf(gradient_.attention.result)}));
    HLO_TRY(const Descriptor* const sums, OnTheWay(rows_));
    HLO_CHECK_OK(Reduce(CudnnReduction::Add, *products, *sums));
    // By how much dropout would have grown what it kept.
    return graph_.AddPointwise({.mode = CudnnPointwise::Multiply, .x = sums, .y = sums_, .b = kept_});
  }

  /// From scores and what is known of their rows.
  Status MakeWeights() {
    const LibraryAttention& attention = gradient_.attention;
    HLO_TRY(at_, Product(*TensorOf(attention.queries), *turned_keys_, nullptr));
    HLO_CHECK_OK(Step(CudnnPointwise::Multiply, scale_));
    if (!attention.bias.dims.empty()) HLO_CHECK_OK(Step(CudnnPointwise::Add, TensorOf(attention.bias)));
    if (masked_ != nullptr) HLO_CHECK_OK(Mask(*masked_));
    HLO_CHECK_OK(Step(CudnnPointwise::Subtract, TensorOf(attention.statistics)));
    return Step(CudnnPointwise::Exp, nullptr);
  }

  /// The product of what there is, turned and of the type of arrays, with one of these; of heads that share
  /// keys it is summed up.
  Status MakeTurned(const View& with, const View& made) {
    const CudnnType type = CudnnTypeOf(with.type);
    HLO_TRY(const Descriptor* const turned, OnTheWay(Turned(scores_), type));
    HLO_CHECK_OK(Reshape(*at_, *turned));
    const int64_t heads = with.dims[Heads].size;
    const Descriptor* product = TensorOf(made);
    if (made.dims[Heads].size != heads) {
      HLO_TRY(product,
              OnTheWay(Packed({made.dims[0].size, heads, made.dims[2].size, made.dims[3].size}), type));
    }
    HLO_TRY(product, Product(*turned, *TensorOf(with), product));
    return product == TensorOf(made) ? Status() : Reduce(CudnnReduction::Add, *product, *TensorOf(made));
  }
  Status Reshape(const Descriptor& from, const Descriptor& to) {
    HLO_TRY(Descriptor* const made, graph_.Add(CudnnDescriptorKind::ReshapeOperation));
    HLO_CHECK_OK(made->Set(A::OperationReshapeX, from));
    HLO_CHECK_OK(made->Set(A::OperationReshapeY, to));
    return graph_.AddOperation(*made);
  }

  const LibraryAttentionGradient& gradient_;
  llvm::ArrayRef<uint64_t> alignments_;
  llvm::SmallVector<const Descriptor*, 10> tensors_;
  const Descriptor *sums_ = nullptr, *turned_keys_ = nullptr, *turned_values_ = nullptr;
  const Descriptor *kept_ = nullptr, *scale_ = nullptr, *masked_ = nullptr;
};

/// Keeps the rows that its operations hand on in front of what the engine takes.
class GradientPlan final : public LibraryPlan {
 public:
  GradientPlan(std::shared_ptr<Cudnn> library, LibraryAttentionGradient gradient)
      : gradient_(std::move(gradient)), plan_(std::move(library)) {
    const auto& q = gradient_.attention.queries.dims;
    rows_bytes_ = llvm::alignTo(static_cast<uint64_t>(q[0].size * q[1].size * q[2].size) * sizeof(float),
                                kRowsAlignment);
  }

  Status Search(const LibraryArrays& alignments) {
    const auto at = AddressesOf(gradient_, alignments);
    HLO_TRY(numbers_, Describer(plan_.graph(), gradient_, at).Describe());
    // As many bytes as its scores take in f32: what its engines keep between products.
    const int64_t scores = static_cast<int64_t>(rows_bytes_) * gradient_.attention.keys.dims[2].size;
    return plan_.Search(scores);
  }
  [[nodiscard]] size_t workspace_bytes() const override { return rows_bytes_ + plan_.workspace_bytes(); }
  Status Run(const LibraryCall& call) const override {
    auto at = AddressesOf(gradient_, call.at);
    at.push_back(call.workspace);
    for (const float& number : numbers_) at.push_back(reinterpret_cast<uintptr_t>(&number));
    return plan_.Execute(call.stream, call.workspace + rows_bytes_, at);
  }

 private:
  LibraryAttentionGradient gradient_;
  CudnnPlan plan_;
  uint64_t rows_bytes_;
  llvm::SmallVector<float, 4> numbers_;  // that the library reads on the host
};

}  // namespace

Result<std::unique_ptr<LibraryPlan>> PlanGradient(std::shared_ptr<Cudnn> library,
                                                  const LibraryAttentionGradient& gradient,
                                                  const LibraryArrays& alignments) {
  auto plan = std::make_unique<GradientPlan>(std::move(library), gradient);
  HLO_CHECK_OK(plan->Search(alignments));
  return std::unique_ptr<LibraryPlan>(std::move(plan));
}

}  // namespace hlo::gpu
