// The figures of a card as passes and Kernel IR ask for them.
#include "backends/gpu/target/target.h"

namespace hlo::gpu {
namespace {

/// Starting a kernel takes about a microsecond.
constexpr int64_t kLaunchesPerSecond = 1'000'000;
/// Of a plain operation on an element in kernel::OpCost.
constexpr int64_t kPlain = 2;
/// Threads of a block that does without its others: enough blocks fit a multiprocessor, and four warps hide
/// what each waits for.
constexpr int64_t kThreads = 128;
/// Elements of the smallest window or row that a thread goes through alone.
constexpr int64_t kShort = 32;

/// Operations in the time of `per_second`.
int64_t OperationsPer(const Target& target, int64_t per_second) {
  const int64_t operations = target.multiprocessors * target.f32_per_clock * kPlain;
  return std::max<int64_t>(operations * (target.clock_hz / 1000) / std::max<int64_t>(per_second / 1000, 1),
                           1);
}

kernel::Target KernelsOf(const Target& target) {
  kernel::Target kernels;
  kernels.vectors = {.lanes = target.warp,
                     .interleaved = 1,
                     .shortest_loop = target.warp,
                     .full_row = target.warp,
                     .few = 1,
                     .least_part = target.warp,
                     .strip = 1,
                     .tile = target.warp,
                     .near_tiles = 1,
                     .large_tiles = target.warp,
                     .most_waiting = target.warp};
  kernels.caches = {.line = 4 * target.sector_bytes,
                    .streamed = target.l2_bytes,
                    .stream_run = 4 * target.sector_bytes,
                    .large_tiles = target.l2_bytes,
                    .local = target.shared_memory_per_block};
  kernels.code = {.pairwise = 8, .pairwise_stmts = 64, .sum_stmts = 64, .without_loop = 8, .taps = 64};
  const int64_t function = kPlain * 8;
  const int64_t special = kPlain * target.f32_per_clock / target.special_per_clock;
  kernels.ops = {.plain = {.operations = kPlain, .instructions = 1},
                 .function = {.operations = 2 * function, .instructions = 16},
                 .others = {{OpKind::Divide, {.operations = function, .instructions = 8}},
                            {OpKind::Remainder, {.operations = function, .instructions = 8}},
                            {OpKind::Sqrt, {.operations = special, .instructions = 4}},
                            {OpKind::Power, {.operations = 4 * function, .instructions = 32}},
                            {OpKind::Atan2, {.operations = 4 * function, .instructions = 32}}}};
  kernels.blocks = {.threads = kThreads,
                    .most_threads = target.threads_per_block,
                    .lanes = target.warp,
                    .access = target.access_bytes,
                    .full = target.multiprocessors * target.threads_per_multiprocessor,
                    .shared = target.static_shared_memory,
                    .units = {}};
  for (const auto& unit : target.matrix_units)
    kernels.blocks.units.push_back({unit.type, static_cast<int32_t>(unit.rows),
                                    static_cast<int32_t>(unit.columns), static_cast<int32_t>(unit.depth)});
  return kernels;
}

}  // namespace

compile::Machine MachineOf(const Target& target) {
  compile::Machine machine;
  const int64_t full = target.multiprocessors * target.threads_per_multiprocessor;
  machine.gpu = {.warp = target.warp,
                 .block = target.threads_per_block,
                 .shared_memory = target.shared_memory_per_block,
                 .registers = target.registers_per_thread,
                 .access_alignment = 4 * target.sector_bytes};
  machine.caches = {.line = 4 * target.sector_bytes,
                    .first = target.shared_memory_per_block,
                    .second = target.l2_bytes,
                    .third = 0};
  const int64_t per_byte = OperationsPer(target, target.memory_bandwidth);
  machine.memory = {{.bytes = INT64_MAX, .operations_per_byte = per_byte}};
  machine.vectors = {.bytes = target.warp * 4};
  machine.kernels = KernelsOf(target);
  machine.matrix_units.assign(target.matrix_units.begin(), target.matrix_units.end());
  const kernel::OpCost& plain = machine.kernels.ops.plain;
  machine.costs = {.launch = OperationsPer(target, kLaunchesPerSecond),
                   .keep = 2 * plain.operations,
                   .read = plain.operations,
                   .indexed = 4 * plain.operations,
                   .called = 100 * plain.operations,
                   .padded = plain.operations};
  machine.threads = {.worthwhile = full,
                     .piece = target.sector_bytes,
                     .parts = target.multiprocessors,
                     .least_parts = 8,
                     .least_part = kShort,
                     .row_parts = target.multiprocessors,
                     .least_row_parts = 4,
                     .least_rows = kShort};
  machine.products = {.all = 4096,
                      .in_loops = 65536,
                      .contracted = 65536,
                      .short_row = 8,
                      .small_left = 16,
                      .small_right = 64,
                      .with_results = true};
  machine.transposes = {.line = target.warp / 2, .elements = 4096, .operations = 64 * plain.operations};
  machine.folds = {.own_lanes = 4096, .in_order = 16, .repeated = kShort, .nested = 1024};
  machine.scalar_bytes = 8;
  return machine;
}

}  // namespace hlo::gpu
