// Calls, loops, branches, asynchronous pairs, tokens, host queues, device ids.
#include "ir/eval/device.h"
#include "ir/eval/eval.h"

namespace hlo {
namespace {

std::vector<Literal> Take(llvm::MutableArrayRef<Literal> operands) {
  return {std::make_move_iterator(operands.begin()), std::make_move_iterator(operands.end())};
}

Literal TokenOf(const Shape&) { return Literal::MakeToken(); }

/// (operand, result, context…) of an asynchronous start in the form of its shape.
Literal StartTuple(const Shape& shape, Literal first, Literal result) {
  std::vector<Literal> parts;
  parts.push_back(std::move(first));
  if (shape.tuple_size() > 1) parts.push_back(std::move(result));
  for (int64_t i = 2; i < shape.tuple_size(); ++i) parts.push_back(Literal::Zeros(shape.tuple_shape(i)));
  return Literal::MakeTuple(std::move(parts));
}

/// The computation an async chain wraps: that of its start.
const Computation& WrappedComputation(const Instruction& inst) {
  const Instruction* at = &inst;
  while (at->kind() != OpKind::AsyncStart) at = at->operand(0);
  return *at->callee();
}

/// Runs the wrapped computation once all its parameters are bound, else leaves `()` as result.
Result<Literal> RunWhenBound(EvalContext& context, const Instruction& inst, std::vector<Literal> bound) {
  const Computation& wrapped = WrappedComputation(inst);
  Literal arguments = Literal::MakeTuple(bound);
  if (bound.size() < wrapped.parameters().size())
    return StartTuple(inst.shape(), std::move(arguments), Literal::MakeTuple({}));
  HLO_TRY(Literal result, context.Call(wrapped, std::move(bound)));
  return StartTuple(inst.shape(), std::move(arguments), std::move(result));
}

Result<bool> CallCondition(EvalContext& context, const Computation& condition, const Literal& state) {
  HLO_TRY(Literal value, context.Call(condition, {state}));
  return value.data()[0] != 0;
}

}  // namespace

Result<Literal> EvalParameter(EvalContext&, const Instruction&, llvm::MutableArrayRef<Literal>) {
  llvm_unreachable("parameters are bound by the executor");
}

Result<Literal> EvalConstant(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return inst.attr<ConstantAttrs>().literal->Unpack().WithShape(inst.shape());
}

Result<Literal> EvalDeviceId(EvalContext& context, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  const Device& device = context.device();
  const int64_t id = inst.kind() == OpKind::ReplicaId ? device.replica() : device.partition();
  return Literal::Scalar(ElementType::U32, static_cast<uint32_t>(id));
}

Result<Literal> EvalCall(EvalContext& context, const Instruction& inst,
                         llvm::MutableArrayRef<Literal> operands) {
  // A fusion may have fewer parameters than operands.
  std::vector<Literal> arguments = Take(operands);
  arguments.resize(inst.callee()->parameters().size());
  return context.Call(*inst.callee(), std::move(arguments));
}

Result<Literal> EvalWhile(EvalContext& context, const Instruction& inst,
                          llvm::MutableArrayRef<Literal> operands) {
  const Computation& body = *inst.callee(0);
  const Computation& condition = *inst.callee(1);
  Literal state = std::move(operands[0]);
  while (true) {
    HLO_TRY(const bool go_on, CallCondition(context, condition, state));
    if (!go_on) return state;
    std::vector<Literal> argument;
    argument.push_back(std::move(state));
    HLO_TRY(state, context.Call(body, std::move(argument)));
  }
}

Result<Literal> EvalConditional(EvalContext& context, const Instruction& inst,
                                llvm::MutableArrayRef<Literal> operands) {
  const auto branches = static_cast<int64_t>(inst.callees().size());
  int64_t taken = branches - 1;  // out of range: the last one
  if (inst.operand(0)->shape().element_type() == ElementType::Pred) {
    taken = operands[0].data()[0] != 0 ? 0 : 1;
  } else if (const int32_t index = operands[0].Data<int32_t>()[0]; index >= 0 && index < branches) {
    taken = index;
  }
  std::vector<Literal> argument;
  argument.push_back(std::move(operands[static_cast<size_t>(taken) + 1]));
  return context.Call(*inst.callee(taken), std::move(argument));
}

Result<Literal> EvalAfterAll(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  return TokenOf(inst.shape());
}

Result<Literal> EvalCopyStart(EvalContext&, const Instruction& inst,
                              llvm::MutableArrayRef<Literal> operands) {
  return StartTuple(inst.shape(), operands[0], operands[0]);
}

Result<Literal> EvalCopyDone(EvalContext&, const Instruction&, llvm::MutableArrayRef<Literal> operands) {
  return operands[0].TakeElement(0);
}

Result<Literal> EvalAsyncStart(EvalContext& context, const Instruction& inst,
                               llvm::MutableArrayRef<Literal> operands) {
  return RunWhenBound(context, inst, Take(operands));
}

Result<Literal> EvalAsyncUpdate(EvalContext& context, const Instruction& inst,
                                llvm::MutableArrayRef<Literal> operands) {
  if (operands.size() == 1) return std::move(operands[0]);
  Literal bound = operands[0].TakeElement(0);
  std::vector<Literal> arguments(bound.elements().begin(), bound.elements().end());
  bound = Literal();
  for (Literal& more : operands.drop_front()) arguments.push_back(std::move(more));
  return RunWhenBound(context, inst, std::move(arguments));
}

Result<Literal> EvalAsyncDone(EvalContext&, const Instruction&, llvm::MutableArrayRef<Literal> operands) {
  return operands[0].TakeElement(1);
}

Result<Literal> EvalInfeed(EvalContext& context, const Instruction& inst,
                           llvm::MutableArrayRef<Literal> operands) {
  const Shape& wanted = inst.shape().tuple_shape(0);
  if (wanted.IsTuple() && wanted.tuple_size() == 0)
    return Literal::MakeTuple({Literal::MakeTuple({}), std::move(operands[0])});
  HLO_TRY(Literal value, context.device().FromHost(inst, wanted));
  return Literal::MakeTuple({std::move(value), std::move(operands[0])});
}

Result<Literal> EvalOutfeed(EvalContext& context, const Instruction&,
                            llvm::MutableArrayRef<Literal> operands) {
  const bool empty = operands[0].shape().IsTuple() && operands[0].elements().empty();
  if (!empty) context.device().ToHost(std::move(operands[0]));
  return std::move(operands[1]);
}

}  // namespace hlo
