#include "tools/diff/cost.h"

#include <cmath>

#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/Format.h"
#include "passes/analysis/buffer_assignment.h"
#include "passes/analysis/cost.h"
#include "tools/opt/passes.h"

namespace hlo {
namespace {

/// What moves no data though it has operands and results.
constexpr OpKind kMovesNothing[] = {OpKind::Tuple, OpKind::AsyncUpdate, OpKind::OptimizationBarrier};

bool RunsKernel(const Instruction& inst) {
  return !CostsNothing(inst.kind()) && !inst.info().Is(kDone) &&
         !llvm::is_contained(kMovesNothing, inst.kind());
}

void CountKernels(const Computation& computation, llvm::DenseSet<const Computation*>& seen,
                  int64_t& kernels) {
  if (!seen.insert(&computation).second) return;
  for (const Instruction* inst : computation.instructions()) {
    if (inst->info().Is(kRuns))  // step by step; the call costs nothing itself
      for (const Computation* callee : inst->callees()) CountKernels(*callee, seen, kernels);
    else if (RunsKernel(*inst))
      ++kernels;
  }
}

/// Bytes of all allocations of the plan; -1 and a warning if there is none.
int64_t PlannedBytes(const Module& module, DiagnosticSink& sink) {
  const std::unique_ptr<Module> copy = module.Clone();
  auto planned = [&]() -> Result<int64_t> {
    HLO_CHECK_OK(MakeSchedule(*copy, VerifyMode::None, sink));
    HLO_TRY(const BufferAssignment assignment, BufferAssignment::Compute(*copy));
    return assignment.Total();
  }();
  if (planned) return *planned;
  Diagnostic warning = std::move(planned).error();
  warning.severity = Severity::Warning;
  warning.Note("option '--cost': the memory of module '" + module.name().str() + "' is not known");
  sink.Report(std::move(warning));
  return -1;
}

/// `3.22G`: three digits and a power of 1000.
std::string Scaled(double count) {
  static constexpr llvm::StringLiteral kUnits[] = {"", "K", "M", "G", "T", "P", "E"};
  size_t unit = 0;
  while (count >= 999.5 && unit + 1 < std::size(kUnits)) {
    count /= 1000;
    ++unit;
  }
  const int decimals = unit == 0 || count >= 99.95 ? 0 : count >= 9.995 ? 1 : 2;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.*f", decimals, count) << kUnits[unit];
  return text;
}

/// ` (-32%)`, or nothing if the change is smaller than half a percent.
std::string Percent(double left, double right) {
  if (left <= 0 || left == right) return "";
  const double percent = std::round((right - left) / left * 100);
  if (percent == 0) return "";
  return llvm::formatv(" ({0}{1}%)", percent > 0 ? "+" : "", static_cast<int64_t>(std::min(percent, 1e9)));
}

std::string Bytes(double bytes) {
  return bytes < 0 ? "unknown" : FormatBytes(static_cast<int64_t>(std::min(bytes, 9e18)), /*decimal=*/true);
}

}  // namespace

int64_t CountKernels(const Module& module) {
  llvm::DenseSet<const Computation*> seen;
  int64_t kernels = 0;
  if (module.entry()) CountKernels(*module.entry(), seen, kernels);
  return kernels;
}

DiffCost CountCost(const Module& module, DiagnosticSink& sink) {
  DiffCost result;
  result.kernels = CountKernels(module);
  if (module.entry()) {
    const Cost total = CostAnalysis(module).Of(*module.entry());
    result.flops = total.flops;
    result.transcendentals = total.transcendentals;
    result.bytes = total.bytes;
  }
  result.memory_bytes = PlannedBytes(module, sink);
  return result;
}

void WriteDiffCost(llvm::raw_ostream& os, const DiffCost& left, const DiffCost& right) {
  const auto part = [&](llvm::StringRef name, double l, double r, auto&& text) {
    os << name << ' ' << text(l) << " -> " << text(r) << (l < 0 || r < 0 ? "" : Percent(l, r));
  };
  part("cost: FLOPs", left.flops, right.flops, Scaled);
  part("   transcendentals", left.transcendentals, right.transcendentals, Scaled);
  part("   bytes", left.bytes, right.bytes, Bytes);
  part("   memory", static_cast<double>(left.memory_bytes), static_cast<double>(right.memory_bytes), Bytes);
  os << "   kernels " << left.kernels << " -> " << right.kernels << '\n';
}

}  // namespace hlo
