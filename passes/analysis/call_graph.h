// Who calls what, and how: as steps of a sequential program or as functions inside one operation.
#pragma once
#include <vector>

#include "ir/module.h"
#include "llvm/ADT/DenseMap.h"

namespace hlo {

/// How computations are called. Control flow (call, while, conditional, async-start) runs its callees as a
/// sequence of instructions with buffers of their own; everything else (fusion, map, reduce, sort …) uses
/// them as a function within one operation.
enum class CallContext : uint8_t { None, ControlFlow, Embedded, Both };
llvm::StringRef ToString(CallContext context);

/// True if instructions of this kind call by control flow.
bool IsControlFlow(OpKind kind);

/// One place where a computation is called: the instruction and which of its callees.
struct CallSite {
  const Instruction* caller = nullptr;
  int64_t callee = 0;
};

/// The call graph of a module as it stands; later changes are not seen.
class CallGraph {
 public:
  struct Node {
    const Computation* computation = nullptr;
    CallContext context = CallContext::None;  // None: nothing reachable from the entry calls it
    int depth = 0;                            // calls from the entry, longest way
    std::vector<CallSite> sites;              // in the order of computations and instructions
  };

  explicit CallGraph(const Module& module);
  [[nodiscard]] const Node& Of(const Computation& computation) const {
    return nodes_[index_.find(&computation)->second];
  }
  /// Callees before callers, every computation of the module once.
  [[nodiscard]] llvm::ArrayRef<Node> nodes() const { return nodes_; }
  /// The only call of the computation, or null if there are several or none.
  [[nodiscard]] const CallSite* OnlySite(const Computation& computation) const {
    const Node& node = Of(computation);
    return node.sites.size() == 1 ? node.sites.data() : nullptr;
  }
  /// True for the entry and what it calls through control flow alone (perhaps among other ways).
  [[nodiscard]] bool IsSequential(const Computation& computation) const {
    const CallContext context = Of(computation).context;
    return context == CallContext::ControlFlow || context == CallContext::Both;
  }
  /// A computation reached by control flow that has another call besides; null if each has one only: then
  /// the call graph is flat, as buffers need it.
  [[nodiscard]] const Computation* FirstShared() const;
  [[nodiscard]] bool IsFlat() const { return FirstShared() == nullptr; }

 private:
  std::vector<Node> nodes_;
  llvm::DenseMap<const Computation*, size_t> index_;
};

}  // namespace hlo
