// Memory that a thread keeps between products.
#pragma once
#include <cstdint>

namespace hlo::gemm {

enum class ScratchUse : uint8_t { Left, Right, Raw, Expanded, Lines, Sums, ChainFirst, ChainLast, Count };

/// At least `bytes` bytes for one use, aligned to 64, until the next call for that use by this thread.
/// Contents are arbitrary.
uint8_t* Scratch(ScratchUse use, int64_t bytes);

template <class T>
T* ScratchFor(ScratchUse use, int64_t count) {
  return reinterpret_cast<T*>(Scratch(use, count * static_cast<int64_t>(sizeof(T))));
}

}  // namespace hlo::gemm
