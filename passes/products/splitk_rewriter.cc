// splitk-rewriter: long sums of products with small results are taken in parts, side by side (passes.md
// §2.5).
//
// Requires nothing. Preserves flat-calls, fusions.
// Changes: the one contracting dimension of a dot becomes two, of which the outer is a batch dimension; the
// results, in the type in which sums are taken, are added up. How many parts: as many as fill
// parallel_tiles with tiles of 64 by 64 of the result, powers of two that divide the dimension and leave
// min_part of it. With `convolutions`, those too: their input features become groups, of so many that the
// number divides them, and the kernel is transposed for that; of convolutions whose batch is all groups, as
// gradients of depthwise kernels are, every input feature becomes groups of its own, which is what operands
// are whose features lie before their groups. Left alone: dots with several contracting dimensions, of pred,
// with an algorithm, dynamic or with large results; under --strict-fp those of floats, whose sums would come
// out in another order.
#include "passes/pass.h"
#include "passes/rewrite/convolutions.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

struct SplitkOptions {
  int64_t parallel_tiles = 128;
  int64_t min_part = 512;
  int64_t min_edge = 1;
  bool convolutions = false;
  bool narrow_convolutions = true;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&SplitkOptions::parallel_tiles>("parallel_tiles", "tiles of results that run at once"),
    PassOption<&SplitkOptions::min_part>("min_part", "products that a part sums up at least"),
    PassOption<&SplitkOptions::min_edge>("min_edge", "rows and columns of the result at least"),
    PassOption<&SplitkOptions::convolutions>("convolutions", "convolutions, too"),
    PassOption<&SplitkOptions::narrow_convolutions>("narrow_convolutions",
                                                    "among them those of f16 and bf16"),
};
constexpr int64_t kTile = 64;
/// Fewer are not worth transposing the kernel.
constexpr int64_t kFewestGroups = 4;
/// Partial results are at most one for so many elements of the operand.
constexpr int64_t kLeastOfOperand = 4;

/// 0 for results with fewer rows or columns than are worth it.
int64_t TilesOf(const Instruction& dot, int64_t min_edge) {
  const DotRoles left = RolesOf(dot, 0), right = RolesOf(dot, 1);
  const Shape &l = dot.operand(0)->shape(), &r = dot.operand(1)->shape();
  const int64_t rows = ProductOf(l, left.free), columns = ProductOf(r, right.free);
  if (std::min(rows, columns) < min_edge) return 0;
  return ProductOf(l, left.batch) * llvm::divideCeil(rows, kTile) * llvm::divideCeil(columns, kTile);
}

/// 1: it stays whole.
int64_t PartsOf(const Instruction& inst, const SplitkOptions& options, bool strict_fp) {
  const auto* attrs = inst.attrs().GetIf<DotAttrs>();
  if (inst.kind() != OpKind::Dot || inst.operand_count() != 2 || !HasStaticArrays(inst) ||
      attrs->lhs_contracting_dims.size() != 1 || attrs->algorithm != DotAlgorithm::Unset ||
      IsPred(inst.shape().element_type()) || inst.shape().ElementCount() == 0)
    return 1;
  if (strict_fp && !IsIntegral(inst.shape().element_type())) return 1;
  const int64_t length = inst.operand(0)->shape().dim(attrs->lhs_contracting_dims[0]);
  const int64_t tiles = TilesOf(inst, options.min_edge);
  int64_t parts = 1;
  while (tiles > 0 && parts * 2 * tiles <= options.parallel_tiles && length % (parts * 2) == 0 &&
         length / (parts * 2) >= options.min_part)
    parts *= 2;
  return parts;
}

/// Dimension `at` as two, the outer one of size `parts`.
Instruction* InParts(Maker& make, Instruction* x, int64_t at, int64_t parts) {
  Dims sizes(x->shape().dims());
  auto* size = sizes.begin() + at;
  *size /= parts;
  sizes.insert(size, parts);
  return make.Reshape(x, sizes);
}

/// Where dimensions are once another stands before dimension `at`; that of `at` is the inner one.
Dims Moved(llvm::ArrayRef<int64_t> dims, int64_t at) {
  Dims moved;
  for (const int64_t d : dims) moved.push_back(d >= at ? d + 1 : d);
  return moved;
}

Instruction* SumOfParts(Instruction* dot, int64_t parts) {
  Maker make(dot);
  DotAttrs attrs = dot->attr<DotAttrs>();
  const int64_t l = attrs.lhs_contracting_dims[0], r = attrs.rhs_contracting_dims[0];
  Instruction* x = InParts(make, dot->operand(0), l, parts);
  Instruction* y = InParts(make, dot->operand(1), r, parts);
  const auto place = static_cast<int64_t>(attrs.lhs_batch_dims.size());
  attrs.lhs_batch_dims = Joined({Moved(attrs.lhs_batch_dims, l), {l}});
  attrs.rhs_batch_dims = Joined({Moved(attrs.rhs_batch_dims, r), {r}});
  attrs.lhs_contracting_dims = {l + 1};
  attrs.rhs_contracting_dims = {r + 1};
  const ElementType type = dot->shape().element_type(), sum = SumType(type);
  Instruction* partial = make.Dot(x, y, std::move(attrs), sum);
  Instruction* total = make.Reduce(partial, make.Scalar(sum, 0), {place}, OpKind::Add);
  return make.Convert(total, type);
}

/// Whether its sums may be taken in another order, and nothing but labels and windows says what they are.
bool MaySplit(const Instruction& inst, const SplitkOptions& options, bool strict_fp) {
  if (!options.convolutions || !IsPlainConvolution(inst)) return false;
  const auto& attrs = inst.attr<ConvolutionAttrs>();
  const Shape& result = inst.shape();
  const ElementType type = inst.operand(0)->shape().element_type();
  if (!options.narrow_convolutions && (type == ElementType::F16 || type == ElementType::BF16)) return false;
  return attrs.algorithm == DotAlgorithm::Unset && !IsPred(result.element_type()) &&
         attrs.convolution_kind == ConvolutionKind::Unset && !inst.has_extras() &&
         result.ElementCount() != 0 && (!strict_fp || IsIntegral(result.element_type()));
}

/// 1: the convolution stays whole.
int64_t GroupsOf(const Instruction& inst, const SplitkOptions& options, bool strict_fp) {
  if (!MaySplit(inst, options, strict_fp)) return 1;
  const auto& attrs = inst.attr<ConvolutionAttrs>();
  if (!IsUngrouped(attrs)) return 1;
  const Shape &result = inst.shape(), &kernel = inst.operand(1)->shape();
  const int64_t columns = kernel.dim(attrs.dim_labels->kernel_output_feature);
  const int64_t features = kernel.dim(attrs.dim_labels->kernel_input_feature);
  const int64_t rows = result.ElementCount() / std::max<int64_t>(columns, 1);
  const int64_t length = kernel.ElementCount() / std::max<int64_t>(columns, 1);
  if (columns == 0 || features == 0 || std::min(rows, columns) < options.min_edge) return 1;
  const int64_t tiles = llvm::divideCeil(rows, kTile) * llvm::divideCeil(columns, kTile);
  int64_t groups = std::min({features, options.parallel_tiles / tiles, length / options.min_part});
  while (groups > 1 && features % groups != 0) --groups;
  return groups < kFewestGroups ? 1 : groups;
}

/// The kernel of groups of input features: those of each group one after the other, its output features
/// beside those of the others.
Instruction* KernelOfGroups(Maker& make, Instruction* kernel, const ConvDimLabels& labels, int64_t groups) {
  const int64_t in = labels.kernel_input_feature, out = labels.kernel_output_feature;
  Instruction* parts = InParts(make, kernel, in, groups);
  Dims order, sizes(kernel->shape().dims());
  for (int64_t d = 0; d < kernel->shape().rank(); ++d) {
    if (d == out) order.push_back(in);
    order.push_back(d >= in ? d + 1 : d);
  }
  sizes[static_cast<size_t>(in)] /= groups;
  sizes[static_cast<size_t>(out)] *= groups;
  return make.Reshape(make.Transpose(parts, order), sizes);
}

Instruction* SumOfGroups(Instruction* convolution, int64_t groups) {
  Maker make(convolution);
  ConvolutionAttrs attrs = convolution->attr<ConvolutionAttrs>();
  const int64_t features = attrs.dim_labels->output_feature;
  const ElementType type = convolution->shape().element_type(), sum = SumType(type);
  Instruction* kernel = KernelOfGroups(make, convolution->operand(1), *attrs.dim_labels, groups);
  attrs.feature_group_count = groups;
  Instruction* partial = make.Add(OpKind::Convolution, {convolution->operand(0), kernel}, std::move(attrs));
  partial->set_shape(partial->shape().WithElementType(sum));
  Instruction* apart = InParts(make, partial, features, groups);
  return make.Convert(make.Reduce(apart, make.Scalar(sum, 0), {features}, OpKind::Add), type);
}

/// Input features of a convolution whose batch is all groups; 1: it stays whole.
int64_t FeaturesApart(const Instruction& inst, const SplitkOptions& options, bool strict_fp) {
  if (!MaySplit(inst, options, strict_fp)) return 1;
  const auto& attrs = inst.attr<ConvolutionAttrs>();
  const Shape& x = inst.operand(0)->shape();
  if (attrs.batch_group_count == 1 || attrs.feature_group_count != 1 ||
      x.dim(attrs.dim_labels->input_batch) != attrs.batch_group_count)
    return 1;
  const int64_t features = x.dim(attrs.dim_labels->input_feature);
  const int64_t partial = features * inst.shape().ElementCount();
  const bool worth_it = features >= kFewestGroups && partial <= x.ElementCount() / kLeastOfOperand;
  return worth_it ? features : 1;
}

/// The dimensions `first` and `second` as one with one of size 1 beside it, then `others`.
Instruction* Merged(Maker& make, Instruction* x, int64_t first, int64_t second,
                    llvm::ArrayRef<int64_t> others, bool behind) {
  const Dims order = Joined({{first, second}, others});
  Dims sizes = {x->shape().dim(first) * x->shape().dim(second)};
  sizes.insert(behind ? sizes.begin() : sizes.end(), 1);
  for (const int64_t d : others) sizes.push_back(x->shape().dim(d));
  return make.Reshape(TransposeIfNeeded(make, x, order), sizes);
}

/// Each feature of each group is a group of features, whose results are added up.
Instruction* SumOfFeatures(Instruction* convolution) {
  Maker make(convolution);
  ConvolutionAttrs attrs = convolution->attr<ConvolutionAttrs>();
  const ConvDimLabels old = *attrs.dim_labels;
  const Shape& result = convolution->shape();
  const ElementType type = result.element_type(), sum = SumType(type);
  Instruction* x = convolution->operand(0);
  const int64_t features = x->shape().dim(old.input_feature);
  x = Merged(make, x, old.input_feature, old.input_batch, old.input_spatial, /*behind=*/true);
  Instruction* kernel = Merged(make, convolution->operand(1), old.kernel_input_feature,
                               old.kernel_output_feature, old.kernel_spatial, /*behind=*/false);
  // As the results are added up: batch and features first, and so are those of the operands now.
  Dims spatial, sizes = {features, result.dim(old.output_feature)};
  Dims order(static_cast<size_t>(result.rank()));
  order[static_cast<size_t>(old.output_feature)] = 1;
  for (const int64_t d : old.output_spatial) {
    spatial.push_back(static_cast<int64_t>(spatial.size()) + 2);
    order[static_cast<size_t>(d)] = spatial.back();
    sizes.push_back(result.dim(d));
  }
  attrs.dim_labels = {
      0, 1, 1, 0, 0, 1, spatial, spatial, spatial, result.rank(), result.rank(), result.rank()};
  attrs.feature_group_count = features * attrs.batch_group_count;
  attrs.batch_group_count = 1;
  Instruction* partial = make.Add(OpKind::Convolution, {x, kernel}, std::move(attrs));
  partial->set_shape(partial->shape().WithElementType(sum));
  Instruction* total = make.Reduce(make.Reshape(partial, sizes), make.Scalar(sum, 0), {0}, OpKind::Add);
  sizes[0] = 1;
  return make.Convert(TransposeIfNeeded(make, make.Reshape(total, sizes), order), type);
}

llvm::ArrayRef<PassOptionRow> SplitkOptions::Rows() { return kRows; }

Result<bool> RunSplitkRewriter(Module& module, const SplitkOptions& options, PassContext& context) {
  for (const auto& [name, value] :
       {std::pair("min_part", options.min_part), std::pair("parallel_tiles", options.parallel_tiles),
        std::pair("min_edge", options.min_edge)})
    if (value < 1)
      return Error("usage-pass-option", {},
                   "option '{0}' of pass 'splitk-rewriter': found {1}, expected a positive number", name,
                   value);
  const bool strict_fp = context.policy().strict_fp;
  const auto parts = [&](const Instruction& inst) {
    const auto count = inst.kind() == OpKind::Convolution ? &GroupsOf : &PartsOf;
    return count(inst, options, strict_fp);
  };
  return ExpandMatches(
      module, context,
      [&](const Instruction& inst) { return parts(inst) > 1 || FeaturesApart(inst, options, strict_fp) > 1; },
      [&](Instruction* product) -> Result<Instruction*> {
        if (FeaturesApart(*product, options, strict_fp) > 1) return SumOfFeatures(product);
        const auto sum = product->kind() == OpKind::Convolution ? &SumOfGroups : &SumOfParts;
        return sum(product, parts(*product));
      });
}

}  // namespace

HLO_DEFINE_PASS(SplitkRewriter, SplitkOptions);

}  // namespace hlo
