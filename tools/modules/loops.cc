// Bounded loops; modules without infeed and outfeed.
#include "ir/builder.h"
#include "passes/rewrite/edit.h"
#include "tools/modules/stand_in.h"
#include "tools/modules/transform.h"

namespace hlo {
namespace {

Instruction* GetElement(Computation& c, Instruction* tuple, int64_t index, Instruction* before = nullptr) {
  GetTupleElementAttrs attrs;
  attrs.index = index;
  return c.Add(OpKind::GetTupleElement, tuple->shape().tuple_shape(index),
               c.module()->UniqueInstructionName("get-tuple-element"), {tuple}, attrs, {}, before);
}

Instruction* Number(Computation& c, int32_t value, Instruction* before = nullptr) {
  ConstantAttrs attrs;
  attrs.literal = std::make_shared<const Literal>(Literal::Scalar(ElementType::S32, value));
  return c.Add(OpKind::Constant, attrs.literal->shape(), c.module()->UniqueInstructionName("constant"), {},
               attrs, {}, before);
}

Instruction* Parameter(Computation& c, const Shape& shape) {
  return c.Add(OpKind::Parameter, shape, c.module()->UniqueInstructionName("parameter"), {},
               ParameterAttrs{});
}

/// Replaces `condition` and `body` of a loop over state S by those of one over (S, counter).
void CountLoop(Module& module, Instruction* loop, int32_t count) {
  Computation& home = *loop->parent();
  const Shape counter = Shape::ArrayWithDefaultLayout(ElementType::S32, {});
  const Shape state = Shape::MakeTuple({loop->shape(), counter});

  Computation* condition = module.AddComputation(module.UniqueComputationName("counted_condition"));
  Instruction* c_state = Parameter(*condition, state);
  CompareAttrs less;
  less.direction = Direction::LT;
  condition->set_root(condition->Add(OpKind::Compare, Shape::ArrayWithDefaultLayout(ElementType::Pred, {}),
                                     module.UniqueInstructionName("compare"),
                                     {GetElement(*condition, c_state, 1), Number(*condition, count)}, less));

  Computation* body = module.AddComputation(module.UniqueComputationName("counted_body"));
  Instruction* b_state = Parameter(*body, state);
  Instruction* next = body->Add(OpKind::Call, loop->shape(), module.UniqueInstructionName("call"),
                                {GetElement(*body, b_state, 0)}, CallAttrs{}, {loop->callee(0)});
  Instruction* step = body->Add(OpKind::Add, counter, module.UniqueInstructionName("add"),
                                {GetElement(*body, b_state, 1), Number(*body, 1)});
  body->set_root(body->Add(OpKind::Tuple, state, module.UniqueInstructionName("tuple"), {next, step}));

  Instruction* init = home.Add(OpKind::Tuple, state, module.UniqueInstructionName("tuple"),
                               {loop->operand(0), Number(home, 0, loop)}, {}, {}, loop);
  Instruction* counted = home.Add(OpKind::While, state, module.UniqueInstructionName("while"), {init},
                                  WhileAttrs{}, {body, condition}, loop);
  counted->set_metadata(loop->metadata());
  Instruction* result = GetElement(home, counted, 0, loop);
  loop->ReplaceAllUsesWith(result);
  loop->DropControlEdges();
  home.Remove(loop);
}

/// Instructions of a kind, collected before anything is changed.
std::vector<Instruction*> AllOf(const Module& module, OpKind kind) {
  std::vector<Instruction*> found;
  for (const auto& computation : module.computations())
    for (Instruction* i : computation->instructions())
      if (i->kind() == kind) found.push_back(i);
  return found;
}

void DropSchedule(Module& module) {
  module.config.is_scheduled = false;
  for (const auto& computation : module.computations()) computation->set_schedule({});
}

}  // namespace

Status FixLoopCounts(Module& module, int64_t count) {
  const std::vector<Instruction*> loops = AllOf(module, OpKind::While);
  if (loops.empty()) return {};
  DropSchedule(module);
  for (Instruction* loop : loops) CountLoop(module, loop, static_cast<int32_t>(count));
  RemoveUnreachableComputations(module);
  return {};
}

Status RemoveInfeedOutfeed(Module& module) {
  for (Instruction* outfeed : AllOf(module, OpKind::Outfeed)) {
    DropSchedule(module);
    outfeed->ReplaceAllUsesWith(outfeed->operand(1));
    outfeed->parent()->Remove(outfeed);
  }
  for (Instruction* infeed : AllOf(module, OpKind::Infeed)) {
    DropSchedule(module);
    Computation& home = *infeed->parent();
    StandInBuilder stand_ins(home, infeed);
    HLO_TRY(Instruction * data, stand_ins.Make(infeed->shape().tuple_shape(0), Boundary::Zeros, *infeed));
    if (!data)
      return Error("unsupported-shape", infeed->loc(), "no zeros can stand for infeed data of shape {0}",
                   ToString(infeed->shape().tuple_shape(0)));
    Instruction* result = home.Add(OpKind::Tuple, infeed->shape(), module.UniqueInstructionName("tuple"),
                                   {data, infeed->operand(0)}, {}, {}, infeed);
    infeed->ReplaceAllUsesWith(result);
    home.Remove(infeed);
  }
  return {};
}

}  // namespace hlo
