// Rules about asynchronous pairs, transfers and channels (ops-structured §1.2, §9.5, §11).
#include <map>

#include "ir/transfer_pairs.h"
#include "ir/verify_internal.h"

namespace hlo::verify {
namespace {

/// Opcodes of native pairs.
struct Pair {
  OpKind start, done;
};
constexpr Pair kPairs[] = {
    {OpKind::CopyStart, OpKind::CopyDone},
    {OpKind::Send, OpKind::SendDone},
    {OpKind::Recv, OpKind::RecvDone},
    {OpKind::AllGatherStart, OpKind::AllGatherDone},
    {OpKind::AllReduceStart, OpKind::AllReduceDone},
    {OpKind::CollectivePermuteStart, OpKind::CollectivePermuteDone},
};

bool IsControlDependency(const Instruction& inst) {
  const auto* custom = inst.attrs().GetIf<CustomCallAttrs>();
  return custom && custom->custom_call_target == "control_dep";
}

/// Users that count: custom-calls `control_dep` do not.
llvm::SmallVector<const Instruction*, 2> RealUsers(const Instruction& inst) {
  llvm::SmallVector<const Instruction*, 2> users;
  for (const Instruction* user : inst.users())
    if (!IsControlDependency(*user)) users.push_back(user);
  return users;
}

void VerifyStart(const Instruction& inst, OpKind done, Report& report) {
  const auto users = RealUsers(inst);
  if (users.size() == 1 && users[0]->kind() == done) return;
  if (users.size() == 1)
    report.Error("verify-async", inst, "{0} is used by {1}, a {2}, but only a {3} may end it", Name(inst),
                 Name(*users[0]), ToString(users[0]->kind()), ToString(done));
  else
    report.Error("verify-async", inst, "{0} has {1} users, but needs exactly one, its {2}", Name(inst),
                 users.size(), ToString(done));
}

void VerifyDone(const Instruction& inst, OpKind start, Report& report) {
  if (inst.operand(0)->kind() == start) return;
  report
      .Error("verify-async", inst, "operand 0 of {0} is {1}, a {2}, but must be its {3}", Name(inst),
             Name(*inst.operand(0)), ToString(inst.operand(0)->kind()), ToString(start))
      .Note(inst.operand(0)->loc(), "operand 0 is defined here");
}

/// Ops that may stand on the main thread in a wrapped computation of several instructions.
bool MayShareWrapper(OpKind kind) {
  return kind == OpKind::Parameter || kind == OpKind::OptimizationBarrier ||
         Info(kind).category == OpCategory::Communication || Info(kind).category == OpCategory::Tuple;
}

/// A wrapped computation on the main thread holds parameters and its root, or a group of collectives.
void VerifyWrapped(const Instruction& start, Report& report) {
  const Computation& wrapped = *start.callee();
  const llvm::StringRef thread = start.attr<AsyncStartAttrs>().async_execution_thread;
  if (wrapped.execution_thread() != thread)
    report.Error("verify-thread", start, "{0} starts on thread '{1}', but {2} runs on thread '{3}'",
                 Name(start), thread, Name(wrapped), wrapped.execution_thread());
  if (wrapped.execution_thread() != "main") return;
  const Instruction* extra = nullptr;
  bool all_share = true;
  for (const Instruction* inner : wrapped.instructions()) {
    if (inner->kind() != OpKind::Parameter && inner != wrapped.root()) extra = inner;
    all_share &= MayShareWrapper(inner->kind());
  }
  if (extra && !all_share)
    report.Error("verify-async", *extra,
                 "{0} stands in {1} beside its root {2}, but {3} may wrap only one instruction", Name(*extra),
                 Name(wrapped), wrapped.root() ? Name(*wrapped.root()) : std::string("(none)"), Name(start));
}

/// What a send or recv may be handed on through before its -done: loops carry it in tuples, wrapped
/// computations take it as parameter.
bool PassesTransferOn(const Instruction& inst) {
  if (inst.kind() == OpKind::Parameter) return !inst.parent()->IsEntry();
  return Info(inst.kind()).category == OpCategory::Tuple ||
         Info(inst.kind()).category == OpCategory::Control || inst.kind() == OpKind::AsyncDone;
}

/// A host transfer that channels must agree on: everything but operands.
bool SameTransfer(const Instruction& a, const Instruction& b) {
  return a.kind() == b.kind() && Compatible(a.shape(), b.shape()) && a.attrs() == b.attrs();
}

}  // namespace

void VerifyPair(const Instruction& inst, Report& report) {
  for (const Pair& pair : kPairs) {
    if (pair.start == inst.kind()) return VerifyStart(inst, pair.done, report);
    if (pair.done == inst.kind()) return VerifyDone(inst, pair.start, report);
  }
}

// The chain async-start, async-update…, async-done (§9.5).
void VerifyAsync(const Instruction& inst, Report& report) {
  if (inst.kind() == OpKind::AsyncStart && inst.callees().size() == 1) {
    VerifyWrapped(inst, report);
    // Parts may be those of the result or of all that the start makes, with the operands' tuple (errata-2
    // 14).
    if (inst.shape().IsTuple() && inst.shape().tuple_size() >= 2)
      for (const OutputOperandAlias& alias : inst.attr<AsyncStartAttrs>().output_to_operand_aliasing) {
        const bool of_all = AliasFits(inst, alias, inst.shape());
        VerifyAliasing(inst, {alias}, of_all ? inst.shape() : inst.shape().tuple_shape(1), report);
      }
  }
  if (inst.kind() == OpKind::AsyncDone) return;
  const auto users = RealUsers(inst);
  if (users.size() != 1) {
    report.Error("verify-async", inst,
                 "{0} has {1} users, but needs exactly one, an async-update or async-done", Name(inst),
                 users.size());
    return;
  }
  const Instruction& user = *users[0];
  const bool continues = user.kind() == OpKind::AsyncUpdate || user.kind() == OpKind::AsyncDone;
  if (!continues || llvm::is_contained(user.operands().drop_front(), &inst))
    report.Error("verify-async", inst,
                 "{0} is used by {1}, a {2}, but may only be operand 0 of an async-update or async-done",
                 Name(inst), Name(user), ToString(user.kind()));
}

// §11: a tuple or an async wrapper may lie between the halves.
void VerifySendRecv(const Instruction& inst, Report& report) {
  const auto& a = inst.attr<SendRecvAttrs>();
  for (const Pair& pair : kPairs) {
    if (pair.start == inst.kind()) {
      const auto users = RealUsers(inst);
      const bool handed_on = inst.IsRoot() || (users.size() == 1 && PassesTransferOn(*users[0]));
      if (!handed_on) VerifyStart(inst, pair.done, report);
    }
    if (pair.done != inst.kind()) continue;
    const Instruction& start = *inst.operand(0);
    if (start.kind() != pair.start) {
      if (!PassesTransferOn(start)) VerifyDone(inst, pair.start, report);
      continue;
    }
    const auto& b = start.attr<SendRecvAttrs>();
    if (a.is_host_transfer != b.is_host_transfer)
      report.Error("verify-channel", inst, "{0} has is_host_transfer={1}, but {2} has is_host_transfer={3}",
                   Name(inst), a.is_host_transfer, Name(start), b.is_host_transfer);
    if (a.channel_id != b.channel_id)
      report.Error("verify-channel", inst, "{0} has channel_id={1}, but {2} has channel_id={3}", Name(inst),
                   a.channel_id.value_or(0), Name(start), b.channel_id.value_or(0));
  }
}

namespace {

/// The pairs of a send or recv in ascending order; nothing if it has none that can be read.
std::optional<TransferPairs> SortedPairs(const Instruction& inst) {
  const FrontendAttribute* attribute = TransferPairsAttribute(inst);
  std::optional<TransferPairs> pairs = attribute ? ParseTransferPairs(attribute->value) : std::nullopt;
  if (pairs) llvm::sort(*pairs);
  return pairs;
}

/// What a send sends its recv receives: both name the same pairs of devices. Where a channel has several of
/// a kind, which belong together is not known.
void VerifyTransferPairs(llvm::ArrayRef<const Instruction*> communication, Report& report) {
  struct Ends {
    llvm::SmallVector<const Instruction*, 1> sends, recvs;
  };
  std::map<int64_t, Ends> channels;
  for (const Instruction* inst : communication) {
    if (inst->kind() != OpKind::Send && inst->kind() != OpKind::Recv) continue;
    const auto& transfer = inst->attr<SendRecvAttrs>();
    if (transfer.is_host_transfer) continue;
    Ends& ends = channels[transfer.channel_id.value_or(0)];
    (inst->kind() == OpKind::Send ? ends.sends : ends.recvs).push_back(inst);
  }
  for (const auto& [channel, ends] : channels) {
    if (ends.sends.size() != 1 || ends.recvs.size() != 1) continue;
    const Instruction &send = *ends.sends[0], &recv = *ends.recvs[0];
    const auto sent = SortedPairs(send), received = SortedPairs(recv);
    if (sent && received && *sent != *received)
      report
          .Error("verify-channel", recv, "{0} receives along {1}, but {2} sends along {3} on channel {4}",
                 Name(recv), TransferPairsAttribute(recv)->value, Name(send),
                 TransferPairsAttribute(send)->value, channel)
          .Note(send.loc(), "the send is here");
  }
}

}  // namespace

void VerifyChannels(llvm::ArrayRef<const Instruction*> communication, Report& report) {
  VerifyTransferPairs(communication, report);
  llvm::DenseMap<int64_t, const Instruction*> host_transfers;
  const Instruction* first_reduce = nullptr;
  for (const Instruction* inst : communication) {
    if (const auto* reduce = inst->attrs().GetIf<AllReduceAttrs>()) {
      if (!first_reduce) first_reduce = inst;
      if (reduce->constrain_layout != first_reduce->attr<AllReduceAttrs>().constrain_layout)
        report.Error("verify-attribute", *inst,
                     "{0} has constrain_layout={1}, but {2} has constrain_layout={3}; all all-reduces of a "
                     "module agree",
                     Name(*inst), reduce->constrain_layout, Name(*first_reduce),
                     first_reduce->attr<AllReduceAttrs>().constrain_layout);
    }
    const auto* transfer = inst->attrs().GetIf<SendRecvAttrs>();
    if (!transfer || !transfer->channel_id || !transfer->is_host_transfer || !Info(inst->kind()).Is(kStart))
      continue;
    // The two largest numbers are the map's own.
    const int64_t channel = std::min(*transfer->channel_id, std::numeric_limits<int64_t>::max() - 2);
    const auto [at, fresh] =
        host_transfers.try_emplace(std::max(channel, std::numeric_limits<int64_t>::min() + 2), inst);
    if (!fresh && !SameTransfer(*at->second, *inst))
      report.Error("verify-channel", *inst, "{0} and {1} transfer to the host on channel {2}, but differ",
                   Name(*at->second), Name(*inst), *transfer->channel_id);
  }
}

}  // namespace hlo::verify
