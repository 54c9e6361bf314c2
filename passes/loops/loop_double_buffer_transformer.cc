// loop-double-buffer-transformer: two iterations of a loop in one (passes.md §4.5).
//
// Requires nothing. Preserves layouts, canonical-dots, fusions.
// Changes: the body of a loop of known trip count does two iterations; an odd count leaves the first
// iteration in front of the loop. unroll_strategy `full-unroll` writes out all of them, `auto` those of at
// most two trips. Left alone: loops whose computations others call, bodies with side effects, control edges,
// fewer than two trips.
#include "passes/analysis/side_effects.h"
#include "passes/loops/while_loop_trip_count_annotator.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/loop_edit.h"
#include "passes/rewrite/loop_unroll.h"
#include "passes/rewrite/maker.h"

namespace hlo {
namespace {

struct LoopDoubleBufferOptions {
  std::string unroll_strategy = "double-buffer";
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&LoopDoubleBufferOptions::unroll_strategy>("unroll_strategy",
                                                          "double-buffer, full-unroll or auto"),
};
constexpr int64_t kMaxInstructions = 1000000;  // of a loop written out

std::optional<LoopCount> UnrollableCount(const TupleLoop& loop) {
  if (!MayReshapeLoop(loop) || HasControlEdges(*loop.loop)) return std::nullopt;
  for (const Computation* c : {loop.body, loop.condition})
    for (const Instruction* inst : c->instructions())
      if (HasSideEffect(*inst)) return std::nullopt;
  const auto counted = CountTrips(loop, /*max_evaluated=*/0);
  const bool known = counted && counted->init && counted->count >= 2;
  return known && std::abs(*counted->step) <= INT32_MAX ? counted : std::nullopt;
}

bool Transform(const TupleLoop& loop, const LoopCount& counted, bool full, PassContext& context) {
  if (full) {
    if (counted.count > kMaxInstructions / loop.body->instruction_count() || !context.TakeRewrite())
      return false;
    UnrollLoop(loop, counted);
    return true;
  }
  if (!context.TakeRewrite()) return false;
  if (counted.count % 2 != 0) PeelIterations(loop, counted, 1);
  MultiplyBody(loop, counted, 2, ".double_buffered");
  if (loop.loop->extras().backend_config.contains("known_trip_count"))
    AnnotateTripCount(*loop.loop, /*keep_unproven=*/false);
  return true;
}

llvm::ArrayRef<PassOptionRow> LoopDoubleBufferOptions::Rows() { return kRows; }

Result<bool> RunLoopDoubleBufferTransformer(Module& module, const LoopDoubleBufferOptions& options,
                                            PassContext& context) {
  const llvm::StringRef strategy = options.unroll_strategy;
  if (strategy != "double-buffer" && strategy != "full-unroll" && strategy != "auto")
    return Error("usage-pass-option", {},
                 "option 'unroll_strategy' of pass 'loop-double-buffer-transformer': found '{0}', expected "
                 "'double-buffer', 'full-unroll' or 'auto'",
                 strategy);
  HLO_TRY(const bool changed, ForEachLoop(module, context, [&](Instruction* inst) {
            const auto loop = AsTupleLoop(*inst);
            const auto counted = loop ? UnrollableCount(*loop) : std::nullopt;
            if (!counted) return false;
            const bool full = strategy == "full-unroll" || (strategy == "auto" && counted->count == 2);
            return Transform(*loop, *counted, full, context);
          }));
  if (changed) RemoveUnreachableComputations(module);
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(LoopDoubleBufferTransformer, LoopDoubleBufferOptions);

}  // namespace hlo
