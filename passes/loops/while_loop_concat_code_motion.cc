// while-loop-concat-code-motion: what a loop joins in every iteration it carries as one (passes.md §2.4).
//
// Requires nothing. Preserves layouts, canonical-dots, fusions.
// Changes: elements that the body only joins by one concatenate, and whose next values are slices of one
// array that make it up in the same order, become one element, which is joined before the loop and cut up
// behind it. Left alone: elements that the condition or others in the body read, loops that share their
// computations or have a sharded state, control edges.
#include "passes/analysis/side_effects.h"
#include "passes/loops/filled_elements.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/loop_edit.h"
#include "passes/rewrite/maker.h"

namespace hlo {
namespace {

/// A concatenate of elements of the state, and the array that their next values make up.
struct JoinedElements {
  Instruction* join;
  Dims elements;
  Instruction* next;
};

/// The element that `operand` reads, if nobody but `join` does so.
std::optional<int64_t> ReadAlone(const TupleLoop& loop, const LoopReads& reads, const Instruction& operand,
                                 const Instruction& join) {
  if (operand.kind() != OpKind::GetTupleElement || operand.operand(0) != loop.body_parameter ||
      HasControlEdges(operand))
    return std::nullopt;
  const int64_t element = operand.attr<GetTupleElementAttrs>().index;
  const bool alone = reads.in_body[static_cast<size_t>(element)].size() == 1 && operand.users().size() == 1 &&
                     llvm::count(join.operands(), &operand) == 1 && !operand.IsRoot();
  return alone && reads.in_condition[static_cast<size_t>(element)].empty() ? std::optional(element)
                                                                           : std::nullopt;
}

/// The slice is all of its operand from `start` on along the dimension; where it ends.
std::optional<int64_t> EndOfPart(const Instruction& slice, int64_t dimension, int64_t start) {
  if (slice.kind() != OpKind::Slice) return std::nullopt;
  const SliceRanges& ranges = slice.attr<SliceAttrs>().slice;
  for (int64_t d = 0; d < slice.shape().rank(); ++d) {
    const SliceRange& range = ranges[static_cast<size_t>(d)];
    if (range.stride != 1 || range.start != (d == dimension ? start : 0) ||
        (d != dimension && range.limit != slice.operand(0)->shape().dim(d)))
      return std::nullopt;
  }
  return ranges[static_cast<size_t>(dimension)].limit;
}

std::optional<JoinedElements> AsJoined(const TupleLoop& loop, const LoopReads& reads, Instruction* join) {
  if (join->operand_count() < 2 || HasControlEdges(*join) || join->shape().HasDynamicDimension())
    return std::nullopt;
  const int64_t dimension = join->attr<DimensionsAttrs>().dimensions[0];
  JoinedElements joined{join, {}, nullptr};
  int64_t start = 0;
  for (const Instruction* operand : join->operands()) {
    const auto element = ReadAlone(loop, reads, *operand, *join);
    if (!element) return std::nullopt;
    const Instruction* part = loop.body_root->operand(*element);
    const auto end = EndOfPart(*part, dimension, start);
    if (!end || (joined.next && joined.next != part->operand(0))) return std::nullopt;
    joined.next = part->operand(0);
    joined.elements.push_back(*element);
    start = *end;
  }
  return joined.next->shape() == join->shape() && start == join->shape().dim(dimension)
             ? std::optional(std::move(joined))
             : std::nullopt;
}

void CarryAsOne(const TupleLoop& loop, const JoinedElements& joined) {
  Instruction* inst = loop.loop;
  const int64_t dimension = joined.join->attr<DimensionsAttrs>().dimensions[0];
  Maker make(inst);
  llvm::SmallVector<Instruction*, 4> inits;
  for (const int64_t i : joined.elements)
    inits.push_back(loop.InitElement(i) ? loop.InitElement(i) : make.Gte(loop.init(), i));
  Instruction* init =
      make.AddWithShape(OpKind::Concatenate, joined.join->shape(), inits, joined.join->attrs());
  const int64_t place = loop.size();
  Instruction* read = AddLoopElement(loop, init, [&](Instruction*) { return joined.next; });
  ReplaceWith(joined.join, read);
  joined.join->parent()->Remove(joined.join);
  const auto grown = AsTupleLoop(*inst);
  std::vector<LoopElementEdit> edits(static_cast<size_t>(grown->size()));
  Maker behind(*inst->parent(), inst);
  Instruction* whole = behind.Gte(inst, place);
  int64_t start = 0;
  for (const int64_t i : joined.elements) {
    const Shape& shape = inst->shape().tuple_shape(i);
    const int64_t end = start + shape.dim(dimension);
    Instruction* part = behind.SliceDim(whole, dimension, start, end);
    part->set_shape(shape);
    edits[static_cast<size_t>(i)] = {false, -1, part};
    start = end;
  }
  DropLoopElements(*grown, edits);
  // Not what they were made of: the loop is still looked at.
  for (const LoopElementEdit& edit : edits)
    if (edit.outside && IsDead(*edit.outside)) inst->parent()->Remove(edit.outside);
  if (IsDead(*whole)) inst->parent()->Remove(whole);
}

Result<bool> RunWhileLoopConcatCodeMotion(Module& module, const NoPassOptions&, PassContext& context) {
  return ForEachLoop(module, context, [&](Instruction* inst) {
    for (bool changed = false;; changed = true) {
      const auto loop = AsTupleLoop(*inst);  // anew, as the state has changed
      std::optional<JoinedElements> joined;
      if (loop && MayReshapeLoop(*loop)) {
        const LoopReads reads(*loop);
        for (Instruction* join : loop->body->InstructionsOf(OpKind::Concatenate))
          if (!joined) joined = AsJoined(*loop, reads, join);
      }
      if (!joined || !context.TakeRewrite()) return changed;
      CarryAsOne(*loop, *joined);
    }
  });
}

}  // namespace

HLO_DEFINE_PASS(WhileLoopConcatCodeMotion, NoPassOptions);

}  // namespace hlo
