// Programs from the cache of earlier runs.
#pragma once
#include "backends/cpu/build.h"
#include "backends/cpu/object_cache.h"

namespace hlo::cpu {

/// The entry of one compilation: the same module, down to names and positions, with the same options, on the
/// same machine, by this very program. What a compilation reports is not kept: one that reports is not
/// stored.
class ProgramCache {
 public:
  /// Without effect if the options forbid a cache or limit what passes do.
  ProgramCache(const Module& module, const CpuOptions& options, const Machine& machine);
  /// The program, ready to run; null if there is none. `remark` says why an entry was left aside.
  std::unique_ptr<Program> Load(std::string& remark) const;
  /// Takes the module that the passes left, before it is built.
  void KeepModule(const Module& prepared);
  void Store(Program& program) const;

 private:
  /// Constants that are not repeated in the entry, in the order of the module.
  [[nodiscard]] std::vector<LiteralPtr> LargeLiterals() const;

  const Module& module_;
  const Machine& machine_;
  ObjectCache cache_;
  std::string key_;       // empty: no cache
  std::string prepared_;  // in binary form
};

}  // namespace hlo::cpu
