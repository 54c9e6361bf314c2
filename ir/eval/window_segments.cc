#include "ir/eval/window_segments.h"

#include <algorithm>
#include <numeric>

namespace hlo {

std::vector<WindowSegment> SplitByHoles(const WindowDim& w, int64_t outputs) {
  const int64_t b = w.base_dilation;
  const int64_t out_period = b / std::gcd(w.stride, b), window_period = b / std::gcd(w.window_dilation, b);
  std::vector<WindowSegment> segments;
  for (int64_t phase = 0; phase < std::min(out_period, outputs); ++phase) {
    WindowSegment s;
    s.out_begin = phase;
    s.out_step = out_period;
    s.out_count = (outputs - phase + out_period - 1) / out_period;
    s.window_step = window_period;
    int64_t k = 0;
    while (k < window_period && k < w.size && (phase * w.stride + k * w.window_dilation - w.pad_low) % b != 0)
      ++k;
    if (k < window_period && k < w.size) {
      s.window_begin = k;
      s.window_count = (w.size - k + window_period - 1) / window_period;
      s.base = (phase * w.stride + k * w.window_dilation - w.pad_low) / b;
      s.base_per_output = out_period * w.stride / b;
      s.base_per_window = window_period * w.window_dilation / b;
    }
    segments.push_back(s);
  }
  return segments;
}

}  // namespace hlo
