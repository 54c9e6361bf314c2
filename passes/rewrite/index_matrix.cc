#include "passes/rewrite/index_matrix.h"

#include "passes/analysis/reshape_facts.h"

namespace hlo {

Instruction* IndexMatrix(Maker& make, Instruction* indices, int64_t index_vector_dim) {
  const int64_t rank = indices->shape().rank();
  int64_t length = 1;
  if (index_vector_dim < rank) {
    length = indices->shape().dim(index_vector_dim);
    Dims order;
    for (int64_t d = 0; d < rank; ++d)
      if (d != index_vector_dim) order.push_back(d);
    order.push_back(index_vector_dim);
    indices = TransposeUnlessIdentity(make, indices, order);
  }
  int64_t count = 1;
  for (int64_t d = 0; d < rank - (index_vector_dim < rank ? 1 : 0); ++d) count *= indices->shape().dim(d);
  const Dims sizes = {count, length};
  return indices->shape().dims() == llvm::ArrayRef<int64_t>(sizes) ? indices : make.Reshape(indices, sizes);
}

Instruction* TransposeUnlessIdentity(Maker& make, Instruction* x, llvm::ArrayRef<int64_t> permutation) {
  return IsIdentityPermutation(permutation) ? x : make.Transpose(x, permutation);
}

Instruction* UpdateMatrix(Maker& make, Instruction* update, const ScatterAttrs& a, int64_t rank) {
  Dims place;
  for (int64_t d = 0; d < update->shape().rank(); ++d)
    if (!llvm::is_contained(a.update_window_dims, d)) place.push_back(d);
  int64_t count = 1;
  for (const int64_t d : place) count *= update->shape().dim(d);
  place.append(a.update_window_dims.begin(), a.update_window_dims.end());
  Dims sizes = {count};
  auto window = a.update_window_dims.begin();
  for (int64_t d = 0; d < rank; ++d)
    sizes.push_back(llvm::is_contained(a.inserted_window_dims, d) ? 1 : update->shape().dim(*window++));
  Instruction* y = TransposeUnlessIdentity(make, update, place);
  return y->shape().dims() == llvm::ArrayRef<int64_t>(sizes) ? y : make.Reshape(y, sizes);
}

}  // namespace hlo
