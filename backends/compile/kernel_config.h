// What passes have decided about a kernel, as it stands in HLO: a fusion with
// backend_config={"kernel":{"path":"loops","schedule":"vector i0 by 16; parallel i0"}}. Printed and read back
// it is the same kernel.
#pragma once
#include <optional>
#include <string>

#include "backends/kernel/lower.h"
#include "ir/module.h"

namespace hlo::compile {

enum class KernelPath : uint8_t {
  Loops,       // loops made of the fused computation
  Chain,       // a product, a kernel over its rows and perhaps a product of these, block by block (chains.h)
  SideBySide,  // kernels in the fused computation, each with blocks of its own (side_by_side.h)
};

struct KernelConfig {
  KernelPath path = KernelPath::Loops;
  /// Of loops: how they are run, as kernel::ParseSchedule() reads it, which has not looked at it yet.
  /// Nothing: as is best.
  std::optional<std::string> schedule = {};
  std::string problem = {};  // not empty: what there is instead of a path or a schedule
};

/// Of a fusion that is a kernel; nothing for other instructions, fusions of other compilers among them.
std::optional<KernelConfig> KernelConfigOf(const Instruction& inst);
bool IsKernel(const Instruction& inst);
/// The module is what the pipeline of a compiling backend left: it is scheduled and has kernels.
bool IsCompiled(const Module& module);
void SetKernelConfig(Instruction* fusion, const KernelConfig& config);

/// The schedule of a kernel that was changed goes.
void ForgetSchedule(Instruction* fusion);

/// A fusion of `inst` alone, in its place, that is a kernel of loops.
Instruction* WrapInKernel(Instruction* inst);
/// Moves constants of one element into the kernel: they are written into its code.
void SinkConstants(Instruction* fusion);
/// The pass fold-in-order has marked it.
bool FoldsInOrder(const Instruction& inst);

}  // namespace hlo::compile
