#include "ir/eval/index_windows.h"

#include <algorithm>

#include "ir/eval/elementwise.h"
#include "ir/eval/strided_copy.h"

namespace hlo {

IndexWindows::IndexWindows(const WindowNumbers& numbers, const Shape& operand, const Literal& indices,
                           const Literal& target, llvm::ArrayRef<int64_t> window_sizes)
    : indices_(ToIndices(indices)), data_(indices_.Data<int64_t>().data()) {
  const auto operand_strides = RowMajorStrides(operand.dims()), target_strides = RowMajorStrides(target.shape().dims());
  const auto index_strides = RowMajorStrides(indices.shape().dims());
  // Target dimensions that are no window dimensions go with those of the indices, in order.
  llvm::SmallVector<int64_t, 4> batch_of_index(static_cast<size_t>(indices.shape().rank()), -1);
  int64_t target_dim = 0;
  for (int64_t d = 0; d < indices.shape().rank(); ++d) {
    if (d == numbers.index_vector_dim) continue;
    while (llvm::is_contained(numbers.window_dims, target_dim)) ++target_dim;
    batch_of_index[static_cast<size_t>(d)] = static_cast<int64_t>(batch_.size());
    const int64_t valid = std::min(indices.DynamicSize(d), target.DynamicSize(target_dim));
    batch_.push_back({indices.shape().dim(d), valid, index_strides[static_cast<size_t>(d)],
                      target_strides[static_cast<size_t>(target_dim)]});
    row_count_ *= indices.shape().dim(d);
    ++target_dim;
  }
  if (numbers.index_vector_dim < indices.shape().rank())
    component_stride_ = index_strides[static_cast<size_t>(numbers.index_vector_dim)];
  components_.assign(numbers.start_index_map.begin(), numbers.start_index_map.end());
  for (size_t i = 0; i < numbers.batching_dims.size(); ++i)
    batching_.push_back({batch_of_index[static_cast<size_t>(numbers.index_batching[i])], numbers.batching_dims[i]});
  size_t next_window = 0;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const auto i = static_cast<size_t>(d);
    const int64_t size = window_sizes[i];
    operand_.push_back({operand.dim(d) - size, operand_strides[i]});
    if (llvm::is_contained(numbers.collapsed_dims, d) || llvm::is_contained(numbers.batching_dims, d)) continue;
    const auto window_dim = static_cast<size_t>(numbers.window_dims[next_window++]);
    window_.push_back({size, target_strides[window_dim], operand_strides[i]});
  }
}

Dims IndexWindows::RowIndex(int64_t row) const {
  Dims index(batch_.size(), 0);
  for (size_t d = batch_.size(); d-- > 0;) {
    index[d] = row % batch_[d].size;
    row /= batch_[d].size;
  }
  return index;
}

void IndexWindows::Next(Dims& index) const {
  for (size_t d = index.size(); d-- > 0;) {
    if (++index[d] < batch_[d].size) return;
    index[d] = 0;
  }
}

IndexWindows::Row IndexWindows::At(llvm::ArrayRef<int64_t> index, bool clamp) const {
  Row row{0, 0, true};
  int64_t at = 0;
  for (size_t d = 0; d < index.size(); ++d) {
    row.target_offset += index[d] * batch_[d].target_stride;
    at += index[d] * batch_[d].index_stride;
    row.inside &= index[d] < batch_[d].valid;
  }
  for (size_t k = 0; k < components_.size(); ++k) {
    const OperandDim& dim = operand_[static_cast<size_t>(components_[k])];
    int64_t start = data_[at + static_cast<int64_t>(k) * component_stride_];
    if (clamp) start = std::clamp<int64_t>(start, 0, std::max<int64_t>(dim.limit, 0));
    else if (start < 0 || start > dim.limit) row.inside = false;
    if (row.inside || clamp) row.operand_offset += start * dim.stride;
  }
  for (const Batching& b : batching_)
    row.operand_offset += index[static_cast<size_t>(b.batch)] * operand_[static_cast<size_t>(b.operand_dim)].stride;
  return row;
}

}  // namespace hlo
