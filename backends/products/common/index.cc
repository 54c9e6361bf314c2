#include "backends/products/common/index.h"

#include <algorithm>

namespace hlo::gemm {

Index::Index(llvm::ArrayRef<Axis> axes) {
  for (const Axis& axis : axes) {
    count_ *= axis.size;
    if (axis.size == 1) continue;
    if (!axes_.empty() && axes_.back().stride == axis.size * axis.stride)
      axes_.back() = {axes_.back().size * axis.size, axis.stride};
    else
      axes_.push_back(axis);
  }
}

int64_t Index::At(int64_t position) const {
  int64_t offset = 0;
  for (size_t a = axes_.size(); a-- > 0;) {
    offset += position % axes_[a].size * axes_[a].stride;
    position /= axes_[a].size;
  }
  return offset;
}

void Index::Fill(int64_t begin, int64_t count, int64_t* out) const {
  if (axes_.empty()) {
    std::fill_n(out, count, 0);
    return;
  }
  const Axis& inner = axes_.back();
  for (int64_t done = 0; done < count;) {
    const int64_t first = At(begin + done), run = std::min(count - done, RunFrom(begin + done));
    for (int64_t i = 0; i < run; ++i) out[done + i] = first + i * inner.stride;
    done += run;
  }
}

}  // namespace hlo::gemm
