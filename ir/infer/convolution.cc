// Shape rule of convolution (ops-structured §3.4).
#include "ir/infer/window_shape.h"

namespace hlo {
namespace {

/// The dense shape of operand i: the operand, or for a sparse side the values of the tuple (values,
/// positions) with the structured dimension blown up.
Result<Shape> DenseOperand(const Instruction& inst, int64_t i, const std::optional<SparsitySide>& sparsity) {
  const Shape& shape = inst.operand(i)->shape();
  if (!sparsity) {
    HLO_CHECK_OK(CheckArray(inst, i));
    return shape;
  }
  if (!shape.IsTuple() || shape.tuple_size() != 2 || !shape.tuple_shape(0).IsArray())
    return OperandError("verify-operand-shape", inst, i,
                        "operand {0} of {1} is {2}, but a sparse operand is a pair of values and positions",
                        i, Name(inst), shape);
  const Shape& values = shape.tuple_shape(0);
  if (sparsity->count != 1 || sparsity->group < 1 || sparsity->stride != 1)
    return RuleError(
        "verify-attribute", inst,
        "'sparsity_config' of {0} has sparsity {1}x{2} with stride {3}, but needs 1xN with stride 1",
        Name(inst), sparsity->count, sparsity->group, sparsity->stride);
  HLO_CHECK_OK(
      CheckInRange(inst, "sparsity_config", sparsity->dimension, values.rank(), "the rank of the values"));
  Dims dims(values.dims());
  int64_t& size = dims[static_cast<size_t>(sparsity->dimension)];
  if (size != kUnboundedSize && __builtin_mul_overflow(size, sparsity->group, &size))
    return OperandError("verify-operand-shape", inst, i, "dense size of {0} exceeds 64 bits", values);
  return values.WithDims(dims, values.dynamic_flags());
}

/// The labels of one part name each dimension 0…rank-1 once.
Status CheckPart(const Instruction& inst, llvm::StringRef part, int64_t a, int64_t b,
                 llvm::ArrayRef<int64_t> spatial, int64_t rank, llvm::StringRef of) {
  Dims all = {a, b};
  all.append(spatial.begin(), spatial.end());
  if (static_cast<int64_t>(all.size()) != rank)
    return RuleError("verify-attribute", inst,
                     "'dim_labels' of {0} name {1} dimensions of its {2}, but {3} has {4}", Name(inst),
                     all.size(), part, of, rank);
  return CheckDimList(inst, "dim_labels", all, rank, ("the rank of the " + part).str());
}

Status CheckGroupCounts(const Instruction& inst, const ConvolutionAttrs& a) {
  if (a.feature_group_count < 1)
    return RuleError("verify-attribute", inst,
                     "'feature_group_count' of {0} is {1}, but at least 1 is needed", Name(inst),
                     a.feature_group_count);
  if (a.batch_group_count < 1)
    return RuleError("verify-attribute", inst, "'batch_group_count' of {0} is {1}, but at least 1 is needed",
                     Name(inst), a.batch_group_count);
  if (a.feature_group_count > 1 && a.batch_group_count > 1)
    return RuleError("verify-attribute", inst,
                     "{0} has feature_group_count={1} and batch_group_count={2}, but only one may exceed 1",
                     Name(inst), a.feature_group_count, a.batch_group_count);
  return {};
}

Status CheckFeatures(const Instruction& inst, const ConvolutionAttrs& a, const Shape& lhs, const Shape& rhs) {
  const ConvDimLabels& labels = *a.dim_labels;
  const int64_t features = lhs.dim(labels.input_feature), batch = lhs.dim(labels.input_batch);
  const int64_t in = rhs.dim(labels.kernel_input_feature), out = rhs.dim(labels.kernel_output_feature);
  int64_t expected = 0;
  const bool known = features != kUnboundedSize && in != kUnboundedSize;
  if (known && (__builtin_mul_overflow(in, a.feature_group_count, &expected) || expected != features))
    return OperandError("verify-operand-shape", inst, 1,
                        "{0} has {1} input features in {2}, but kernel {3} takes {4} in each of {5} groups",
                        Name(inst), features, lhs, rhs, in, a.feature_group_count);
  if (out != kUnboundedSize && (out % a.feature_group_count != 0 || out % a.batch_group_count != 0))
    return OperandError("verify-operand-shape", inst, 1,
                        "{0} has {1} output features in {2}, which feature_group_count={3} or "
                        "batch_group_count={4} does not divide",
                        Name(inst), out, rhs, a.feature_group_count, a.batch_group_count);
  if (batch != kUnboundedSize && batch % a.batch_group_count != 0)
    return OperandError("verify-operand-shape", inst, 0,
                        "{0} has batch size {1} in {2}, which batch_group_count={3} does not divide",
                        Name(inst), batch, lhs, a.batch_group_count);
  if (rhs.is_dynamic(labels.kernel_output_feature) && !rhs.is_unbounded(labels.kernel_output_feature))
    return OperandError("verify-operand-shape", inst, 1,
                        "output feature dimension {0} of kernel {1} is dynamic, but must be static",
                        labels.kernel_output_feature, rhs);
  return {};
}

}  // namespace

Result<Shape> InferConvolution(const Instruction& inst, const InferOptions&) {
  const auto& a = inst.attr<ConvolutionAttrs>();
  HLO_TRY(const Shape lhs, DenseOperand(inst, 0, a.sparsity_config.lhs));
  HLO_TRY(const Shape rhs, DenseOperand(inst, 1, a.sparsity_config.rhs));
  HLO_CHECK_OK(CheckGroupCounts(inst, a));
  if (!a.dim_labels) return RuleError("verify-attribute", inst, "{0} has no 'dim_labels'", Name(inst));
  const ConvDimLabels& labels = *a.dim_labels;
  const size_t spatial = labels.input_spatial.size();
  if (labels.kernel_spatial.size() != spatial || labels.output_spatial.size() != spatial)
    return RuleError("verify-attribute", inst,
                     "'dim_labels' of {0} name {1} spatial dimensions of the input, {2} of the kernel and "
                     "{3} of the output",
                     Name(inst), spatial, labels.kernel_spatial.size(), labels.output_spatial.size());
  const auto rank = static_cast<int64_t>(spatial) + 2;
  HLO_CHECK_OK(CheckPart(inst, "input", labels.input_batch, labels.input_feature, labels.input_spatial,
                         lhs.rank(), ToString(lhs, false)));
  HLO_CHECK_OK(CheckPart(inst, "kernel", labels.kernel_input_feature, labels.kernel_output_feature,
                         labels.kernel_spatial, rhs.rank(), ToString(rhs, false)));
  HLO_CHECK_OK(CheckPart(inst, "output", labels.output_batch, labels.output_feature, labels.output_spatial,
                         rank, "it"));
  HLO_CHECK_OK(CheckFeatures(inst, a, lhs, rhs));
  HLO_TRY(const WindowedDims windowed, InferWindow(inst, a.window, lhs, labels.input_spatial));
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t kernel = rhs.dim(labels.kernel_spatial[i]);
    if (!SizesAgree(kernel, a.window.dims[i].size))
      return OperandError("verify-operand-shape", inst, 1,
                          "'window' of {0} has size {1} in dimension {2}, but kernel {3} has {4}", Name(inst),
                          a.window.dims[i].size, i, rhs, kernel);
  }
  Dims dims(static_cast<size_t>(rank));
  llvm::SmallVector<bool, 8> dynamic(static_cast<size_t>(rank));
  auto set = [&](int64_t at, int64_t size, bool flag) {
    dims[static_cast<size_t>(at)] = size;
    dynamic[static_cast<size_t>(at)] = flag;
  };
  const int64_t batch = lhs.dim(labels.input_batch);
  set(labels.output_batch, batch == kUnboundedSize ? batch : batch / a.batch_group_count,
      lhs.is_dynamic(labels.input_batch));
  set(labels.output_feature, rhs.dim(labels.kernel_output_feature),
      rhs.is_unbounded(labels.kernel_output_feature));
  for (size_t i = 0; i < spatial; ++i)
    set(labels.output_spatial[i], windowed.dims[i],
        windowed.dynamic[i] || rhs.is_dynamic(labels.kernel_spatial[i]));
  const ElementType type = inst.shape().IsArray() ? inst.shape().element_type()
                                                  : HigherPrecision(lhs.element_type(), rhs.element_type());
  return ArrayResult(inst, type, dims, dynamic);
}

}  // namespace hlo
