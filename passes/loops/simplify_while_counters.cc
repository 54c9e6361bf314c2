// The step of simplify-while-loops that computes several induction variables from one counter.
#include "passes/loops/simplify_while_loops.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/loop_edit.h"
#include "passes/rewrite/maker.h"

namespace hlo {
namespace {

constexpr ElementType kTypes[] = {ElementType::S8,  ElementType::U8,  ElementType::S32,
                                  ElementType::U32, ElementType::S64, ElementType::U64};

bool ReadsElement(const Instruction& inst, const Instruction& tuple, int64_t i) {
  return inst.kind() == OpKind::GetTupleElement && inst.operand(0) == &tuple &&
         inst.attr<GetTupleElementAttrs>().index == i;
}

/// The constant that each iteration adds to the element.
const Instruction* StepOf(const TupleLoop& loop, int64_t i) {
  const Instruction& sum = *loop.body_root->operand(i);
  if (sum.kind() != OpKind::Add || !sum.shape().IsScalar()) return nullptr;
  for (int64_t side = 0; side < 2; ++side) {
    const Instruction* step = sum.operand(1 - side);
    if (ReadsElement(*sum.operand(side), *loop.body_parameter, i) && step->kind() == OpKind::Constant &&
        step->attr<ConstantAttrs>().literal)
      return step;
  }
  return nullptr;
}

bool IsConstant(const Instruction* inst, uint64_t bits) {
  return inst && inst->kind() == OpKind::Constant && inst->attr<ConstantAttrs>().literal &&
         inst->attr<ConstantAttrs>().literal->Bits(0) == bits;
}

/// element + counter * step, made beside `origin`, in the computation where all three live.
Instruction* ValueAt(Maker& make, Instruction* start, Instruction* counter, const Instruction& step) {
  Instruction* factor = make.Constant(*step.attr<ConstantAttrs>().literal);
  return make.Binary(OpKind::Add, start, make.Binary(OpKind::Multiply, counter, factor));
}

/// Reads of the element become start + counter * step.
void ReplaceReads(Instruction* tuple, llvm::ArrayRef<Instruction*> reads, int64_t i, int64_t counter,
                  Instruction* start, const Instruction& step) {
  if (reads.empty()) return;
  Maker make(*tuple->parent(), reads[0]);
  Instruction* first = start ? start : make.Gte(tuple, i);
  Instruction* value = ValueAt(make, first, make.Gte(tuple, counter), step);
  for (Instruction* read : reads) ReplaceAndRemove(read, value);
}

struct Variable {
  int64_t element;
  const Instruction* step;
};

/// Elements of the type that grow by constants, less those that decide when the loop ends, whose form the
/// trip count is known by.
llvm::SmallVector<Variable, 4> Variables(const TupleLoop& loop, ElementType type) {
  llvm::SmallVector<Variable, 4> variables;
  for (int64_t i = 0; i < loop.size(); ++i) {
    if (!loop.loop->shape().tuple_shape(i).IsScalarOf(type) || !loop.InitElement(i)) continue;
    if (const Instruction* step = StepOf(loop, i)) variables.push_back({i, step});
  }
  return variables;
}

bool Merge(const TupleLoop& loop, ElementType type, PassContext& context) {
  auto variables = Variables(loop, type);
  const auto* base = llvm::find_if(variables, [&](const Variable& v) {
    return IsConstant(loop.InitElement(v.element), 0) && IsConstant(v.step, 1);
  });
  const int64_t known_counter = base == variables.end() ? -1 : base->element;
  const auto decides = ReadsByElement(*loop.condition_parameter);
  llvm::erase_if(variables, [&](const Variable& v) {
    return v.element == known_counter || !decides[static_cast<size_t>(v.element)].empty();
  });
  if (variables.size() + (known_counter >= 0 ? 1 : 0) < 2 || !context.TakeRewrite()) return false;
  int64_t counter = known_counter;
  if (counter < 0) {
    counter = loop.size();
    AddLoopElement(loop, Maker(loop.loop).ScalarInt(type, 0), [&](Instruction* read) {
      Maker make(loop.body_root);
      return make.Binary(OpKind::Add, read, make.ScalarInt(type, 1));
    });
  }
  const auto in_body = ReadsByElement(*loop.body_parameter), behind = ReadsByElement(*loop.loop);
  for (const Variable& v : variables) {
    const auto i = static_cast<size_t>(v.element);
    Instruction* old_result = loop.body_root->operand(v.element);
    const Literal step_value = *v.step->attr<ConstantAttrs>().literal;
    Instruction* step = Maker(loop.loop).Constant(step_value);  // outlives the body's
    ReplaceReads(loop.body_parameter, in_body[i], v.element, counter, nullptr, *step);
    loop.body_root->SetOperand(v.element, Maker(loop.body_root).Gte(loop.body_parameter, v.element));
    RemoveIfDead(old_result);
    ReplaceReads(loop.loop, behind[i], v.element, counter, loop.InitElement(v.element), *step);
    RemoveIfDead(step);
  }
  return true;
}

}  // namespace

bool MergeInductionVariables(const TupleLoop& loop, PassContext& context) {
  if (loop.loop->IsRoot() || !loop.loop->extras().backend_config.empty()) return false;
  for (const Instruction* user : loop.loop->users())
    if (user->kind() != OpKind::GetTupleElement) return false;
  bool changed = false;
  for (const ElementType type : kTypes) changed |= Merge(loop, type, context);
  return changed;
}

}  // namespace hlo
