#include "backends/gpu/runtime/graphs.h"

#include "llvm/ADT/ScopeExit.h"

namespace hlo::gpu {

StepGraphs::~StepGraphs() {
  if (!gpu_->MakeCurrent()) return;
  // Nobody could do anything about errors.
  for (const auto& [step, exec] : made_)
    if (exec != nullptr) [[maybe_unused]]
      const Status destroyed = gpu_->Call(&DriverApi::GraphExecDestroy, exec);
}

/// Without the graph the same steps can still be asked for one by one.
bool StepGraphs::MayGoOn(const Diagnostic& error) const {
  return !gpu_->IsLost() && (error.id == kGpuErrorId || error.id == "limit-memory");
}

Result<bool> StepGraphs::Run(const void* what, Stream& stream, bool insists,
                             llvm::function_ref<Status()> ask) {
  if (const auto known = made_.find(what); known == made_.end()) {
    Result<CuGraphExec> made = Record(stream, ask);
    if (!made && (insists || !MayGoOn(made.error()))) return Error(made.error());
    made_[what] = made ? *made : nullptr;
  }
  const CuGraphExec exec = made_.lookup(what);
  if (exec == nullptr) return false;
  HLO_CHECK_OK(gpu_->Call(&DriverApi::GraphLaunch, exec, stream.handle()));
  return true;
}

Result<CuGraphExec> StepGraphs::Record(Stream& stream, llvm::function_ref<Status()> ask) {
  constexpr int kThisThread = 1;  // others may do what a graph cannot hold
  HLO_CHECK_OK(gpu_->Call(&DriverApi::StreamBeginCapture, stream.handle(), kThisThread));
  const Status asked = ask();
  CuGraph graph = nullptr;
  const Status ended = gpu_->Call(&DriverApi::StreamEndCapture, stream.handle(), &graph);
  const auto destroy = llvm::make_scope_exit([&] {
    if (graph != nullptr) [[maybe_unused]]
      const Status destroyed = gpu_->Call(&DriverApi::GraphDestroy, graph);
  });
  HLO_CHECK_OK(asked);
  HLO_CHECK_OK(ended);
  CuGraphExec exec = nullptr;
  HLO_CHECK_OK(gpu_->Call(&DriverApi::GraphInstantiate, &exec, graph, uint64_t{0}));
  return exec;
}

}  // namespace hlo::gpu
