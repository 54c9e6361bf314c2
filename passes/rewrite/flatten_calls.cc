#include "passes/rewrite/flatten_calls.h"

#include "llvm/ADT/DenseSet.h"
#include "passes/analysis/call_graph.h"
#include "passes/rewrite/edit.h"

namespace hlo {
namespace {

/// Copies of a module can grow exponentially with the depth of its calls.
constexpr int64_t kMaxCopied = int64_t{1} << 22;

/// Instructions that a module with a computation for each call has more than this one.
double ExtraInstructions(const Module& module) {
  const CallGraph calls(module);
  llvm::DenseMap<const Computation*, double> copies;
  if (module.entry()) copies[module.entry()] = 1;
  double extra = 0;
  for (const CallGraph::Node& node : llvm::reverse(calls.nodes())) {
    const double count = copies.lookup(node.computation);
    if (count > 1) extra += (count - 1) * static_cast<double>(node.computation->instruction_count());
    for (const Instruction* caller : node.computation->instructions())
      if (IsControlFlow(caller->kind()))
        for (const Computation* callee : caller->callees()) copies[callee] += count;
  }
  return extra;
}

class Flattener {
 public:
  Flattener(Module& module, PassContext& context) : module_(module), context_(context) {
    // What operations use as functions is not theirs to take.
    for (const auto& computation : module.computations())
      for (const Instruction* caller : computation->callers())
        if (!IsControlFlow(caller->kind())) taken_.insert(computation.get());
  }

  Result<bool> Run() {
    if (!module_.entry()) return false;
    taken_.insert(module_.entry());
    todo_.push_back(module_.entry());
    bool changed = false;
    for (size_t next = 0; next < todo_.size(); ++next) {
      for (Instruction* caller : todo_[next]->instructions()) {
        if (!IsControlFlow(caller->kind()) || caller->callees().empty()) continue;
        HLO_TRY(const bool cloned, Separate(*caller));
        changed |= cloned;
      }
    }
    return changed;
  }

 private:
  /// Gives the caller callees that nobody has taken before.
  Result<bool> Separate(Instruction& caller) {
    bool changed = false;
    llvm::SmallVector<Computation*, 4> callees(caller.callees().begin(), caller.callees().end());
    for (Computation*& callee : callees) {
      if (!taken_.insert(callee).second) {
        HLO_CHECK_OK(context_.CheckInterrupt());
        if (!context_.Allows(*caller.parent()) || !context_.TakeRewrite()) continue;
        callee = CloneComputation(*callee, (callee->name() + ".clone").str());
        taken_.insert(callee);
        changed = true;
      }
      todo_.push_back(callee);
    }
    if (changed) caller.SetCallees(callees);
    return changed;
  }

  Module& module_;
  PassContext& context_;
  llvm::DenseSet<const Computation*> taken_;
  std::vector<Computation*> todo_;
};

}  // namespace

Result<bool> FlattenCalls(Module& module, PassContext& context) {
  if (const double extra = ExtraInstructions(module); extra > static_cast<double>(kMaxCopied))
    return Error(
        "limit-flatten", module.entry()->loc(),
        "a computation for each call of module {0} would take {1:E2} copied instructions, more than {2}",
        module.name(), extra, kMaxCopied);
  return Flattener(module, context).Run();
}

}  // namespace hlo
