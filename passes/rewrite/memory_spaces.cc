#include "passes/rewrite/memory_spaces.h"

namespace hlo {

int64_t SpaceOf(const Shape& shape, llvm::ArrayRef<int64_t> index) {
  const Shape* part = shape.Subshape(index);
  return part ? SpaceOf(*part) : 0;
}

Shape WithSpace(const Shape& shape, llvm::ArrayRef<int64_t> index, int64_t space) {
  llvm::SmallVector<const Shape*, 4> tuples;
  const Shape* array = &shape;
  for (const int64_t i : index) {
    if (!array->IsTuple() || i >= array->tuple_size()) return shape;
    tuples.push_back(array);
    array = &array->tuple_shape(i);
  }
  if (!array->IsArray() || !array->has_layout()) return shape;
  Layout layout = array->layout();
  layout.memory_space = space;
  Shape changed = array->WithLayout(std::move(layout));
  for (size_t level = tuples.size(); level-- > 0;) {
    llvm::SmallVector<Shape, 4> parts(tuples[level]->tuple_shapes());
    parts[static_cast<size_t>(index[level])] = std::move(changed);
    changed = Shape::MakeTuple(parts);
  }
  return changed;
}

}  // namespace hlo
