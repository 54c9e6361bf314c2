#include "backends/gpu/runtime/filter_order.h"

#include "backends/gpu/libraries/convolution.h"
#include "passes/rewrite/convolutions.h"

namespace hlo::gpu {
namespace {

constexpr size_t kFeatures = 1;  // of tensors

bool HasFeaturesLast(const LibraryTensor& tensor) {
  return tensor.dims[kFeatures].size == 1 || tensor.dims[kFeatures].stride == 1;
}

/// What is out of order.
struct Disorder {
  explicit Disorder(const LibraryConvolution& convolution)
      : features(HasFeaturesLast(convolution.image) && HasFeaturesLast(convolution.response) &&
                 !HasFeaturesLast(convolution.filter)),
        turned(convolution.flipped) {}
  bool features, turned;
};

/// Features of the filter's own first, what it reads last.
Dims OrderOf(int64_t own, int64_t read, const Dims& space) {
  Dims order = {own};
  order.append(space.begin(), space.end());
  order.push_back(read);
  return order;
}
/// Where these are once they are in order.
void SetOrder(int64_t& own, int64_t& read, Dims& space) {
  own = 0;
  for (size_t d = 0; d < space.size(); ++d) space[d] = static_cast<int64_t>(d) + 1;
  read = static_cast<int64_t>(space.size()) + 1;
}
Dims Inverse(const Dims& order) {
  Dims inverse(order.size());
  for (size_t d = 0; d < order.size(); ++d) inverse[static_cast<size_t>(order[d])] = static_cast<int64_t>(d);
  return inverse;
}

void Replace(Instruction* before, Instruction* after) {
  Computation* const body = before->parent();
  if (before->IsRoot()) body->set_root(after);
  before->ReplaceAllUsesWith(after);
  body->Remove(before);
}

/// The convolution writes its result, a filter, in order.
Instruction* OrderResult(Instruction* inst) {
  ConvolutionAttrs attrs = inst->attr<ConvolutionAttrs>();
  ConvDimLabels& labels = *attrs.dim_labels;
  const Dims order = OrderOf(labels.output_feature, labels.output_batch, labels.output_spatial);
  SetOrder(labels.output_feature, labels.output_batch, labels.output_spatial);
  Maker make(inst);
  Instruction* const made = MakeConvolutionLike(make, *inst, inst->operand(0), inst->operand(1), attrs);
  Replace(inst, make.Transpose(made, Inverse(order)));
  return made;
}

/// It reads its filter in order.
Instruction* OrderOperand(Instruction* inst, bool of_data, const Disorder& disorder) {
  ConvolutionAttrs attrs = inst->attr<ConvolutionAttrs>();
  ConvDimLabels& labels = *attrs.dim_labels;
  int64_t& own = of_data ? labels.kernel_input_feature : labels.kernel_output_feature;
  int64_t& read = of_data ? labels.kernel_output_feature : labels.kernel_input_feature;
  Maker make(inst);
  Instruction* filter = inst->operand(1);
  if (disorder.features) {
    filter = make.Transpose(filter, OrderOf(own, read, labels.kernel_spatial));
    SetOrder(own, read, labels.kernel_spatial);
  }
  if (disorder.turned) {
    filter = make.Reverse(filter, labels.kernel_spatial);
    for (WindowDim& dim : attrs.window.dims) dim.reversal = of_data;
  }
  Replace(inst, MakeConvolutionLike(make, *inst, inst->operand(0), filter, attrs));
  return filter;
}

}  // namespace

bool HasFilterOutOfOrder(const Instruction& fusion) {
  const auto convolution = ConvolutionOf(fusion);
  if (!convolution) return false;
  const Disorder disorder(*convolution);
  // With groups the features of one follow each other in another order than those of all.
  const bool grouped = convolution->image.dims[kFeatures].size != convolution->filter.dims[kFeatures].size;
  const bool of_data = convolution->direction == LibraryConvolution::Direction::BackwardData;
  return (disorder.features || disorder.turned) && !(grouped && of_data);
}

Instruction* OrderFilter(const Instruction& fusion) {
  const LibraryConvolution convolution = *ConvolutionOf(fusion);
  Instruction* const inst = fusion.callee()->InstructionsOf(OpKind::Convolution).front();
  using Direction = LibraryConvolution::Direction;
  if (convolution.direction == Direction::BackwardFilter) return OrderResult(inst);
  return OrderOperand(inst, convolution.direction == Direction::BackwardData, Disorder(convolution));
}

}  // namespace hlo::gpu
