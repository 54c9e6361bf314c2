// What hlo-opt does to modules without passes: canonical names, extraction, isolation, bounded loops.
#pragma once
#include <memory>
#include <vector>

#include "ir/module.h"
#include "ir/support/result.h"
#include "tools/modules/stand_in.h"

namespace hlo {

/// A copy with computations named `computation.N` (the entry: `entry`) and instructions `opcode.N`, N
/// counting in the order of printing, which depends on structure alone: equal for modules that differ
/// only in names and order.
std::unique_ptr<Module> CanonicallyNamed(const Module& module);

/// The instruction or computation a command line names: `name` or `computation::name`, with or without
/// `%`; as written in the text or as made unique. Errors: usage-name, with candidates.
Result<const Instruction*> FindInstruction(const Module& module, llvm::StringRef name);
Result<const Computation*> FindComputation(const Module& module, llvm::StringRef name);

struct ExtractOptions {
  int64_t height = -1;                      // levels of operands kept; -1: all
  Boundary boundary = Boundary::Parameter;  // what stands in for values beyond
  int64_t kept_constant_elements = 0;       // constants beyond that stay, up to this size
  std::function<void(Diagnostic)> report;   // warnings; may be empty
};
/// A module that computes `targets`, which belong to one computation, from their operands and stand-ins.
/// Several targets give a tuple.
Result<std::unique_ptr<Module>> ExtractInstructions(const Module& module,
                                                    llvm::ArrayRef<const Instruction*> targets,
                                                    const ExtractOptions& options);
/// A module whose entry is a copy of `computation`.
std::unique_ptr<Module> ExtractComputation(const Module& module, const Computation& computation);
/// One module per instruction worth looking at alone; isomorphic ones once.
Result<std::vector<std::unique_ptr<Module>>> IsolateInstructions(const Module& module);

/// Lets every while loop run `count` times, whatever its condition says.
Status FixLoopCounts(Module& module, int64_t count);
/// Infeeds yield zeros, outfeeds their token.
Status RemoveInfeedOutfeed(Module& module);

}  // namespace hlo
