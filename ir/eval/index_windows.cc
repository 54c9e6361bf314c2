// The walk over the index rows of gather and scatter.
#include "ir/eval/index_windows.h"

#include "ir/eval/elementwise.h"
#include "ir/eval/strided_copy.h"

namespace hlo {

IndexWindows::IndexWindows(const WindowNumbers& numbers, const Shape& operand, const Literal& indices,
                           const Literal& target, llvm::ArrayRef<int64_t> window_sizes)
    : indices_(ToIndices(indices)), data_(indices_.Data<int64_t>().data()) {
  const auto operand_strides = RowMajorStrides(operand.dims()),
             target_strides = RowMajorStrides(target.shape().dims());
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
  for (const int64_t d : numbers.start_index_map) {
    const auto i = static_cast<size_t>(d);
    components_.push_back({std::max<int64_t>(operand.dim(d) - window_sizes[i], 0), operand_strides[i]});
  }
  operand_strides_.assign(batch_.size(), 0);
  for (size_t i = 0; i < numbers.batching_dims.size(); ++i)
    operand_strides_[static_cast<size_t>(batch_of_index[static_cast<size_t>(numbers.index_batching[i])])] +=
        operand_strides[static_cast<size_t>(numbers.batching_dims[i])];
  if (!operand_strides_.empty()) inner_operand_stride_ = operand_strides_.back();
  size_t next_window = 0;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    if (llvm::is_contained(numbers.collapsed_dims, d) || llvm::is_contained(numbers.batching_dims, d))
      continue;
    const auto window_dim = static_cast<size_t>(numbers.window_dims[next_window++]);
    const auto i = static_cast<size_t>(d);
    window_.push_back({window_sizes[i], target_strides[window_dim], operand_strides[i]});
  }
}

IndexWindows::Outer IndexWindows::OuterAt(int64_t row) const {
  Outer outer;
  for (size_t d = batch_.size(); d-- > 0;) {
    if (d + 1 == batch_.size()) continue;
    const int64_t i = row % batch_[d].size;
    row /= batch_[d].size;
    outer.target_offset += i * batch_[d].target_stride;
    outer.index_offset += i * batch_[d].index_stride;
    outer.operand_offset += i * operand_strides_[d];
    outer.valid &= i < batch_[d].valid;
  }
  return outer;
}

}  // namespace hlo
