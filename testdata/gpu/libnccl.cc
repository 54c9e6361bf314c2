// A library that is found as libnccl.so.2: collectives between emulated GPUs, on the host when a group of
// calls ends. It refuses groups whose members do not ask for the same, and fails for some counts.
#include <map>

#include "backends/gpu/libraries/nccl_api.h"
#include "testdata/gpu/numbers.h"
#include "testdata/gpu/stand_in.h"

using namespace hlo::gpu;  // NOLINT(google-build-using-namespace): it stands in for C

namespace {

/// So many numbers are such that functions fail.
enum Failing : size_t { kFailing = 23 };

enum class Kind : uint8_t { AllReduce, AllGather, ReduceScatter, Broadcast, Send, Receive };
struct Communicator {
  int rank = 0, members = 0, gpu = 0;
  const void* group = nullptr;
};
struct Asked {
  Kind kind;
  const void* from;
  void* to;
  size_t count;
  NcclType type;
  NcclReduction reduction;
  int peer;  // or root
  const Communicator* comm;
  void* stream;
};
thread_local std::vector<Asked> asked;
thread_local bool in_group = false;

/// Memory of one GPU is not that of another one.
bool FetchOf(const Asked& member, size_t bytes, std::vector<char>& values) {
  return Succeeded(driver->use(member.comm->gpu)) && Fetch(member.from, bytes, values, member.stream);
}
bool StoreTo(const Asked& member, const std::vector<char>& values) {
  return Succeeded(driver->use(member.comm->gpu)) && Store(member.to, values, member.stream);
}

constexpr size_t kBytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
size_t BytesOf(NcclType type) { return kBytes[static_cast<size_t>(type)]; }

NcclStatus Ask(const Asked& what) {
  if (!in_group || what.comm == nullptr) return NcclStatus::InvalidUsage;
  if (what.count == kFailing) return NcclStatus::InternalError;
  asked.push_back(what);
  return NcclStatus::Success;
}

template <class T>
T Combine(NcclReduction reduction, T x, T y) {
  switch (reduction) {
    case NcclReduction::Sum: return static_cast<T>(x + y);
    case NcclReduction::Product: return static_cast<T>(x * y);
    case NcclReduction::Max: return x < y ? y : x;
    case NcclReduction::Min: return y < x ? y : x;
  }
  return x;
}
template <class T>
void Reduce(NcclReduction reduction, std::vector<char>& into, const std::vector<char>& by) {
  T* const x = reinterpret_cast<T*>(into.data());
  const T* const y = reinterpret_cast<const T*>(by.data());
  for (size_t i = 0; i < into.size() / sizeof(T); ++i) x[i] = Combine(reduction, x[i], y[i]);
}
void ReduceBf16(NcclReduction reduction, std::vector<char>& into, const std::vector<char>& by) {
  constexpr numbers::Kind kType = numbers::Kind::BF16;
  for (size_t i = 0; i < into.size(); i += numbers::BytesOf(kType)) {
    char* const x = into.data() + i;
    numbers::Store(kType, x,
                   Combine(reduction, numbers::Load(kType, x), numbers::Load(kType, by.data() + i)));
  }
}
using ReduceFn = void (*)(NcclReduction, std::vector<char>&, const std::vector<char>&);
/// By type.
constexpr ReduceFn kReduce[] = {Reduce<int8_t>,  Reduce<uint8_t>,  Reduce<int32_t>,  Reduce<uint32_t>,
                                Reduce<int64_t>, Reduce<uint64_t>, Reduce<_Float16>, Reduce<float>,
                                Reduce<double>,  ReduceBf16};

/// One collective of all members, by rank.
bool Run(const std::vector<Asked>& all) {
  const Asked& first = all.front();
  const size_t width = BytesOf(first.type), bytes = first.count * width;
  std::vector<std::vector<char>> in(all.size());
  const size_t brought = first.kind == Kind::ReduceScatter ? bytes * all.size() : bytes;
  for (size_t r = 0; r < all.size(); ++r)
    if (!FetchOf(all[r], brought, in[r])) return false;
  std::vector<char> whole = in[0];
  for (size_t r = 1; r < all.size(); ++r) {
    if (first.kind == Kind::AllGather) whole.insert(whole.end(), in[r].begin(), in[r].end());
    if (first.kind == Kind::AllReduce || first.kind == Kind::ReduceScatter)
      kReduce[static_cast<size_t>(first.type)](first.reduction, whole, in[r]);
  }
  if (first.kind == Kind::Broadcast) whole = in[static_cast<size_t>(first.peer)];
  for (size_t r = 0; r < all.size(); ++r) {
    std::vector<char> mine = whole;
    if (first.kind == Kind::ReduceScatter) {
      const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(bytes * r);
      mine.assign(begin, begin + static_cast<std::ptrdiff_t>(bytes));
    }
    if (!StoreTo(all[r], mine)) return false;
  }
  return true;
}

/// What is sent from one rank to another arrives in order.
NcclStatus RunTransfers() {
  std::map<std::pair<int, int>, std::vector<std::vector<char>>> on_way;
  for (const Asked& send : asked)
    if (send.kind == Kind::Send &&
        !FetchOf(send, send.count * BytesOf(send.type), on_way[{send.comm->rank, send.peer}].emplace_back()))
      return NcclStatus::UnhandledCudaError;
  std::map<std::pair<int, int>, size_t> taken;
  for (const Asked& receive : asked) {
    if (receive.kind != Kind::Receive) continue;
    const std::pair<int, int> way(receive.peer, receive.comm->rank);
    const size_t number = taken[way]++;
    if (number >= on_way[way].size() || on_way[way][number].size() != receive.count * BytesOf(receive.type))
      return NcclStatus::InvalidUsage;
    if (!StoreTo(receive, on_way[way][number])) return NcclStatus::UnhandledCudaError;
  }
  for (const auto& [way, sent] : on_way)
    if (sent.size() != taken[way]) return NcclStatus::InvalidUsage;
  return NcclStatus::Success;
}

NcclStatus RunCollectives() {
  std::map<int, std::vector<Asked>> by_rank;
  size_t members = 0;
  for (const Asked& what : asked) {
    if (what.kind == Kind::Send || what.kind == Kind::Receive) continue;
    by_rank[what.comm->rank].push_back(what);
    members = static_cast<size_t>(what.comm->members);
  }
  if (by_rank.empty()) return NcclStatus::Success;
  if (by_rank.size() != members) return NcclStatus::InvalidUsage;
  for (size_t i = 0; i < by_rank[0].size(); ++i) {
    std::vector<Asked> all;
    for (const auto& [rank, calls] : by_rank) {
      if (calls.size() != by_rank[0].size() || calls[i].comm->group != by_rank[0][i].comm->group ||
          calls[i].kind != by_rank[0][i].kind || calls[i].count != by_rank[0][i].count)
        return NcclStatus::InvalidUsage;
      all.push_back(calls[i]);
    }
    if (!Run(all)) return NcclStatus::UnhandledCudaError;
  }
  return NcclStatus::Success;
}

}  // namespace

extern "C" {

void SetDriver(const LentDriver* lent) { driver = lent; }

NcclStatus ncclCommInitAll(NcclComm* comms, int count, const int* gpus) {
  for (int i = 0; i < count; ++i)
    for (int j = 0; j < i; ++j)
      if (gpus[i] == gpus[j]) return NcclStatus::InvalidUsage;
  auto* const all = new Communicator[static_cast<size_t>(count)];  // they stay
  for (int i = 0; i < count; ++i) {
    all[i] = {i, count, gpus[i], all};
    comms[i] = &all[i];
  }
  return driver != nullptr ? NcclStatus::Success : NcclStatus::UnhandledCudaError;
}
NcclStatus ncclGroupStart() {
  in_group = true;
  asked.clear();
  return NcclStatus::Success;
}
NcclStatus ncclGroupEnd() {
  in_group = false;
  const NcclStatus collectives = RunCollectives();
  return collectives == NcclStatus::Success ? RunTransfers() : collectives;
}
NcclStatus ncclAllReduce(const void* from, void* to, size_t count, NcclType type, NcclReduction reduction,
                         NcclComm comm, void* stream) {
  return Ask(
      {Kind::AllReduce, from, to, count, type, reduction, 0, static_cast<Communicator*>(comm), stream});
}
NcclStatus ncclAllGather(const void* from, void* to, size_t count, NcclType type, NcclComm comm,
                         void* stream) {
  return Ask({Kind::AllGather, from, to, count, type, {}, 0, static_cast<Communicator*>(comm), stream});
}
NcclStatus ncclReduceScatter(const void* from, void* to, size_t count, NcclType type, NcclReduction reduction,
                             NcclComm comm, void* stream) {
  return Ask(
      {Kind::ReduceScatter, from, to, count, type, reduction, 0, static_cast<Communicator*>(comm), stream});
}
NcclStatus ncclBroadcast(const void* from, void* to, size_t count, NcclType type, int root, NcclComm comm,
                         void* stream) {
  return Ask({Kind::Broadcast, from, to, count, type, {}, root, static_cast<Communicator*>(comm), stream});
}
NcclStatus ncclSend(const void* from, size_t count, NcclType type, int peer, NcclComm comm, void* stream) {
  return Ask({Kind::Send, from, nullptr, count, type, {}, peer, static_cast<Communicator*>(comm), stream});
}
NcclStatus ncclRecv(void* to, size_t count, NcclType type, int peer, NcclComm comm, void* stream) {
  return Ask({Kind::Receive, nullptr, to, count, type, {}, peer, static_cast<Communicator*>(comm), stream});
}

}  // extern "C"
