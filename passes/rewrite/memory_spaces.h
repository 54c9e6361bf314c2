// Memory spaces in layouts: S(5) is the host's memory.
#pragma once
#include "ir/shape.h"

namespace hlo {

/// XLA's number for the memory of the host beside a device.
inline constexpr int64_t kHostSpace = 5;

/// Of an array; the device's where there is no layout.
inline int64_t SpaceOf(const Shape& array) {
  return array.IsArray() && array.has_layout() ? array.layout().memory_space : 0;
}
/// Of a part of the shape; the device's where there is no such part.
int64_t SpaceOf(const Shape& shape, llvm::ArrayRef<int64_t> index);
/// The shape with that part in the memory space; as it is where the part is no array with a layout.
Shape WithSpace(const Shape& shape, llvm::ArrayRef<int64_t> index, int64_t space);

}  // namespace hlo
