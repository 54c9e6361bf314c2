// convolution-reordering: convolutions of images whose positions are minor, as in bf01, become
// transpose(convolution(transpose(x), w)) with their features minor where windows make enough of each element
// to pay for it; so do gradients by weights, both of whose operands are such images.
//
// Requires row-major. Preserves flat-calls, row-major. Sums are those of another convolution of the same
// values.
#include "backends/cpu/passes.h"
#include "backends/cpu/product_problem.h"
#include "backends/products/common/isa.h"
#include "ir/op.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"

namespace hlo::cpu {
namespace {

using TargetOfMachine = llvm::function_ref<gemm::Target()>;

/// Old dimensions in their new order.
using Order = Dims;

int64_t PlaceIn(const Order& order, int64_t dim) { return llvm::find(order, dim) - order.begin(); }

Instruction* Ordered(Instruction* x, const Order& order, Instruction* user) {
  if (llvm::is_sorted(order)) return x;
  Instruction* transpose = Maker(user).Transpose(x, order);
  transpose->set_shape(transpose->shape().WithoutLayout().WithDefaultLayouts());
  return transpose;
}

/// convolution(x, w) becomes transpose(convolution(transpose(x), transpose(w))).
void Reorder(Instruction* convolution, const Order& lhs, const Order& rhs, const Order& out) {
  ConvDimLabels labels = *convolution->attr<ConvolutionAttrs>().dim_labels;
  for (int64_t* dim : {&labels.input_batch, &labels.input_feature}) *dim = PlaceIn(lhs, *dim);
  for (int64_t* dim : {&labels.kernel_input_feature, &labels.kernel_output_feature})
    *dim = PlaceIn(rhs, *dim);
  for (int64_t* dim : {&labels.output_batch, &labels.output_feature}) *dim = PlaceIn(out, *dim);
  for (int64_t& dim : labels.input_spatial) dim = PlaceIn(lhs, dim);
  for (int64_t& dim : labels.kernel_spatial) dim = PlaceIn(rhs, dim);
  for (int64_t& dim : labels.output_spatial) dim = PlaceIn(out, dim);
  Order dims, back(out.size());
  for (size_t i = 0; i < out.size(); ++i) {
    dims.push_back(convolution->shape().dim(out[i]));
    back[static_cast<size_t>(out[i])] = static_cast<int64_t>(i);
  }
  Instruction* made = CloneWith(*convolution, *convolution->parent(),
                                {Ordered(convolution->operand(0), lhs, convolution),
                                 Ordered(convolution->operand(1), rhs, convolution)});
  made->mutable_attrs().Mutable<ConvolutionAttrs>().dim_labels = labels;
  made->set_shape(Shape::Array(convolution->shape().element_type(), dims).WithDefaultLayouts());
  ReplaceAndRemove(convolution, Ordered(made, back, convolution));
}

/// Worth bringing features together: results of at least so many features, each a sum of so many products, by
/// windows that are small beside the image; and worth two more kernels.
constexpr int64_t kFewestFeatures = 16, kFewestProducts = 64, kFewestTaps = 4;
constexpr int64_t kManyFeatures = 32;
constexpr int64_t kMostTapsOfBatchGroups = 27;
constexpr int64_t kNarrow = 2;  // bytes of elements that are soon moved; lines of them have to be converted
constexpr int64_t kFewestTapsOfGradient = 64;  // positions
struct ConvolutionReorderingOptions {
  int64_t min_products = 1 << 23;
  int64_t min_cheap_products = 1 << 21;
  int64_t max_taps = 128;
  static llvm::ArrayRef<PassOptionRow> Rows() {
    static constexpr PassOptionRow kRows[] = {
        PassOption<&ConvolutionReorderingOptions::min_products>(
            "min_products", "multiplications that are worth two transposes"),
        PassOption<&ConvolutionReorderingOptions::min_cheap_products>(
            "min_cheap_products", "the same of narrow elements and of gradients, whose other ways are slow"),
        PassOption<&ConvolutionReorderingOptions::max_taps>("max_taps",
                                                            "of windows, which are small beside the image"),
    };
    return kRows;
  }
};
constexpr int64_t kMostTapsOfPlanes = 32, kMostShifts = 3, kLongLine = 16;

int64_t Taps(const ConvolutionAttrs& attrs) {
  int64_t taps = 1;
  for (const WindowDim& d : attrs.window.dims) taps *= d.size;
  return taps;
}

/// Operands of integers of at most `bits` bits, and a result of so many.
bool IsOfIntegers(const Instruction& convolution, int bits) {
  return Info(convolution.shape().element_type()).bits <= bits &&
         llvm::all_of(convolution.operands(), [&](const Instruction* operand) {
           const ElementType type = operand->shape().element_type();
           return IsIntegral(type) && !IsPred(type) && Info(type).bits <= bits;
         });
}

/// Planes of one feature each, which gemm::IsOfPlanes() has read where they lie.
bool ReadsNarrowPlanes(const Instruction& convolution) {
  const auto& attrs = convolution.attr<ConvolutionAttrs>();
  const WindowDim& last = attrs.window.dims.back();
  const ElementType type = convolution.operand(0)->shape().element_type();
  // Halves cost more to convert tap by tap than once.
  const bool floats =
      type == ElementType::BF16 && convolution.operand(1)->shape().element_type() == ElementType::BF16;
  return (floats || IsOfIntegers(convolution, Info(type).bits <= CHAR_BIT ? CHAR_BIT : 2 * CHAR_BIT)) &&
         convolution.operand(1)->shape().dim(attrs.dim_labels->kernel_input_feature) == 1 &&
         last.stride <= 2 && last.base_dilation == 1 && Taps(attrs) <= kMostTapsOfPlanes;
}

bool GainsByFeaturesLast(const Instruction& convolution, const ConvolutionReorderingOptions& options,
                         TargetOfMachine target) {
  const auto& attrs = convolution.attr<ConvolutionAttrs>();
  if (!attrs.dim_labels) return false;
  const ConvDimLabels& labels = *attrs.dim_labels;
  const Shape& weights = convolution.operand(1)->shape();
  const int64_t minor = labels.input_rank - 1, taps = Taps(attrs),
                groups = attrs.feature_group_count * attrs.batch_group_count,
                channels = weights.dim(labels.kernel_input_feature), products = channels * taps,
                features = weights.dim(labels.kernel_output_feature) / groups;
  if (labels.input_feature == minor || taps < kFewestTaps || taps > options.max_taps) return false;
  // Lines of the batch are read as they lie, unless many features meet many.
  if (labels.input_batch == minor && (groups > 1 || channels < kManyFeatures || features < kManyFeatures))
    return false;
  const int64_t work = convolution.shape().ElementCount() * products;
  // Gradients by the weights of groups have more taps.
  if (attrs.batch_group_count > 1 && (taps > kMostTapsOfBatchGroups || channels < kFewestFeatures))
    return false;
  if (features >= kFewestFeatures && products >= kFewestProducts && work >= options.min_products) return true;
  // Moving costs little beside the other ways.
  const bool narrow = Info(convolution.operand(0)->shape().element_type()).host_bytes() <= kNarrow;
  return narrow && (groups > 1 || channels >= kFewestFeatures) && work >= options.min_cheap_products &&
         !(ReadsNarrowPlanes(convolution) && target().isa == gemm::Isa::Avx512);
}

void OrderFeaturesLast(Instruction* convolution) {
  const ConvDimLabels& labels = *convolution->attr<ConvolutionAttrs>().dim_labels;
  Order in = {labels.input_batch}, weights = labels.kernel_spatial, out = {labels.output_batch};
  in.append(labels.input_spatial.begin(), labels.input_spatial.end());
  out.append(labels.output_spatial.begin(), labels.output_spatial.end());
  in.push_back(labels.input_feature);
  out.push_back(labels.output_feature);
  weights.push_back(labels.kernel_input_feature);
  weights.push_back(labels.kernel_output_feature);
  // Of one group they are read as they lie.
  if (convolution->attr<ConvolutionAttrs>().feature_group_count == 1) llvm::sort(weights);
  Reorder(convolution, in, weights, out);
}

/// Windows that meet neighbours, each result one element later.
bool IsShift(const WindowDim& d) {
  return !d.reversal && d.stride == 1 && d.base_dilation == 1 && d.window_dilation == 1;
}

/// Gradients that gemm::IsPlaneGradient() has read where they lie: of one feature on both sides, for few
/// shifts.
bool ReadsPlanesOfGradient(const Instruction& convolution, const gemm::Target& target) {
  const auto& attrs = convolution.attr<ConvolutionAttrs>();
  const ConvDimLabels& labels = *attrs.dim_labels;
  const Shape &lhs = convolution.operand(0)->shape(), &rhs = convolution.operand(1)->shape();
  const WindowDim& last = attrs.window.dims.back();
  const int64_t groups = attrs.batch_group_count, minor = labels.input_rank - 1,
                shifts = convolution.shape().dim(labels.output_spatial.back());
  const bool depthwise =
      lhs.dim(labels.input_batch) == groups && rhs.dim(labels.kernel_output_feature) == groups;
  const bool lines = labels.input_spatial.back() == minor && labels.kernel_spatial.back() == minor &&
                     IsShift(last) && last.size >= kLongLine && shifts <= kMostShifts &&
                     convolution.shape().ElementCount() <= groups * kMostShifts * kMostShifts;
  if (!depthwise || !lines || target.isa != gemm::Isa::Avx512) return false;
  const auto is_f32 = [](const Shape& shape) { return shape.element_type() == ElementType::F32; };
  const bool floats = is_f32(lhs) && is_f32(rhs) && is_f32(convolution.shape()) &&
                      attrs.window.dims.size() == 2 && llvm::all_of(attrs.window.dims, IsShift) &&
                      convolution.shape().dim(labels.output_spatial.front()) <= kMostShifts;
  return floats || (target.fours && IsOfIntegers(convolution, CHAR_BIT));
}

/// The same for gradients by weights, whose windows are as large as images: what are weights of the result
/// lie as batch and features of the operands, with positions minor in both.
bool GainsByBatchLast(const Instruction& convolution, const ConvolutionReorderingOptions& options,
                      TargetOfMachine target) {
  const auto& attrs = convolution.attr<ConvolutionAttrs>();
  if (!attrs.dim_labels || attrs.feature_group_count != 1) return false;
  const ConvDimLabels& labels = *attrs.dim_labels;
  const int64_t minor = labels.input_rank - 1, taps = Taps(attrs),
                products = convolution.operand(1)->shape().dim(labels.kernel_input_feature) * taps;
  return labels.input_feature != minor && labels.input_batch != minor &&
         labels.kernel_input_feature != minor && labels.kernel_output_feature != minor &&
         taps >= kFewestTapsOfGradient &&
         convolution.shape().ElementCount() * products >= options.min_cheap_products &&
         !ReadsPlanesOfGradient(convolution, target());
}

void OrderBatchLast(Instruction* convolution) {
  const ConvDimLabels& labels = *convolution->attr<ConvolutionAttrs>().dim_labels;
  Order in = {labels.input_feature}, weights = {labels.kernel_input_feature},
        out(labels.output_spatial.begin(), labels.output_spatial.end());
  in.append(labels.input_spatial.begin(), labels.input_spatial.end());
  weights.append(labels.kernel_spatial.begin(), labels.kernel_spatial.end());
  in.push_back(labels.input_batch);
  weights.push_back(labels.kernel_output_feature);
  out.push_back(labels.output_batch);
  out.push_back(labels.output_feature);
  Reorder(convolution, in, weights, out);
}

/// Whether convolutions gain by an order, and what brings them into it.
struct Reordering {
  bool (*gains)(const Instruction& convolution, const ConvolutionReorderingOptions& options,
                TargetOfMachine target);
  void (*apply)(Instruction* convolution);
};
constexpr Reordering kReorderings[] = {{&GainsByFeaturesLast, &OrderFeaturesLast},
                                       {&GainsByBatchLast, &OrderBatchLast}};

Result<bool> RunConvolutionReordering(Module& module, const ConvolutionReorderingOptions& options,
                                      PassContext& context) {
  bool changed = false;
  const auto target = [&] { return TargetOf(context); };
  for (Computation* computation : context.Computations(module))
    for (const Reordering& row : kReorderings) {
      std::vector<Instruction*> found;
      for (Instruction* inst : computation->InstructionsOf(OpKind::Convolution))
        if (IsPlainConvolution(*inst) && row.gains(*inst, options, target)) found.push_back(inst);
      for (Instruction* convolution : found) {
        if (!context.TakeRewrite()) return changed;
        row.apply(convolution);
        changed = true;
      }
    }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(ConvolutionReordering, ConvolutionReorderingOptions);

}  // namespace hlo::cpu
