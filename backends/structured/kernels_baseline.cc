// Kernels for every processor of this kind.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "backends/structured/kernels.h"
#include "ir/support/cpu_features.h"

namespace hlo::structured {
namespace {

/// There are fused multiply-adds.
constexpr bool kFused = kAlwaysFused;

/// No instruction compresses vectors.
template <class T>
constexpr SortKernel<T> MakeSort() {
  return {};
}

#include "backends/structured/vectors.inc"

#include "backends/structured/top_k.inc"

#include "backends/structured/numbers.inc"

#include "backends/structured/scan.inc"

#include "backends/structured/solve.inc"

#include "backends/structured/fft.inc"

#include "backends/structured/odd_passes.inc"

#include "backends/structured/row_passes.inc"

#include "backends/structured/column_passes.inc"

#include "backends/structured/lane_systems.inc"

#include "backends/structured/real_passes.inc"

#include "backends/structured/select.inc"

#include "backends/structured/random.inc"

#include "backends/structured/kernel_set.inc"

}  // namespace

const KernelSet internal::kBaselineKernels = MakeKernelSet();

}  // namespace hlo::structured
