// What a change costs: work, memory and kernels of two modules (hlo-diff --cost).
#pragma once
#include "tools/common/sink.h"
#include "tools/diff/compare/report.h"

namespace hlo {

/// Counts of one module. Work is that of CostAnalysis: loop bodies count once. `memory_bytes` is what the
/// buffer assignment plans in all, of the module as it is if it is scheduled, else after copy insertion and
/// scheduling; -1 if it cannot be planned, which is reported as a warning.
DiffCost CountCost(const Module& module, DiagnosticSink& sink);

/// Instructions that run on their own, in the entry and in what it calls: not inside fusions or reducers,
/// neither control flow nor what moves no data (parameters, constants, tuples, bitcasts).
int64_t CountKernels(const Module& module);

/// `cost: FLOPs 3.22G -> 3.22G   bytes 141 MB -> 96 MB (-32%)   memory …   kernels 40 -> 14`, with newline.
void WriteDiffCost(llvm::raw_ostream& os, const DiffCost& left, const DiffCost& right);

}  // namespace hlo
