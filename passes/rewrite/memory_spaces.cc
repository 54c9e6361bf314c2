#include "passes/rewrite/memory_spaces.h"

namespace hlo {

int64_t SpaceOf(const Shape& shape, llvm::ArrayRef<int64_t> index) {
  const Shape* part = shape.Subshape(index);
  return part ? SpaceOf(*part) : 0;
}

Shape WithSpace(const Shape& shape, llvm::ArrayRef<int64_t> index, int64_t space) {
  if (index.empty()) {
    if (!shape.IsArray() || !shape.has_layout()) return shape;
    Layout layout = shape.layout();
    layout.memory_space = space;
    return shape.WithLayout(std::move(layout));
  }
  if (!shape.IsTuple() || index.front() >= shape.tuple_size()) return shape;
  llvm::SmallVector<Shape, 4> parts(shape.tuple_shapes());
  Shape& part = parts[static_cast<size_t>(index.front())];
  part = WithSpace(part, index.drop_front(), space);
  return Shape::MakeTuple(parts);
}

}  // namespace hlo
