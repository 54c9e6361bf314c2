// What passes have decided about a kernel, as it stands in HLO: a fusion with
// backend_config={"kernel":{"path":"loops"}}. Printed and read back it is the same kernel.
#pragma once
#include <optional>
#include <string>

#include "backends/kernel/lower.h"
#include "ir/module.h"

namespace hlo::compile {

enum class KernelPath : uint8_t {
  Loops,  // loops made of the fused computation
  Chain,  // a product, a kernel over its rows and perhaps a product of these, block by block (chains.h)
};

struct KernelConfig {
  std::optional<KernelPath> path;  // nothing: a word that is none of them
  std::string word = {};           // as it is written
};

/// Of a fusion that is a kernel; nothing for other instructions, fusions of other compilers among them.
std::optional<KernelConfig> KernelConfigOf(const Instruction& inst);
bool IsKernel(const Instruction& inst);
/// The module is what the pipeline of a compiling backend left: it is scheduled and has kernels.
bool IsCompiled(const Module& module);
void SetKernelConfig(Instruction* fusion, const KernelConfig& config);

/// A fusion of `inst` alone, in its place, that is a kernel of loops.
Instruction* WrapInKernel(Instruction* inst);
/// Moves constants of one element into the kernel: they are written into its code.
void SinkConstants(Instruction* fusion);
/// The pass fold-in-order has marked it.
bool FoldsInOrder(const Instruction& inst);

}  // namespace hlo::compile
