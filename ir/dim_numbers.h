// Dimension labels of convolutions, `b01f_01io->b01f` (hlo-text §5 "dim_labels").
#pragma once
#include <cstdint>

#include "ir/layout.h"

namespace hlo {

/// Which dimension of input, kernel and output plays which role. Unused dimensions (`?`) are those
/// in no role; the ranks are kept for printing them.
struct ConvDimLabels {
  int64_t input_batch = 0, input_feature = 0;
  int64_t kernel_input_feature = 0, kernel_output_feature = 0;
  int64_t output_batch = 0, output_feature = 0;
  Dims input_spatial, kernel_spatial, output_spatial;
  int64_t input_rank = 0, kernel_rank = 0, output_rank = 0;
  bool operator==(const ConvDimLabels&) const = default;
};

}  // namespace hlo
