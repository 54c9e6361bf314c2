#include "backends/products/common/problem.h"

#include <algorithm>

namespace hlo::gemm {
namespace {

/// [0, count) in equal pieces of at most `most`, by preference multiples of `unit`.
template <class F>
void Cut(int64_t count, int64_t most, int64_t unit, F&& piece) {
  const int64_t pieces = (count + most - 1) / most;
  int64_t length = (count + pieces - 1) / pieces;
  if (const int64_t round = (length + unit - 1) / unit * unit; round <= most) length = round;
  for (int64_t begin = 0; begin < count; begin += length) piece(begin, std::min(count, begin + length));
}

}  // namespace

std::vector<Block> CutSteps(const Problem& problem, int64_t depth, int64_t unit) {
  std::vector<Block> blocks;
  const int64_t taps = problem.taps(), channels = problem.channels;
  if (taps == 0 || channels == 0) return blocks;
  const int64_t inner = problem.channels_outer ? taps : channels,
                outer = problem.channels_outer ? channels : taps;
  const auto add = [&](int64_t outer_begin, int64_t outer_end, int64_t begin, int64_t end) {
    if (problem.channels_outer)
      blocks.push_back({begin, end, outer_begin, outer_end});
    else
      blocks.push_back({outer_begin, outer_end, begin, end});
  };
  if (inner > depth) {
    for (int64_t o = 0; o < outer; ++o)
      Cut(inner, depth, unit, [&](int64_t begin, int64_t end) { add(o, o + 1, begin, end); });
  } else {
    Cut(outer, depth / inner, inner == 1 ? unit : 1,
        [&](int64_t begin, int64_t end) { add(begin, end, 0, inner); });
  }
  return blocks;
}

}  // namespace hlo::gemm
