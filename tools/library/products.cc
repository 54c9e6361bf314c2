// Products of matrices and convolutions.
#include "hlo/ops.h"
#include "tools/library/builder_state.h"

namespace hlo_toolkit {

using internal::Emission;
using internal::Emit;
using internal::ToDims;
using internal::Wrong;
using InstructionOr = hlo::Result<hlo::Instruction*>;

namespace {

using internal::SameNumber;
static_assert(SameNumber(PrecisionConfig::DEFAULT, hlo::Precision::Default) &&
              SameNumber(PrecisionConfig::HIGH, hlo::Precision::High) &&
              SameNumber(PrecisionConfig::HIGHEST, hlo::Precision::Highest));

/// One for each of the two operands, or none.
hlo::Result<hlo::Precisions> Precisions(const PrecisionConfig* config) {
  hlo::Precisions made;
  if (!config) return made;
  const size_t count = config->operand_precision_.size();
  if (count != 0 && count != 2) return Wrong("{0} precisions for two operands", count);
  for (const PrecisionConfig::Precision p : config->operand_precision_) {
    HLO_TRY(made.emplace_back(), internal::ToEnum(p, hlo::Precision::Highest, "precision"));
  }
  return made;
}

/// As inferred, but for the element type that the caller prefers.
InstructionOr AddPreferred(Emission& e, hlo::OpKind kind, hlo::Attrs attrs,
                           std::optional<PrimitiveType> preferred) {
  HLO_TRY(hlo::Instruction * made, e.Add(kind, e.operands(), std::move(attrs)));
  if (!preferred) return made;
  HLO_TRY(const hlo::ElementType type, internal::ToElementType(*preferred));
  if (!hlo::IsArrayType(type)) return Wrong("{0} is no element type of arrays", hlo::ToString(type));
  made->set_shape(made->shape().WithElementType(type));
  return made;
}

/// What describes a convolution beside its operands.
struct Convolution {
  Span<const int64_t> strides;
  Span<const PaddingPair> padding;  // where `same_or_valid` is not set
  std::optional<Padding> same_or_valid;
  Span<const int64_t> lhs_dilation, rhs_dilation;
  const ConvolutionDimensionNumbers& numbers;
  int64_t feature_group_count, batch_group_count;
  const PrecisionConfig* precision;
  std::optional<PrimitiveType> preferred;
};

/// One value per spatial dimension, or none.
hlo::Status CheckCount(size_t count, size_t wanted, llvm::StringRef what) {
  if (count == wanted || count == 0) return {};
  return Wrong("{0} {1} for {2} spatial dimensions", count, what, wanted);
}

hlo::Result<hlo::Window> WindowOf(Emission& e, const Convolution& c) {
  const auto& spatial = c.numbers.kernel_spatial_dimensions();
  hlo::Window window;
  std::vector<int64_t> base, sizes, strides;
  for (size_t i = 0; i < spatial.size(); ++i) {
    const auto& input = c.numbers.input_spatial_dimensions();
    if (spatial[i] < 0 || spatial[i] >= e.shape(1).rank() || i >= input.size() || input[i] < 0 ||
        input[i] >= e.shape(0).rank())
      return Wrong("spatial dimensions of a convolution of {0} with {1} are no dimensions of them",
                   e.shape(0), e.shape(1));
    hlo::WindowDim d;
    d.size = e.shape(1).dim(spatial[i]);
    if (!c.strides.empty()) d.stride = c.strides[i];
    if (!c.padding.empty()) std::tie(d.pad_low, d.pad_high) = c.padding[i];
    if (!c.lhs_dilation.empty()) d.base_dilation = c.lhs_dilation[i];
    if (!c.rhs_dilation.empty()) d.window_dilation = c.rhs_dilation[i];
    window.dims.push_back(d);
    base.push_back(e.shape(0).dim(input[i]));
    sizes.push_back(d.size);
    strides.push_back(d.stride);
  }
  if (!c.same_or_valid) return window;
  const auto padding = MakePadding(base, sizes, strides, *c.same_or_valid);
  if (!padding.ok()) return Wrong("{0}", padding.status().message());
  for (size_t i = 0; i < spatial.size(); ++i)
    std::tie(window.dims[i].pad_low, window.dims[i].pad_high) = (*padding)[i];
  return window;
}

InstructionOr AddConvolution(Emission& e, const Convolution& c) {
  HLO_CHECK_OK(e.Array(0));
  HLO_CHECK_OK(e.Array(1));
  const ConvolutionDimensionNumbers& n = c.numbers;
  const size_t spatial = n.kernel_spatial_dimensions().size();
  HLO_CHECK_OK(CheckCount(c.strides.size(), spatial, "strides"));
  HLO_CHECK_OK(CheckCount(c.padding.size(), spatial, "paddings"));
  HLO_CHECK_OK(CheckCount(c.lhs_dilation.size(), spatial, "dilations"));
  HLO_CHECK_OK(CheckCount(c.rhs_dilation.size(), spatial, "dilations"));
  hlo::ConvolutionAttrs attrs;
  HLO_TRY(attrs.window, WindowOf(e, c));
  hlo::ConvDimLabels labels;
  labels.input_batch = n.input_batch_dimension();
  labels.input_feature = n.input_feature_dimension();
  labels.kernel_input_feature = n.kernel_input_feature_dimension();
  labels.kernel_output_feature = n.kernel_output_feature_dimension();
  labels.output_batch = n.output_batch_dimension();
  labels.output_feature = n.output_feature_dimension();
  labels.input_spatial = ToDims(n.input_spatial_dimensions());
  labels.kernel_spatial = ToDims(n.kernel_spatial_dimensions());
  labels.output_spatial = ToDims(n.output_spatial_dimensions());
  labels.input_rank = labels.kernel_rank = labels.output_rank = static_cast<int64_t>(spatial) + 2;
  attrs.dim_labels = labels;
  attrs.feature_group_count = c.feature_group_count;
  attrs.batch_group_count = c.batch_group_count;
  HLO_TRY(attrs.operand_precision, Precisions(c.precision));
  return AddPreferred(e, hlo::OpKind::Convolution, std::move(attrs), c.preferred);
}

XlaOp EmitConvolution(XlaBuilder* builder, XlaOp lhs, XlaOp rhs, const Convolution& c,
                      const Location& location) {
  return Emit(builder, {lhs, rhs}, location, [&](Emission& e) { return AddConvolution(e, c); });
}

/// The default dimension numbers for as many strides.
ConvolutionDimensionNumbers DefaultNumbers(Span<const int64_t> strides) {
  return XlaBuilder::CreateDefaultConvDimensionNumbers(static_cast<int>(strides.size()));
}

}  // namespace

ConvolutionDimensionNumbers XlaBuilder::CreateDefaultConvDimensionNumbers(int num_spatial_dims) {
  ConvolutionDimensionNumbers numbers;
  numbers.set_input_batch_dimension(kConvBatchDimension);
  numbers.set_input_feature_dimension(kConvFeatureDimension);
  numbers.set_kernel_output_feature_dimension(kConvKernelOutputDimension);
  numbers.set_kernel_input_feature_dimension(kConvKernelInputDimension);
  numbers.set_output_batch_dimension(kConvBatchDimension);
  numbers.set_output_feature_dimension(kConvFeatureDimension);
  for (int i = 0; i < num_spatial_dims; ++i) {
    numbers.add_input_spatial_dimensions(kConvFirstSpatialDimension + i);
    numbers.add_kernel_spatial_dimensions(kConvKernelFirstSpatialDimension + i);
    numbers.add_output_spatial_dimensions(kConvFirstSpatialDimension + i);
  }
  return numbers;
}

StatusOr<ConvolutionDimensionNumbers> XlaBuilder::CreateConvDimensionNumbers(
    int64_t batch, int64_t feature, int64_t first_spatial, int64_t second_spatial,
    int64_t kernel_output_feature, int64_t kernel_input_feature, int64_t kernel_first_spatial,
    int64_t kernel_second_spatial) {
  const auto conflict = [](std::vector<int64_t> dims) {
    std::sort(dims.begin(), dims.end());
    return dims != std::vector<int64_t>{0, 1, 2, 3};
  };
  if (conflict({batch, feature, first_spatial, second_spatial}))
    return Status(StatusCode::kInvalidArgument,
                  "dimension numbers of the input are no permutation of {0,1,2,3}");
  if (conflict({kernel_output_feature, kernel_input_feature, kernel_first_spatial, kernel_second_spatial}))
    return Status(StatusCode::kInvalidArgument,
                  "dimension numbers of the kernel are no permutation of {0,1,2,3}");
  ConvolutionDimensionNumbers numbers;
  numbers.set_input_batch_dimension(batch);
  numbers.set_input_feature_dimension(feature);
  numbers.set_input_spatial_dimensions({first_spatial, second_spatial});
  numbers.set_kernel_output_feature_dimension(kernel_output_feature);
  numbers.set_kernel_input_feature_dimension(kernel_input_feature);
  numbers.set_kernel_spatial_dimensions({kernel_first_spatial, kernel_second_spatial});
  numbers.set_output_batch_dimension(batch);
  numbers.set_output_feature_dimension(feature);
  numbers.set_output_spatial_dimensions({first_spatial, second_spatial});
  return numbers;
}

namespace ops {

XlaOp Dot(XlaBuilder* builder, XlaOp lhs, XlaOp rhs, const PrecisionConfig* precision,
          std::optional<PrimitiveType> preferred_element_type, Location location) {
  return Emit(builder, {lhs, rhs}, location, [&](Emission& e) -> InstructionOr {
    HLO_TRY(const hlo::Shape* x, e.Array(0));
    HLO_TRY(const hlo::Shape* y, e.Array(1));
    hlo::DotAttrs attrs;
    HLO_TRY(attrs.operand_precision, Precisions(precision));
    // Scalars, and arrays of more dimensions, as the oldest description has them.
    if (x->rank() > 0 && y->rank() > 0) {
      attrs.lhs_contracting_dims = {x->rank() - 1};
      attrs.rhs_contracting_dims = {std::max<int64_t>(y->rank() - 2, 0)};
    }
    return AddPreferred(e, hlo::OpKind::Dot, std::move(attrs), preferred_element_type);
  });
}

XlaOp DotGeneral(XlaBuilder* builder, XlaOp lhs, XlaOp rhs, const DotDimensionNumbers& dimension_numbers,
                 const PrecisionConfig* precision, std::optional<PrimitiveType> preferred_element_type,
                 Location location) {
  return Emit(builder, {lhs, rhs}, location, [&](Emission& e) -> InstructionOr {
    hlo::DotAttrs attrs;
    attrs.lhs_batch_dims = ToDims(dimension_numbers.lhs_batch_dimensions());
    attrs.rhs_batch_dims = ToDims(dimension_numbers.rhs_batch_dimensions());
    attrs.lhs_contracting_dims = ToDims(dimension_numbers.lhs_contracting_dimensions());
    attrs.rhs_contracting_dims = ToDims(dimension_numbers.rhs_contracting_dimensions());
    HLO_TRY(attrs.operand_precision, Precisions(precision));
    return AddPreferred(e, hlo::OpKind::Dot, std::move(attrs), preferred_element_type);
  });
}

XlaOp Conv(XlaBuilder* builder, XlaOp lhs, XlaOp rhs, Span<const int64_t> window_strides, Padding padding,
           int64_t feature_group_count, int64_t batch_group_count, const PrecisionConfig* precision,
           std::optional<PrimitiveType> preferred_element_type, Location location) {
  return ops::ConvWithGeneralDimensions(builder, lhs, rhs, window_strides, padding,
                                        DefaultNumbers(window_strides), feature_group_count,
                                        batch_group_count, precision, preferred_element_type, location);
}

XlaOp ConvWithGeneralPadding(XlaBuilder* builder, XlaOp lhs, XlaOp rhs, Span<const int64_t> window_strides,
                             Span<const PaddingPair> padding, int64_t feature_group_count,
                             int64_t batch_group_count, const PrecisionConfig* precision,
                             std::optional<PrimitiveType> preferred_element_type, Location location) {
  return ops::ConvGeneral(builder, lhs, rhs, window_strides, padding, DefaultNumbers(window_strides),
                          feature_group_count, batch_group_count, precision, preferred_element_type,
                          location);
}

XlaOp ConvWithGeneralDimensions(XlaBuilder* builder, XlaOp lhs, XlaOp rhs, Span<const int64_t> window_strides,
                                Padding padding, const ConvolutionDimensionNumbers& dimension_numbers,
                                int64_t feature_group_count, int64_t batch_group_count,
                                const PrecisionConfig* precision,
                                std::optional<PrimitiveType> preferred_element_type, Location location) {
  return EmitConvolution(builder, lhs, rhs,
                         {window_strides,
                          {},
                          padding,
                          {},
                          {},
                          dimension_numbers,
                          feature_group_count,
                          batch_group_count,
                          precision,
                          preferred_element_type},
                         location);
}

XlaOp ConvGeneral(XlaBuilder* builder, XlaOp lhs, XlaOp rhs, Span<const int64_t> window_strides,
                  Span<const PaddingPair> padding, const ConvolutionDimensionNumbers& dimension_numbers,
                  int64_t feature_group_count, int64_t batch_group_count, const PrecisionConfig* precision,
                  std::optional<PrimitiveType> preferred_element_type, Location location) {
  return ops::ConvGeneralDilated(builder, lhs, rhs, window_strides, padding, {}, {}, dimension_numbers,
                                 feature_group_count, batch_group_count, precision, preferred_element_type,
                                 location);
}

XlaOp ConvGeneralDilated(XlaBuilder* builder, XlaOp lhs, XlaOp rhs, Span<const int64_t> window_strides,
                         Span<const PaddingPair> padding, Span<const int64_t> lhs_dilation,
                         Span<const int64_t> rhs_dilation,
                         const ConvolutionDimensionNumbers& dimension_numbers, int64_t feature_group_count,
                         int64_t batch_group_count, const PrecisionConfig* precision,
                         std::optional<PrimitiveType> preferred_element_type, Location location) {
  return EmitConvolution(
      builder, lhs, rhs,
      {window_strides, padding, std::nullopt, lhs_dilation, rhs_dilation, dimension_numbers,
       feature_group_count, batch_group_count, precision, preferred_element_type},
      location);
}

}  // namespace ops
}  // namespace hlo_toolkit
