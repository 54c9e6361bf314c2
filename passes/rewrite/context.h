// What a pass may use besides the module: policy, limits, counters, traces.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ir/module.h"
#include "ir/support/result.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace hlo {

namespace compile {
struct Machine;
}

/// What the user allows rewrites to change (passes.md §3; passes/README.md lists the consequences).
struct RewritePolicy {
  bool fast_math = false;      // rewrites that need it may run
  bool strict_fp = false;      // only rewrites that are exact for every input may run
  bool deterministic = false;  // only reproducible results
};

/// Limits and observers of the rewrites of a whole run, shared by all pass executions.
struct RewriteControls {
  RewritePolicy policy;
  /// Rewrites left by pass name (`--rewrite-limit`, `--xla_fuel`); passes not named have no limit.
  llvm::StringMap<int64_t> fuel;
  /// Names of rules that must not fire (`--disable-rule`).
  llvm::StringSet<> disabled_rules;
  /// If not empty, no other rules may fire (`--enable-rules-only`).
  llvm::StringSet<> enabled_rules;
  /// Rule firings left by rule name (`--rule-limit`); rules not named have no limit.
  llvm::StringMap<int64_t> rule_limit;
  /// Threads whose computations may be changed; empty: all.
  llvm::StringSet<> execution_threads;
  /// The processor that code is made for, in LLVM's words (--mcpu, --mattr); empty: this machine.
  std::string cpu, features;
  /// Its figures, for passes that weigh what it costs (backends/compile); null: those of the backend.
  const compile::Machine* machine = nullptr;
  /// Called before a rewrite: the pass, the rule (may be empty), the instruction that is replaced and
  /// its replacement.
  std::function<void(llvm::StringRef pass, llvm::StringRef rule, const Instruction& before,
                     const Instruction& after)>
      on_rewrite;
  /// Takes remarks and warnings of passes.
  std::function<void(Diagnostic)> report;
};

/// What one execution of a pass did, besides changing the module.
using PassCounters = std::map<std::string, int64_t>;

/// An asynchronous operation of the main thread wraps the computation, which may hold one instruction only.
bool IsWrapped(const Computation& computation);

/// Handed to a pass for one execution.
class PassContext {
 public:
  PassContext(llvm::StringRef pass, RewriteControls& controls) : pass_(pass), controls_(controls) {}
  PassContext(const PassContext&) = delete;
  PassContext& operator=(const PassContext&) = delete;

  [[nodiscard]] llvm::StringRef pass() const { return pass_; }
  [[nodiscard]] const RewritePolicy& policy() const { return controls_.policy; }
  [[nodiscard]] RewriteControls& controls() const { return controls_; }

  /// Asks for leave to make one change; every change of every pass asks first. False once the limit
  /// of the pass is used up.
  bool TakeRewrite();
  /// Leave for a change that replaces `before` by `after` under a rule; tells observers.
  bool TakeRewrite(llvm::StringRef rule, const Instruction& before, const Instruction& after);
  [[nodiscard]] int64_t rewrites() const { return rewrites_; }

  /// Adds to a counter shown by `--pass-stats`.
  void Count(llvm::StringRef counter, int64_t by = 1) { counters_[counter.str()] += by; }
  [[nodiscard]] const PassCounters& counters() const { return counters_; }

  /// Fails once Ctrl-C or a timeout asks to stop; loops of more than about 10 ms call it.
  [[nodiscard]] Status CheckInterrupt() const;
  void Report(Diagnostic diagnostic) const {
    if (controls_.report) controls_.report(std::move(diagnostic));
  }

  /// The computation belongs to a thread that may be changed.
  [[nodiscard]] bool Allows(const Computation& computation) const;
  /// The computations to work on, callees before callers; bodies of fusions only if asked for. Without what
  /// asynchronous operations of the main thread wrap: that is one instruction, and has to stay one.
  [[nodiscard]] std::vector<Computation*> Computations(const Module& module, bool with_fusions = false) const;
  /// Bodies of fusions and wrapped computations too: for passes that add no instruction.
  [[nodiscard]] std::vector<Computation*> AllComputations(const Module& module) const;

 private:
  llvm::StringRef pass_;
  RewriteControls& controls_;
  int64_t rewrites_ = 0;
  PassCounters counters_;
};

}  // namespace hlo
