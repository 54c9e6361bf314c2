// Canonical names (tools.md §2.1 `--print-style=canonical`).
#include "tools/modules/transform.h"

#include "llvm/ADT/DenseSet.h"

namespace hlo {
namespace {

/// Post-order from the values that nobody uses, these ordered by what they compute, the root last.
std::vector<Instruction*> StructuralOrder(const Computation& computation) {
  if (computation.has_schedule() && !computation.IsFusion()) return computation.schedule();
  std::vector<Instruction*> starts;
  for (Instruction* i : computation.instructions())
    if (i->users().empty() && i != computation.root()) starts.push_back(i);
  // One needs no order, and hashes take all that the computation calls into account.
  llvm::DenseMap<const Instruction*, uint64_t> hashes;
  if (starts.size() > 1) hashes = InstructionFingerprints(computation);
  llvm::sort(starts, [&](const Instruction* a, const Instruction* b) {
    return std::pair(hashes.lookup(a), a->number()) < std::pair(hashes.lookup(b), b->number());
  });
  if (computation.root()) starts.push_back(computation.root());

  std::vector<Instruction*> order;
  llvm::DenseSet<const Instruction*> done;
  std::vector<std::pair<Instruction*, bool>> stack;
  for (Instruction* start : starts) {
    stack.emplace_back(start, false);
    while (!stack.empty()) {
      auto [at, ready] = stack.back();
      stack.pop_back();
      if (done.contains(at)) continue;
      if (ready) {
        done.insert(at);
        order.push_back(at);
        continue;
      }
      stack.emplace_back(at, true);
      for (Instruction* operand : llvm::reverse(at->operands()))
        if (!done.contains(operand)) stack.emplace_back(operand, false);
      for (Instruction* before : at->extras().control_predecessors)
        if (!done.contains(before)) stack.emplace_back(before, false);
    }
  }
  return order;
}

/// Copies computations one by one, callees before callers.
class CanonicalCopy {
 public:
  explicit CanonicalCopy(const Module& from) : from_(from), to_(std::make_unique<Module>(from.name())) {}

  std::unique_ptr<Module> Run() {
    std::vector<const Computation*> roots;
    for (const auto& c : from_.computations())
      if (c->callers().empty() && c.get() != from_.entry()) roots.push_back(c.get());
    Fingerprints hashes;
    llvm::sort(roots,
               [&](const Computation* a, const Computation* b) { return hashes.Of(*a) < hashes.Of(*b); });
    for (const Computation* c : roots) CopyWithCallees(*c);
    if (from_.entry()) CopyWithCallees(*from_.entry());
    to_->config = from_.config;
    to_->stack_tables = from_.stack_tables;
    for (const SourcePtr& source : from_.sources()) to_->KeepSource(source);
    if (from_.entry()) to_->set_entry(copies_.lookup(from_.entry()));
    return std::move(to_);
  }

 private:
  void CopyWithCallees(const Computation& start) {
    std::vector<std::pair<const Computation*, bool>> stack = {{&start, false}};
    while (!stack.empty()) {
      auto [at, ready] = stack.back();
      stack.pop_back();
      if (copies_.contains(at)) continue;
      if (ready) {
        Copy(*at);
        continue;
      }
      auto [order, inserted] = orders_.try_emplace(at);
      if (inserted) order->second = StructuralOrder(*at);
      stack.emplace_back(at, true);
      for (const Instruction* i : llvm::reverse(order->second))
        for (const Computation* callee : llvm::reverse(i->callees()))
          if (!copies_.contains(callee)) stack.emplace_back(callee, false);
    }
  }

  void Copy(const Computation& from) {
    const std::string name =
        &from == from_.entry() ? "entry" : "computation." + std::to_string(++computations_);
    Computation* to = to_->AddComputation(to_->Save(name));
    copies_[&from] = to;
    to->set_execution_thread(to_->Save(from.execution_thread()));
    llvm::DenseMap<const Instruction*, Instruction*> map;
    std::vector<Instruction*> order;
    for (const Instruction* i : orders_[&from]) {
      llvm::SmallVector<Instruction*, 4> operands;
      for (const Instruction* operand : i->operands()) operands.push_back(map.lookup(operand));
      llvm::SmallVector<Computation*, 2> callees;
      for (const Computation* callee : i->callees()) callees.push_back(copies_.lookup(callee));
      const int64_t number = ++numbers_[static_cast<size_t>(i->kind())];
      Instruction* copy = CloneInstruction(*i, *to, operands, callees,
                                           to_->Save((i->info().text + "." + llvm::Twine(number)).str()));
      for (const Instruction* before : i->extras().control_predecessors)
        copy->AddControlPredecessor(map.lookup(before));
      map[i] = copy;
      order.push_back(copy);
    }
    if (from.root()) to->set_root(map.lookup(from.root()));
    if (from.has_schedule()) to->set_schedule(std::move(order));
  }

  const Module& from_;
  std::unique_ptr<Module> to_;
  llvm::DenseMap<const Computation*, Computation*> copies_;
  llvm::DenseMap<const Computation*, std::vector<Instruction*>> orders_;
  std::array<int64_t, 256> numbers_{};
  int64_t computations_ = 0;
};

}  // namespace

std::unique_ptr<Module> CanonicallyNamed(const Module& module) { return CanonicalCopy(module).Run(); }

}  // namespace hlo
