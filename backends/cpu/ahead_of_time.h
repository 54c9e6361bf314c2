// Modules as object files for programs in C, without this library.
#pragma once
#include "backends/cpu/compile.h"

namespace hlo {

/// A function of C as tools.md §2.4 wants it: one thread, no allocation, all memory from its caller.
struct AheadOfTime {
  std::string object;       // ELF, with one symbol
  std::string header;       // C and C++
  std::string description;  // JSON, hlo.aot/1
};

/// `symbol`: of the function; empty: the module's name, as far as C takes it. Arrays are passed as they lie
/// in a Literal: row-major, elements narrower than a byte one per byte, signs extended; the leaves of tuples
/// one after the other. Errors: unsupported-ahead-of-time, naming the first instruction that this library
/// would have to compute; those of CompileForCpu.
Result<AheadOfTime> CompileAheadOfTime(const Module& module, const CpuOptions& options,
                                       llvm::StringRef symbol = "");

}  // namespace hlo
