// collectives-schedule-linearizer: exchanges in one order on all devices (passes.md §2.6).
//
// Requires nothing. Preserves everything but the schedule and copies.
// Changes: of exchanges of a computation that follow each other in the order of printing each waits for the
// one before it, where it does not depend on it already.
#include "passes/analysis/reachability.h"
#include "passes/pass.h"

namespace hlo {
namespace {

/// Exchanges among groups or along pairs, and their starts.
bool IsExchange(const Instruction& inst) {
  return inst.info().Is(kGrouped) || inst.attrs().GetIf<CollectivePermuteAttrs>();
}

Result<bool> RunCollectivesScheduleLinearizer(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    HLO_CHECK_OK(context.CheckInterrupt());
    std::vector<Instruction*> exchanges = c->PostOrder();
    llvm::erase_if(exchanges, [](const Instruction* i) { return !IsExchange(*i); });
    if (exchanges.size() < 2) continue;
    // Edges run along the order, so that the answers about pairs that follow stay right.
    const Reachability reach(*c);
    for (size_t i = 1; i < exchanges.size(); ++i) {
      if (reach.Reaches(*exchanges[i - 1], *exchanges[i])) continue;
      if (!context.TakeRewrite()) return changed;
      exchanges[i]->AddControlPredecessor(exchanges[i - 1]);
      changed = true;
    }
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(CollectivesScheduleLinearizer, NoPassOptions);

}  // namespace hlo
