// For memory checks: what memory holds that nobody has written.
#pragma once
#include <cstdint>

namespace hlo {

/// While one lives, all new memory for arrays and scratch comes filled with `byte`, in the whole process.
/// They do not nest.
class BufferFill {
 public:
  explicit BufferFill(uint8_t byte);
  ~BufferFill();
  BufferFill(const BufferFill&) = delete;
  BufferFill& operator=(const BufferFill&) = delete;
};

}  // namespace hlo
