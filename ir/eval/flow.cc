#include "ir/eval/flow.h"

namespace hlo {
namespace {

/// Bytes of one index of dimension `dim` and everything more minor.
size_t RowBytes(const Shape& shape, int64_t dim) {
  size_t bytes = static_cast<size_t>(Info(shape.element_type()).host_bytes());
  for (int64_t d = dim + 1; d < shape.rank(); ++d) bytes *= static_cast<size_t>(shape.dim(d));
  return bytes;
}

int64_t OuterCount(const Shape& shape, int64_t dim) {
  int64_t count = 1;
  for (int64_t d = 0; d < dim; ++d) count *= shape.dim(d);
  return count;
}

Shape WithBlocks(const Shape& shape, int64_t dim, size_t blocks, size_t members) {
  Dims dims(shape.dims());
  int64_t& size = dims[static_cast<size_t>(dim)];
  size = size / static_cast<int64_t>(members) * static_cast<int64_t>(blocks);
  return Shape::ArrayWithDefaultLayout(shape.element_type(), dims);
}

}  // namespace

void CopyBlock(Literal& to, int64_t to_start, const Literal& from, int64_t from_start, int64_t count,
               int64_t dim) {
  const size_t row = RowBytes(from.shape(), dim);
  const auto from_stride = row * static_cast<size_t>(from.shape().dim(dim));
  const auto to_stride = row * static_cast<size_t>(to.shape().dim(dim));
  uint8_t* target = to.MutableData() + static_cast<size_t>(to_start) * row;
  const uint8_t* source = from.data() + static_cast<size_t>(from_start) * row;
  const size_t bytes = static_cast<size_t>(count) * row;
  for (int64_t o = OuterCount(from.shape(), dim); o-- > 0; target += to_stride, source += from_stride)
    if (bytes > 0) std::memcpy(target, source, bytes);
}

bool Flow::Needs(size_t from, llvm::ArrayRef<size_t> to) const {
  return !needs || llvm::any_of(to, [&](size_t rank) { return needs(from, rank); });
}

std::vector<Shape> Flow::Cut(llvm::ArrayRef<Shape> shapes, llvm::ArrayRef<size_t> to, size_t members) const {
  std::vector<Shape> cut;
  if (kind == Operands)
    for (const size_t rank : to) cut.push_back(shapes[rank]);
  else
    for (const Shape& shape : shapes)
      cut.push_back(kind == Blocks ? WithBlocks(shape, dimension, to.size(), members) : shape);
  return cut;
}

std::vector<Literal> Flow::Cut(llvm::ArrayRef<Literal> values, llvm::ArrayRef<size_t> to,
                               size_t members) const {
  std::vector<Literal> cut;
  if (kind == Operands)
    for (const size_t rank : to) cut.push_back(values[rank]);
  else if (kind != Blocks)
    cut.assign(values.begin(), values.end());
  else
    for (const Literal& value : values) {
      Literal& part =
          cut.emplace_back(Literal::Make(WithBlocks(value.shape(), dimension, to.size(), members)));
      const int64_t block = value.shape().dim(dimension) / static_cast<int64_t>(members);
      for (size_t i = 0; i < to.size(); ++i)
        CopyBlock(part, block * static_cast<int64_t>(i), value, block * static_cast<int64_t>(to[i]), block,
                  dimension);
    }
  return cut;
}

}  // namespace hlo
