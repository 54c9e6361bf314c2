// Programs for the CPU from the cache of earlier runs.
#pragma once
#include "backends/compile/program_cache.h"
#include "backends/cpu/build.h"

namespace hlo::cpu {

/// The entry of one compilation, on the same machine. Without effect if the options forbid a cache or limit
/// what passes do.
class ProgramCache {
 public:
  ProgramCache(const Module& module, const CpuOptions& options, const Machine& machine);
  /// The program, ready to run; null if there is none. `remark` says why an entry was left aside.
  std::unique_ptr<Program> Load(std::string& remark) const;
  /// Takes the module that the passes left, before it is built.
  void KeepModule(const Module& prepared) { cache_.KeepModule(prepared); }
  void Store(Program& program) const;

 private:
  const Machine& machine_;
  compile::ProgramCache cache_;
};

}  // namespace hlo::cpu
