#include "ir/eval/window_index.h"

namespace hlo {

WindowIndex::WindowIndex(const Window& window, llvm::ArrayRef<int64_t> base, llvm::ArrayRef<int64_t> outputs)
    : window_(window), base_(base), strides_(base.size(), 1), outputs_(outputs) {
  for (size_t d = strides_.size(); d-- > 1;) strides_[d - 1] = strides_[d] * base[d];
  for (const WindowDim& w : window.dims) positions_ *= w.size;
}

WindowIndex::Block::Block(const WindowIndex& index, int64_t begin, int64_t end)
    : index_(index), begin_(begin) {
  const size_t rank = index.base_.size();
  coordinates_.resize(static_cast<size_t>(end - begin) * rank);
  window_.resize(rank);
  for (int64_t o = begin; o < end; ++o) {
    int64_t rest = o;
    for (size_t d = rank; d-- > 0;) {
      coordinates_[static_cast<size_t>(o - begin) * rank + d] = rest % index.outputs_[d];
      rest /= index.outputs_[d];
    }
  }
}

llvm::ArrayRef<WindowIndex::Read> WindowIndex::Block::InBounds(int64_t position) {
  const size_t rank = window_.size();
  for (size_t d = rank; d-- > 0;) {
    window_[d] = position % index_.window_.dims[d].size;
    position /= index_.window_.dims[d].size;
  }
  reads_.clear();
  const size_t outputs = rank == 0 ? 1 : coordinates_.size() / rank;
  for (size_t o = 0; o < outputs; ++o) {
    int64_t base = 0;
    bool inside = true;
    for (size_t d = 0; d < rank && inside; ++d) {
      const int64_t p =
          WindowBaseIndex(index_.window_.dims[d], index_.base_[d], coordinates_[o * rank + d], window_[d]);
      inside = p >= 0;
      base += p * index_.strides_[d];
    }
    if (inside) reads_.push_back({begin_ + static_cast<int64_t>(o), base});
  }
  return reads_;
}

}  // namespace hlo
