#include "passes/rewrite/bitcasts.h"

namespace hlo {

bool IsPlainArray(const Shape& shape) {
  return shape.IsArray() && shape.has_layout() && !shape.layout().HasProperties() &&
         !shape.HasDynamicDimension();
}

llvm::ArrayRef<Shape> ResultShapes(const Shape& shape) {
  return shape.IsTuple() ? shape.tuple_shapes() : llvm::ArrayRef(shape);
}

Shape ResultShapeLike(const Shape& like, llvm::ArrayRef<Shape> shapes) {
  return like.IsTuple() ? Shape::MakeTuple(shapes) : shapes.front();
}

bool HasPlainArrays(const Instruction& inst) {
  const llvm::ArrayRef<Shape> results = ResultShapes(inst.shape());
  return !results.empty() && llvm::all_of(results, IsPlainArray) &&
         llvm::all_of(inst.operands(), [](const Instruction* o) { return IsPlainArray(o->shape()); });
}

static Instruction* ArrayBitcast(Maker& make, Instruction* value, const Shape& shape) {
  if (value->shape() == shape) return value;
  if (value->kind() == OpKind::Bitcast && value->operand(0)->shape() == shape) return value->operand(0);
  return make.Bitcast(value, shape);
}

Instruction* BitcastTo(Maker& make, Instruction* value, const Shape& shape) {
  if (value->shape() == shape) return value;
  if (shape.IsArray()) return ArrayBitcast(make, value, shape);
  llvm::SmallVector<Instruction*, 4> elements;
  for (int64_t i = 0; i < shape.tuple_size(); ++i)
    elements.push_back(ArrayBitcast(make, make.Gte(value, i), shape.tuple_shape(i)));
  return make.Tuple(elements);
}

Shape WithoutDims(const Shape& shape, llvm::ArrayRef<int64_t> dims) {
  const auto renumbered = [&](int64_t d) {
    return d - llvm::count_if(dims, [&](int64_t other) { return other < d; });
  };
  Dims sizes;
  for (int64_t d = 0; d < shape.rank(); ++d)
    if (!llvm::is_contained(dims, d)) sizes.push_back(shape.dim(d));
  Layout layout;
  for (const int64_t d : shape.layout().minor_to_major)
    if (!llvm::is_contained(dims, d)) layout.minor_to_major.push_back(renumbered(d));
  return Shape::Array(shape.element_type(), sizes).WithLayout(std::move(layout));
}

}  // namespace hlo
