// For tests: a machine of some figures.
#pragma once
#include "backends/kernel/target.h"

namespace hlo::kernel {

inline Target TestTarget() {
  return {
      .vectors = {.lanes = 16,
                  .interleaved = 4,
                  .shortest_loop = 4,
                  .full_row = 8,
                  .few = 8,
                  .least_part = 16,
                  .strip = 8,
                  .tile = 16,
                  .near_tiles = 4,
                  .large_tiles = 256,
                  .most_waiting = 32},
      .caches = {.line = 64,
                 .streamed = 1 << 20,
                 .stream_run = 256,
                 .large_tiles = 1 << 20,
                 .local = 1 << 16,
                 .row_sums = 1 << 12,
                 .rows = 1 << 20,
                 .cut_rows = 1 << 24,
                 .least_row = 256},
      .threads = {.shared_nest = 1024, .most_repeated = 256, .small_kernel = 64, .pieces = 4},
      .latency = {.sum_parts = 4, .shortest_sum = 16, .rows = 2, .longest_row = 2048, .least_rows = 1 << 16},
      .code = {.one_vector = 16,
               .two_vectors = 6,
               .tiled = 8,
               .strip = 3,
               .short_loop = 8,
               .short_ops = 4,
               .side_by_side = 64,
               .pairwise = 8,
               .pairwise_stmts = 64,
               .short_row_stmts = 512,
               .sum_stmts = 64,
               .fewest_rows = 4,
               .most_rows = 8,
               .row_stmts = 7,
               .without_loop = 8,
               .masked_nest = 64,
               .taps = 64},
      .blocks = {},
      .ops = {.plain = {2, 1}, .function = {60, 8}, .others = {}}};
}

}  // namespace hlo::kernel
