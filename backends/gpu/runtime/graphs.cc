#include "backends/gpu/runtime/graphs.h"

#include <atomic>
#include <thread>

#include "ir/support/interrupt.h"
#include "llvm/ADT/ScopeExit.h"

namespace hlo::gpu {

StepGraphs::~StepGraphs() {
  if (!gpu_->MakeCurrent()) return;
  // Nobody could do anything about errors.
  for (const auto& [step, graph] : made_)
    if (graph.exec != nullptr) [[maybe_unused]]
      const Status destroyed = gpu_->Call(&DriverApi::GraphExecDestroy, graph.exec);
  if (stop_ != nullptr) [[maybe_unused]]
    const Status freed = gpu_->Call(&DriverApi::MemFreeHost, stop_);
}

/// Without the graph the same steps can still be asked for one by one.
bool StepGraphs::MayGoOn(const Diagnostic& error) const {
  return !gpu_->IsLost() && (error.id == kGpuErrorId || error.id == "limit-memory");
}

Result<bool> StepGraphs::Run(const void* what, Stream& stream, bool insists,
                             llvm::function_ref<Status()> ask) {
  if (made_.find(what) == made_.end()) {
    has_loops_ = has_conditions_ = false;
    Result<CuGraphExec> made = Record(stream, ask);
    if (!made && ((insists && !has_conditions_) || !MayGoOn(made.error()))) return Error(made.error());
    made_[what] = {made ? *made : nullptr, has_loops_};
  }
  const Graph graph = made_.lookup(what);
  if (graph.exec == nullptr) return false;
  if (graph.loops) std::atomic_ref(*stop_).store(0);
  HLO_CHECK_OK(gpu_->Call(&DriverApi::GraphLaunch, graph.exec, stream.handle()));
  if (graph.loops) HLO_CHECK_OK(WaitForLoops(stream));
  return true;
}

/// A call that waits would wait for a loop without end. Nothing else is asked for meanwhile, either: the
/// driver may wait for the GPU before it does that. On busy machines whoever yields comes back late, and the
/// emulated GPU works only while it is asked.
Status StepGraphs::WaitForLoops(Stream& stream) {
  constexpr int kQueriesPerTurn = 64;
  for (int queries = 1;; ++queries) {
    HLO_TRY(const bool done, gpu_->IsDone(&DriverApi::StreamQuery, stream.handle()));
    if (done) return Interrupted() ? Status(Error(InterruptedError())) : Status();
    if (Interrupted()) std::atomic_ref(*stop_).store(1);
    if (queries % kQueriesPerTurn == 0) std::this_thread::yield();
  }
}

Result<CuGraphExec> StepGraphs::Record(Stream& stream, llvm::function_ref<Status()> ask) {
  HLO_CHECK_OK(gpu_->Call(&DriverApi::StreamBeginCapture, stream.handle(), int{CuGraphFlags::ThisThread}));
  const Status asked = ask();
  CuGraph graph = nullptr;
  const Status ended = gpu_->Call(&DriverApi::StreamEndCapture, stream.handle(), &graph);
  const auto destroy = llvm::make_scope_exit([&] {
    bodies_.clear();
    if (graph != nullptr) [[maybe_unused]]
      const Status destroyed = gpu_->Call(&DriverApi::GraphDestroy, graph);
  });
  HLO_CHECK_OK(asked);
  HLO_CHECK_OK(ended);
  for (; !bodies_.empty(); bodies_.pop_front()) HLO_CHECK_OK(RecordBody(stream, bodies_.front()));
  CuGraphExec exec = nullptr;
  HLO_CHECK_OK(gpu_->Call(&DriverApi::GraphInstantiate, &exec, graph, uint64_t{0}));
  return exec;
}

Status StepGraphs::RecordBody(Stream& stream, const Body& body) {
  HLO_CHECK_OK(gpu_->Call(&DriverApi::StreamBeginCaptureToGraph, stream.handle(), body.graph, nullptr,
                          nullptr, size_t{0}, int{CuGraphFlags::ThisThread}));
  const Status asked = body.ask();
  CuGraph graph = nullptr;
  Status ended = gpu_->Call(&DriverApi::StreamEndCapture, stream.handle(), &graph);
  HLO_CHECK_OK(asked);
  return ended;
}

bool StepGraphs::HasConditions() {
  if (!gpu_->Setters().why_not.empty()) return false;
  if (stop_ != nullptr) return true;
  void* memory = nullptr;
  // Without it loops could not be ended.
  if (!gpu_->Call(&DriverApi::MemHostAlloc, &memory, sizeof *stop_, 0U)) return false;
  stop_ = static_cast<uint32_t*>(memory);
  return true;
}

Result<CuGraphCondition> StepGraphs::NewCondition(Stream& stream) {
  has_conditions_ = true;
  int status = 0;
  CuGraph graph = nullptr;
  HLO_CHECK_OK(gpu_->Call(&DriverApi::StreamGetCaptureInfo, stream.handle(), &status, nullptr, &graph,
                          nullptr, nullptr, nullptr));
  CuGraphCondition condition = 0;
  HLO_CHECK_OK(
      gpu_->Call(&DriverApi::GraphConditionalHandleCreate, &condition, graph, gpu_->context(), 0U, 0U));
  return condition;
}

Result<llvm::ArrayRef<CuGraph>> StepGraphs::AddNode(Stream& stream, CuConditionalNode node) {
  int status = 0;
  CuGraph graph = nullptr;
  const CuGraphNode* before = nullptr;
  const void* edges = nullptr;
  size_t count = 0;
  HLO_CHECK_OK(gpu_->Call(&DriverApi::StreamGetCaptureInfo, stream.handle(), &status, nullptr, &graph,
                          &before, &edges, &count));
  node.context = gpu_->context();
  CuGraphNode added = nullptr;
  HLO_CHECK_OK(gpu_->Call(&DriverApi::GraphAddNode, &added, graph, before, edges, count, &node));
  HLO_CHECK_OK(gpu_->Call(&DriverApi::StreamUpdateCaptureDependencies, stream.handle(), &added, nullptr,
                          size_t{1}, unsigned{CuGraphFlags::Replace}));
  return llvm::ArrayRef(node.bodies, node.count);
}

Status StepGraphs::AskToSet(Stream& stream, CuFunction setter, llvm::MutableArrayRef<void*> arguments) {
  return gpu_->Call(&DriverApi::LaunchKernel, setter, 1U, 1U, 1U, 1U, 1U, 1U, 0U, stream.handle(),
                    arguments.data(), nullptr);
}

Status StepGraphs::AddLoop(Stream& stream, CuDevicePtr predicate, Ask ask) {
  has_loops_ = true;
  HLO_TRY(const CuGraphCondition condition, NewCondition(stream));
  const auto set = [this, &stream, condition, predicate] {
    CuGraphCondition of = condition;
    CuDevicePtr from = predicate;
    auto stop = reinterpret_cast<CuDevicePtr>(stop_);
    void* arguments[] = {&of, &from, &stop};
    return AskToSet(stream, gpu_->Setters().loop, arguments);
  };
  HLO_CHECK_OK(set());
  HLO_TRY(const auto bodies,
          AddNode(stream, {.condition = condition, .type = CuConditionalNode::While, .count = 1}));
  bodies_.push_back({bodies.front(), [ask = std::move(ask), set]() -> Status {
                       HLO_CHECK_OK(ask());
                       return set();
                     }});
  return {};
}

Status StepGraphs::AddBranches(Stream& stream, CuDevicePtr selector, size_t bytes,
                               std::vector<Ask> branches) {
  const bool together = gpu_->Setters().switches;
  constexpr uint32_t kChosen = ~0U;
  // What a branch does may be written over what chooses it: conditions are set before.
  llvm::SmallVector<CuGraphCondition, 4> conditions;
  for (uint32_t i = 0; i < (together ? 1 : branches.size()); ++i) {
    HLO_TRY(CuGraphCondition condition, NewCondition(stream));
    auto size = static_cast<uint32_t>(bytes), count = static_cast<uint32_t>(branches.size());
    uint32_t which = together ? kChosen : i;
    void* arguments[] = {&condition, &selector, &size, &count, &which};
    HLO_CHECK_OK(AskToSet(stream, gpu_->Setters().branch, arguments));
    conditions.push_back(condition);
  }
  llvm::SmallVector<CuGraph, 4> bodies;
  for (const CuGraphCondition condition : conditions) {
    CuConditionalNode node;
    node.condition = condition;
    node.type = together ? CuConditionalNode::Switch : CuConditionalNode::If;
    node.count = together ? static_cast<unsigned>(branches.size()) : 1;
    HLO_TRY(const auto added, AddNode(stream, node));
    bodies.append(added.begin(), added.end());
  }
  for (size_t i = 0; i < branches.size(); ++i)
    if (branches[i]) bodies_.push_back({bodies[i], std::move(branches[i])});
  return {};
}

}  // namespace hlo::gpu
