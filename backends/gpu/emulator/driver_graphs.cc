// Graphs: what streams capture, and nodes that do others by conditions.
#include "backends/gpu/emulator/driver_state.h"
#include "llvm/ADT/STLExtras.h"

namespace hlo::gpu::emulated {

namespace {

using GraphPtr = std::shared_ptr<OperationGraph>;

/// Null: there is no such graph.
GraphPtr GraphOf(CuGraph graph) {
  const auto it = TheDriver().graphs.find(graph);
  return it == TheDriver().graphs.end() ? nullptr : it->second;
}

/// Graphs are lists: what is added follows the last of them.
bool FollowsLast(OperationGraph& graph, llvm::ArrayRef<CuGraphNode> dependencies) {
  if (graph.operations.empty()) return dependencies.empty();
  return dependencies.size() == 1 && dependencies[0] == &graph.operations.back();
}

CuResult NoList() {
  TheDriver().report = "graphs whose nodes do not follow each other are not emulated";
  return CuResult::NotSupported;
}

bool IsWithin(const OperationGraph* graph, const void* outer) {
  while (graph != nullptr && graph != outer) graph = graph->parent;
  return graph != nullptr;
}

}  // namespace

CuResult StreamBeginCapture(CuStream stream, int) {
  const Call call("StreamBeginCapture", Needs::Context);
  if (call.failed()) return call.result();
  const auto number = StreamOf(stream);
  if (!number) return CuResult::InvalidHandle;
  // The one that is always there cannot be captured.
  if (*number == 0) return CuResult::StreamCaptureUnsupported;
  if (TheDriver().work.IsCapturing(*number)) return CuResult::IllegalState;
  auto graph = std::make_shared<OperationGraph>();
  TheDriver().graphs[graph.get()] = graph;
  TheDriver().work.BeginCapture(*number, std::move(graph));
  return CuResult::Success;
}

CuResult StreamBeginCaptureToGraph(CuStream stream, CuGraph graph, const CuGraphNode* dependencies,
                                   const void* edges, size_t count, int) {
  const Call call("StreamBeginCaptureToGraph", Needs::Context);
  if (call.failed()) return call.result();
  const auto number = StreamOf(stream);
  GraphPtr known = GraphOf(graph);
  if (!number || known == nullptr) return CuResult::InvalidHandle;
  if (*number == 0) return CuResult::StreamCaptureUnsupported;
  if (TheDriver().work.IsCapturing(*number)) return CuResult::IllegalState;
  if (edges != nullptr || known->root()->instantiated) return CuResult::NotSupported;
  if (!FollowsLast(*known, llvm::ArrayRef(dependencies, count))) return NoList();
  TheDriver().work.BeginCapture(*number, std::move(known));
  return CuResult::Success;
}

CuResult StreamGetCaptureInfo(CuStream stream, int* status, uint64_t* id, CuGraph* graph,
                              const CuGraphNode** dependencies, const void** edges, size_t* count) {
  const Call call("StreamGetCaptureInfo", Needs::Context);
  if (call.failed()) return call.result();
  const auto number = StreamOf(stream);
  if (!number) return CuResult::InvalidHandle;
  const Streams::Capture& capture = TheDriver().work.CaptureOf(*number);
  *status = capture.graph != nullptr ? 1 : 0;
  if (capture.graph == nullptr) return CuResult::Success;
  if (id != nullptr) *id = *number;
  if (graph != nullptr) *graph = capture.graph.get();
  if (dependencies != nullptr) *dependencies = &capture.last;
  if (edges != nullptr) *edges = nullptr;
  if (count != nullptr) *count = capture.last == nullptr ? 0 : 1;
  return CuResult::Success;
}

CuResult StreamUpdateCaptureDependencies(CuStream stream, CuGraphNode* dependencies, const void* edges,
                                         size_t count, unsigned flags) {
  const Call call("StreamUpdateCaptureDependencies", Needs::Context);
  if (call.failed()) return call.result();
  const auto number = StreamOf(stream);
  if (!number) return CuResult::InvalidHandle;
  if (!TheDriver().work.IsCapturing(*number)) return CuResult::IllegalState;
  if (edges != nullptr || flags != CuGraphFlags::Replace || count > 1) return NoList();
  Streams::Capture& capture = TheDriver().work.CaptureOf(*number);
  const auto is_it = [&](const Operation& operation) { return &operation == dependencies[0]; };
  if (count == 1 && llvm::none_of(capture.graph->operations, is_it)) return CuResult::InvalidValue;
  capture.last = count == 0 ? nullptr : dependencies[0];
  return CuResult::Success;
}

CuResult StreamEndCapture(CuStream stream, CuGraph* graph) {
  const Call call("StreamEndCapture", Needs::Context);
  if (call.failed()) return call.result();
  const auto number = StreamOf(stream);
  if (!number) return CuResult::InvalidHandle;
  if (!TheDriver().work.IsCapturing(*number)) return CuResult::IllegalState;
  const Streams::Capture capture = TheDriver().work.EndCapture(*number);
  *graph = capture.graph.get();
  return capture.scattered ? NoList() : CuResult::Success;
}

CuResult GraphConditionalHandleCreate(CuGraphCondition* condition, CuGraph graph, CuContext context,
                                      unsigned value, unsigned flags) {
  constexpr unsigned kAssigned = 1;
  const Call call("GraphConditionalHandleCreate", Needs::Context);
  if (call.failed()) return call.result();
  const GraphPtr known = GraphOf(graph);
  if (known == nullptr) return CuResult::InvalidHandle;
  if (context != &TheDriver().device()) return CuResult::InvalidContext;
  if (flags > kAssigned) return CuResult::InvalidValue;
  *condition = ++TheDriver().last_condition;
  (*known->conditions)[*condition] = {
      .value = value, .initial = value, .assigned = flags == kAssigned, .graph = known.get()};
  return CuResult::Success;
}

/// Kinds that have no conditions are not added one by one.
CuResult GraphAddNode(CuGraphNode* node, CuGraph graph, const CuGraphNode* dependencies, const void* edges,
                      size_t count, CuConditionalNode* params) {
  const Call call("GraphAddNode", Needs::Context);
  if (call.failed()) return call.result();
  Driver& driver = TheDriver();
  const GraphPtr known = GraphOf(graph);
  if (known == nullptr || params == nullptr) return CuResult::InvalidValue;
  if (params->kind != CuConditionalNode::kKind || edges != nullptr || known->root()->instantiated)
    return CuResult::NotSupported;
  const auto is_zero = [](int64_t word) { return word == 0; };
  const bool newer = driver.options.version >= kSwitchVersion;
  const std::pair<int, unsigned> most[] = {{CuConditionalNode::If, newer ? 2 : 1},
                                           {CuConditionalNode::While, 1},
                                           {CuConditionalNode::Switch, newer ? UINT_MAX : 0}};
  const auto allows = [&](const auto& row) {
    return row.first == params->type && params->count > 0 && params->count <= row.second;
  };
  const auto condition = known->conditions->find(params->condition);
  if (!llvm::all_of(params->padding, is_zero) || !llvm::all_of(params->reserved, is_zero) ||
      llvm::none_of(most, allows) || params->context != &driver.device() ||
      condition == known->conditions->end() || condition->second.used ||
      !IsWithin(known.get(), condition->second.graph))
    return CuResult::InvalidValue;
  if (!FollowsLast(*known, llvm::ArrayRef(dependencies, count))) return NoList();
  condition->second.used = true;
  auto added = std::make_shared<ConditionalNode>();
  added->type = params->type;
  added->condition = params->condition;
  for (unsigned i = 0; i < params->count; ++i) {
    auto body = std::make_shared<OperationGraph>();
    body->parent = known.get();
    body->conditions = known->conditions;
    driver.graphs[body.get()] = body;
    added->handles.push_back(body.get());
    added->bodies.push_back(std::move(body));
  }
  params->bodies = added->handles.data();
  known->root()->loops |= params->type == CuConditionalNode::While;
  Operation operation;
  operation.device = &driver.device();
  operation.conditional = std::move(added);
  operation.run = [conditions = known->conditions, of = params->condition] {
    if (conditions->at(of).set) return CuResult::Success;
    TheDriver().report = "a graph decides by a condition that nothing has set since it was launched";
    return TheDriver().sticky = CuResult::LaunchFailed;
  };
  known->operations.push_back(std::move(operation));
  *node = &known->operations.back();
  return CuResult::Success;
}

CuResult GraphInstantiate(CuGraphExec* exec, CuGraph graph, uint64_t) {
  const Call call("GraphInstantiate", Needs::Context);
  if (call.failed()) return call.result();
  const GraphPtr known = GraphOf(graph);
  if (known == nullptr) return CuResult::InvalidHandle;
  const auto is_used = [](const auto& condition) { return condition.second.used; };
  if (known->parent != nullptr || !llvm::all_of(*known->conditions, is_used)) return CuResult::InvalidValue;
  known->instantiated = true;
  *exec = NewHandle();
  TheDriver().graph_execs[*exec] = known;
  return CuResult::Success;
}

CuResult GraphLaunch(CuGraphExec exec, CuStream stream) {
  const Call call("GraphLaunch", Needs::Context);
  if (call.failed()) return call.result();
  const auto number = StreamOf(stream);
  const auto it = TheDriver().graph_execs.find(exec);
  if (!number || it == TheDriver().graph_execs.end()) return CuResult::InvalidHandle;
  if (TheDriver().work.IsCapturing(*number)) return CuResult::StreamCaptureUnsupported;
  // As launches of kernels: what they do wrong comes with the next call.
  (void)TheDriver().work.Launch(*number, *it->second);
  return CuResult::Success;
}

/// Bodies of nodes go with the graph that these are in.
CuResult GraphDestroy(CuGraph graph) {
  const Call call("GraphDestroy", Needs::Context);
  if (call.failed()) return call.result();
  const GraphPtr known = GraphOf(graph);
  if (known == nullptr) return CuResult::InvalidHandle;
  if (known->parent != nullptr) return CuResult::InvalidValue;
  auto& graphs = TheDriver().graphs;
  for (auto it = graphs.begin(); it != graphs.end();)
    it = it->second->root() == known.get() ? graphs.erase(it) : std::next(it);
  return CuResult::Success;
}

CuResult GraphExecDestroy(CuGraphExec exec) {
  const Call call("GraphExecDestroy", Needs::Context);
  if (call.failed()) return call.result();
  if (TheDriver().graph_execs.erase(exec) == 0) return CuResult::InvalidHandle;
  TheDriver().handles.erase(exec);
  return CuResult::Success;
}

}  // namespace hlo::gpu::emulated
