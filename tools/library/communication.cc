// Tokens, the host, other devices.
#include "hlo/ops.h"
#include "tools/library/builder_state.h"

namespace hlo_toolkit {

using internal::Emission;
using internal::Emit;
using internal::Wrong;
using InstructionOr = hlo::Result<hlo::Instruction*>;

namespace {

InstructionOr AddElement(Emission& e, hlo::Instruction* tuple, int64_t index) {
  hlo::GetTupleElementAttrs attrs;
  attrs.index = index;
  return e.Add(hlo::OpKind::GetTupleElement, {tuple}, attrs);
}

/// The token that what comes next at the host waits for.
InstructionOr HostToken(Emission& e) {
  hlo::Instruction*& token = e.state().host_token();
  if (!token) {
    HLO_TRY(token, e.Add(hlo::OpKind::AfterAll, {}));
  }
  return token;
}

InstructionOr AddInfeed(Emission& e, hlo::Instruction* token, const Shape& shape, std::string_view config) {
  HLO_TRY(const hlo::Shape made, internal::ToShape(shape));
  hlo::InfeedAttrs attrs;
  attrs.infeed_config = config;
  return e.AddWithShape(hlo::OpKind::Infeed, hlo::Shape::MakeTuple({made, hlo::Shape::MakeToken()}), {token},
                        std::move(attrs));
}

InstructionOr AddOutfeed(Emission& e, hlo::Instruction* operand, hlo::Instruction* token, const Shape& shape,
                         std::string_view config) {
  hlo::OutfeedAttrs attrs;
  HLO_TRY(attrs.outfeed_shape, internal::ToShape(shape));
  attrs.outfeed_config = config;
  return e.AddWithShape(hlo::OpKind::Outfeed, hlo::Shape::MakeToken(), {operand, token}, std::move(attrs));
}

hlo::SendRecvAttrs Channel(int64_t channel_id, bool is_host_transfer) {
  hlo::SendRecvAttrs attrs;
  attrs.channel_id = channel_id;
  attrs.is_host_transfer = is_host_transfer;
  return attrs;
}

InstructionOr AddSend(Emission& e, hlo::Instruction* operand, hlo::Instruction* token,
                      const hlo::SendRecvAttrs& attrs) {
  return e.AddWithShape(
      hlo::OpKind::Send,
      hlo::Shape::MakeTuple({operand->shape(), hlo::Shape::ArrayWithDefaultLayout(hlo::ElementType::U32, {}),
                             hlo::Shape::MakeToken()}),
      {operand, token}, attrs);
}

InstructionOr AddRecv(Emission& e, hlo::Instruction* token, const Shape& shape,
                      const hlo::SendRecvAttrs& attrs) {
  HLO_TRY(const hlo::Shape made, internal::ToShape(shape));
  return e.AddWithShape(
      hlo::OpKind::Recv,
      hlo::Shape::MakeTuple(
          {made, hlo::Shape::ArrayWithDefaultLayout(hlo::ElementType::U32, {}), hlo::Shape::MakeToken()}),
      {token}, attrs);
}

/// Both halves, with the attributes of the first.
InstructionOr AddSendDone(Emission& e, hlo::Instruction* send) {
  if (send->kind() != hlo::OpKind::Send) return Wrong("%{0} is no send", send->name());
  return e.AddWithShape(hlo::OpKind::SendDone, hlo::Shape::MakeToken(), {send},
                        send->attr<hlo::SendRecvAttrs>());
}
InstructionOr AddRecvDone(Emission& e, hlo::Instruction* recv) {
  if (recv->kind() != hlo::OpKind::Recv) return Wrong("%{0} is no recv", recv->name());
  return e.AddWithShape(hlo::OpKind::RecvDone,
                        hlo::Shape::MakeTuple({recv->shape().tuple_shape(0), hlo::Shape::MakeToken()}),
                        {recv}, recv->attr<hlo::SendRecvAttrs>());
}

}  // namespace

namespace ops {

XlaOp CreateToken(XlaBuilder* builder, Location location) { return ops::AfterAll(builder, {}, location); }

XlaOp AfterAll(XlaBuilder* builder, Span<const XlaOp> tokens, Location location) {
  return Emit(builder, tokens, location,
              [&](Emission& e) { return e.Add(hlo::OpKind::AfterAll, e.operands()); });
}

XlaOp Infeed(XlaBuilder* builder, const Shape& shape, std::string_view config, Location location) {
  return Emit(builder, {}, location, [&](Emission& e) -> InstructionOr {
    HLO_TRY(hlo::Instruction * token, HostToken(e));
    HLO_TRY(hlo::Instruction * infeed, AddInfeed(e, token, shape, config));
    HLO_TRY(e.state().host_token(), AddElement(e, infeed, 1));
    return AddElement(e, infeed, 0);
  });
}

XlaOp InfeedWithToken(XlaBuilder* builder, XlaOp token, const Shape& shape, std::string_view config,
                      Location location) {
  return Emit(builder, {token}, location,
              [&](Emission& e) { return AddInfeed(e, e.operand(0), shape, config); });
}

XlaOp Outfeed(XlaBuilder* builder, XlaOp operand, const Shape& shape_with_layout, std::string_view config,
              Location location) {
  return Emit(builder, {operand}, location, [&](Emission& e) -> InstructionOr {
    HLO_TRY(hlo::Instruction * token, HostToken(e));
    HLO_TRY(e.state().host_token(), AddOutfeed(e, e.operand(0), token, shape_with_layout, config));
    return e.state().host_token();
  });
}

XlaOp OutfeedWithToken(XlaBuilder* builder, XlaOp operand, XlaOp token, const Shape& shape_with_layout,
                       std::string_view config, Location location) {
  return Emit(builder, {operand, token}, location, [&](Emission& e) {
    return AddOutfeed(e, e.operand(0), e.operand(1), shape_with_layout, config);
  });
}

XlaOp Send(XlaBuilder* builder, XlaOp operand, const ChannelHandle& handle, Location location) {
  return Emit(builder, {operand}, location, [&](Emission& e) -> InstructionOr {
    HLO_TRY(hlo::Instruction * token, e.Add(hlo::OpKind::AfterAll, {}));
    HLO_TRY(hlo::Instruction * send, AddSend(e, e.operand(0), token, Channel(handle.handle(), false)));
    return AddSendDone(e, send);
  });
}

XlaOp Recv(XlaBuilder* builder, const Shape& shape, const ChannelHandle& handle, Location location) {
  return Emit(builder, {}, location, [&](Emission& e) -> InstructionOr {
    HLO_TRY(hlo::Instruction * token, e.Add(hlo::OpKind::AfterAll, {}));
    HLO_TRY(hlo::Instruction * recv, AddRecv(e, token, shape, Channel(handle.handle(), false)));
    HLO_TRY(hlo::Instruction * done, AddRecvDone(e, recv));
    return AddElement(e, done, 0);
  });
}

XlaOp SendWithToken(XlaBuilder* builder, XlaOp operand, XlaOp token, const ChannelHandle& handle,
                    Location location) {
  return Emit(builder, {operand, token}, location, [&](Emission& e) -> InstructionOr {
    HLO_TRY(hlo::Instruction * send, AddSend(e, e.operand(0), e.operand(1), Channel(handle.handle(), false)));
    return AddSendDone(e, send);
  });
}

XlaOp RecvWithToken(XlaBuilder* builder, XlaOp token, const Shape& shape, const ChannelHandle& handle,
                    Location location) {
  return Emit(builder, {token}, location, [&](Emission& e) -> InstructionOr {
    HLO_TRY(hlo::Instruction * recv, AddRecv(e, e.operand(0), shape, Channel(handle.handle(), false)));
    return AddRecvDone(e, recv);
  });
}

XlaOp CreateSend(XlaBuilder* builder, XlaOp operand, XlaOp token, int64_t channel_id, bool is_host_transfer,
                 Location location) {
  return Emit(builder, {operand, token}, location, [&](Emission& e) {
    return AddSend(e, e.operand(0), e.operand(1), Channel(channel_id, is_host_transfer));
  });
}
XlaOp CreateSendDone(XlaBuilder* builder, XlaOp send, Location location) {
  return Emit(builder, {send}, location, [&](Emission& e) { return AddSendDone(e, e.operand(0)); });
}
XlaOp CreateRecv(XlaBuilder* builder, XlaOp token, const Shape& shape, int64_t channel_id,
                 bool is_host_transfer, Location location) {
  return Emit(builder, {token}, location, [&](Emission& e) {
    return AddRecv(e, e.operand(0), shape, Channel(channel_id, is_host_transfer));
  });
}
XlaOp CreateRecvDone(XlaBuilder* builder, XlaOp recv, Location location) {
  return Emit(builder, {recv}, location, [&](Emission& e) { return AddRecvDone(e, e.operand(0)); });
}

XlaOp ReplicaId(XlaBuilder* builder, Location location) {
  return Emit(builder, {}, location, [&](Emission& e) { return e.Add(hlo::OpKind::ReplicaId, {}); });
}
XlaOp PartitionId(XlaBuilder* builder, Location location) {
  return Emit(builder, {}, location, [&](Emission& e) { return e.Add(hlo::OpKind::PartitionId, {}); });
}

}  // namespace ops
}  // namespace hlo_toolkit
