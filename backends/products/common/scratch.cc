#include "backends/products/common/scratch.h"

#include "ir/support/buffer.h"

namespace hlo::gemm {
namespace {

struct Area {
  Buffer<uint8_t> buffer;
  int64_t size = 0;
};

}  // namespace

uint8_t* Scratch(ScratchUse use, int64_t bytes) {
  thread_local Area areas[static_cast<size_t>(ScratchUse::Count)];
  Area& area = areas[static_cast<size_t>(use)];
  if (area.size < bytes || area.buffer == nullptr) {
    area.buffer.reset();
    area.buffer = MakeBuffer<uint8_t>(static_cast<size_t>(bytes));
    area.size = bytes;
  }
  return area.buffer.get();
}

}  // namespace hlo::gemm
