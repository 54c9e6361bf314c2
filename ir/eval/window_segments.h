// Windows over dilated bases, cut into parts without holes.
#pragma once
#include <vector>

#include "ir/attrs.h"

namespace hlo {

/// Outputs begin, begin+step, … of one dimension and the window positions they share: output number i and
/// window number j read base index base + i * base_per_output + j * base_per_window.
struct WindowSegment {
  int64_t out_begin = 0, out_step = 1, out_count = 0;
  int64_t window_begin = 0, window_step = 1, window_count = 0;
  int64_t base = 0, base_per_output = 0, base_per_window = 0;
};

/// Outputs whose window positions hit holes of the dilated base alike form one segment without holes.
std::vector<WindowSegment> SplitByHoles(const WindowDim& w, int64_t outputs);

}  // namespace hlo
