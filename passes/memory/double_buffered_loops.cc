// double-buffered-loops: loops do two iterations in one rather than copy what they carry.
//
// Requires nothing. Preserves flat-calls, row-major, fusions, copies.
// Changes: where a body copies what it carries, as it makes new values while it still reads the old ones
// (copy-insertion has been before), every other iteration reads what the one before has made and writes the
// state: nothing is copied. An odd count leaves the first iteration in front of the loop. What
// loop-double-buffer-transformer does to all loops of known trips this does to those that gain by it, after
// fusion: kernels stay those of one iteration. Where they hide how the condition counts the trip count is
// that which while-loop-trip-count-annotator{keep_unproven=false} has noted before. Left alone: bodies that
// take long beside their copies, long bodies, loops of unknown or few trips, those whose computations others
// call, side effects.
#include "passes/analysis/live_range.h"
#include "passes/analysis/loop_facts.h"
#include "passes/analysis/side_effects.h"
#include "passes/memory/copy_insertion.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/loop_edit.h"
#include "passes/rewrite/loop_unroll.h"

namespace hlo {
namespace {

constexpr int64_t kFewestTrips = 4;
constexpr int64_t kMostBytes = int64_t{1} << 40;  // of one array, so that sums fit
constexpr int64_t kMostInstructions = 256;        // of a body
constexpr int64_t kWorthCode = 8192;              // bytes read and written by the copies of an iteration
constexpr int64_t kMostWork = 16;                 // bytes read and written by a body for each of these
constexpr int64_t kHeavy = 8;  // what takes so many times as long as its bytes: products, sorts and so on

struct DoubleBufferedLoopsOptions {
  bool launches = false;
  static llvm::ArrayRef<PassOptionRow> Rows() {
    static constexpr PassOptionRow kRows[] = {
        PassOption<&DoubleBufferedLoopsOptions::launches>(
            "launches", "every copy costs the launch of a kernel, whatever its size"),
    };
    return kRows;
  }
};

/// What nothing is done for when a program runs.
bool IsFree(const Instruction& inst) {
  const OpCategory category = Info(inst.kind()).category;
  return category == OpCategory::Tuple || category == OpCategory::Source || inst.kind() == OpKind::Bitcast;
}

int64_t BytesOf(const Shape& shape) {
  int64_t bytes = 0;
  ForEachLeaf(shape, [&](const ShapeIndex&, const Shape& leaf) {
    const int64_t size = BufferBytes(leaf);
    bytes += size < 0 ? kMostBytes : std::min(size, kMostBytes);
  });
  return bytes;
}

int64_t BytesCopied(const Computation& body) {
  int64_t bytes = 0;
  for (const Instruction* inst : body.InstructionsOf(OpKind::Copy)) bytes += 2 * BytesOf(inst->shape());
  return bytes;
}

int64_t BytesTouched(const Computation& body) {
  int64_t bytes = 0;
  for (const Instruction* inst : body.instructions()) {
    const OpInfo& op = Info(inst->kind());
    if (IsFree(*inst)) continue;
    int64_t touched = BytesOf(inst->shape());
    for (const Instruction* operand : inst->operands()) touched += BytesOf(operand->shape());
    const bool light = inst->kind() == OpKind::Fusion || op.Is(kElementwise) || op.Is(kRearranges);
    bytes += light ? touched : kHeavy * touched;
  }
  return bytes;
}

bool IsWorthIt(const TupleLoop& loop, const DoubleBufferedLoopsOptions& options) {
  if (loop.body->instruction_count() > kMostInstructions) return false;
  if (options.launches) {
    const auto copies = static_cast<int64_t>(loop.body->InstructionsOf(OpKind::Copy).size());
    const int64_t steps =
        llvm::count_if(loop.body->instructions(), [](const Instruction* inst) { return !IsFree(*inst); });
    return copies > 0 && steps <= kMostWork * copies;
  }
  const int64_t copied = BytesCopied(*loop.body);
  return copied >= kWorthCode && BytesTouched(*loop.body) <= kMostWork * copied;
}

bool MayDoTwoAtOnce(const TupleLoop& loop) {
  const auto may = [](const Instruction* inst) {
    return !HasSideEffect(*inst) && inst->kind() != OpKind::While;
  };
  return MayReshapeLoop(loop) && !HasControlEdges(*loop.loop) &&
         llvm::all_of(loop.body->instructions(), may) &&
         llvm::none_of(loop.condition->instructions(),
                       [](const Instruction* i) { return HasSideEffect(*i); });
}

bool CountsInKernels(const TupleLoop& loop, int64_t induction) {
  return loop.condition->root()->kind() == OpKind::Fusion ||
         loop.body_root->operand(induction)->kind() == OpKind::Fusion;
}

/// The trip count if it is known; of what is noted, that which can be true and has every value of the
/// induction variable a number of its type.
std::optional<LoopCount> CountOf(const TupleLoop& loop) {
  const auto proven = CountTrips(loop, /*max_evaluated=*/0);
  const auto counted = proven ? proven : NotedTripCount(*loop.loop);
  if (!counted || counted->count < kFewestTrips || !counted->step || counted->induction < 0 ||
      counted->induction >= loop.size() || (!proven && !CountsInKernels(loop, counted->induction)))
    return std::nullopt;
  const Shape& variable = loop.loop->shape().tuple_shapes()[static_cast<size_t>(counted->induction)];
  int64_t way = 0, end = 0;
  if (!variable.IsScalar() || !IsIntegral(variable.element_type()) ||
      __builtin_mul_overflow(counted->count, *counted->step, &way) ||
      __builtin_add_overflow(*counted->init, way, &end))
    return std::nullopt;
  return counted;
}

bool DoTwoAtOnce(Instruction& inst, const DoubleBufferedLoopsOptions& options, PassContext& context) {
  const auto loop = AsTupleLoop(inst);
  if (!loop || !IsWorthIt(*loop, options) || !MayDoTwoAtOnce(*loop)) return false;
  const auto counted = CountOf(*loop);
  if (!counted || !context.TakeRewrite()) return false;
  const int64_t odd = counted->count % 2, step = *counted->step;
  if (odd != 0) PeelIterations(*loop, *counted, 1);
  MultiplyBody(*loop, *counted, 2, ".double_buffered", /*in_one_step=*/false);
  NoteTripCount(inst, {counted->count / 2, counted->induction, *counted->init + odd * step, 2 * step});
  return true;
}

Result<bool> RunDoubleBufferedLoops(Module& module, const DoubleBufferedLoopsOptions& options,
                                    PassContext& context) {
  HLO_TRY(const bool changed, ForEachLoop(module, context, [&](Instruction* loop) {
            return DoTwoAtOnce(*loop, options, context);
          }));
  if (!changed) return false;
  RemoveUnreachableComputations(module);
  // It takes out the copies that are superfluous now.
  HLO_TRY([[maybe_unused]] const bool copies, RunCopyInsertion(module, NoPassOptions(), context));
  return true;
}

}  // namespace

HLO_DEFINE_PASS(DoubleBufferedLoops, DoubleBufferedLoopsOptions);

}  // namespace hlo
