#include "passes/analysis/schedule.h"

#include <algorithm>
#include <deque>
#include <set>

#include "llvm/Support/MathExtras.h"

namespace hlo {
namespace {

using Order = std::vector<Instruction*>;

/// The instructions of a computation by post-order number, with their edges.
struct Graph {
  explicit Graph(const Computation& computation) : order(computation.PostOrder()) {
    index.reserve(static_cast<unsigned>(order.size()));
    for (size_t i = 0; i < order.size(); ++i) index[order[i]] = i;
    before.resize(order.size());
    after.resize(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      for (const Instruction* operand : order[i]->operands()) before[i].push_back(index.lookup(operand));
      for (const Instruction* p : order[i]->extras().control_predecessors)
        before[i].push_back(index.lookup(p));
      std::vector<size_t> unique = before[i];
      llvm::sort(unique);
      unique.erase(std::unique(unique.begin(), unique.end()), unique.end());
      if (unique.size() != before[i].size()) before[i] = unique;
      for (const size_t p : before[i]) after[p].push_back(i);
    }
  }
  [[nodiscard]] size_t size() const { return order.size(); }
  Order order;
  llvm::DenseMap<const Instruction*, size_t> index;
  std::vector<std::vector<size_t>> before, after;
};

int64_t LeafBytes(const Shape& shape) {
  int64_t sum = 0;
  ForEachLeaf(shape, [&](const ShapeIndex&, const Shape& leaf) {
    sum = llvm::SaturatingAdd<uint64_t>(static_cast<uint64_t>(sum),
                                        static_cast<uint64_t>(std::max<int64_t>(BufferBytes(leaf), 0))) &
          INT64_MAX;
  });
  return sum;
}

// --- BFS ---
Order BreadthFirst(const Computation& computation) {
  const Graph graph(computation);
  std::vector<size_t> missing(graph.size());
  std::deque<size_t> ready;
  for (const Instruction* inst : computation.instructions()) {
    const size_t i = graph.index.lookup(inst);
    missing[i] = graph.before[i].size();
    if (missing[i] == 0) ready.push_back(i);
  }
  Order order;
  order.reserve(graph.size());
  while (!ready.empty()) {
    const size_t i = ready.front();
    ready.pop_front();
    order.push_back(graph.order[i]);
    for (const size_t next : graph.after[i])
      if (--missing[next] == 0) ready.push_back(next);
  }
  return order;
}

// --- DFS ---
/// Post-order in which operands with more users in their trees, then more bytes, come first.
Order DepthFirst(const Computation& computation) {
  const Graph graph(computation);
  constexpr int64_t kCap = int64_t{1} << 50;
  struct Weight {
    int64_t extra_users, bytes;
  };
  std::vector<Weight> weights(graph.size());
  for (size_t i = 0; i < graph.size(); ++i) {
    const Instruction& inst = *graph.order[i];
    Weight& w = weights[i];
    w.extra_users = std::max<int64_t>(static_cast<int64_t>(inst.users().size()) - 1, 0);
    w.bytes = std::min(LeafBytes(inst.shape()), kCap);
    for (const size_t p : graph.before[i]) {
      w.extra_users = std::min(w.extra_users + weights[p].extra_users, kCap);
      w.bytes = std::min(w.bytes + weights[p].bytes, kCap);
    }
  }
  const auto earlier = [&](size_t a, size_t b) {
    const auto key = [&](size_t i) { return std::pair(-weights[i].extra_users, -weights[i].bytes); };
    if (key(a) != key(b)) return key(a) < key(b);
    return graph.order[a]->name() < graph.order[b]->name();
  };
  Order order;
  order.reserve(graph.size());
  std::vector<uint8_t> state(graph.size());  // 0 unseen, 1 open, 2 done
  llvm::SmallVector<size_t, 64> stack;
  const auto visit = [&](size_t start) {
    stack.push_back(start);
    while (!stack.empty()) {
      const size_t at = stack.back();
      if (state[at] != 0) {
        stack.pop_back();
        if (state[at] == 1) {
          state[at] = 2;
          order.push_back(graph.order[at]);
        }
        continue;
      }
      state[at] = 1;
      llvm::SmallVector<size_t, 8> before(graph.before[at].begin(), graph.before[at].end());
      llvm::sort(before, earlier);
      for (const size_t p : llvm::reverse(before))
        if (state[p] == 0) stack.push_back(p);
    }
  };
  for (const Instruction* inst : computation.instructions())
    if (inst->users().empty() && inst != computation.root()) visit(graph.index.lookup(inst));
  if (computation.root()) visit(graph.index.lookup(computation.root()));
  for (size_t i = 0; i < graph.size(); ++i) visit(i);
  return order;
}

// --- LIST ---
/// Greedy: of what is ready, that which frees most bytes less those it defines, then the one with most users.
class ListScheduler {
 public:
  ListScheduler(const Computation& computation, const Dataflow& flow,
                const llvm::DenseMap<const Computation*, int64_t>& callee_peaks)
      : computation_(computation), flow_(flow), callee_peaks_(callee_peaks), graph_(computation) {
    CollectValues();
  }
  Order Run();
  /// Most bytes defined in the computation and its callees that live at one time.
  [[nodiscard]] int64_t peak() const { return peak_; }

 private:
  struct Value {
    int64_t bytes = 0;
    int64_t waiting = 0;  // users not yet scheduled; one more if it must last
    std::vector<size_t> users;
  };
  // Less is better.
  using Priority = std::tuple<int64_t, int64_t, int64_t, size_t>;

  void CollectValues();
  [[nodiscard]] int64_t Freed(size_t i) const {
    int64_t bytes = 0;
    for (const size_t v : used_[i])
      if (values_[v].waiting == 1) bytes += values_[v].bytes;
    return bytes;
  }
  [[nodiscard]] Priority PriorityOf(size_t i) const;
  void Take(size_t i);

  const Computation& computation_;
  const Dataflow& flow_;
  const llvm::DenseMap<const Computation*, int64_t>& callee_peaks_;
  Graph graph_;
  std::vector<Value> values_;
  std::vector<std::vector<size_t>> used_;  // values an instruction uses
  std::vector<int64_t> defined_, callees_;
  std::vector<std::vector<size_t>> defines_;
  std::vector<bool> ready_;
  std::vector<Priority> priority_;
  std::set<Priority> queue_;
  int64_t live_ = 0, peak_ = 0;
};

/// What no machine has; sums over a million values of this size stay within 64 bits.
constexpr int64_t kMostBytes = int64_t{1} << 42;

void ListScheduler::CollectValues() {
  const size_t n = graph_.size();
  used_.resize(n);
  defines_.resize(n);
  defined_.assign(n, 0);
  callees_.assign(n, 0);
  llvm::DenseMap<Place, size_t> number;
  for (size_t i = 0; i < n; ++i) {
    const Instruction& inst = *graph_.order[i];
    for (const Computation* callee : inst.callees())
      callees_[i] = std::max(callees_[i], callee_peaks_.lookup(callee));
    if (inst.kind() == OpKind::Parameter || inst.kind() == OpKind::Constant) continue;
    for (const Place p : flow_.Own(inst)) {
      if (!flow_.Defines(p) || flow_.shape(p).IsTuple()) continue;
      number[p] = values_.size();
      defines_[i].push_back(values_.size());
      values_.push_back({std::clamp<int64_t>(BufferBytes(flow_.shape(p)), 0, kMostBytes), 0, {}});
      defined_[i] += values_.back().bytes;
    }
  }
  const auto use = [&](size_t i, Place place) {
    const auto it = number.find(flow_.Value(place));
    if (it == number.end() || llvm::is_contained(defines_[i], it->second)) return;
    Value& value = values_[it->second];
    if (!value.users.empty() && value.users.back() == i) return;
    value.users.push_back(i);
    ++value.waiting;
    used_[i].push_back(it->second);
  };
  // What only names values keeps those that are its own elements; of deeper ones it is the tables that do.
  const auto name = [&](size_t i, Place place) {
    use(i, place);
    if (!flow_.shape(place).IsTuple()) return;
    for (int64_t k = 0; k < flow_.shape(place).tuple_size(); ++k) use(i, flow_.Child(place, k));
  };
  for (size_t i = 0; i < n; ++i) {
    const Instruction& inst = *graph_.order[i];
    if (inst.kind() == OpKind::GetTupleElement) {
      name(i, flow_.Of(inst));
      continue;
    }
    for (const Instruction* operand : inst.operands()) {
      if (inst.kind() == OpKind::Tuple)
        name(i, flow_.Of(*operand));
      else
        for (const Place p : flow_.Parts(flow_.Of(*operand))) use(i, p);
    }
  }
  for (const Place p : flow_.Parts(flow_.Of(*computation_.root())))
    if (const auto it = number.find(flow_.Value(p)); it != number.end()) ++values_[it->second].waiting;
}

ListScheduler::Priority ListScheduler::PriorityOf(size_t i) const {
  const Instruction& inst = *graph_.order[i];
  const int64_t gain = Freed(i) - std::max(defined_[i], callees_[i]);
  // Scalars cost nothing, outfeeds let the host go on; infeeds hold memory before it is needed.
  int64_t group = 1;
  const bool scalar = inst.shape().IsArray() && inst.shape().ElementCount() == 1;
  if (scalar || inst.kind() == OpKind::Outfeed) group = 0;
  if (inst.kind() == OpKind::Infeed) group = 2;
  return {group, -gain, -static_cast<int64_t>(inst.users().size()), i};
}

void ListScheduler::Take(size_t i) {
  live_ += std::max(defined_[i], callees_[i]);
  peak_ = std::max(peak_, live_);
  live_ -= std::max(defined_[i], callees_[i]) - defined_[i];
  for (const size_t v : defines_[i])
    if (values_[v].waiting == 0) live_ -= values_[v].bytes;
  for (const size_t v : used_[i]) {
    Value& value = values_[v];
    --value.waiting;
    if (value.waiting == 0) live_ -= value.bytes;
    if (value.waiting != 1) continue;
    // The last user now frees the buffer.
    for (const size_t user : value.users) {
      if (!ready_[user]) continue;
      queue_.erase(priority_[user]);
      priority_[user] = PriorityOf(user);
      queue_.insert(priority_[user]);
    }
  }
}

Order ListScheduler::Run() {
  std::vector<size_t> missing(graph_.size());
  ready_.resize(graph_.size());
  priority_.resize(graph_.size());
  const auto offer = [&](size_t i) {
    ready_[i] = true;
    priority_[i] = PriorityOf(i);
    queue_.insert(priority_[i]);
  };
  for (size_t i = 0; i < graph_.size(); ++i) {
    missing[i] = graph_.before[i].size();
    if (missing[i] == 0) offer(i);
  }
  Order order;
  order.reserve(graph_.size());
  while (!queue_.empty()) {
    const size_t i = std::get<3>(*queue_.begin());
    queue_.erase(queue_.begin());
    ready_[i] = false;
    order.push_back(graph_.order[i]);
    Take(i);
    for (const size_t next : graph_.after[i])
      if (--missing[next] == 0) offer(next);
  }
  return order;
}

struct AlgorithmName {
  ScheduleAlgorithm algorithm;
  llvm::StringLiteral text;
};
constexpr AlgorithmName kNames[] = {
    {ScheduleAlgorithm::Default, "DEFAULT"}, {ScheduleAlgorithm::List, "LIST"},
    {ScheduleAlgorithm::Dfs, "DFS"},         {ScheduleAlgorithm::PostOrder, "POST_ORDER"},
    {ScheduleAlgorithm::Bfs, "BFS"},
};

Schedule ListSchedule(const Module& module) {
  const CallGraph calls(module);
  const Dataflow flow(module, calls);
  Schedule schedule;
  llvm::DenseMap<const Computation*, int64_t> peaks;
  for (const CallGraph::Node& node : calls.nodes()) {
    const Computation& computation = *node.computation;
    if (computation.IsFusion()) continue;
    if (!calls.IsSequential(computation)) {
      schedule[&computation] = computation.PostOrder();
      continue;
    }
    ListScheduler scheduler(computation, flow, peaks);
    schedule[&computation] = scheduler.Run();
    peaks[&computation] = scheduler.peak();
  }
  return schedule;
}

}  // namespace

llvm::StringRef ToString(ScheduleAlgorithm algorithm) { return kNames[static_cast<size_t>(algorithm)].text; }

std::optional<ScheduleAlgorithm> ParseScheduleAlgorithm(llvm::StringRef text) {
  for (const AlgorithmName& row : kNames)
    if (text.equals_insensitive(row.text)) return row.algorithm;
  return std::nullopt;
}

Schedule MakeSchedule(const Module& module, ScheduleAlgorithm algorithm) {
  if (algorithm == ScheduleAlgorithm::Default) return ChooseSchedule(module, algorithm).schedule;
  if (algorithm == ScheduleAlgorithm::List) return ListSchedule(module);
  Schedule schedule;
  for (const auto& computation : module.computations()) {
    if (computation->IsFusion()) continue;
    schedule[computation.get()] = algorithm == ScheduleAlgorithm::Bfs   ? BreadthFirst(*computation)
                                  : algorithm == ScheduleAlgorithm::Dfs ? DepthFirst(*computation)
                                                                        : computation->PostOrder();
  }
  return schedule;
}

ScheduleChoice ChooseSchedule(const Module& module, ScheduleAlgorithm algorithm) {
  ScheduleChoice choice;
  llvm::SmallVector<ScheduleAlgorithm, 3> candidates = {algorithm};
  if (algorithm == ScheduleAlgorithm::Default)
    candidates = {ScheduleAlgorithm::List, ScheduleAlgorithm::Dfs, ScheduleAlgorithm::PostOrder};
  int64_t best = 0;
  for (const ScheduleAlgorithm candidate : candidates) {
    Schedule schedule = MakeSchedule(module, candidate);
    const MemoryPeak peak = PeakOf(module, schedule);
    if (choice.tried.empty() || peak.bytes < best) {
      best = peak.bytes;
      choice.algorithm = candidate;
      choice.schedule = std::move(schedule);
    }
    choice.tried.push_back({candidate, peak});
  }
  return choice;
}

}  // namespace hlo
