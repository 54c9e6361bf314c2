// The stages `hlo-scheduled` and `buffer-assignment` of hlo-opt.
#include "backends/gpu/runtime/build.h"
#include "passes/analysis/buffer_assignment.h"
#include "tools/opt/output.h"
#include "tools/opt/passes.h"

namespace hlo {

Status MakeSchedule(Module& module, VerifyMode verify, DiagnosticSink& sink) {
  // A schedule is the last word on order and copies.
  if (module.config.is_scheduled) return {};
  HLO_TRY(const auto pipeline, ParsePipeline("copy-insertion,hlo-memory-scheduler"));
  RewriteControls controls;
  controls.report = [&](Diagnostic d) { sink.Report(std::move(d)); };
  PassManager manager(controls, {});
  VerifyObserver verifier(manager, verify);
  manager.AddObserver(verifier);
  HLO_CHECK_OK(manager.Run(module, pipeline));
  return {};
}

Status PrepareStage(Module& module, OptStage stage, const OptOptions& options, DiagnosticSink& sink) {
  const bool schedules = stage == OptStage::Scheduled || stage == OptStage::Buffers;
  return schedules ? MakeSchedule(module, options.common.verify, sink) : Status();
}

Status PrintBuffers(llvm::raw_ostream& os, const Module& module, const compile::Machine* machine, bool json,
                    unsigned indent) {
  BufferOptions options;
  if (machine != nullptr) options = gpu::PlacementOptions(*machine);
  HLO_TRY(const BufferAssignment assignment, BufferAssignment::Compute(module, options));
  if (!json) {
    Print(os, assignment);
    return {};
  }
  WriteJson(os, assignment, indent);
  return {};
}

}  // namespace hlo
