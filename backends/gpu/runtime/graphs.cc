#include "backends/gpu/runtime/graphs.h"

#include "llvm/ADT/ScopeExit.h"

namespace hlo::gpu {

StepGraphs::~StepGraphs() {
  if (!gpu_->MakeCurrent()) return;
  // Nobody could do anything about errors.
  for (const auto& [step, exec] : made_) [[maybe_unused]]
    const Status destroyed = gpu_->Call(&DriverApi::GraphExecDestroy, exec);
}

Status StepGraphs::Run(const compile::Step& first, Stream& stream, llvm::function_ref<Status()> ask) {
  CuGraphExec& exec = made_[&first];
  if (exec == nullptr) {
    HLO_TRY(exec, Record(stream, ask));
  }
  return gpu_->Call(&DriverApi::GraphLaunch, exec, stream.handle());
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
