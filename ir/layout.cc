#include "ir/layout.h"

namespace hlo {

Layout Layout::Default(int64_t rank) {
  Layout layout;
  for (int64_t d = rank - 1; d >= 0; --d) layout.minor_to_major.push_back(d);
  return layout;
}

bool Layout::IsDescending() const {
  int64_t expected = static_cast<int64_t>(minor_to_major.size());
  for (int64_t d : minor_to_major)
    if (d != --expected) return false;
  return true;
}

bool Layout::HasProperties() const {
  return !tiles.empty() || tail_padding_alignment != 1 || index_type || pointer_type ||
         element_size_bits != 0 || memory_space != 0 || !split_configs.empty() ||
         dynamic_shape_metadata_prefix_bytes != 0;
}

}  // namespace hlo
