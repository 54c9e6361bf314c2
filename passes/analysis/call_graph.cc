#include "passes/analysis/call_graph.h"

#include <algorithm>

namespace hlo {

llvm::StringRef ToString(CallContext context) {
  constexpr llvm::StringLiteral kNames[] = {"none", "control-flow", "embedded", "both"};
  return kNames[static_cast<size_t>(context)];
}

bool IsControlFlow(OpKind kind) { return Info(kind).Is(kRuns); }

CallGraph::CallGraph(const Module& module) {
  for (Computation* computation : module.PostOrder()) {
    index_[computation] = nodes_.size();
    nodes_.push_back({computation, CallContext::None, 0, {}});
  }
  if (module.entry()) nodes_[index_.lookup(module.entry())].context = CallContext::ControlFlow;
  // Callers come first, so that a computation's own context is known when it is passed on.
  for (const Node& node : llvm::reverse(nodes_)) {
    if (node.context == CallContext::None) continue;
    for (const Instruction* caller : node.computation->instructions()) {
      for (size_t i = 0; i < caller->callees().size(); ++i) {
        Node& callee = nodes_[index_.lookup(caller->callees()[i])];
        callee.sites.push_back({caller, static_cast<int64_t>(i)});
        callee.depth = std::max(callee.depth, node.depth + 1);
        const auto bits =
            static_cast<uint8_t>(IsControlFlow(caller->kind()) ? node.context : CallContext::Embedded);
        callee.context = static_cast<CallContext>(static_cast<uint8_t>(callee.context) | bits);
      }
    }
  }
}

const Computation* CallGraph::FirstShared() const {
  for (const Node& node : nodes_) {
    if (node.context == CallContext::Both) return node.computation;
    if (node.context != CallContext::ControlFlow) continue;
    if (node.sites.size() + (node.computation->IsEntry() ? 1 : 0) > 1) return node.computation;
  }
  return nullptr;
}

}  // namespace hlo
