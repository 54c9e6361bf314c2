#include "passes/rewrite/driver.h"

#include "passes/analysis/side_effects.h"
#include "passes/rewrite/edit.h"

namespace hlo {
namespace {

constexpr size_t kStepsPerInstruction = 50;  // as often as XLA repeats a whole visit
constexpr size_t kInterruptPeriod = 4096;    // visits
constexpr size_t kManyUsers = 256;

bool IsInexactType(const Shape& shape) {
  return shape.IsArray() && (IsFloat(shape.element_type()) || IsComplex(shape.element_type()));
}

/// Floats or complex numbers go into the result.
bool ConcernsFloats(const Instruction& inst) {
  return IsInexactType(inst.shape()) ||
         llvm::any_of(inst.operands(), [](const Instruction* o) { return IsInexactType(o->shape()); });
}

/// Layouts are logical as a rule: a new instruction may take the layout of what it replaces, unless its
/// meaning depends on layouts or, where layouts count, its operands lie otherwise and it cannot change
/// layouts.
void AdoptLayout(const Instruction& old, Instruction& by, bool layout_sensitive) {
  if (!by.shape().IsArray() || by.shape() == old.shape() || by.kind() == OpKind::Bitcast ||
      by.kind() == OpKind::Constant || !Same(old.shape(), by.shape(), {.dynamic = true}))
    return;
  const Layout& layout = old.shape().layout();
  const bool fits = by.info().Is(kReshapesLayout) || llvm::all_of(by.operands(), [&](const Instruction* o) {
                      const Shape& shape = o->shape();
                      return !shape.IsArray() || shape.rank() != by.shape().rank() ||
                             shape.layout().minor_to_major == layout.minor_to_major;
                    });
  if (fits || !layout_sensitive) by.set_shape(old.shape());
}

/// Arithmetic on f8e8m0fnu, which has neither zero nor sign: no law holds for it.
bool ConcernsScales(const Instruction& inst) {
  auto is_scale = [](const Instruction* i) {
    return i->shape().IsArray() && i->shape().element_type() == ElementType::F8E8M0FNU;
  };
  const OpCategory category = inst.info().category;
  return (category <= OpCategory::Comparison || category == OpCategory::Communication) &&
         (is_scale(&inst) || llvm::any_of(inst.operands(), is_scale));
}

}  // namespace

RuleIndex::RuleIndex(const std::vector<llvm::ArrayRef<Rule>>& tables) {
  for (const auto& table : tables)
    for (const Rule& rule : table) entries_.emplace_back(rule);
  by_kind_.resize(AllOps().size());
  for (const Entry& entry : entries_) {
    const auto kinds = entry.rule->pattern.kinds();
    if (kinds.empty())
      for (auto& list : by_kind_) list.push_back(&entry);
    for (const OpKind kind : kinds) by_kind_[static_cast<size_t>(kind)].push_back(&entry);
  }
}

Result<bool> RewriteDriver::Run(Computation& computation) {
  const std::vector<Instruction*> order = computation.PostOrder();
  size_t steps = order.size() * kStepsPerInstruction + 1000;
  bool changed = false;
  size_t visits = 0;
  auto visit = [&](Instruction* inst) -> Status {
    if (++visits % kInterruptPeriod == 0) HLO_CHECK_OK(context_.CheckInterrupt());
    while (steps > 0 && Visit(inst)) {
      changed = true;
      --steps;
      if (removed_.contains(inst)) break;
    }
    return {};
  };
  for (Instruction* inst : order)
    if (!removed_.contains(inst)) HLO_CHECK_OK(visit(inst));
  for (size_t i = 0; fixed_point_ && i < worklist_.size() && steps > 0; ++i) {
    Instruction* inst = worklist_[i];
    queued_.erase(inst);
    --steps;
    if (!removed_.contains(inst)) HLO_CHECK_OK(visit(inst));
  }
  if (steps == 0) {
    Diagnostic warning = MakeError("rewrite-limit", computation.loc(),
                                   "rules kept firing in computation '{0}'; stopped after {1} rewrites",
                                   computation.name(), context_.rewrites());
    warning.severity = Severity::Warning;
    context_.Report(std::move(warning));
  }
  worklist_.clear();
  queued_.clear();
  removed_.clear();
  return changed;
}

bool RewriteDriver::MayFire(const Rule& rule, const Instruction& inst) const {
  if (ConcernsScales(inst)) return false;
  if (!rule.licence.exact() && ConcernsFloats(inst)) {
    const RewritePolicy& policy = context_.policy();
    if (policy.strict_fp || (rule.licence.needs_fast_math && !policy.fast_math)) return false;
  }
  const RewriteControls& controls = context_.controls();
  if (!controls.enabled_rules.empty() && !controls.enabled_rules.contains(rule.name)) return false;
  if (!controls.disabled_rules.empty() && controls.disabled_rules.contains(rule.name)) return false;
  if (!controls.rule_limit.empty())
    if (const auto left = controls.rule_limit.find(rule.name); left != controls.rule_limit.end())
      return left->second > 0;
  return true;
}

bool RewriteDriver::Visit(Instruction* inst) {
  // A dead instruction is not worth a rewrite.
  if (inst->users().empty() && IsDead(*inst)) {
    RemoveDead(inst);
    return true;
  }
  return llvm::any_of(rules_.For(inst->kind()),
                      [&](const RuleIndex::Entry* entry) { return Try(*entry, inst); });
}

bool RewriteDriver::Try(const RuleIndex::Entry& entry, Instruction* inst) {
  for (const Pattern& variant : entry.Variants()) {
    std::array<Instruction*, Pattern::kSlots> bound{};
    if (!variant.Matches(*inst, bound)) continue;
    const Rule& rule = *entry.rule;
    if (!MayFire(rule, *inst)) return false;
    Match m(inst, context_, options_);
    m.bound = bound;
    m.layout_sensitive = layout_sensitive_;
    if (!llvm::all_of(rule.guards, [&](Guard guard) { return guard(m); })) continue;

    Instruction* const before = inst->prev();
    Module& module = *inst->parent()->module();
    const size_t computations = module.computations().size();
    Instruction* by = Build(m, rule);
    Instruction* first_fresh = before ? before->next() : inst->parent()->first();
    bool fresh = false;
    for (Instruction* i = first_fresh; i != inst; i = i->next()) {
      removed_.erase(i);  // may live where a removed one lived
      fresh |= i == by;
    }
    if (fresh) AdoptLayout(*inst, *by, layout_sensitive_);
    if (by && by != inst && MayReplace(*inst, *by, fresh) && context_.TakeRewrite(rule.name, *inst, *by)) {
      if (auto left = context_.controls().rule_limit.find(rule.name);
          left != context_.controls().rule_limit.end())
        --left->second;
      context_.Count(rule.name);
      Substitute(inst, by, first_fresh);
      for (Instruction* done : m.superseded)
        if (done->users().empty() && !done->IsRoot()) {
          removed_.insert(done);
          done->parent()->Remove(done);
        }
      return true;
    }
    // Take back what was made, users before operands. It may have lived where a removed one lived that is
    // queued.
    for (Instruction* i = inst->prev(); i != before;) {
      Instruction* const earlier = i->prev();
      if (i->users().empty()) {
        removed_.insert(i);
        inst->parent()->Remove(i);
      }
      i = earlier;
    }
    while (module.computations().size() > computations && module.computations().back()->callers().empty())
      module.RemoveLastComputation();
  }
  return false;
}

bool RewriteDriver::MayReplace(const Instruction& old, const Instruction& by, bool fresh) const {
  const bool same = layout_sensitive_ ? old.shape() == by.shape()
                                      : Same(old.shape(), by.shape(), {.layout = false, .dynamic = true});
  if (!same || (!layout_sensitive_ && old.shape() != by.shape() && LayoutIsObserved(old))) return false;
  if (fresh || !old.has_extras()) return true;
  const InstructionExtras& extras = old.extras();
  if (!extras.control_predecessors.empty()) return false;
  // What has no sharding gets that of what it replaces.
  return !extras.sharding || !by.extras().sharding || *by.extras().sharding == *extras.sharding;
}

Instruction* RewriteDriver::Build(Match& m, const Rule& rule) {
  if (const auto* function = std::get_if<ReplacementFn>(&rule.replacement)) return (*function)(m);
  return BuildPattern(m, std::get<Pattern>(rule.replacement));
}

Instruction* RewriteDriver::BuildPattern(Match& m, const Pattern& pattern) {
  // A constant would not have the run-time sizes of a dynamic result.
  if (pattern.has_value())
    return m.shape().HasDynamicDimension() ? nullptr : m.make.Full(m.shape(), pattern.value());
  if (pattern.kinds().empty()) return m[pattern];
  llvm::SmallVector<Instruction*, 3> operands;
  for (const Pattern& operand : pattern.operands()) {
    operands.push_back(BuildPattern(m, operand));
    if (!operands.back()) return nullptr;
  }
  return m.make.Add(pattern.kinds().front(), operands);
}

void RewriteDriver::Substitute(Instruction* old, Instruction* by, Instruction* first_fresh) {
  for (Instruction* i = first_fresh; i != old; i = i->next()) Push(i);
  const llvm::SmallVector<Instruction*, 8> moved(old->users().begin(), old->users().end());
  ReplaceWith(old, by);
  // Rules may look at other users of an operand; where there are many of them, only at those that came.
  const bool many = by->users().size() > kManyUsers;
  for (Instruction* user : many ? llvm::ArrayRef<Instruction*>(moved) : by->users()) Push(user);
  RemoveDead(old);
}

void RewriteDriver::Push(Instruction* inst) {
  removed_.erase(inst);
  if (queued_.insert(inst).second) worklist_.push_back(inst);
}

void RewriteDriver::RemoveDead(Instruction* inst) {
  llvm::SmallVector<Instruction*, 8> touched;
  RemoveIfDead(inst, [&](Instruction* dead) {
    removed_.insert(dead);
    touched.append(dead->operands().begin(), dead->operands().end());
  });
  // Where a value lost all users but one, rules that ask for a sole use may fit now.
  for (Instruction* operand : touched)
    if (!removed_.contains(operand) && operand->users().size() == 1) Push(operand->users()[0]);
}

}  // namespace hlo
