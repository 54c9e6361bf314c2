// latency-hiding-scheduler: what takes time without the processor runs beside what needs it (passes.md §5.7).
//
// Requires schedule. Preserves everything but copies.
// Changes: orders of computations with starts and dones. From the end to the beginning, a done stands right
// before its first reader, and its start as soon as what lies between takes as long as it takes; of all else
// the order stays as far as it can. No more than `overlap_limit` exchanges are under way at once, where that
// can be had. Times are guessed from bytes and operations. Left alone: orders that are as good.
#include <set>

#include "llvm/ADT/DenseSet.h"
#include "passes/analysis/cost.h"
#include "passes/pass.h"

namespace hlo {
namespace {

struct LatencyHidingSchedulerOptions {
  int64_t overlap_limit = 1;
  double bytes_per_us = 2e6;
  double flops_per_us = 5e7;
  double exchanged_bytes_per_us = 1e5;
  double exchange_latency_us = 5;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

using O = LatencyHidingSchedulerOptions;
constexpr PassOptionRow kRows[] = {
    PassOption<&O::overlap_limit>("overlap_limit", "exchanges that are under way at once"),
    PassOption<&O::bytes_per_us>("bytes_per_us", "what memory moves"),
    PassOption<&O::flops_per_us>("flops_per_us", "what the processor computes"),
    PassOption<&O::exchanged_bytes_per_us>("exchanged_bytes_per_us", "what an exchange moves"),
    PassOption<&O::exchange_latency_us>("exchange_latency_us", "what the smallest exchange takes"),
};

bool IsStart(const Instruction& inst) { return inst.info().Is(kStart); }
/// A done that ends a start of the same computation.
const Instruction* StartOf(const Instruction& inst) {
  if (!inst.info().Is(kDone) || inst.operand_count() == 0) return nullptr;
  const Instruction* at = inst.operand(0);
  while (!IsStart(*at) && at->info().category == OpCategory::Async && at->operand_count() == 1)
    at = at->operand(0);  // updates
  return IsStart(*at) ? at : nullptr;
}

class Scheduler {
 public:
  Scheduler(const Computation& computation, const CostAnalysis& costs, const O& options)
      : costs_(costs), options_(options) {
    int64_t place = 0;
    for (Instruction* inst : computation.schedule()) {
      places_[inst] = place++;
      order_.push_back(inst);
    }
    for (Instruction* inst : order_) {
      waiting_[inst] = static_cast<int64_t>(llvm::count_if(
                           inst->users(), [&](const Instruction* u) { return places_.contains(u); })) +
                       static_cast<int64_t>(inst->extras().control_successors.size());
      if (waiting_[inst] == 0) MakeReady(inst);
    }
  }

  std::vector<Instruction*> Run() {
    std::vector<Instruction*> backwards;
    while (Instruction* next = Next()) {
      backwards.push_back(next);
      Place(next);
    }
    return {backwards.rbegin(), backwards.rend()};
  }

 private:
  using ByPlace = std::set<std::pair<int64_t, Instruction*>>;

  void MakeReady(Instruction* inst) {
    const int64_t place = places_.lookup(inst);
    if (const auto due = due_.find(inst); due != due_.end())
      starts_.emplace(due->second, -place, inst);
    else
      (StartOf(*inst)                      ? dones_
       : inst->kind() == OpKind::Parameter ? parameters_
                                           : others_)
          .emplace(place, inst);
  }

  /// The last of a set, in the order of before.
  static Instruction* TakeLast(ByPlace& set) {
    return set.empty() ? nullptr : set.extract(std::prev(set.end())).value().second;
  }
  /// The ready start that may be placed the soonest.
  Instruction* TakeStart() {
    return starts_.empty() ? nullptr : std::get<2>(starts_.extract(starts_.begin()).value());
  }

  Instruction* Next() {
    if (!starts_.empty() && std::get<0>(*starts_.begin()) <= time_) return TakeStart();
    const bool may_begin = under_way_ < std::max<int64_t>(1, options_.overlap_limit);
    if (may_begin && !dones_.empty()) return TakeLast(dones_);
    if (!others_.empty()) return TakeLast(others_);
    if (!starts_.empty()) return TakeStart();
    return TakeLast(dones_.empty() ? parameters_ : dones_);
  }

  void Place(Instruction* inst) {
    if (const auto due = due_.find(inst); due != due_.end()) {
      time_ = std::max(time_, due->second);
      --under_way_;
    } else if (const Instruction* start = StartOf(*inst); start && places_.contains(start)) {
      due_[start] = time_ + Latency(*inst);
      ++under_way_;
    } else {
      time_ += Time(*inst);
    }
    for (Instruction* o :
         llvm::SmallDenseSet<Instruction*, 4>(inst->operands().begin(), inst->operands().end()))
      if (--waiting_[o] == 0) MakeReady(o);
    for (Instruction* p : inst->extras().control_predecessors)
      if (--waiting_[p] == 0) MakeReady(p);
  }

  [[nodiscard]] double Time(const Instruction& inst) const {
    const Cost& cost = costs_.Of(inst);
    return std::max({cost.bytes / options_.bytes_per_us,
                     (cost.flops + cost.transcendentals) / options_.flops_per_us, 0.0});
  }
  [[nodiscard]] double Latency(const Instruction& done) const {
    double bytes = 0;
    ForEachLeaf(done.shape(), [&](const ShapeIndex&, const Shape& leaf) {
      if (leaf.IsArray()) bytes += static_cast<double>(std::max<int64_t>(ByteSize(leaf), 0));
    });
    return options_.exchange_latency_us + bytes / options_.exchanged_bytes_per_us;
  }

  const CostAnalysis& costs_;
  const O& options_;
  std::vector<Instruction*> order_;
  llvm::DenseMap<const Instruction*, int64_t> places_;
  llvm::DenseMap<const Instruction*, int64_t> waiting_;  // readers that are not placed
  llvm::DenseMap<const Instruction*, double> due_;       // of starts whose done is placed
  // What may be placed.
  std::set<std::tuple<double, int64_t, Instruction*>> starts_;  // by when, the last first
  ByPlace dones_, others_, parameters_;
  double time_ = 0;  // from the end, in µs
  int64_t under_way_ = 0;
};

llvm::ArrayRef<PassOptionRow> LatencyHidingSchedulerOptions::Rows() { return kRows; }

Result<bool> RunLatencyHidingScheduler(Module& module, const O& options, PassContext& context) {
  if (options.bytes_per_us <= 0 || options.flops_per_us <= 0 || options.exchanged_bytes_per_us <= 0)
    return Error("usage-pass-option", Loc(), "latency-hiding-scheduler: speeds are greater than 0");
  const CostAnalysis costs(module);
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    HLO_CHECK_OK(context.CheckInterrupt());
    if (!c->has_schedule() || llvm::none_of(c->schedule(), [](const Instruction* i) { return IsStart(*i); }))
      continue;
    std::vector<Instruction*> order = Scheduler(*c, costs, options).Run();
    if (order == c->schedule() || !context.TakeRewrite()) continue;
    c->set_schedule(std::move(order));
    changed = true;
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(LatencyHidingScheduler, LatencyHidingSchedulerOptions);

}  // namespace hlo
