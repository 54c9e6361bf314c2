// Applies rules to computations until none fits.
#pragma once
#include <deque>
#include <mutex>

#include "ir/support/result.h"
#include "llvm/ADT/DenseSet.h"
#include "passes/rewrite/rule.h"

namespace hlo {

/// Rules by the opcode of the instruction they replace, in table order; made once.
class RuleIndex {
 public:
  explicit RuleIndex(const std::vector<llvm::ArrayRef<Rule>>& tables);
  class Entry {
   public:
    explicit Entry(const Rule& r) : rule(&r) {}
    const Rule* const rule;
    /// The pattern with operands of commutative ops in both orders. Made when first asked for: most modules
    /// have few of the opcodes.
    [[nodiscard]] llvm::ArrayRef<Pattern> Variants() const {
      std::call_once(made_, [this] { variants_ = rule->pattern.Commuted(); });
      return variants_;
    }

   private:
    mutable std::once_flag made_;
    mutable std::vector<Pattern> variants_;
  };
  [[nodiscard]] llvm::ArrayRef<const Entry*> For(OpKind kind) const {
    return by_kind_[static_cast<size_t>(kind)];
  }
  [[nodiscard]] const std::deque<Entry>& entries() const { return entries_; }

 private:
  std::deque<Entry> entries_;
  std::vector<std::vector<const Entry*>> by_kind_;
};

/// One run over computations with one set of rules and options.
///
/// An existing value replaces the root only if the shapes are equal (layout included when layout
/// sensitive), the root has no control predecessors and no sharding gets lost (passes.md §3, ≅); the same
/// holds of the shape of a new one. Instructions that become dead are removed at once. A computation is
/// visited in post-order, then whatever changed is visited again; a rule that keeps firing is stopped after
/// a number of steps proportional to the size, with the warning rewrite-limit.
class RewriteDriver {
 public:
  /// `options` are what Match::options() gives the rules.
  RewriteDriver(const RuleIndex& rules, PassContext& context, const void* options, bool layout_sensitive)
      : rules_(rules), context_(context), options_(options), layout_sensitive_(layout_sensitive) {}

  /// Visit each instruction once and leave what a rewrite makes for another run (default: true).
  void set_run_to_fixed_point(bool fixed_point) { fixed_point_ = fixed_point; }
  /// True if the computation changed.
  Result<bool> Run(Computation& computation);

 private:
  bool Visit(Instruction* inst);
  bool Try(const RuleIndex::Entry& entry, Instruction* inst);
  Instruction* Build(Match& m, const Rule& rule);
  Instruction* BuildPattern(Match& m, const Pattern& pattern);
  [[nodiscard]] bool MayFire(const Rule& rule, const Instruction& inst) const;
  [[nodiscard]] bool MayReplace(const Instruction& old, const Instruction& by, bool fresh) const;
  void Substitute(Instruction* old, Instruction* by, Instruction* first_fresh);
  void Push(Instruction* inst);
  void RemoveDead(Instruction* inst);

  const RuleIndex& rules_;
  PassContext& context_;
  const void* options_;
  bool layout_sensitive_;
  bool fixed_point_ = true;
  std::vector<Instruction*> worklist_;
  llvm::DenseSet<const Instruction*> queued_, removed_;
};

}  // namespace hlo
