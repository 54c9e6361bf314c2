#include "ir/eval/physical_order.h"

#include "ir/eval/strided_copy.h"

namespace hlo {
namespace {

struct Strides {
  Dims logical, physical;  // by dimension, in elements
};
Strides StridesOf(const Shape& shape) {
  const auto rank = static_cast<size_t>(shape.rank());
  Strides strides{RowMajorStrides(shape.dims()), Dims(rank)};
  if (!shape.has_layout()) {
    strides.physical = strides.logical;
    return strides;
  }
  int64_t stride = 1;
  for (const int64_t d : shape.layout().minor_to_major) {
    strides.physical[static_cast<size_t>(d)] = stride;
    stride *= shape.dim(d);
  }
  return strides;
}

void Copy(const uint8_t* from, const Shape& shape, uint8_t* to, const Dims& from_strides,
          const Dims& to_strides) {
  llvm::SmallVector<CopyDim> dims;
  for (size_t d = 0; d < to_strides.size(); ++d)
    dims.push_back({shape.dims()[d], to_strides[d], from_strides[d]});
  StridedCopy(to, from, Info(shape.element_type()).host_bytes(), dims);
}

}  // namespace

void CopyToPhysical(const uint8_t* row_major, const Shape& shape, uint8_t* physical) {
  const Strides strides = StridesOf(shape);
  Copy(row_major, shape, physical, strides.logical, strides.physical);
}

void CopyFromPhysical(const uint8_t* physical, const Shape& shape, uint8_t* row_major) {
  const Strides strides = StridesOf(shape);
  Copy(physical, shape, row_major, strides.physical, strides.logical);
}

}  // namespace hlo
