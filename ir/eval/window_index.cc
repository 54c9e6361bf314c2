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

std::vector<int64_t> SelectionOrder(const Window& window, llvm::ArrayRef<int64_t> base,
                                    llvm::ArrayRef<int64_t> outputs) {
  const size_t rank = window.dims.size();
  std::vector<std::vector<int64_t>> piece(rank);  // of each position of each dimension
  int64_t positions = 1;
  for (size_t d = 0; d < rank; ++d) {
    const WindowDim& w = window.dims[d];
    positions *= w.size;
    const auto inside = [&](int64_t k) {
      for (int64_t o = 0; o < outputs[d]; ++o)
        if (WindowBaseIndex(w, base[d], o, k) < 0) return false;
      return true;
    };
    bool first_inside = true;
    for (int64_t k = 0; k + 1 < w.size && first_inside; ++k) first_inside = inside(k);
    piece[d].assign(static_cast<size_t>(w.size), 0);
    piece[d].back() = w.size > 1 && first_inside != inside(w.size - 1) ? 1 : 0;
  }
  std::vector<std::pair<std::vector<int64_t>, int64_t>> keys;  // pieces, last dimension first
  for (int64_t position = 0; position < positions; ++position) {
    std::vector<int64_t> key;
    int64_t rest = position;
    for (size_t d = rank; d-- > 0;) {
      key.push_back(piece[d][static_cast<size_t>(rest % window.dims[d].size)]);
      rest /= window.dims[d].size;
    }
    keys.emplace_back(std::move(key), position);
  }
  llvm::sort(keys);
  std::vector<int64_t> order;
  for (const auto& [key, position] : keys) order.push_back(position);
  return order;
}

}  // namespace hlo
