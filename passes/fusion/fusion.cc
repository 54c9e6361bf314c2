// fusion: instruction fusion as XLA does it for CPUs (passes.md §5.2).
//
// Requires nothing. Preserves flat-calls, layouts, canonical-dots. Establishes fusions.
// Changes: producers are copied into the loops of their consumers, latest operand first, as long as that
// saves memory traffic and neither repeats expensive work nor multiplies code. Left alone: bodies of map,
// reduce, sort and the like, existing custom fusions, values with side effects or control edges.
#include <map>
#include <set>

#include "llvm/ADT/DenseSet.h"
#include "passes/analysis/fusion_facts.h"
#include "passes/analysis/side_effects.h"
#include "passes/analysis/value_facts.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/fuse.h"
#include "passes/rewrite/pattern.h"

namespace hlo {
namespace {

struct FusionOptions {
  bool may_duplicate = true;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&FusionOptions::may_duplicate>("may_duplicate",
                                              "cheap producers may go into several consumers"),
};

constexpr int64_t kMaxConcatenateOperands = 8;
constexpr int64_t kMaxMinorConcatenate = 128;  // elements along the minor dimension
constexpr int64_t kMaxReductions = 5;
constexpr int64_t kMaxCopies = 15;  // of one instruction in the emitted code
constexpr int64_t kMaxDotOperandBytes = 16 * 1024;
constexpr int64_t kMaxFused = 10000;  // instructions of one fusion
constexpr size_t kMaxPaths = 64;      // instructions looked at between a value and its users

bool IsConstantScalar(const Instruction& inst) {
  return inst.kind() == OpKind::Constant && inst.shape().ElementCount() == 1;
}

bool IsBigConcatenate(const Instruction& inst) {
  if (inst.kind() != OpKind::Concatenate) return false;
  const int64_t dimension = inst.attr<DimensionsAttrs>().dimensions[0];
  const bool minor = inst.shape().rank() > 1 && dimension == inst.shape().rank() - 1;
  return inst.operand_count() > kMaxConcatenateOperands ||
         (minor && inst.shape().dim(dimension) >= kMaxMinorConcatenate);
}

/// As IsExpensive, but for XLA's CPU code a constant makes an integer division cheap if it is the dividend.
bool IsDear(const Instruction& inst) {
  const bool divides = inst.kind() == OpKind::Divide || inst.kind() == OpKind::Remainder;
  if (!divides || !IsIntegral(inst.shape().element_type())) return IsExpensive(inst);
  return inst.operand(0)->kind() != OpKind::Constant;
}

/// A dot that is a matrix times a vector and may be emitted with what consumes it.
bool IsMatrixVectorDot(const Instruction& inst) {
  return inst.kind() == OpKind::Dot && inst.shape().rank() <= 1 && !IsComplex(inst.shape().element_type()) &&
         inst.attr<DotAttrs>().lhs_batch_dims.empty() &&
         (inst.operand(0)->shape().rank() == 2 || inst.operand(1)->shape().rank() == 2);
}

/// Copies are made in the loops of others too.
bool MayJoinLoop(const Instruction& inst) {
  return IsLoopFusible(inst) ||
         (inst.kind() == OpKind::Copy && inst.shape().IsArray() && !inst.shape().HasDynamicDimension() &&
          !inst.shape().layout().HasProperties());
}

bool CanBeOutputFused(const Instruction& producer, const Instruction& consumer) {
  return consumer.kind() == OpKind::Add && IsMatrixVectorDot(producer) && HasOneUse(producer) &&
         consumer.operand(0) != consumer.operand(1);
}

/// The users that make x read by max-reduce and by exp(x − max): copies of x might round differently.
bool FeedsSoftmax(const Instruction& inst) {
  bool reduced = false, subtracted = false;
  for (const Instruction* user : inst.users()) {
    reduced |= user->kind() == OpKind::Reduce && user->callee()->root()->kind() == OpKind::Maximum;
    if (user->kind() == OpKind::Subtract && user->operand(0) == &inst && !subtracted)
      subtracted = llvm::any_of(user->users(), [](const Instruction* u) { return u->kind() == OpKind::Exp; });
    if (reduced && subtracted) return true;
  }
  return false;
}

/// What a fusion being built knows of its instructions.
struct FusedState {
  /// Where the indices come from with which an instruction is computed, and how often its code is emitted.
  struct Emission {
    llvm::SmallVector<const Instruction*, 2> sources;
    int64_t copies = 0;
    bool reused = false;  // some element is read for several elements of the result
  };

  explicit FusedState(const Computation& fused) {
    const std::vector<Instruction*> order = fused.PostOrder();
    for (const Instruction* i : llvm::reverse(order))
      if (i->kind() != OpKind::Parameter) Add(*i);
  }
  /// All that reads it was added before.
  void Add(const Instruction& inst) {
    if (inst.IsRoot()) emission[&inst] = {{&inst}, 1, false};
    reductions += inst.kind() == OpKind::Reduce;
    updates += inst.kind() == OpKind::DynamicUpdateSlice;
    const Emission mine = emission.lookup(&inst);
    for (int64_t i = 0; i < inst.operand_count(); ++i) {
      Emission& e = emission[inst.operand(i)];
      e.reused |= mine.reused || ReusesOperand(inst, i);
      if (!inst.info().Is(kElementwise)) {
        AddSource(e, inst, CopiesOf(inst));
        continue;
      }
      for (const Instruction* source : mine.sources) AddSource(e, *source, CopiesOf(*source));
    }
  }
  [[nodiscard]] int64_t CopiesOf(const Instruction& inst) const {
    const auto at = emission.find(&inst);
    return at == emission.end() ? 1 : std::max<int64_t>(1, at->second.copies);
  }
  [[nodiscard]] bool IsReused(const Instruction& inst) const {
    const auto at = emission.find(&inst);
    return at != emission.end() && at->second.reused;
  }

  /// The copy of a producer takes the place of the parameter that stood for it.
  void Replace(const Instruction& parameter, const Instruction& copy) {
    Emission mine = emission.lookup(&parameter);
    emission.erase(&parameter);
    emission[&copy] = std::move(mine);
    Add(copy);
  }

  llvm::DenseMap<const Instruction*, Emission> emission;  // of parameters too
  int64_t reductions = 0;
  int64_t updates = 0;  // dynamic-update-slices

 private:
  /// Beyond kMaxCopies it does not matter how many there are.
  static void AddSource(Emission& e, const Instruction& source, int64_t copies) {
    if (e.copies > kMaxCopies || llvm::is_contained(e.sources, &source)) return;
    e.sources.push_back(&source);
    e.copies += copies;
  }
};

class Fuser {
 public:
  Fuser(Computation& computation, const FusionOptions& options, PassContext& context)
      : computation_(computation), options_(options), context_(context) {}

  Result<bool> Run() {
    const std::vector<Instruction*> order = computation_.PostOrder();
    int64_t place = 0;
    for (Instruction* i : order) {
      places_[i] = place++;
      if (i->users().size() > 1 && FeedsSoftmax(*i)) softmax_inputs_.insert(i);
    }
    for (const Instruction* i : order) {
      if (++visited_ % 1024 == 0) HLO_CHECK_OK(context_.CheckInterrupt());
      if (i->users().size() > 1 && !IsDear(*i) && !ReadsNoMore(*i) && !VanishesEverywhere(*i))
        kept_.insert(i);
    }
    for (Instruction* i : llvm::reverse(order)) {
      if (++visited_ % 1024 == 0) HLO_CHECK_OK(context_.CheckInterrupt());
      if (gone_.contains(i) || !MayConsume(*i)) continue;
      Grow(i);
    }
    return changed_;
  }

 private:
  static bool MayConsume(const Instruction& inst) {
    if (inst.kind() == OpKind::Fusion) return inst.attr<FusionAttrs>().kind == FusionKind::Loop;
    return !HasSideEffect(inst) && inst.extras().control_predecessors.empty() &&
           (MayJoinLoop(inst) || IsMatrixVectorDot(inst));
  }

  /// What it reads cannot vanish in it.
  static bool Blocks(const Instruction& user) {
    return !MayConsume(user) || user.kind() == OpKind::Dot || IsBigConcatenate(user);
  }
  /// Fusing takes away what makes it do so, and never brings it about.
  bool StillFeedsSoftmax(const Instruction& producer) {
    if (!softmax_inputs_.contains(&producer)) return false;
    if (FeedsSoftmax(producer)) return true;
    softmax_inputs_.erase(&producer);
    return false;
  }

  /// Fuses producers into one consumer until none fits.
  void Grow(Instruction* consumer) {
    candidates_.clear();
    AddCandidates(consumer->operands());
    if (consumer->kind() == OpKind::Fusion && !candidates_.empty()) Open(consumer);
    while (!candidates_.empty()) {
      Instruction* producer = candidates_.extract(candidates_.begin()).value().second;
      const std::optional<FusionKind> kind = ShouldFuse(*producer, *consumer);
      if (!kind) continue;
      if (growing_ && context_.controls().on_rewrite) growing_->Finish();  // it looks at the fusion
      if (!context_.TakeRewrite({}, *producer, *consumer)) break;
      consumer = Fuse(producer, consumer, *kind);
      changed_ = true;
    }
    growing_.reset();
    fused_.reset();
  }

  /// The last ones are tried first.
  void AddCandidates(llvm::ArrayRef<Instruction*> producers) {
    for (Instruction* o : producers)
      if (o->kind() == OpKind::Constant || IsMatrixVectorDot(*o) || MayJoinLoop(*o))
        candidates_.emplace(places_.lookup(o), o);
  }

  void Open(Instruction* fusion) {
    growing_.emplace(fusion);
    fused_.emplace(*fusion->callee());
  }

  Instruction* Fuse(Instruction* producer, Instruction* consumer, FusionKind kind) {
    const llvm::SmallVector<Instruction*, 4> read(producer->operands());
    const bool is_new = consumer->kind() != OpKind::Fusion;
    if (is_new) {
      const int64_t place = places_.lookup(consumer);
      gone_.insert(consumer);
      consumer = WrapInFusion(consumer, kind);
      gone_.erase(consumer);
      places_[consumer] = place;
      Open(consumer);
    }
    if (growing_->OwnBody()) fused_.emplace(*consumer->callee());
    const Instruction* parameter = growing_->ParameterFor(producer);
    Instruction* copy = growing_->Fuse(producer);
    fused_->Replace(*parameter, *copy);
    const bool stays = growing_->ParameterFor(producer) != nullptr;  // it was an operand twice
    RemoveIfDead(producer, [&](Instruction* dead) {
      gone_.insert(dead);
      softmax_inputs_.erase(dead);
    });
    // Of others nothing has changed that could make them fit.
    const Instruction* root = consumer->callee()->root();
    const bool is_target = root->kind() == OpKind::DynamicUpdateSlice && root->operand(0) == copy;
    if (is_new || is_target) AddCandidates(consumer->operands());
    if (stays) AddCandidates(producer);
    AddCandidates(read);
    for (const Instruction* o : read)
      if (o->kind() == OpKind::Subtract)  // StillFeedsSoftmax
        for (Instruction* feeds : o->operands())
          if (growing_->ParameterFor(feeds) != nullptr) AddCandidates(feeds);
    return consumer;
  }

  /// CPU's rules in their order; the kind of the fusion, or nothing.
  std::optional<FusionKind> ShouldFuse(const Instruction& producer, const Instruction& consumer) {
    if (producer.kind() == OpKind::Constant)
      return IsConstantScalar(producer) && consumer.kind() == OpKind::Fusion && producer.shape().IsArray() &&
                     producer.attr<ConstantAttrs>().literal
                 ? std::optional(FusionKind::Loop)
                 : std::nullopt;
    if (CanBeOutputFused(producer, consumer)) return FusionKind::Output;
    if (producer.users().size() == 1 && CanBeOutputFused(producer, *producer.users().front()))
      return std::nullopt;
    if (!MayJoinLoop(producer) || producer.IsRoot() || HasSideEffect(producer)) return std::nullopt;
    if (HasControlEdges(producer)) return std::nullopt;
    if (IsBigConcatenate(producer) || IsBigConcatenate(consumer)) return std::nullopt;
    if (Reuses(producer, consumer) && IsDear(producer)) return std::nullopt;
    if (!MayDuplicate(producer) || !IsInPlaceSafe(producer, consumer)) return std::nullopt;
    if (consumer.kind() == OpKind::Fusion && !FitsInto(producer)) return std::nullopt;
    if (consumer.kind() == OpKind::Dot) return FitsIntoDot(producer, consumer);
    return FusionKind::Loop;
  }

  /// The consumer, or the fused instructions that read the producer, read elements repeatedly.
  bool Reuses(const Instruction& producer, const Instruction& consumer) {
    if (consumer.kind() != OpKind::Fusion) {
      for (int64_t i = 0; i < consumer.operand_count(); ++i)
        if (consumer.operand(i) == &producer && ReusesOperand(consumer, i)) return true;
      return false;
    }
    return fused_->IsReused(*growing_->ParameterFor(&producer));
  }

  /// Into the fusion that grows.
  bool FitsInto(const Instruction& producer) {
    if (growing_->instruction_count() >= kMaxFused) return false;
    if (producer.kind() == OpKind::Reduce && fused_->reductions >= kMaxReductions) return false;
    if (producer.kind() == OpKind::DynamicUpdateSlice && fused_->updates > 0) return false;
    return fused_->CopiesOf(*growing_->ParameterFor(&producer)) <= kMaxCopies;
  }

  static std::optional<FusionKind> FitsIntoDot(const Instruction& producer, const Instruction& dot) {
    if (!IsMatrixVectorDot(dot) || !producer.info().Is(kElementwise)) return std::nullopt;
    const Instruction* other = dot.operand(dot.operand(0) == &producer ? 1 : 0);
    const bool small = other->shape().rank() == 1 && ByteSize(other->shape()) < kMaxDotOperandBytes;
    return small && producer.shape().rank() == 2 ? std::optional(FusionKind::Loop) : std::nullopt;
  }

  /// A producer with several users is computed several times if fused: only worth it if it can vanish in all
  /// of them, or reads no more than it makes.
  bool MayDuplicate(const Instruction& producer) {
    if (producer.users().size() == 1) return true;
    return options_.may_duplicate && !IsDear(producer) && !StillFeedsSoftmax(producer) &&
           !kept_.contains(&producer);
  }

  static bool ReadsNoMore(const Instruction& producer) {
    int64_t relevant = 0, read = 0;
    for (const Instruction* o : producer.operands()) {
      const bool scalar = o->shape().IsArray() && o->shape().rank() == 0 && producer.shape().rank() != 0;
      if (!o->shape().IsArray() || o->kind() == OpKind::Constant || scalar) continue;
      ++relevant;
      read += std::max<int64_t>(0, ByteSize(o->shape()));
    }
    return relevant == 0 || (relevant <= 1 && read <= ByteSize(producer.shape()));
  }

  /// Whether the value may be computed where a user is, as far as both alone can tell.
  bool MightFuse(const Instruction& producer, const Instruction& user) const {
    if (Blocks(user)) return false;
    if (!MayJoinLoop(producer) || producer.IsRoot() || HasSideEffect(producer) || HasControlEdges(producer) ||
        IsBigConcatenate(producer) || kept_.contains(&producer))
      return false;
    if (!IsDear(producer)) return true;
    for (int64_t i = 0; i < user.operand_count(); ++i)
      if (user.operand(i) == &producer && ReusesOperand(user, i)) return false;
    return producer.users().size() == 1;
  }

  /// The value can be fused into each of its users, on all ways from it to them.
  bool VanishesEverywhere(const Instruction& producer) const {
    return llvm::all_of(producer.users(), [&](const Instruction* u) { return MightFuse(producer, *u); }) &&
           llvm::all_of(producer.users(),
                        [&](const Instruction* u) { return VanishesBetween(producer, *u); });
  }

  /// What lies between the value and its user can be fused, too.
  bool VanishesBetween(const Instruction& producer, const Instruction& user) const {
    const int64_t first = places_.lookup(&producer);
    std::map<int64_t, const Instruction*> between = {{places_.lookup(&user), &user}};
    for (auto at = between.rbegin(); at != between.rend(); ++at) {  // grows behind `at` only
      for (const Instruction* o : at->second->operands())
        if (places_.lookup(o) > first) between.emplace(places_.lookup(o), o);
      if (between.size() > kMaxPaths) return false;
    }
    llvm::SmallDenseSet<const Instruction*, 16> made_of = {&producer};
    for (const auto& [place, inst] : between)
      for (const Instruction* o : inst->operands()) {
        if (!made_of.contains(o)) continue;
        if (!MightFuse(*o, *inst)) return false;
        made_of.insert(inst);
      }
    return true;
  }

  /// The producer reads just what the update, which is in the consumer or is it, overwrites.
  static bool ReadsSameWindow(const Instruction& producer, const Instruction& update,
                              const Instruction& consumer) {
    if (update.kind() != OpKind::DynamicUpdateSlice || update.operand_count() != update.shape().rank() + 2 ||
        !SameDims(producer.shape(), update.operand(1)->shape()))
      return false;
    if (producer.kind() != OpKind::Slice &&
        (producer.kind() != OpKind::DynamicSlice || producer.operand_count() + 1 != update.operand_count()))
      return false;
    for (int64_t i = 1; i <= update.shape().rank(); ++i) {
      const Instruction* index = update.operand(i + 1);
      if (&update != &consumer && index->kind() == OpKind::Parameter)
        index = consumer.operand(index->attr<ParameterAttrs>().number);
      if (producer.kind() == OpKind::Slice) {
        const SliceRange& range = producer.attr<SliceAttrs>().slice[static_cast<size_t>(i - 1)];
        if (range.stride != 1 || ScalarIntValue(*index) != range.start) return false;
        continue;
      }
      const Instruction* other = producer.operand(i);
      const bool equal_constants = index->kind() == OpKind::Constant && other->kind() == OpKind::Constant &&
                                   index->attrs() == other->attrs();
      if (index != other && !equal_constants) return false;
    }
    return true;
  }

  /// An in-place update must not overwrite what the producer has still to read.
  static bool IsInPlaceSafe(const Instruction& producer, const Instruction& consumer) {
    auto updates_what_producer_reads = [&](const Instruction& update, const Instruction* buffer) {
      if (update.kind() != OpKind::DynamicUpdateSlice && update.kind() != OpKind::Scatter) return false;
      return llvm::is_contained(producer.operands(), buffer) && !producer.info().Is(kElementwise) &&
             !ReadsSameWindow(producer, update, consumer);
    };
    if (consumer.kind() != OpKind::Fusion) {
      if (consumer.kind() == OpKind::DynamicUpdateSlice && consumer.operand(0) == &producer &&
          producer.kind() == OpKind::DynamicUpdateSlice)
        return false;
      return consumer.operand_count() == 0 || !updates_what_producer_reads(consumer, consumer.operand(0));
    }
    const Instruction* root = consumer.callee()->root();
    if (root->kind() != OpKind::DynamicUpdateSlice || root->operand(0)->kind() != OpKind::Parameter)
      return true;
    const int64_t at = root->operand(0)->attr<ParameterAttrs>().number;
    if (consumer.operand(at) == &producer) return false;
    return !updates_what_producer_reads(*root, consumer.operand(at));
  }

  Computation& computation_;
  const FusionOptions& options_;
  PassContext& context_;
  llvm::DenseMap<const Instruction*, int64_t> places_;
  llvm::DenseSet<const Instruction*> kept_;  // too dear to read for several users
  llvm::DenseSet<const Instruction*> softmax_inputs_;
  // Of the consumer that grows.
  std::set<std::pair<int64_t, Instruction*>, std::greater<>> candidates_;  // with their places
  std::optional<GrowingFusion> growing_;
  std::optional<FusedState> fused_;
  llvm::DenseSet<const Instruction*> gone_;
  int64_t visited_ = 0;
  bool changed_ = false;
};

llvm::ArrayRef<PassOptionRow> FusionOptions::Rows() { return kRows; }

Result<bool> RunFusion(Module& module, const FusionOptions& options, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    if (!RunsOnWholeValues(*c)) continue;
    HLO_TRY(const bool c_changed, Fuser(*c, options, context).Run());
    changed |= c_changed;
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(Fusion, FusionOptions);

}  // namespace hlo
