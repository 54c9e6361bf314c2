// while_loop_pipeline_unroller: loops that hand values on from element to element do as many iterations at
// once as it takes until none is handed on any more, and no copy is needed for that (passes.md §2.4).
//
// Requires nothing. Preserves layouts, canonical-dots, fusions.
// Changes: where elements of the state become other elements, one after the other or in a circle, the body
// does several iterations: one more than the longest row, and a multiple of every circle; the iterations that
// are over move in front of the loop. Left alone: loops of unknown trip count or of fewer trips, whose
// computations others call, bodies with side effects, control edges, more than 16 iterations at once or
// 10,000 instructions.
#include <numeric>

#include "passes/analysis/side_effects.h"
#include "passes/loops/while_loop_trip_count_annotator.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/loop_edit.h"
#include "passes/rewrite/loop_unroll.h"

namespace hlo {
namespace {

constexpr int64_t kMaxFactor = 16;
constexpr int64_t kMaxInstructions = 10000;  // of the new body

/// The element that becomes element `i`; -1: it is computed, or stays.
int64_t SourceOf(const TupleLoop& loop, int64_t i) {
  const Instruction* next = loop.body_root->operand(i);
  if (next->kind() != OpKind::GetTupleElement || next->operand(0) != loop.body_parameter) return -1;
  const int64_t source = next->attr<GetTupleElementAttrs>().index;
  return source == i ? -1 : source;
}

/// How many iterations the body has to do; 1: nothing is handed on, 0: too many.
int64_t FactorOf(const TupleLoop& loop) {
  int64_t longest = 0, circles = 1;
  for (int64_t i = 0; i < loop.size(); ++i) {
    int64_t length = 0, at = i;
    for (; length <= loop.size() && (length == 0 || at != i); ++length) {
      const int64_t source = SourceOf(loop, at);
      if (source < 0) break;
      at = source;
    }
    const bool circle = length > 0 && at == i;
    if (circle) circles = std::lcm(circles, length);
    if (circles > kMaxFactor) return 0;
    // What comes out of a circle is handed on for ever, but as what the circle brings.
    if (!circle && length <= loop.size()) longest = std::max(longest, length);
  }
  return (longest + circles) / circles * circles;
}

bool MayUnroll(const TupleLoop& loop) {
  if (!MayReshapeLoop(loop) || HasControlEdges(*loop.loop)) return false;
  for (const Computation* c : {loop.body, loop.condition})
    for (const Instruction* inst : c->instructions())
      if (HasSideEffect(*inst)) return false;
  return true;
}

bool Unroll(Instruction* inst, PassContext& context) {
  const auto loop = AsTupleLoop(*inst);
  const int64_t factor = loop ? FactorOf(*loop) : 1;
  if (factor <= 1 || factor > kMaxFactor || factor * loop->body->instruction_count() > kMaxInstructions ||
      !MayUnroll(*loop))
    return false;
  const auto counted = CountTrips(*loop, /*max_evaluated=*/0);
  if (!counted || !counted->init || counted->count < factor || std::abs(*counted->step) > INT32_MAX ||
      SourceOf(*loop, counted->induction) >= 0 || !context.TakeRewrite())
    return false;
  if (const int64_t over = counted->count % factor; over != 0) PeelIterations(*loop, *counted, over);
  MultiplyBody(*loop, *counted, factor, ".unrolled");
  if (inst->extras().backend_config.contains("known_trip_count"))
    AnnotateTripCount(*inst, /*keep_unproven=*/false);
  return true;
}

Result<bool> RunWhileLoopPipelineUnroller(Module& module, const NoPassOptions&, PassContext& context) {
  HLO_TRY(const bool changed,
          ForEachLoop(module, context, [&](Instruction* inst) { return Unroll(inst, context); }));
  if (changed) RemoveUnreachableComputations(module);
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(WhileLoopPipelineUnroller, NoPassOptions);

}  // namespace hlo
