// Parts of the verifier, one per concern; private to ir/verify*.cc.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "ir/infer/check.h"
#include "ir/module.h"
#include "ir/support/name_hash.h"
#include "ir/verify.h"
#include "llvm/ADT/DenseSet.h"

namespace hlo::verify {

/// Where the parts put what they find.
class Report {
 public:
  Report(const Module& module, const VerifyOptions& options) : module_(module), options_(options) {}
  [[nodiscard]] const Module& module() const { return module_; }
  [[nodiscard]] const VerifyOptions& options() const { return options_; }
  /// True once max_errors are there.
  [[nodiscard]] bool full() const {
    return options_.max_errors != 0 && errors_.size() >= options_.max_errors;
  }

  /// Says in words where the instruction is if its location is no text.
  void Add(Diagnostic diagnostic, const Instruction* about = nullptr);
  template <class... Args>
  Diagnostic& Error(DiagnosticId id, const Instruction& inst, const char* format, Args&&... args) {
    Add(AtPart(MakeError(id, inst.loc(), format, std::forward<Args>(args)...), inst), &inst);
    return Last();
  }
  template <class... Args>
  Diagnostic& Error(DiagnosticId id, const Computation& computation, const char* format, Args&&... args) {
    Add(MakeError(id, computation.loc(), format, std::forward<Args>(args)...));
    return Last();
  }
  /// About the module's header.
  template <class... Args>
  Diagnostic& ModuleError(DiagnosticId id, const char* format, Args&&... args) {
    Diagnostic d = MakeError(id, {}, format, std::forward<Args>(args)...);
    d.loc = HeaderLoc(d.message);
    Add(std::move(d));
    return Last();
  }
  /// Tuple shapes of the module whose arrays have been found right.
  [[nodiscard]] bool IsSound(const Shape& tuple) const {
    return sound_.contains(tuple.tuple_shapes().data());
  }
  void SetSound(const Shape& tuple) { sound_.insert(tuple.tuple_shapes().data()); }
  /// The place that remembers whether this array was found right lately: it was if its sizes are there, as
  /// copies of a shape share them.
  const int64_t*& SoundArray(const Shape& array) {
    const auto at = reinterpret_cast<uintptr_t>(array.dims().data());
    return sound_arrays_[(at >> 4 ^ at >> 10) % sound_arrays_.size()];
  }

  std::vector<Diagnostic> Take() { return std::move(errors_); }

 private:
  /// The module attribute that the message quotes first, or else the word HloModule.
  [[nodiscard]] Loc HeaderLoc(llvm::StringRef message) const;
  /// The error just added; a scratch one if it was dropped because of max_errors.
  Diagnostic& Last() { return last_kept_ ? errors_.back() : scratch_; }

  const Module& module_;
  const VerifyOptions& options_;
  std::vector<Diagnostic> errors_;
  llvm::DenseSet<const Shape*> sound_;  // by the place of their elements, which copies share
  std::array<const int64_t*, 64> sound_arrays_{};
  Diagnostic scratch_;
  bool last_kept_ = false;
};

// Whole module (verify_module.cc).
/// Entry layout, aliases, donors, stack tables.
void VerifyHeader(Report& report);
/// Schedules cover the computations that need one, in dependency order.
void VerifySchedules(Report& report);
/// Called computations form no cycle; `callers` are all instructions that call.
void VerifyNoRecursion(llvm::ArrayRef<const Instruction*> callers, Report& report);

/// Collects names and finds out cheaply whether one of them repeats.
class NameCheck {
 public:
  explicit NameCheck(int64_t count);
  /// The slot is fetched until the next name is added.
  void Add(llvm::StringRef name) {
    Enter();
    waiting_ = HashName(name);
    waits_ = true;
    __builtin_prefetch(&slots_[waiting_ >> shift_], /*rw=*/1);
  }
  /// Some name may repeat.
  [[nodiscard]] bool suspicious() {
    Enter();
    return suspicious_;
  }

 private:
  void Enter() {
    if (!std::exchange(waits_, false)) return;
    const uint32_t rest = static_cast<uint32_t>(waiting_) | 1;  // 0 marks a free slot
    size_t at = waiting_ >> shift_;
    while (slots_[at] != 0 && slots_[at] != rest) at = (at + 1) & (slots_.size() - 1);
    suspicious_ |= slots_[at] == rest;
    slots_[at] = rest;
  }

  std::vector<uint32_t> slots_;  // low halves of hashes, whose high bits give the place; a power of two
  int shift_ = 0;
  uint64_t waiting_ = 0;  // hash of the name added last, if waits_
  bool waits_ = false;
  bool suspicious_ = false;
};
/// Reports the names that repeat.
void ReportRepeatedNames(Report& report);

// One computation (verify_computation.cc).
/// Root and parameters.
void VerifyComputation(const Computation& computation, Report& report);
/// Instructions do not depend on themselves.
void VerifyAcyclic(const Computation& computation, Report& report);

// One instruction; the shape rule has been run before.
void VerifySharding(const Instruction& inst, Report& report);  // verify_sharding.cc
void VerifyOrigin(const Instruction& inst, Report& report);    // verify.cc
void VerifyFusion(const Instruction& inst, Report& report);    // verify_calls.cc
void VerifyWhile(const Instruction& inst, Report& report);
void VerifyConditional(const Instruction& inst, Report& report);
void VerifyThread(const Instruction& inst, Report& report);
void VerifyCustomCall(const Instruction& inst, Report& report);
void VerifyBitcast(const Instruction& inst, Report& report);
void VerifyAsync(const Instruction& inst, Report& report);  // verify_async.cc
void VerifyPair(const Instruction& inst, Report& report);
void VerifySendRecv(const Instruction& inst, Report& report);
void VerifyGroups(const Instruction& inst, Report& report);  // verify_collective.cc
void VerifyPermute(const Instruction& inst, Report& report);

/// Rules over all transfers and collectives of the module: channels, constrain_layout.
void VerifyChannels(llvm::ArrayRef<const Instruction*> communication, Report& report);

/// Whether both parts of the alias exist and hold the same.
bool AliasFits(const Instruction& inst, const OutputOperandAlias& alias, const Shape& output);
/// Aliases of outputs and operands: indices exist, shapes agree.
void VerifyAliasing(const Instruction& inst, const Aliasing& aliasing, const Shape& output, Report& report);

}  // namespace hlo::verify
