// How kernels read their operands: what decides whether several may be one.
#pragma once
#include <optional>
#include <vector>

#include "backends/compile/machine.h"
#include "ir/module.h"

namespace hlo::compile {

/// How an operand is read, comparable between kernels of the same nest: loops of the nest by their number,
/// others by how often they run.
using Reading = std::vector<int64_t>;

/// What joining asks about a kernel.
struct KernelFacts {
  Dims nest;
  int64_t reductions = 0;
  int64_t folded = 0;                          // elements that these fold for one of the nest
  std::vector<std::vector<Reading>> readings;  // by operand
  std::vector<int64_t> between;                // by operand: bytes of it that one element of the nest takes
};

/// The results of a kernel, inside of it; `one` has room for a single one.
llvm::ArrayRef<Instruction*> OutputsOf(const Instruction& fusion, llvm::SmallVector<Instruction*, 1>& one);
/// The kernel's loops; nothing if it is none that others may join, or has more instructions.
std::optional<Dims> NestOf(const Instruction& fusion, int64_t max_instructions, const Machine& machine);
/// Of a kernel of this nest; nothing if a thread would make something before the nest, or it is hard to say.
std::optional<KernelFacts> FactsOfKernel(const Instruction& fusion, const Dims& nest, const Machine& machine);
/// Whether one of two kernels could write its result over an operand that the other reads elsewhere than
/// there.
bool KeepsFromPlace(const Instruction& a, const Instruction& b, const KernelFacts& x, const KernelFacts& y);

}  // namespace hlo::compile
