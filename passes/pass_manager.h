// Runs pipelines over a module and tells observers what happens.
#pragma once
#include <chrono>

#include "llvm/ADT/DenseMap.h"
#include "passes/pipeline.h"

namespace hlo {

/// One execution of a pass.
struct PassExecution {
  const PassInfo* pass = nullptr;
  const PipelineItem* item = nullptr;
  std::string pipeline;  // names of the enclosing lists, outermost first: `simplify/fix`
  int64_t number = 0;    // from 1, counting executions of the run
  int64_t round = 1;     // of the innermost enclosing fixed point, from 1
  bool changed = false;
  int64_t rewrites = 0;
  int64_t instructions_before = 0, instructions_after = 0;
  std::chrono::steady_clock::time_point start;
  std::chrono::nanoseconds time{0};
  PassCounters counters;
};

/// Sees the steps of a run. An error stops the run and becomes its result.
class PassObserver {
 public:
  virtual ~PassObserver() = default;
  virtual Status BeforePipeline(const Module& module) { return (void)module, Status(); }
  virtual Status BeforePass(const Module& module, const PassExecution& execution) {
    return (void)module, (void)execution, Status();
  }
  virtual Status AfterPass(const Module& module, const PassExecution& execution) {
    return (void)module, (void)execution, Status();
  }
  virtual Status AfterPipeline(const Module& module) { return (void)module, Status(); }
  /// A pass failed or left the module in a state that an observer rejects; `execution` says which.
  virtual void OnFailure(const Module& module, const PassExecution& execution) {
    (void)module, (void)execution;
  }
};

/// What of a pipeline runs.
struct PassSelection {
  int64_t pass_limit = -1;         // only the first N executions; -1: all
  llvm::StringSet<> disabled;      // passes and pipelines, canonical names (PassInfo::name)
  llvm::StringSet<> enabled_only;  // if not empty: no others, whole pipelines too,
  llvm::StringSet<> required;      // these passes run whatever the others say
  std::string start_from;          // leave out passes before the first of this name
};

/// Executes pipelines. Results are independent of observers.
///
/// In a fixed point a pass is not run again while the module is still what it was when the pass last found
/// nothing to do. Not reaching the fixed point within the limit is the warning fixpoint-limit, which
/// names the passes that undo each other.
class PassManager {
 public:
  PassManager(RewriteControls& controls, PassSelection selection)
      : controls_(controls), selection_(std::move(selection)) {}
  void AddObserver(PassObserver& observer) { observers_.push_back(&observer); }
  /// Compare fingerprints around every pass and fail (pass-changed-flag) where the returned flag lies.
  void set_check_changed_flag(bool check) { check_changed_flag_ = check; }

  /// Verify the module after every pass that changed it; layouts too, while they hold since
  /// layout-assignment and passes say that they preserve them.
  void set_verify_each(bool verify) { verify_each_ = verify; }

  /// True if the module changed. On errors the module is what the failing pass left.
  Result<bool> Run(Module& module, llvm::ArrayRef<PipelineItem> items);
  /// What was executed so far, in order.
  [[nodiscard]] llvm::ArrayRef<PassExecution> executions() const { return executions_; }
  /// `pass 'dce' (execution 3)` by execution number, for VerifyOptions::makers.
  [[nodiscard]] llvm::ArrayRef<std::string> makers() const { return makers_; }

 private:
  Result<bool> RunItems(Module& module, llvm::ArrayRef<PipelineItem> items, const std::string& pipeline,
                        int64_t round);
  Result<bool> RunFixedPoint(Module& module, const PipelineItem& item, const std::string& pipeline);
  Result<bool> RunPass(Module& module, const PipelineItem& item, const std::string& pipeline, int64_t round);
  Result<bool> Execute(Module& module, const PipelineItem& item, PassExecution& execution);
  void WarnNoFixedPoint(const PipelineItem& item, size_t round_begin);
  /// `pipeline`: where the pass stands (PassExecution::pipeline).
  [[nodiscard]] bool Selected(llvm::StringRef name, llvm::StringRef pipeline) const;
  /// Error usage-pass-requirement if the module lacks what the pass is made for.
  Status CheckRequired(const Module& module, const PassExecution& execution) const;
  Status VerifyAfter(const Module& module, const PassExecution& execution);
  /// Facts that no look at the module can tell, after a pass.
  void UpdateFacts(const PassInfo& pass, bool changed);

  RewriteControls& controls_;
  PassSelection selection_;
  std::vector<PassObserver*> observers_;
  std::vector<PassExecution> executions_;
  std::vector<std::string> makers_;
  bool check_changed_flag_ = false;
#ifdef NDEBUG
  bool verify_each_ = false;
#else
  bool verify_each_ = true;
#endif
  bool layouts_hold_ = false, dynamic_flags_hold_ = false;  // for VerifyAfter
  bool started_ = false;
  unsigned facts_ = kNoFacts;  // of those that only the passes run so far can tell
  uint64_t version_ = 0;       // grows with every change of the module
  /// By pass and option text: the version at which it last found nothing to do.
  llvm::StringMap<uint64_t> idle_at_;
};

}  // namespace hlo
