#include "passes/rewrite/maker.h"

#include <cmath>
#include <complex>

#include "ir/numeric/narrow_float.h"
#include "llvm/Support/ErrorHandling.h"

namespace hlo {
namespace {

Instruction* Must(Result<Instruction*> made, OpKind kind) {
  if (made) return *made;
  llvm::report_fatal_error(llvm::Twine("a rewrite made an invalid ") + ToString(kind) + ": " +
                           made.error().message);
}

/// Ops that cannot change layouts keep that of their operand.
void KeepLayout(Instruction& made) {
  if (made.info().Is(kReshapesLayout) || made.info().Is(kElementwise) || made.operand_count() == 0) return;
  const Shape& from = made.operand(0)->shape();
  const Shape& shape = made.shape();
  if (from.IsArray() && from.has_layout() && shape.IsArray() && from.rank() == shape.rank() &&
      from.element_type() == shape.element_type() && shape.layout() != from.layout())
    made.set_shape(shape.WithLayout(from.layout()));
}

}  // namespace

Maker::Maker(Instruction* origin) : computation_(*origin->parent()), builder_(computation_, origin) {
  builder_.set_origin(origin);
}

Maker::Maker(Computation& computation, const Instruction* origin)
    : computation_(computation), builder_(computation) {
  builder_.set_origin(origin);
}

Instruction* Maker::Add(OpKind kind, llvm::ArrayRef<Instruction*> operands, Attrs attrs,
                        llvm::ArrayRef<Computation*> callees, llvm::StringRef name) {
  Instruction* made = Must(builder_.Add(kind, operands, std::move(attrs), callees, name), kind);
  KeepLayout(*made);
  return made;
}

Instruction* Maker::AddWithShape(OpKind kind, const Shape& shape, llvm::ArrayRef<Instruction*> operands,
                                 Attrs attrs, llvm::ArrayRef<Computation*> callees, llvm::StringRef name) {
  const Shape laid_out = shape.WithDefaultLayouts();
  return Must(builder_.AddWithShape(kind, laid_out, operands, std::move(attrs), callees, name), kind);
}

Instruction* Maker::Parameter(int64_t number, const Shape& shape, llvm::StringRef name) {
  return builder_.Parameter(number, shape, name);
}

Instruction* Maker::Constant(Literal literal) {
  if (literal.shape() != literal.shape().WithDefaultLayouts())
    literal = literal.WithShape(literal.shape().WithDefaultLayouts());
  return builder_.Constant(literal);
}

Instruction* Maker::Scalar(ElementType type, double value) { return Constant(ScalarLiteral(type, value)); }

Instruction* Maker::ScalarInt(ElementType type, int64_t value) {
  return Constant(ScalarLiteralInt(type, value));
}

Instruction* Maker::Full(const Shape& shape, double value) {
  return Splat(shape, Scalar(shape.element_type(), value));
}

Instruction* Maker::Splat(const Shape& shape, Instruction* scalar) {
  return shape.rank() == 0 ? scalar : Broadcast(scalar, shape, {});
}

Instruction* Maker::MapOperand(const Shape& shape, Instruction* operand) {
  return operand->shape().rank() == shape.rank()
             ? operand
             : Splat(shape.WithElementType(operand->shape().element_type()), operand);
}

Instruction* Maker::Iota(const Shape& shape, int64_t dimension) {
  IotaAttrs attrs;
  attrs.iota_dimension = dimension;
  return AddWithShape(OpKind::Iota, shape, {}, attrs);
}

Instruction* Maker::Compare(Direction direction, Instruction* x, Instruction* y,
                            std::optional<CompareType> type) {
  CompareAttrs attrs;
  attrs.direction = direction;
  attrs.type = type;
  return Add(OpKind::Compare, {x, y}, attrs);
}

Instruction* Maker::Convert(Instruction* x, ElementType type) {
  if (x->shape().element_type() == type) return x;
  return AddWithShape(OpKind::Convert, x->shape().WithElementType(type), {x});
}

Instruction* Maker::BitcastConvert(Instruction* x, const Shape& shape) {
  return AddWithShape(OpKind::BitcastConvert, shape, {x});
}

Instruction* Maker::Broadcast(Instruction* x, const Shape& shape, llvm::ArrayRef<int64_t> dimensions) {
  DimensionsAttrs attrs;
  attrs.dimensions.assign(dimensions.begin(), dimensions.end());
  return AddWithShape(OpKind::Broadcast, shape.WithElementType(x->shape().element_type()), {x},
                      std::move(attrs));
}

Instruction* Maker::Reshape(Instruction* x, llvm::ArrayRef<int64_t> dims) {
  return Reshape(x, Shape::ArrayWithDefaultLayout(x->shape().element_type(), dims));
}

Instruction* Maker::Reshape(Instruction* x, const Shape& shape) {
  if (x->kind() == OpKind::Constant && shape.ElementCount() == 1)
    if (const LiteralPtr& literal = x->attr<ConstantAttrs>().literal)
      return Constant(literal->Unpack().WithShape(shape.WithDefaultLayouts()));
  return AddWithShape(OpKind::Reshape, shape, {x});
}

Instruction* Maker::Bitcast(Instruction* x, const Shape& shape) {
  return AddWithShape(OpKind::Bitcast, shape, {x});
}

Instruction* Maker::Transpose(Instruction* x, llvm::ArrayRef<int64_t> permutation) {
  DimensionsAttrs attrs;
  attrs.dimensions.assign(permutation.begin(), permutation.end());
  return Add(OpKind::Transpose, {x}, std::move(attrs));
}

Instruction* Maker::Reverse(Instruction* x, llvm::ArrayRef<int64_t> dimensions) {
  DimensionsAttrs attrs;
  attrs.dimensions.assign(dimensions.begin(), dimensions.end());
  return Add(OpKind::Reverse, {x}, std::move(attrs));
}

Instruction* Maker::Slice(Instruction* x, llvm::ArrayRef<SliceRange> ranges) {
  SliceAttrs attrs;
  attrs.slice.assign(ranges.begin(), ranges.end());
  return Add(OpKind::Slice, {x}, std::move(attrs));
}

Instruction* Maker::SliceDim(Instruction* x, int64_t dimension, int64_t start, int64_t limit,
                             int64_t stride) {
  SliceRanges ranges;
  for (const int64_t size : x->shape().dims()) ranges.push_back({0, size, 1});
  ranges[static_cast<size_t>(dimension)] = {start, limit, stride};
  return Slice(x, ranges);
}

Instruction* Maker::Pad(Instruction* x, Instruction* value, llvm::ArrayRef<PaddingDim> padding) {
  PadAttrs attrs;
  attrs.padding.assign(padding.begin(), padding.end());
  return Add(OpKind::Pad, {x, value}, std::move(attrs));
}

Instruction* Maker::Concatenate(llvm::ArrayRef<Instruction*> xs, int64_t dimension) {
  DimensionsAttrs attrs;
  attrs.dimensions = {dimension};
  return Add(OpKind::Concatenate, xs, std::move(attrs));
}

Instruction* Maker::DynamicSlice(Instruction* x, llvm::ArrayRef<Instruction*> indices,
                                 llvm::ArrayRef<int64_t> sizes) {
  DynamicSliceAttrs attrs;
  attrs.dynamic_slice_sizes.assign(sizes.begin(), sizes.end());
  llvm::SmallVector<Instruction*, 5> operands = {x};
  operands.append(indices.begin(), indices.end());
  return Add(OpKind::DynamicSlice, operands, std::move(attrs));
}

Instruction* Maker::DynamicUpdateSlice(Instruction* x, Instruction* update,
                                       llvm::ArrayRef<Instruction*> indices) {
  llvm::SmallVector<Instruction*, 6> operands = {x, update};
  operands.append(indices.begin(), indices.end());
  return Add(OpKind::DynamicUpdateSlice, operands);
}

Instruction* Maker::Gte(Instruction* x, int64_t index) {
  GetTupleElementAttrs attrs;
  attrs.index = index;
  return Add(OpKind::GetTupleElement, {x}, attrs);
}

Instruction* Maker::Reduce(Instruction* x, Instruction* init, llvm::ArrayRef<int64_t> dimensions,
                           Computation* by) {
  ReduceAttrs attrs;
  attrs.dimensions.assign(dimensions.begin(), dimensions.end());
  return Add(OpKind::Reduce, {x, init}, std::move(attrs), {by});
}

Instruction* Maker::Reduce(Instruction* x, Instruction* init, llvm::ArrayRef<int64_t> dimensions, OpKind by) {
  return Reduce(x, init, dimensions, ScalarComputation(by, init->shape().element_type()));
}

Instruction* Maker::Dot(Instruction* x, Instruction* y, DotAttrs attrs, ElementType result) {
  Instruction* dot = Dot(x, y, std::move(attrs));
  dot->set_shape(dot->shape().WithElementType(result));
  return dot;
}

Computation* Maker::ScalarComputation(OpKind kind, ElementType type) {
  for (const auto& c : module().computations()) {
    const Instruction* root = c->root();
    if (c->instruction_count() == 3 && root->kind() == kind && c->parameters().size() == 2 &&
        root->shape().IsScalarOf(type) && root->operand(0) == c->parameter(0) &&
        root->operand(1) == c->parameter(1) && c->parameter(0)->shape().IsScalarOf(type) && !c->IsFusion() &&
        c->execution_thread() == computation_.execution_thread() && !c->IsEntry())
      return c.get();
  }
  Computation* made = NewComputation(module(), (ToString(kind) + "_" + ToString(type)).str());
  made->set_execution_thread(computation_.execution_thread());
  Maker inside(*made);
  const Shape scalar = Shape::ArrayWithDefaultLayout(type, {});
  Instruction* x = inside.Parameter(0, scalar, "x");
  Instruction* y = inside.Parameter(1, scalar, "y");
  made->set_root(inside.Binary(kind, x, y));
  return made;
}

Computation* NewComputation(Module& module, llvm::StringRef name) {
  return module.AddComputation(module.UniqueComputationName(module.Save(name)));
}

Literal ScalarLiteral(ElementType type, double value) {
  Literal literal = Literal::Zeros(Shape::ArrayWithDefaultLayout(type, {}));
  if (type == ElementType::C64) {
    literal.MutableSpan<std::complex<float>>()[0] = static_cast<float>(value);
  } else if (type == ElementType::C128) {
    literal.MutableSpan<std::complex<double>>()[0] = value;
  } else if (IsFloat(type)) {
    literal.SetBits(0, FromDouble(type, value));
  } else if (IsPred(type)) {
    literal.SetBits(0, value != 0);
  } else {
    assert(std::trunc(value) == value && "integers take integers");
    return ScalarLiteralInt(type, static_cast<int64_t>(value));
  }
  return literal;
}

Literal ScalarLiteralInt(ElementType type, int64_t value) {
  if (!IsIntegral(type)) return ScalarLiteral(type, static_cast<double>(value));
  Literal literal = Literal::Zeros(Shape::ArrayWithDefaultLayout(type, {}));
  // Wrapped; unpacked storage of narrow signed types is sign-extended to a byte.
  const int unused = 64 - Info(type).bits;
  const uint64_t shifted = static_cast<uint64_t>(value) << unused;
  literal.SetBits(
      0, IsSigned(type) ? static_cast<uint64_t>(static_cast<int64_t>(shifted) >> unused) : shifted >> unused);
  return literal;
}

}  // namespace hlo
