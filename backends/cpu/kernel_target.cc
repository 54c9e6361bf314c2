#include "backends/cpu/kernel_target.h"

#include "backends/compile/machine.h"

namespace hlo::cpu {
namespace {

kernel::Target MakeTarget() {
  kernel::Target target;
  target.vectors = {.lanes = 16,  // 512 bits of f32
                    .interleaved = 4,
                    .shortest_loop = 4,
                    .full_row = 8,  // 256 bits of f32
                    .few = 8,
                    .least_part = 16,
                    .strip = 8,
                    .tile = 16,  // as many registers of 16 lanes, of 32
                    .near_tiles = 4,
                    .large_tiles = 256,
                    .most_waiting = 32};
  target.caches = {.line = 64,
                   .streamed = int64_t{32} << 20,  // the third cache
                   .stream_run = 256,
                   .large_tiles = int64_t{4} << 20,
                   .local = int64_t{256} << 10,
                   .row_sums = int64_t{16} << 10,  // half of the first cache
                   .rows = int64_t{2} << 20,       // the second cache
                   .cut_rows = int64_t{32} << 20,  // the third, which does not mind the order
                   .least_row = 256};
  target.threads = {.shared_nest = 1024, .most_repeated = 256, .small_kernel = 64, .pieces = 4};
  // An addition takes four cycles, and two begin in each.
  target.latency = {
      .sum_parts = 4, .shortest_sum = 16, .rows = 2, .longest_row = 2048, .least_rows = int64_t{1} << 16};
  target.code = {.one_vector = 16,
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
                 .taps = 64};
  // Of plain operations a core does some seventy per cycle; one vector of 16 divisions takes 16 cycles.
  target.ops = {.plain = {2, 1},
                .function = {60, 8},
                .others = {{OpKind::Divide, {60, 1}},
                           {OpKind::Remainder, {60, 1}},
                           {OpKind::Power, {200, 8}},
                           {OpKind::Atan2, {200, 8}}}};
  return target;
}

const compile::Machine& MachineOfCpu() {
  static const compile::Machine machine = {KernelTarget()};
  return machine;
}
const compile::MachineRegistration kRegistration(&MachineOfCpu);

}  // namespace

const kernel::Target& KernelTarget() {
  static const kernel::Target target = MakeTarget();
  return target;
}

}  // namespace hlo::cpu
