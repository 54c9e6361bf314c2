#include "tools/diff_equivalence.h"

#include "llvm/Support/Format.h"

#include "backends/cpu/compile.h"
#include "backends/run_devices.h"
#include "ir/support/interrupt.h"
#include "tools/run_compare.h"
#include "tools/run_devices.h"
#include "tools/run_expected.h"
#include "tools/run_result.h"

namespace hlo {
namespace {

/// Why the modules cannot be run on the same arguments and compared; empty if they can.
std::string Obstacle(const Module& left, const Module& right) {
  for (const Module* module : {&left, &right}) {
    if (!module->entry() || !module->entry()->root()) return "a module has no entry computation";
    for (const auto& computation : module->computations())
      for (const Instruction* inst : computation->InstructionsOf(OpKind::Constant))
        if (!inst->attr<ConstantAttrs>().literal)
          return "%" + inst->name().str() + " of module '" + module->name().str() +
                 "' is an elided constant (--elided-constants)";
  }
  const auto a = left.entry()->ParameterShapes(), b = right.entry()->ParameterShapes();
  if (a.size() != b.size())
    return llvm::formatv("the modules have {0} and {1} parameters", a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i)
    if (!Compatible(a[i], b[i]))
      return llvm::formatv("parameter {0} is {1} in one module and {2} in the other", i,
                           ToString(a[i], /*with_layout=*/false), ToString(b[i], /*with_layout=*/false));
  const Shape &x = left.entry()->root()->shape(), &y = right.entry()->root()->shape();
  if (Compatible(x, y)) return "";
  return llvm::formatv("the results are {0} and {1}", ToString(x, /*with_layout=*/false),
                       ToString(y, /*with_layout=*/false));
}

Result<std::vector<Literal>> RunOnce(const Module& module, Arguments arguments,
                                     const ExecutionOptions& execution) {
  HLO_CHECK_OK(CheckSupported(module, execution));
  CpuOptions cpu;
  cpu.executions = 1;
  HLO_TRY(const std::unique_ptr<Executable> program, CompileForCpu(module, cpu));
  HLO_TRY(ExecutionResult result, program->Run(std::move(arguments), execution));
  return std::move(result.results);
}

/// Both runs and the comparison of every output on every device.
Status Compare(const Module& left, const Module& right, DiffEquivalence& verdict) {
  const RunOptions options;
  HLO_TRY(const DeviceCount devices, CountDevices(left, options));
  HLO_TRY(const DeviceCount others, CountDevices(right, options));
  if (devices.total() != others.total())
    return Error("usage-devices", {}, "the modules run on {0} and {1} devices", devices.total(),
                 others.total());
  ArgumentSource source(options, left, devices);
  HLO_CHECK_OK(source.Read());
  HLO_TRY(const Arguments arguments, source.Make(0));
  ExecutionOptions execution;
  execution.replica_count = devices.replicas;
  execution.partition_count = devices.partitions;
  HLO_TRY(const std::vector<Literal> expected, RunOnce(left, arguments, execution));
  HLO_TRY(const std::vector<Literal> actual, RunOnce(right, arguments, execution));
  HLO_TRY(const Tolerances tolerances, Tolerances::Parse(options));
  verdict.seed = source.seed();
  verdict.verdict = DiffVerdict::Equal;
  for (const OutputLeaf& leaf : OutputLeaves(left)) {
    ++verdict.outputs;
    for (size_t d = 0; d < expected.size(); ++d) {
      OutputComparison c{leaf.Label(), PartAt(actual[d], leaf.index), PartAt(expected[d], leaf.index), {}};
      c.result = hlo::Compare(c.actual, c.expected, tolerances.For(leaf.shape.element_type(), leaf.name));
      verdict.max_abs = std::max(verdict.max_abs, c.result.max_abs);
      verdict.max_rel = std::max(verdict.max_rel, c.result.max_rel);
      if (c.result.matched()) continue;
      verdict.verdict = DiffVerdict::Different;
      llvm::raw_string_ostream os(verdict.details);
      PrintMismatch(os, "equivalence", "new", "old", c, /*brief=*/false);
    }
  }
  return {};
}

}  // namespace

Result<DiffEquivalence> CheckEquivalence(const Module& left, const Module& right, DiagnosticSink& sink) {
  DiffEquivalence verdict;
  verdict.reason = Obstacle(left, right);
  if (!verdict.reason.empty()) return verdict;
  sink.progress().Update([] { return std::string("running both modules"); });
  if (auto status = Compare(left, right, verdict); !status) {
    if (Interrupted()) return Error(std::move(status).error());
    verdict = {};
    verdict.reason = status.error().message;
  }
  return verdict;
}

void WriteEquivalence(llvm::raw_ostream& os, const DiffEquivalence& e) {
  if (e.verdict == DiffVerdict::NotRun) {
    os << "equivalence: not checked: " << e.reason << '\n';
    return;
  }
  os << e.details << "equivalence: the modules " << (e.verdict == DiffVerdict::Equal ? "agree" : "DISAGREE")
     << llvm::formatv(" on random arguments (seed {0}, {1} output{2}, ", e.seed, e.outputs,
                      e.outputs == 1 ? "" : "s");
  if (e.max_abs == 0 && e.max_rel == 0 && e.verdict == DiffVerdict::Equal)
    os << "no errors)\n";
  else
    os << "largest error abs " << llvm::format("%.2g", e.max_abs) << " rel "
       << llvm::format("%.2g", e.max_rel) << ")\n";
}

}  // namespace hlo
