#include "passes/rewrite/dots.h"

#include "passes/analysis/reshape_facts.h"

namespace hlo {

DotRoles RolesOf(const Instruction& dot, int64_t side) {
  const auto& attrs = dot.attr<DotAttrs>();
  DotRoles roles;
  roles.batch = side == 0 ? attrs.lhs_batch_dims : attrs.rhs_batch_dims;
  roles.contracting = side == 0 ? attrs.lhs_contracting_dims : attrs.rhs_contracting_dims;
  for (int64_t d = 0; d < dot.operand(side)->shape().rank(); ++d)
    if (!llvm::is_contained(roles.batch, d) && !llvm::is_contained(roles.contracting, d))
      roles.free.push_back(d);
  return roles;
}

bool IsCanonicalDot(const Instruction& dot) {
  const auto& attrs = dot.attr<DotAttrs>();
  const Dims leading = Range(0, static_cast<int64_t>(attrs.lhs_batch_dims.size()));
  return attrs.lhs_contracting_dims.size() == 1 && attrs.lhs_batch_dims == leading &&
         attrs.rhs_batch_dims == leading && RolesOf(dot, 0).free.size() <= 1 &&
         RolesOf(dot, 1).free.size() <= 1;
}

Dims Range(int64_t begin, int64_t count) {
  Dims dims(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) dims[static_cast<size_t>(i)] = begin + i;
  return dims;
}

Dims SizesOf(const Shape& shape, llvm::ArrayRef<int64_t> dims) {
  Dims sizes;
  for (const int64_t d : dims) sizes.push_back(shape.dim(d));
  return sizes;
}

int64_t ProductOf(const Shape& shape, llvm::ArrayRef<int64_t> dims) {
  int64_t product = 1;
  for (const int64_t d : dims) product *= shape.dim(d);
  return product;
}

Dims Joined(std::initializer_list<llvm::ArrayRef<int64_t>> lists) {
  Dims all;
  for (const auto& list : lists) all.append(list.begin(), list.end());
  return all;
}

Instruction* MakeDotLike(Maker& make, const Instruction& like, Instruction* lhs, Instruction* rhs,
                         DotAttrs dims, bool exchanged) {
  const auto& attrs = like.attr<DotAttrs>();
  dims.operand_precision = attrs.operand_precision;
  if (exchanged) std::reverse(dims.operand_precision.begin(), dims.operand_precision.end());
  dims.algorithm = attrs.algorithm;
  Instruction* dot = make.Dot(lhs, rhs, std::move(dims), like.shape().element_type());
  if (like.has_extras()) {
    if (!like.extras().backend_config.empty())
      dot->MutableExtras().backend_config = like.extras().backend_config;
    if (!like.extras().frontend_attributes.empty())
      dot->MutableExtras().frontend_attributes = like.extras().frontend_attributes;
  }
  return dot;
}

Instruction* RemakeWith(Maker& make, const Instruction& like, const Shape& shape,
                        llvm::ArrayRef<Instruction*> operands) {
  return RemakeWith(make, like, shape, operands, like.attrs());
}

Instruction* RemakeWith(Maker& make, const Instruction& like, const Shape& shape,
                        llvm::ArrayRef<Instruction*> operands, Attrs attrs) {
  Instruction* made = make.AddWithShape(like.kind(), shape, operands, std::move(attrs), like.callees());
  if (!like.has_extras()) return made;
  const InstructionExtras& extras = like.extras();
  if (!extras.backend_config.empty()) made->MutableExtras().backend_config = extras.backend_config;
  if (!extras.frontend_attributes.empty())
    made->MutableExtras().frontend_attributes = extras.frontend_attributes;
  if (extras.result_accuracy != ResultAccuracy())
    made->MutableExtras().result_accuracy = extras.result_accuracy;
  return made;
}

Instruction* TransposeIfNeeded(Maker& make, Instruction* x, llvm::ArrayRef<int64_t> permutation) {
  if (IsIdentityPermutation(permutation)) return x;
  DimensionsAttrs attrs;
  attrs.dimensions.assign(permutation.begin(), permutation.end());
  // In the default layout, as everything else is before layouts are assigned.
  const Shape& shape = x->shape();
  return make.AddWithShape(
      OpKind::Transpose,
      Shape::ArrayWithDefaultLayout(shape.element_type(), Permuted(shape.dims(), permutation)), {x},
      std::move(attrs));
}

Instruction* ReshapeIfNeeded(Maker& make, Instruction* x, llvm::ArrayRef<int64_t> dims) {
  return x->shape().dims() == dims ? x : make.Reshape(x, dims);
}

Instruction* BroadcastTo(Maker& make, Instruction* x, llvm::ArrayRef<int64_t> dims,
                         llvm::ArrayRef<int64_t> to) {
  Dims order = Range(0, static_cast<int64_t>(to.size()));
  llvm::sort(order,
             [&](int64_t a, int64_t b) { return to[static_cast<size_t>(a)] < to[static_cast<size_t>(b)]; });
  x = TransposeIfNeeded(make, x, order);
  if (x->shape().dims() == dims) return x;
  return make.Broadcast(x, Shape::ArrayWithDefaultLayout(x->shape().element_type(), dims),
                        Permuted(to, order));
}

ElementType SumType(ElementType type) {
  return IsFloat(type) && Info(type).bits < 32 ? ElementType::F32 : type;
}

Instruction* ConvertForSum(Maker& make, Instruction* x, ElementType result) {
  return make.Convert(make.Convert(x, result), SumType(result));
}

bool HasStaticArrays(const Instruction& inst) {
  auto fits = [](const Shape& shape) { return shape.IsArray() && !shape.HasDynamicDimension(); };
  return fits(inst.shape()) &&
         llvm::all_of(inst.operands(), [&](const Instruction* o) { return fits(o->shape()); });
}

Instruction* MakeLabelledDot(Maker& make, const Instruction& like, Instruction* x, const DimLabels& x_labels,
                             Instruction* y, const DimLabels& y_labels, const DimLabels& result) {
  DotAttrs attrs;
  DimLabels made, y_free;
  auto find = [](const DimLabels& labels, int label) {
    return static_cast<int64_t>(llvm::find(labels, label) - labels.begin());
  };
  for (const int label : x_labels) {
    if (!llvm::is_contained(y_labels, label)) continue;
    const bool batch = llvm::is_contained(result, label);
    (batch ? attrs.lhs_batch_dims : attrs.lhs_contracting_dims).push_back(find(x_labels, label));
    (batch ? attrs.rhs_batch_dims : attrs.rhs_contracting_dims).push_back(find(y_labels, label));
    if (batch) made.push_back(label);
  }
  for (const int label : x_labels)
    if (!llvm::is_contained(y_labels, label)) made.push_back(label);
  for (const int label : y_labels)
    if (!llvm::is_contained(x_labels, label)) made.push_back(label);
  assert(made.size() == result.size() && "labels of one operand alone are kept");
  Instruction* dot = MakeDotLike(make, like, x, y, std::move(attrs));
  Dims permutation;
  for (const int label : result) permutation.push_back(find(made, label));
  return TransposeIfNeeded(make, dot, permutation);
}

/// The labels of the result dot(x, y) with these attributes.
static DimLabels ResultLabels(const Instruction& dot, const DimLabels& x, const DimLabels& y) {
  const DotRoles left = RolesOf(dot, 0), right = RolesOf(dot, 1);
  DimLabels labels;
  for (const int64_t d : left.batch) labels.push_back(x[static_cast<size_t>(d)]);
  for (const int64_t d : left.free) labels.push_back(x[static_cast<size_t>(d)]);
  for (const int64_t d : right.free) labels.push_back(y[static_cast<size_t>(d)]);
  return labels;
}

LabelledDot LabelDot(const Instruction& dot, int64_t side, DimLabels known, int next) {
  LabelledDot l;
  if (known.empty())
    for (int64_t d = 0; d < dot.operand(side)->shape().rank(); ++d) known.push_back(next++);
  DimLabels other(static_cast<size_t>(dot.operand(1 - side)->shape().rank()), -1);
  const DotRoles mine = RolesOf(dot, side), theirs = RolesOf(dot, 1 - side);
  for (size_t i = 0; i < mine.batch.size(); ++i)
    other[static_cast<size_t>(theirs.batch[i])] = known[static_cast<size_t>(mine.batch[i])];
  for (size_t i = 0; i < mine.contracting.size(); ++i)
    other[static_cast<size_t>(theirs.contracting[i])] = known[static_cast<size_t>(mine.contracting[i])];
  for (const int64_t d : theirs.free) other[static_cast<size_t>(d)] = next++;
  l.sides[side] = std::move(known);
  l.sides[1 - side] = std::move(other);
  l.result = ResultLabels(dot, l.sides[0], l.sides[1]);
  l.next = next;
  return l;
}

Instruction* MakeDotWithoutDims(Maker& make, const Instruction& dot,
                                llvm::function_ref<bool(int64_t side, int64_t dim)> drop) {
  const LabelledDot l = LabelDot(dot);
  Instruction* operands[2];
  DimLabels labels[2], result;
  for (const size_t side : {0, 1}) {
    Instruction* x = dot.operand(static_cast<int64_t>(side));
    Dims sizes;
    for (int64_t d = 0; d < x->shape().rank(); ++d) {
      if (drop(static_cast<int64_t>(side), d)) continue;
      labels[side].push_back(l.sides[side][static_cast<size_t>(d)]);
      sizes.push_back(x->shape().dim(d));
    }
    operands[side] = ReshapeIfNeeded(make, x, sizes);
  }
  if (labels[0].size() == l.sides[0].size() && labels[1].size() == l.sides[1].size()) return nullptr;
  for (const int label : l.result)
    if (llvm::is_contained(labels[0], label) || llvm::is_contained(labels[1], label)) result.push_back(label);
  Instruction* made = MakeLabelledDot(make, dot, operands[0], labels[0], operands[1], labels[1], result);
  return ReshapeIfNeeded(make, made, dot.shape().dims());
}

Instruction* MakeDotAsReduction(Maker& make, const Instruction& dot) {
  const DotRoles roles[] = {RolesOf(dot, 0), RolesOf(dot, 1)};
  const bool flat[] = {roles[0].free.empty(), roles[1].free.empty()};
  if ((!flat[0] && !flat[1]) || roles[0].contracting.empty()) return nullptr;
  const size_t vector = flat[1] ? 1 : 0, matrix = 1 - vector;
  Instruction* x = ConvertForSum(make, dot.operand(static_cast<int64_t>(matrix)), dot.shape().element_type());
  Instruction* v = ConvertForSum(make, dot.operand(static_cast<int64_t>(vector)), dot.shape().element_type());
  Dims to(static_cast<size_t>(v->shape().rank()));
  for (size_t i = 0; i < roles[vector].batch.size(); ++i)
    to[static_cast<size_t>(roles[vector].batch[i])] = roles[matrix].batch[i];
  for (size_t i = 0; i < roles[vector].contracting.size(); ++i)
    to[static_cast<size_t>(roles[vector].contracting[i])] = roles[matrix].contracting[i];
  Instruction* factors[2];
  factors[matrix] = x;
  factors[vector] = BroadcastTo(make, v, x->shape().dims(), to);
  Instruction* product = make.Binary(OpKind::Multiply, factors[0], factors[1]);
  Dims sums = roles[matrix].contracting;
  llvm::sort(sums);
  Instruction* sum =
      make.Reduce(product, make.Scalar(SumType(dot.shape().element_type()), 0), sums, OpKind::Add);
  Dims order;
  for (const int64_t d : Joined({roles[matrix].batch, roles[matrix].free}))
    order.push_back(d - llvm::count_if(sums, [&](int64_t s) { return s < d; }));
  return make.Convert(TransposeIfNeeded(make, sum, order), dot.shape().element_type());
}

}  // namespace hlo
