// Sums of products: dots and convolutions.
#include "backends/kernel/lowering.h"
#include "llvm/ADT/STLExtras.h"

namespace hlo::kernel {
namespace {

bool IsNarrow(const Instruction* x) { return Info(x->shape().element_type()).bits < 8; }

/// Whatever the algorithm, which permits to round more: of tf32 only what multiplies tiles makes use.
bool IsPlain(const Instruction& inst) {
  return inst.operand_count() == 2 && !IsPred(inst.shape().element_type()) &&
         llvm::none_of(inst.operands(), IsNarrow) &&
         llvm::all_of(inst.operands(), [](const Instruction* x) { return x->shape().ElementCount() > 0; });
}

bool IsPlainConvolution(const Instruction& inst) {
  const auto& attrs = inst.attr<ConvolutionAttrs>();
  const auto rank = static_cast<int64_t>(attrs.dim_labels->input_spatial.size()) + 2;
  return IsPlain(inst) && attrs.sparsity_config == SparsityConfig() &&
         inst.operand(0)->shape().rank() == rank && inst.operand(1)->shape().rank() == rank &&
         inst.shape().rank() == rank;
}

}  // namespace

bool HasSums(const Instruction& product) {
  return product.kind() == OpKind::Dot ? IsPlain(product) : IsPlainConvolution(product);
}

Result<Lowering::Values> Lowering::SumProducts(const Instruction& inst, llvm::ArrayRef<LoopId> loops,
                                               ValueId mask, llvm::function_ref<Result<Factors>()> place) {
  const ElementType type = inst.shape().element_type();
  // Operands count as elements of the result's type; sums of narrow floats are taken in f32.
  const ElementType sum = IsFloat(type) && Info(type).bits < 32 ? ElementType::F32 : type;
  const auto load = [&](const Instruction& side, const Indices& from, ValueId when) -> Result<ValueId> {
    HLO_TRY(ValueId x, EmitOne(side, from, when));
    if (lowered_.kernel.TypeOf(x) != type && sum == type) x = builder_.Op(OpKind::Convert, type, {x});
    return lowered_.kernel.TypeOf(x) == sum ? x : builder_.Op(OpKind::Convert, sum, {x});
  };
  const auto elements = [&]() -> Result<Values> {
    HLO_TRY(const Factors factors, place());
    HLO_TRY(const ValueId x, load(*inst.operand(0), factors.left, builder_.And(mask, factors.inside)));
    HLO_TRY(const ValueId y, load(*inst.operand(1), factors.right, mask));
    const ValueId product = builder_.Op(OpKind::Multiply, sum, {x, y});
    if (factors.inside < 0) return Values{product};
    return Values{builder_.Op(OpKind::Select, sum, {factors.inside, product, ZeroOf(sum)})};
  };
  const auto combine = [&](llvm::ArrayRef<ValueId> values) -> Result<Values> {
    return Values{builder_.Op(OpKind::Add, sum, values)};
  };
  HLO_TRY(Values results, Fold(inst, loops, {ZeroOf(sum)}, elements, combine));
  if (sum != type) results[0] = builder_.Op(OpKind::Convert, type, {results[0]});
  return results;
}

Result<Lowering::Values> Lowering::EmitDotHere(const Instruction& inst, const Indices& at, ValueId mask) {
  const auto& attrs = inst.attr<DotAttrs>();
  const Instruction &lhs = *inst.operand(0), &rhs = *inst.operand(1);
  if (!HasSums(inst)) return Decline(inst.loc(), "%{0} is no plain dot", inst.name());
  const int nest = nests_++;
  llvm::SmallVector<LoopId, 4> loops;
  Factors factors;
  Indices &left = factors.left, &right = factors.right;
  left.resize(static_cast<size_t>(lhs.shape().rank()));
  right.resize(static_cast<size_t>(rhs.shape().rank()));
  size_t next = 0;
  for (size_t i = 0; i < attrs.lhs_batch_dims.size(); ++i, ++next)
    left[static_cast<size_t>(attrs.lhs_batch_dims[i])] = right[static_cast<size_t>(attrs.rhs_batch_dims[i])] =
        at[next];
  for (size_t i = 0; i < attrs.lhs_contracting_dims.size(); ++i) {
    const int64_t d = attrs.lhs_contracting_dims[i];
    left[static_cast<size_t>(d)] = right[static_cast<size_t>(attrs.rhs_contracting_dims[i])] =
        MakeLoops({nest, d}, lhs.shape().dim(d), loops);
  }
  const auto fill = [&](Indices& side, const Dims& batch, const Dims& contracting) {
    for (size_t d = 0; d < side.size(); ++d)
      if (!llvm::is_contained(batch, static_cast<int64_t>(d)) &&
          !llvm::is_contained(contracting, static_cast<int64_t>(d)))
        side[d] = at[next++];
  };
  fill(left, attrs.lhs_batch_dims, attrs.lhs_contracting_dims);
  fill(right, attrs.rhs_batch_dims, attrs.rhs_contracting_dims);
  return SumProducts(inst, loops, mask, [&]() -> Result<Factors> { return factors; });
}

Result<Lowering::Values> Lowering::EmitConvolutionHere(const Instruction& inst, const Indices& at,
                                                       ValueId mask) {
  const auto& attrs = inst.attr<ConvolutionAttrs>();
  const ConvDimLabels& labels = *attrs.dim_labels;
  const Shape &image = inst.operand(0)->shape(), &weights = inst.operand(1)->shape();
  const size_t spatial = labels.input_spatial.size();
  if (!HasSums(inst)) return Decline(inst.loc(), "%{0} is no plain convolution", inst.name());
  const int nest = nests_++;
  llvm::SmallVector<LoopId, 4> loops;
  Factors factors{Indices(spatial + 2), Indices(spatial + 2)};
  Indices positions;
  Dims base;
  for (size_t d = 0; d < spatial; ++d) {
    const WindowDim& w = attrs.window.dims[d];
    const Address tap = MakeLoops({nest, static_cast<int64_t>(d)}, w.size, loops);
    Address& position = positions.emplace_back();
    position.offset = -w.pad_low;
    position.Add(at[static_cast<size_t>(labels.output_spatial[d])], w.stride);
    position.Add(tap, w.window_dilation);
    Address& weight = factors.right[static_cast<size_t>(labels.kernel_spatial[d])];
    weight.offset = w.reversal ? w.size - 1 : 0;
    weight.Add(tap, w.reversal ? -1 : 1);
    base.push_back(image.dim(labels.input_spatial[d]));
  }
  // What is in a group of its own comes group by group: features in, batches in, features out.
  const int64_t features = weights.dim(labels.kernel_input_feature);
  const Address feature = MakeLoops({nest, static_cast<int64_t>(spatial)}, features, loops);
  const Address& result = at[static_cast<size_t>(labels.output_feature)];
  const int64_t groups = std::max(attrs.feature_group_count, attrs.batch_group_count);
  const int64_t results = weights.dim(labels.kernel_output_feature) / groups;
  const Address group = groups > 1 ? Delinearize(result, {groups, results})[0] : Address();
  Address& from = factors.left[static_cast<size_t>(labels.input_feature)];
  from = feature;
  if (attrs.feature_group_count > 1) from.Add(group, features);
  Address& batch = factors.left[static_cast<size_t>(labels.input_batch)];
  batch = at[static_cast<size_t>(labels.output_batch)];
  if (attrs.batch_group_count > 1) batch.Add(group, image.dim(labels.input_batch) / groups);
  factors.right[static_cast<size_t>(labels.kernel_input_feature)] = feature;
  factors.right[static_cast<size_t>(labels.kernel_output_feature)] = result;
  const bool bounded = MayLeaveBase(attrs.window, base, positions);
  return SumProducts(inst, loops, mask, [&]() -> Result<Factors> {
    Factors here = factors;
    Indices inner = positions;
    if (bounded) {
      HLO_TRY(here.inside, IndexBase(inst, attrs.window, base, inner));
    }
    for (size_t d = 0; d < spatial; ++d) here.left[static_cast<size_t>(labels.input_spatial[d])] = inner[d];
    return here;
  });
}

}  // namespace hlo::kernel
