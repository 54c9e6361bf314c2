#include "backends/gpu/libraries/nccl.h"

#include <map>
#include <mutex>

#include "backends/gpu/libraries/collective.h"
#include "llvm/Support/FormatVariadic.h"

namespace hlo::gpu {
namespace {

constexpr llvm::StringLiteral kNames[] = {"libnccl.so.2"};

constexpr LibraryStatus kStatuses[] = {
#define NCCL_STATUS(Kind, code, name, text) {static_cast<int>(NcclStatus::Kind), name, text},
#include "backends/gpu/libraries/nccl_statuses.def"
};
constexpr LibraryFunction kFunctions[] = {
#define NCCL_FUNCTION(name, symbol, parameters) {#symbol, offsetof(NcclApi, name)},
#include "backends/gpu/libraries/nccl_functions.def"
};

KeptLibrary<NcclApi>& Kept() {
  static KeptLibrary<NcclApi> kept(kNames, kFunctions);
  return kept;
}

Status Check(NcclStatus status, const char* function) {
  return CheckStatus(kStatuses, static_cast<int>(status), /*lacks=*/false, function);
}

class Nccl final : public OpenLibraryOnGpu {
 public:
  explicit Nccl(const NcclApi& api) : api_(api) {}
  [[nodiscard]] const NcclApi& api() const { return api_; }
  /// One for each of several GPUs, in this order. They are made once and stay: that takes seconds.
  [[nodiscard]] Result<llvm::ArrayRef<NcclComm>> Communicators(const std::vector<int>& gpus) const {
    static std::mutex mutex;
    static auto& made = *new std::map<std::pair<const void*, std::vector<int>>, std::vector<NcclComm>>();
    const std::lock_guard lock(mutex);
    // By library, too.
    std::vector<NcclComm>& comms = made[{reinterpret_cast<const void*>(api_.CommInitAll), gpus}];
    if (comms.empty()) {
      std::vector<NcclComm> all(gpus.size());
      // Nothing has been asked for yet: the host does it where the library cannot start.
      const Status started =
          Check(api_.CommInitAll(all.data(), static_cast<int>(gpus.size()), gpus.data()), "ncclCommInitAll");
      if (!started) return Decline({}, "{0}", started.error().message);
      comms = std::move(all);
    }
    return llvm::ArrayRef(comms);
  }

 private:
  NcclApi api_;
};

/// What a member of a collective tells: its GPU, its stream, its arrays.
struct Member {
  Member(const MemberNumbers& numbers, size_t parts)
      : stream(AtAddress(numbers[1])),
        from(llvm::ArrayRef(numbers).slice(2, parts)),
        to(llvm::ArrayRef(numbers).slice(2 + parts, parts)) {}
  void* stream;
  llvm::ArrayRef<uint64_t> from, to;
};

/// Of one part of a collective.
struct Transfer {
  const NcclApi& api;
  const LibraryCollective& what;
  const CollectivePart& part;
  size_t index, rank, members;
  const Member& member;
  NcclComm comm;

  [[nodiscard]] void* from() const { return AtAddress(member.from[index]); }
  [[nodiscard]] void* to() const { return AtAddress(member.to[index]); }
  [[nodiscard]] size_t count() const { return static_cast<size_t>(part.count); }
};

Status AskAllReduce(const Transfer& t) {
  return Check(
      t.api.AllReduce(t.from(), t.to(), t.count(), t.part.type, t.what.reduction, t.comm, t.member.stream),
      "ncclAllReduce");
}
Status AskReduceScatter(const Transfer& t) {
  return Check(t.api.ReduceScatter(t.from(), t.to(), t.count(), t.part.type, t.what.reduction, t.comm,
                                   t.member.stream),
               "ncclReduceScatter");
}
Status AskAllGather(const Transfer& t) {
  return Check(t.api.AllGather(t.from(), t.to(), t.count(), t.part.type, t.comm, t.member.stream),
               "ncclAllGather");
}
Status AskBroadcast(const Transfer& t) {
  return Check(t.api.Broadcast(t.from(), t.to(), t.count(), t.part.type, 0, t.comm, t.member.stream),
               "ncclBroadcast");
}
Status Send(const Transfer& t, uint64_t from, size_t count, size_t peer) {
  return Check(
      t.api.Send(AtAddress(from), count, t.part.type, static_cast<int>(peer), t.comm, t.member.stream),
      "ncclSend");
}
Status Receive(const Transfer& t, uint64_t to, size_t count, size_t peer) {
  return Check(t.api.Recv(AtAddress(to), count, t.part.type, static_cast<int>(peer), t.comm, t.member.stream),
               "ncclRecv");
}
Status AskAllToAll(const Transfer& t) {
  if (t.what.apart) {
    // Operand i is for member i, and result i is of it.
    HLO_CHECK_OK(Send(t, t.member.from[t.index], t.count(), t.index));
    return Receive(t, t.member.to[t.index], t.count(), t.index);
  }
  const size_t each = t.count() / t.members;
  for (size_t peer = 0; peer < t.members; ++peer) {
    HLO_CHECK_OK(Send(t, t.member.from[t.index] + peer * each, each, peer));
    HLO_CHECK_OK(Receive(t, t.member.to[t.index] + peer * each, each, peer));
  }
  return {};
}
Status AskPermute(const Transfer& t) {
  for (const Dims& pair : t.what.pairs) {
    if (static_cast<size_t>(pair[0]) == t.rank)
      HLO_CHECK_OK(Send(t, t.member.from[t.index], t.count(), static_cast<size_t>(pair[1])));
    if (static_cast<size_t>(pair[1]) == t.rank)
      HLO_CHECK_OK(Receive(t, t.member.to[t.index], t.count(), static_cast<size_t>(pair[0])));
  }
  return {};
}

struct AskRow {
  OpKind kind;
  Status (*ask)(const Transfer&);
};
constexpr AskRow kAsks[] = {{OpKind::AllReduce, AskAllReduce}, {OpKind::ReduceScatter, AskReduceScatter},
                            {OpKind::AllGather, AskAllGather}, {OpKind::CollectiveBroadcast, AskBroadcast},
                            {OpKind::AllToAll, AskAllToAll},   {OpKind::CollectivePermute, AskPermute}};

class CollectivePlan final : public LibraryPlan {
 public:
  CollectivePlan(std::shared_ptr<Nccl> library, LibraryCollective what)
      : library_(std::move(library)),
        what_(std::move(what)),
        ask_(llvm::find_if(kAsks, [&](const AskRow& row) { return row.kind == what_.kind; })->ask) {}

  [[nodiscard]] size_t workspace_bytes() const override { return 0; }
  [[nodiscard]] bool meets_others() const override { return true; }
  Status Run(const LibraryCall& call) const override {
    MemberNumbers mine = {static_cast<uint64_t>(call.gpu), reinterpret_cast<uint64_t>(call.stream)};
    mine.append(call.at.operands);
    mine.append(call.at.results);
    return call.meet(mine, [&](llvm::ArrayRef<MemberNumbers> all) { return AskAll(all); });
  }

 private:
  Status AskAll(llvm::ArrayRef<MemberNumbers> all) const {
    const size_t parts = what_.parts.size();
    const auto count = static_cast<int64_t>(all.size());
    if (what_.kind == OpKind::CollectivePermute && what_.pairs.size() != all.size())
      return Decline({}, "not all members receive anything");
    for (const CollectivePart& part : what_.parts)
      if (what_.kind == OpKind::AllToAll && (what_.apart ? parts != all.size() : part.count % count != 0))
        return Decline({}, "it is not for so many members");
    std::vector<int> gpus;
    std::vector<Member> members;
    for (const MemberNumbers& numbers : all) {
      gpus.push_back(static_cast<int>(numbers[0]));
      members.emplace_back(numbers, parts);
    }
    // Communicators are those of all programs, and of one thread at a time.
    static std::mutex asking;
    const std::lock_guard lock(asking);
    HLO_TRY(const llvm::ArrayRef<NcclComm> comms, library_->Communicators(gpus));
    HLO_CHECK_OK(Check(library_->api().GroupStart(), "ncclGroupStart"));
    Status asked;
    for (size_t rank = 0; rank < all.size() && asked; ++rank)
      for (size_t i = 0; i < parts && asked; ++i)
        asked =
            ask_({library_->api(), what_, what_.parts[i], i, rank, all.size(), members[rank], comms[rank]});
    Status ended = Check(library_->api().GroupEnd(), "ncclGroupEnd");
    HLO_CHECK_OK(asked);
    return ended;
  }

  std::shared_ptr<Nccl> library_;
  LibraryCollective what_;
  Status (*ask_)(const Transfer&);
};

class CollectiveWork final : public LibraryWork {
 public:
  explicit CollectiveWork(LibraryCollective what) : what_(std::move(what)) {}
  [[nodiscard]] std::string ToString(const Instruction&) const override { return gpu::ToString(what_); }
  [[nodiscard]] Result<std::unique_ptr<LibraryPlan>> Plan(LibraryPtr library,
                                                          const LibraryArrays&) const override {
    return std::make_unique<CollectivePlan>(std::static_pointer_cast<Nccl>(std::move(library)), what_);
  }

 private:
  LibraryCollective what_;
};

}  // namespace

Result<NcclApi> ReadNccl(void* library) { return Kept().Read(library); }

bool ConcernsNccl(const Instruction& inst) { return IsLibraryCollective(inst); }
Result<std::unique_ptr<LibraryWork>> DescribeNccl(const Instruction& inst) {
  HLO_TRY(LibraryCollective what, LibraryCollectiveOf(inst));
  return std::make_unique<CollectiveWork>(std::move(what));
}
bool IsNcclThere(const LibraryOptions& options) { return Kept().Load(options).has_value(); }
Result<LibraryPtr> OpenNccl(const LibraryOptions& options, const LentDriver* lent) {
  HLO_TRY(const NcclApi api, Kept().Load(options, lent));
  return std::make_shared<Nccl>(api);
}

}  // namespace hlo::gpu
