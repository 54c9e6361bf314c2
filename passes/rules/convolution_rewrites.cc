#include "passes/analysis/reshape_facts.h"
#include "passes/analysis/value_facts.h"
#include "passes/rewrite/convolutions.h"
#include "passes/rewrite/dots.h"
#include "passes/rules/contraction_rewrites.h"

namespace hlo {
namespace {

using namespace pattern;

const ConvolutionAttrs& ConvOf(const Match& m) { return m.root->attr<ConvolutionAttrs>(); }

/// The factor if the value is a product with a broadcast scalar constant; `rest` is the other factor.
Instruction* ConstantScale(Instruction* x, Instruction*& rest) {
  if (x->kind() != OpKind::Multiply) return nullptr;
  for (const int64_t i : {0, 1}) {
    Instruction* scalar = ScalarOrSplat(*x->operand(i));
    if (!scalar || scalar->kind() != OpKind::Constant) continue;
    rest = x->operand(1 - i);
    return scalar;
  }
  return nullptr;
}

Instruction* Scaled(Match& m, Instruction* x, Instruction* scale) {
  return m.make.Binary(OpKind::Multiply, x, m.make.Splat(x->shape(), scale));
}

int64_t Elements(const Instruction* x) { return x->shape().ElementCount(); }

Instruction* ProductLike(Match& m, const Instruction& like, Instruction* x, Instruction* y) {
  return like.kind() == OpKind::Dot ? MakeDotLike(m.make, like, x, y, like.attr<DotAttrs>())
                                    : MakeConvolutionLike(m.make, like, x, y, like.attr<ConvolutionAttrs>());
}

bool HasType(const Instruction* x, ElementType type) { return x->shape().element_type() == type; }

}  // namespace

Instruction* ProductMovesScale(Match& m) {
  for (const int64_t side : {0, 1}) {
    Instruction* rest = nullptr;
    Instruction* other = m.root->operand(1 - side);
    Instruction* scale = ConstantScale(m.root->operand(side), rest);
    if (!scale || !HasType(scale, m.type()) || !HasType(other, m.type())) continue;
    if (std::min(Elements(other), Elements(m.root)) >= Elements(rest)) continue;
    const bool to_other = Elements(other) < Elements(m.root);
    if (to_other) other = Scaled(m, other, scale);
    Instruction* made = ProductLike(m, *m.root, side == 0 ? rest : other, side == 0 ? other : rest);
    return to_other ? made : Scaled(m, made, scale);
  }
  return nullptr;
}

Instruction* ScaleMovesIntoProduct(Match& m) {
  Instruction* scale = ScalarOrSplat(*m[B]);
  Instruction *x = m[A]->operand(0), *y = m[A]->operand(1);
  if (!scale || scale->kind() != OpKind::Constant || !HasStaticArrays(*m[A]) || !HasType(x, m.type()) ||
      !HasType(y, m.type()) || std::min(Elements(x), Elements(y)) >= Elements(m.root))
    return nullptr;
  const bool left = Elements(x) <= Elements(y);
  return ProductLike(m, *m[A], left ? Scaled(m, x, scale) : x, left ? y : Scaled(m, y, scale));
}

Instruction* ConvolutionOfNothing(Match& m) {
  const bool nothing = Elements(m.root->operand(0)) == 0 || Elements(m.root->operand(1)) == 0;
  return nothing ? m.make.Full(m.shape(), 0) : nullptr;
}

Instruction* ConvolutionOfPad(Match& m) {
  ConvolutionAttrs attrs = ConvOf(m);
  const Padding& padding = m[P]->attr<PadAttrs>().padding;
  auto at = [&](int64_t d) { return padding[static_cast<size_t>(d)]; };
  if (at(attrs.dim_labels->input_batch) != PaddingDim() ||
      at(attrs.dim_labels->input_feature) != PaddingDim())
    return nullptr;
  for (size_t i = 0; i < attrs.window.dims.size(); ++i) {
    WindowDim& d = attrs.window.dims[i];
    const PaddingDim p = at(attrs.dim_labels->input_spatial[i]);
    if ((p.low < 0 && d.pad_low > 0) || (p.high < 0 && d.pad_high > 0) || d.base_dilation != 1)
      return nullptr;
    d.pad_low += p.low;
    d.pad_high += p.high;
    d.base_dilation = p.interior + 1;
  }
  return MakeConvolutionLike(m.make, *m.root, m[A], m[B], std::move(attrs));
}

Instruction* ConvolutionByDilatedKernel(Match& m) {
  ConvolutionAttrs attrs = ConvOf(m);
  const Padding& padding = m[P]->attr<PadAttrs>().padding;
  if (llvm::any_of(padding, [](const PaddingDim& p) { return p.low != 0 || p.high != 0; })) return nullptr;
  auto interior = [&](int64_t d) { return padding[static_cast<size_t>(d)].interior; };
  if (interior(attrs.dim_labels->kernel_input_feature) != 0 ||
      interior(attrs.dim_labels->kernel_output_feature) != 0)
    return nullptr;
  for (size_t i = 0; i < attrs.window.dims.size(); ++i) {
    WindowDim& d = attrs.window.dims[i];
    if (d.window_dilation != 1) return nullptr;
    d.window_dilation = interior(attrs.dim_labels->kernel_spatial[i]) + 1;
    d.size = m[B]->shape().dim(attrs.dim_labels->kernel_spatial[i]);
  }
  return MakeConvolutionLike(m.make, *m.root, m[A], m[B], std::move(attrs));
}

Instruction* ConvolutionSwapped(Match& m) { return ConvolutionWithSwappedOperands(m.make, *m.root); }

/// Roles of the dimensions of input or output, most minor first: 0 batch, 1 feature, 2… spatial.
static Dims PhysicalRoles(const Shape& shape, int64_t batch, int64_t feature, const Dims& spatial) {
  Dims roles;
  for (const int64_t d : shape.layout().minor_to_major)
    roles.push_back(d == batch ? 0 : d == feature ? 1 : 2 + (llvm::find(spatial, d) - spatial.begin()));
  return roles;
}

Instruction* ConvolutionAsDot(Match& m) {
  Instruction *x = m.root->operand(0), *w = m.root->operand(1);
  const ConvolutionAttrs& attrs = ConvOf(m);
  const ConvDimLabels& l = *attrs.dim_labels;
  auto one_by_one = [](const WindowDim& d) {
    return d.size == 1 && d.stride == 1 && d.pad_low == 0 && d.pad_high == 0 && d.base_dilation == 1;
  };
  auto laid_out = [](const Instruction* i) {
    return i->shape().has_layout() && !i->shape().layout().HasProperties();
  };
  if (!IsUngrouped(attrs) || !llvm::all_of(attrs.window.dims, one_by_one) || !laid_out(x) || !laid_out(w) ||
      !laid_out(m.root))
    return nullptr;
  const Dims in = PhysicalRoles(x->shape(), l.input_batch, l.input_feature, l.input_spatial);
  const Dims out = PhysicalRoles(m.shape(), l.output_batch, l.output_feature, l.output_spatial);
  const Dims& kernel = w->shape().layout().minor_to_major;
  if (in != out || in[0] != 1 ||
      llvm::find(kernel, l.kernel_input_feature) < llvm::find(kernel, l.kernel_output_feature))
    return nullptr;
  const int64_t features = x->shape().dim(l.input_feature), outputs = m.shape().dim(l.output_feature);
  if (features == 0 || outputs == 0) return nullptr;
  auto matrix = [&](Instruction* i, int64_t rows, int64_t columns) {
    return m.make.Bitcast(i, Shape::ArrayWithDefaultLayout(i->shape().element_type(), {rows, columns}));
  };
  DotAttrs dot;
  dot.lhs_contracting_dims = {1};
  dot.rhs_contracting_dims = {0};
  dot.operand_precision = attrs.operand_precision;
  dot.algorithm = attrs.algorithm;
  Instruction* made = m.make.Dot(matrix(x, Elements(x) / features, features), matrix(w, features, outputs),
                                 std::move(dot), m.type());
  return m.make.Bitcast(made, m.shape());
}

Instruction* DepthwiseConvolutionAsProduct(Match& m) {
  Instruction *x = m.root->operand(0), *w = m.root->operand(1);
  const ConvolutionAttrs& attrs = ConvOf(m);
  const ConvDimLabels& l = *attrs.dim_labels;
  const int64_t features = x->shape().dim(l.input_feature);
  if (attrs.feature_group_count != features || features == 1 || attrs.batch_group_count != 1 ||
      m.shape().dim(l.output_feature) != features)
    return nullptr;
  Dims sums, kept_in = {l.input_batch, l.input_feature}, kept_out = {l.output_batch, l.output_feature};
  Dims to(static_cast<size_t>(w->shape().rank()), -1);  // kernel dimension to input dimension
  to[static_cast<size_t>(l.kernel_output_feature)] = l.input_feature;
  for (size_t i = 0; i < attrs.window.dims.size(); ++i) {
    const WindowDim& d = attrs.window.dims[i];
    const int64_t spatial = l.input_spatial[i];
    if (!IsPlainWindowDim(d) || (d.size != 1 && (d.size != x->shape().dim(spatial) || d.reversal)))
      return nullptr;
    if (d.size == 1) {
      kept_in.push_back(spatial);
      kept_out.push_back(l.output_spatial[i]);
      continue;
    }
    to[static_cast<size_t>(l.kernel_spatial[i])] = spatial;
    sums.push_back(spatial);
  }
  Dims sizes, targets;
  for (size_t d = 0; d < to.size(); ++d) {
    if (to[d] < 0) continue;
    sizes.push_back(w->shape().dim(static_cast<int64_t>(d)));
    targets.push_back(to[d]);
  }
  x = ConvertForSum(m.make, x, m.type());
  w = ReshapeIfNeeded(m.make, ConvertForSum(m.make, w, m.type()), sizes);
  Instruction* y = m.make.Binary(OpKind::Multiply, x, BroadcastTo(m.make, w, x->shape().dims(), targets));
  llvm::sort(sums);
  if (!sums.empty()) y = m.make.Reduce(y, m.make.Scalar(SumType(m.type()), 0), sums, OpKind::Add);
  // What is left in the order of the output, then with its dimensions of size 1.
  Dims by_output = Range(0, static_cast<int64_t>(kept_out.size())), order;
  llvm::sort(by_output, [&](int64_t a, int64_t b) {
    return kept_out[static_cast<size_t>(a)] < kept_out[static_cast<size_t>(b)];
  });
  for (const int64_t i : by_output) {
    const int64_t d = kept_in[static_cast<size_t>(i)];
    order.push_back(d - llvm::count_if(sums, [&](int64_t s) { return s < d; }));
  }
  y = ReshapeIfNeeded(m.make, TransposeIfNeeded(m.make, y, order), m.shape().dims());
  return m.make.Convert(y, m.type());
}

}  // namespace hlo
