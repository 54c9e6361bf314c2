#include "hlo/dimension_numbers.h"

namespace hlo_toolkit {

PaddingConfig MakeEdgePaddingConfig(Span<const PaddingPair> padding) {
  PaddingConfig config;
  for (const auto& [low, high] : padding) {
    PaddingConfigDimension* dimension = config.add_dimensions();
    dimension->set_edge_padding_low(low);
    dimension->set_edge_padding_high(high);
  }
  return config;
}

StatusOr<std::vector<PaddingPair>> MakePadding(Span<const int64_t> input_sizes,
                                               Span<const int64_t> window_sizes,
                                               Span<const int64_t> window_strides, Padding padding) {
  if (input_sizes.size() != window_sizes.size() || input_sizes.size() != window_strides.size())
    return Status(StatusCode::kInvalidArgument, std::to_string(window_sizes.size()) + " window sizes and " +
                                                    std::to_string(window_strides.size()) + " strides for " +
                                                    std::to_string(input_sizes.size()) + " dimensions");
  std::vector<PaddingPair> pairs;
  for (size_t i = 0; i < input_sizes.size(); ++i) {
    const int64_t size = input_sizes[i], window = window_sizes[i], stride = window_strides[i];
    if (size < 0 || window <= 0 || stride <= 0)
      return Status(StatusCode::kInvalidArgument, "window " + std::to_string(window) + " with stride " +
                                                      std::to_string(stride) + " over size " +
                                                      std::to_string(size));
    int64_t total = 0;
    // One output for each stride that begins inside.
    if (padding == Padding::kSame && size > 0) {
      const int64_t last = (size - 1) / stride * stride;
      if (__builtin_add_overflow(last - size, window, &total) || total < 0) total = 0;
    }
    pairs.emplace_back(total / 2, total - total / 2);
  }
  return pairs;
}

}  // namespace hlo_toolkit
