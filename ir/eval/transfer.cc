// send and recv between simulated devices, or with the host (ops-structured §11).
#include "ir/eval/device.h"
#include "ir/eval/eval.h"
#include "ir/transfer_pairs.h"

namespace hlo {
namespace {

/// The (source, target) device pairs of `_xla_send_recv_source_target_pairs={{0,1},{1,2}}`; nothing
/// without that attribute.
Result<std::optional<TransferPairs>> SourceTargetPairs(const Instruction& inst) {
  const FrontendAttribute* attribute = TransferPairsAttribute(inst);
  if (!attribute) return std::optional<TransferPairs>();
  std::optional<TransferPairs> pairs = ParseTransferPairs(attribute->value);
  if (!pairs)
    return Error("runtime-collective-mismatch", inst.loc(),
                 "frontend attribute '{0}' of %{1} is '{2}', expected pairs of device numbers such as "
                 "'{{{{0,1},{{1,2}}'",
                 attribute->key, inst.name(), attribute->value);
  return pairs;
}

/// The half that carries the pairs: the instruction itself or the start it completes.
Result<std::optional<TransferPairs>> PairsOf(const Instruction& inst) {
  HLO_TRY(auto pairs, SourceTargetPairs(inst));
  if (!pairs && inst.info().Is(kDone) && inst.operand(0)->info().Is(kStart))
    return SourceTargetPairs(*inst.operand(0));
  return pairs;
}

int64_t Channel(const Instruction& inst) { return inst.attr<SendRecvAttrs>().channel_id.value_or(0); }

}  // namespace

Result<Literal> EvalSend(EvalContext& context, const Instruction& inst,
                         llvm::MutableArrayRef<Literal> operands) {
  Device& self = context.device();
  HLO_TRY(const auto pairs, PairsOf(inst));
  if (inst.attr<SendRecvAttrs>().is_host_transfer) {
    self.ToHost(operands[0]);
  } else if (pairs) {
    for (const auto& [source, target] : *pairs)
      if (source == self.id()) self.group().Send(Channel(inst), source, target, operands[0]);
  } else {
    self.group().Send(Channel(inst), self.id(), self.id(), operands[0]);
  }
  return Literal::MakeTuple(
      {std::move(operands[0]), Literal::Scalar(ElementType::U32, uint32_t{0}), Literal::MakeToken()});
}

Result<Literal> EvalSendDone(EvalContext&, const Instruction&, llvm::MutableArrayRef<Literal>) {
  return Literal::MakeToken();
}

Result<Literal> EvalRecv(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal> operands) {
  // The value is taken at recv-done: a recv may be issued before its send.
  return Literal::MakeTuple({Literal::Zeros(inst.shape().tuple_shape(0)),
                             Literal::Scalar(ElementType::U32, uint32_t{0}), std::move(operands[0])});
}

Result<Literal> EvalRecvDone(EvalContext& context, const Instruction& inst, llvm::MutableArrayRef<Literal>) {
  Device& self = context.device();
  const Shape& wanted = inst.shape().tuple_shape(0);
  HLO_TRY(const auto pairs, PairsOf(inst));
  Literal value;
  if (inst.attr<SendRecvAttrs>().is_host_transfer) {
    HLO_TRY(value, self.FromHost(inst, wanted));
  } else if (pairs) {
    value = Literal::Zeros(wanted);  // no source for this device
    for (const auto& [source, target] : *pairs)
      if (target == self.id()) {
        HLO_TRY(value, self.group().Receive(self, inst, Channel(inst), source));
        break;
      }
  } else {
    HLO_TRY(value, self.group().Receive(self, inst, Channel(inst), self.id()));
  }
  if (!Compatible(value.shape(), wanted))
    return Error("runtime-collective-mismatch", inst.loc(), "recv-done expects {0}, the value sent is {1}",
                 wanted, value.shape());
  return Literal::MakeTuple({std::move(value), Literal::MakeToken()});
}

}  // namespace hlo
