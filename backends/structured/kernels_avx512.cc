// Kernels for processors with AVX512.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "backends/structured/kernels.h"

#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma,f16c"))), \
                             apply_to = function)

namespace hlo::structured {
namespace {

/// There are fused multiply-adds.
constexpr bool kFused = true;

#include "backends/structured/vectors.inc"

#include "backends/structured/top_k.inc"

#include "backends/structured/numbers.inc"

#include "backends/structured/scan.inc"

#include "backends/structured/solve.inc"

#include "backends/structured/fft.inc"

#include "backends/structured/odd_passes.inc"

#include "backends/structured/row_passes.inc"

#include "backends/structured/column_passes.inc"

#include "backends/structured/quicksort.inc"

#include "backends/structured/lane_systems.inc"

#include "backends/structured/real_passes.inc"

#include "backends/structured/select.inc"

#include "backends/structured/random.inc"

#include "backends/structured/kernel_set.inc"

}  // namespace

const KernelSet internal::kAvx512Kernels = MakeKernelSet();

}  // namespace hlo::structured

#pragma clang attribute pop
