#include "backends/cpu/kernel_target.h"

#include "backends/compile/machine.h"
#include "backends/cpu/chains.h"
#include "backends/cpu/routine_step.h"
#include "backends/structured/histogram.h"

namespace hlo::cpu {
namespace {

constexpr int64_t kKilo = 1024, kMega = 1024 * kKilo;
/// Lines of memory that are worth going through in one direction.
constexpr int64_t kFewLines = 4;
/// Of as many kinds of data in a cache, local buffers are one.
constexpr int64_t kMembers = 8;
/// Plain operations that leave registers for a tile of 16 by 16.
constexpr int64_t kMovedAlong = 3;
/// A call takes about as long as so many plain operations: it wakes nobody, but its loops begin anew. One
/// that is made for an element keeps it out of vectors.
constexpr int64_t kCall = 2000, kCallOfElement = 100;
constexpr int64_t kPadded = 100;  // divisions, and reads of vectors that leave elements out

/// Loops of its own compute the scatter if `operand` is an array.
bool HasOwnScatter(const Instruction& scatter, int64_t operand) {
  return structured::FillsBins(scatter) && !(operand == 2 && structured::MayBeUniform(scatter));
}

/// The kernel in a chain.
std::optional<compile::Machine::KernelOfRows> KernelOfRows(const Instruction& fusion) {
  const std::optional<Chain> chain = ChainOf(fusion);
  if (!chain) return {};
  return compile::Machine::KernelOfRows{const_cast<Instruction*>(chain->middle), chain->rows.result_row};
}

kernel::Target KernelsOf(const compile::Machine& machine) {
  const compile::Machine::Caches& caches = machine.caches;
  const int64_t lanes = machine.LanesOf(ElementType::F32);
  kernel::Target target;
  target.vectors = {.lanes = lanes,
                    .interleaved = 4,
                    .shortest_loop = 4,
                    .full_row = lanes / 2,
                    .few = 8,
                    .least_part = lanes,
                    .strip = 8,
                    .tile = 16,  // as many registers of 16 lanes, of 32
                    .near_tiles = 4,
                    .large_tiles = 256,
                    .most_waiting = 2 * lanes};
  target.caches = {.line = caches.line,
                   .streamed = caches.third,
                   .stream_run = kFewLines * caches.line,
                   .large_tiles = 2 * caches.second,
                   .local = caches.second / kMembers,
                   .row_sums = caches.first / 2,
                   .rows = caches.second,
                   .cut_rows = caches.third,  // which does not mind the order
                   .least_row = kFewLines * caches.line};
  target.threads = {.shared_nest = 1024, .most_repeated = 256, .small_kernel = 64, .pieces = 4};
  // An addition takes four cycles, and two begin in each.
  target.latency = {
      .sum_parts = 4, .shortest_sum = 16, .rows = 2, .longest_row = 2048, .least_rows = 64 * kKilo};
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
  target.ops = {.plain = {.operations = 2, .instructions = 1},
                .function = {.operations = 60, .instructions = 8},
                .others = {{OpKind::Divide, {.operations = 60, .instructions = 1}},
                           {OpKind::Remainder, {.operations = 60, .instructions = 1}},
                           {OpKind::Power, {.operations = 200, .instructions = 8}},
                           {OpKind::Atan2, {.operations = 200, .instructions = 8}}}};
  return target;
}

compile::Machine MakeMachine() {
  compile::Machine machine;
  machine.caches = {.line = 64, .first = 32 * kKilo, .second = 2 * kMega, .third = 32 * kMega};
  // Beside what else is read and written.
  machine.memory = {{.bytes = machine.caches.second / 2, .operations_per_byte = 2},
                    {.bytes = machine.caches.third, .operations_per_byte = 8},
                    {.bytes = INT64_MAX, .operations_per_byte = 15}};
  machine.cycles_per_ns = 3;
  machine.vectors = {.bytes = 64, .multiplied = 2};
  // Tile registers, and instructions for pairs and fours of steps, two of which begin in a cycle.
  machine.matrix_units = {{.type = ElementType::BF16, .rows = 16, .columns = 16, .depth = 32, .cycles = 16},
                          {.type = ElementType::S8, .rows = 16, .columns = 16, .depth = 64, .cycles = 16},
                          {.type = ElementType::BF16, .rows = 1, .columns = 16, .depth = 2, .cycles = .5},
                          {.type = ElementType::S8, .rows = 1, .columns = 16, .depth = 4, .cycles = .5}};
  machine.kernels = KernelsOf(machine);
  const kernel::OpCost &plain = machine.kernels.ops.plain, &function = machine.kernels.ops.function;
  machine.costs = {.launch = kCall * plain.operations,
                   .keep = 2 * plain.operations,  // a store and a load
                   .read = plain.operations,
                   .indexed = function.operations,
                   .called = kCallOfElement * plain.operations,
                   .padded = kPadded * plain.operations};
  machine.threads = {.worthwhile = 256 * kKilo,
                     .piece = 64 * kKilo,
                     .parts = 64,
                     .least_parts = 8,
                     .least_part = 64,
                     .row_parts = 16,
                     .least_row_parts = 4,
                     .least_rows = 64};
  machine.products = {.all = 4 * kKilo,
                      .in_loops = 64 * kKilo,
                      .contracted = 64 * kKilo,
                      .short_row = 8,
                      .small_left = 16,
                      .small_right = 64};
  machine.transposes = {.line = 8, .elements = 4 * kKilo, .operations = kMovedAlong * plain.operations};
  machine.folds = {.own_lanes = 4 * kKilo, .in_order = 16};
  // A program: some more than code takes to be loaded from the cache (MEASUREMENTS.md).
  machine.interpreting = {.program = 1e6, .kernel = 3e4, .kernels = 1e6};
  machine.scalar_bytes = kMaxScalar;
  machine.has_own_scatter = &HasOwnScatter;
  machine.kernel_of_rows = &KernelOfRows;
  return machine;
}

const compile::MachineRegistration kRegistration(&CpuMachine);

}  // namespace

const compile::Machine& CpuMachine() {
  static const compile::Machine machine = MakeMachine();
  return machine;
}

const kernel::Target& KernelTarget() { return CpuMachine().kernels; }

}  // namespace hlo::cpu
