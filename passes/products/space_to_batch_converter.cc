// space-to-batch-converter: convolutions of few images go over parts of them as if they were images
// (passes.md §2.3).
//
// Requires nothing. Preserves flat-calls, fusions, layouts.
// Changes: of a convolution of at most `limit_on_batch_size` images, the spatial dimension that is
// `dimension_from_end_to_convert` from the last is cut into `number_of_splits` parts of as many results each,
// with the elements at their edges in both; the parts are a batch, and their results are put together again.
// Zeros take the place of padding, which NaN and infinite weights meet then.
// Left alone: floats under --strict-fp, fewer results than two for each part, dilated images, groups of
// batches, reversed or structured windows, dynamic shapes.
#include "passes/pass.h"
#include "passes/rewrite/convolutions.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

struct SpaceToBatchConverterOptions {
  int64_t limit_on_batch_size = 1;
  int64_t number_of_splits = 8;
  int64_t dimension_from_end_to_convert = 1;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

using O = SpaceToBatchConverterOptions;
constexpr PassOptionRow kRows[] = {
    PassOption<&O::limit_on_batch_size>("limit_on_batch_size",
                                        "most images of a convolution that is changed"),
    PassOption<&O::number_of_splits>("number_of_splits", "parts of an image"),
    PassOption<&O::dimension_from_end_to_convert>("dimension_from_end_to_convert",
                                                  "the dimension that is cut; 1: the last spatial one"),
};

/// The spatial dimension that is to be cut, as its number among these.
std::optional<size_t> CutDim(const Instruction& inst, const O& options, const PassContext& context) {
  if (!IsPlainConvolution(inst)) return std::nullopt;
  if (context.policy().strict_fp && !IsIntegral(inst.shape().element_type())) return std::nullopt;
  const auto& attrs = inst.attr<ConvolutionAttrs>();
  const auto count = static_cast<int64_t>(attrs.window.dims.size());
  if (options.dimension_from_end_to_convert > count || attrs.batch_group_count != 1 ||
      attrs.convolution_kind != ConvolutionKind::Unset ||
      inst.operand(0)->shape().dim(attrs.dim_labels->input_batch) > options.limit_on_batch_size)
    return std::nullopt;
  const auto cut = static_cast<size_t>(count - options.dimension_from_end_to_convert);
  const WindowDim& window = attrs.window.dims[cut];
  const bool plain = window.base_dilation == 1 && window.size > 0 && inst.shape().ElementCount() > 0 &&
                     inst.operand(0)->shape().ElementCount() > 0;
  return plain && inst.shape().dim(attrs.dim_labels->output_spatial[cut]) >= 2 * options.number_of_splits
             ? std::optional(cut)
             : std::nullopt;
}

/// The parts that the windows of so many results each go over, as images of a larger batch.
Instruction* Parts(Maker& make, const Instruction& convolution, size_t cut, int64_t parts, int64_t results) {
  const auto& attrs = convolution.attr<ConvolutionAttrs>();
  const WindowDim& window = attrs.window.dims[cut];
  const int64_t d = attrs.dim_labels->input_spatial[cut], batch = attrs.dim_labels->input_batch;
  Instruction* x = convolution.operand(0);
  const int64_t step = results * window.stride;
  const int64_t length = (results - 1) * window.stride + DilatedSize(window.size, window.window_dilation);
  Padding padding(static_cast<size_t>(x->shape().rank()));
  padding[static_cast<size_t>(d)].low = window.pad_low;
  padding[static_cast<size_t>(d)].high = (parts - 1) * step + length - window.pad_low - x->shape().dim(d);
  Instruction* padded = make.Pad(x, make.Scalar(x->shape().element_type(), 0), padding);
  llvm::SmallVector<Instruction*, 8> images;
  for (int64_t i = 0; i < parts; ++i) images.push_back(make.SliceDim(padded, d, i * step, i * step + length));
  return make.Concatenate(images, batch);
}

Instruction* OverParts(Instruction* convolution, size_t cut, int64_t parts) {
  Maker make(convolution);
  ConvolutionAttrs attrs = convolution->attr<ConvolutionAttrs>();
  const int64_t d = attrs.dim_labels->output_spatial[cut], batch = attrs.dim_labels->output_batch;
  const int64_t all = convolution->shape().dim(d), results = (all + parts - 1) / parts;
  attrs.window.dims[cut].pad_low = attrs.window.dims[cut].pad_high = 0;
  Instruction* of_parts =
      MakeConvolutionLike(make, *convolution, Parts(make, *convolution, cut, parts, results),
                          convolution->operand(1), std::move(attrs));
  // [parts · images, …, results, …]: parts go in front of the results that they hold.
  Dims apart(of_parts->shape().dims()), order;
  apart[static_cast<size_t>(batch)] /= parts;
  apart.insert(apart.begin() + batch, parts);
  for (int64_t i = 0; i < convolution->shape().rank(); ++i) {
    if (i == d) order.push_back(batch);
    order.push_back(i >= batch ? i + 1 : i);
  }
  Dims whole(convolution->shape().dims());
  whole[static_cast<size_t>(d)] = parts * results;
  Instruction* joined = make.Reshape(make.Transpose(make.Reshape(of_parts, apart), order), whole);
  return parts * results == all ? joined : make.SliceDim(joined, d, 0, all);
}

llvm::ArrayRef<PassOptionRow> SpaceToBatchConverterOptions::Rows() { return kRows; }

Result<bool> RunSpaceToBatchConverter(Module& module, const O& options, PassContext& context) {
  if (options.number_of_splits < 2 || options.dimension_from_end_to_convert < 1)
    return Error("usage-pass-option", Loc(),
                 "space-to-batch-converter: expected number_of_splits of 2 or more and "
                 "dimension_from_end_to_convert of 1 or more");
  return ExpandMatches(
      module, context, [&](const Instruction& inst) { return CutDim(inst, options, context).has_value(); },
      [&](Instruction* inst) -> Result<Instruction*> {
        return OverParts(inst, *CutDim(*inst, options, context), options.number_of_splits);
      });
}

}  // namespace

HLO_DEFINE_PASS(SpaceToBatchConverter, SpaceToBatchConverterOptions);

}  // namespace hlo
