// The steps of simplify-while-loops that change what a loop carries.
#include <unordered_map>

#include "llvm/ADT/DenseSet.h"
#include "passes/analysis/side_effects.h"
#include "passes/analysis/value_facts.h"
#include "passes/loops/simplify_while_loops.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/loop_edit.h"
#include "passes/rewrite/maker.h"
#include "passes/rewrite/restructure.h"

namespace hlo {
namespace {

using Edits = llvm::SmallVector<LoopElementEdit, 8>;

/// Reads of elements that equal another one go to that.
void Redirect(const Instruction& tuple, llvm::ArrayRef<LoopElementEdit> edits) {
  for (Instruction* read : tuple.users()) {
    int64_t& index = read->mutable_attrs().Mutable<GetTupleElementAttrs>().index;
    if (const int64_t to = edits[static_cast<size_t>(index)].same_as; to >= 0) index = to;
  }
}

/// What a slice of the element is overwritten with, and where, where that is all that becomes of it.
std::optional<llvm::ArrayRef<Instruction*>> UpdateOf(const TupleLoop& loop, int64_t i) {
  const Instruction& update = *loop.body_root->operand(i);
  if (update.kind() != OpKind::DynamicUpdateSlice) return std::nullopt;
  const Instruction& base = *update.operand(0);
  const bool of_element = base.kind() == OpKind::GetTupleElement && base.operand(0) == loop.body_parameter &&
                          base.attr<GetTupleElementAttrs>().index == i;
  return of_element ? std::optional(update.operands().drop_front()) : std::nullopt;
}

/// Elements for which this is the same hold the same.
struct Change {
  const Instruction* init;
  Shape shape;                       // of the element, and of its next value
  std::vector<Instruction*> update;  // none: it stays as it is
  bool operator==(const Change&) const = default;
  [[nodiscard]] uint64_t Hash() const {
    return llvm::hash_combine(init, shape, llvm::hash_combine_range(update.begin(), update.end()));
  }
};
std::optional<Change> ChangeOf(const TupleLoop& loop, int64_t i) {
  Change change{loop.InitElement(i), loop.loop->shape().tuple_shape(i), {}};
  if (loop.IsInvariant(i)) return change;
  const auto update = UpdateOf(loop, i);
  if (!update || loop.body_root->operand(i)->shape() != change.shape) return std::nullopt;
  change.update = update->vec();
  return change;
}

/// The loop's value at an element after it, where that is the initial value.
Instruction* UnchangedValue(const TupleLoop& loop, int64_t i) {
  Instruction* init = loop.InitElement(i);
  return init && loop.IsInvariant(i) && init->shape() == loop.loop->shape().tuple_shape(i) ? init : nullptr;
}

/// Which elements the condition, side effects or results need.
class LoopLiveness {
 public:
  explicit LoopLiveness(const TupleLoop& loop) : loop_(loop), live_(static_cast<size_t>(loop.size()), false) {
    Mark(loop.condition->root());
    for (const Computation* c : {loop.condition, loop.body})
      for (Instruction* inst : c->instructions())
        if (HasSideEffect(*inst) || HasControlEdges(*inst)) Mark(inst);
    bool whole = loop.loop->IsRoot();
    for (const Instruction* user : loop.loop->users()) {
      whole |= user->kind() != OpKind::GetTupleElement;
      if (user->kind() != OpKind::GetTupleElement || (user->users().empty() && !user->IsRoot())) continue;
      if (const int64_t i = user->attr<GetTupleElementAttrs>().index; !UnchangedValue(loop, i)) Need(i);
    }
    for (int64_t i = 0; i < loop.size(); ++i)
      if (whole && !UnchangedValue(loop, i)) Need(i);
    Follow();
  }
  [[nodiscard]] bool IsLive(int64_t i) const { return live_[static_cast<size_t>(i)]; }

 private:
  void Need(int64_t i) {
    if (live_[static_cast<size_t>(i)]) return;
    live_[static_cast<size_t>(i)] = true;
    Mark(loop_.body_root->operand(i));
  }
  void Mark(Instruction* inst) {
    if (seen_.insert(inst).second) work_.push_back(inst);
  }
  void Follow() {
    while (!work_.empty()) {
      const Instruction* at = work_.pop_back_val();
      if (at->kind() == OpKind::GetTupleElement &&
          (at->operand(0) == loop_.body_parameter || at->operand(0) == loop_.condition_parameter)) {
        Need(at->attr<GetTupleElementAttrs>().index);
        continue;
      }
      for (Instruction* operand : at->operands()) Mark(operand);
    }
  }

  const TupleLoop& loop_;
  llvm::SmallVector<bool, 8> live_;
  llvm::DenseSet<const Instruction*> seen_;
  llvm::SmallVector<Instruction*, 16> work_;
};

/// Removes what is dead in a body already, so that it reads no element.
bool Sweep(Computation& computation, PassContext& context) {
  if (llvm::none_of(computation.instructions(), [](const Instruction* i) { return IsDead(*i); }))
    return false;
  if (!context.TakeRewrite()) return false;
  const std::vector<Instruction*> order = computation.PostOrder();
  for (Instruction* inst : llvm::reverse(order))
    if (IsDead(*inst)) computation.Remove(inst);
  return true;
}

/// Reads of constant elements inside become constants.
void ReplaceReads(Instruction* parameter, llvm::ArrayRef<Instruction*> reads, const Instruction& constant) {
  if (reads.empty()) return;
  Instruction* copy = CloneWith(constant, *parameter->parent(), {});
  for (Instruction* read : reads) ReplaceAndRemove(read, copy);
}

const Literal* LiteralOf(const Instruction* inst) {
  return inst && inst->kind() == OpKind::Constant ? inst->attr<ConstantAttrs>().literal.get() : nullptr;
}

/// The constant that the element holds before every iteration and after the loop.
Instruction* ConstantElement(const TupleLoop& loop, int64_t i) {
  Instruction* init = loop.InitElement(i);
  const Literal* value = LiteralOf(init);
  if (!value || init->shape() != loop.loop->shape().tuple_shape(i)) return nullptr;
  if (loop.IsInvariant(i)) return init->shape().IsScalar() ? init : nullptr;
  const Literal* next = LiteralOf(loop.body_root->operand(i));
  return next && *next == *value && loop.body_root->operand(i)->shape() == init->shape() ? init : nullptr;
}

}  // namespace

bool MergeLoopElements(const TupleLoop& loop, PassContext& context) {
  std::unordered_map<uint64_t, llvm::SmallVector<std::pair<Change, int64_t>, 1>> by_hash;
  Edits edits(static_cast<size_t>(loop.size()));
  bool changed = false;
  if (loop.init()->kind() != OpKind::Tuple) return false;
  for (int64_t j = 0; j < loop.size(); ++j) {
    const auto change = ChangeOf(loop, j);
    if (!change) continue;
    auto& firsts = by_hash[change->Hash()];
    const auto* same = llvm::find_if(firsts, [&](const auto& first) { return first.first == *change; });
    if (same == firsts.end()) {
      firsts.emplace_back(*change, j);
      continue;
    }
    if (!context.TakeRewrite()) break;
    edits[static_cast<size_t>(j)] = {.keep = false, .same_as = same->second};
    changed = true;
  }
  if (!changed) return false;
  Redirect(*loop.body_parameter, edits);
  Redirect(*loop.condition_parameter, edits);
  DropLoopElements(loop, edits);
  return true;
}

bool RemoveDeadLoopElements(const TupleLoop& loop, PassContext& context) {
  bool swept = Sweep(*loop.body, context);
  swept |= Sweep(*loop.condition, context);
  const LoopLiveness liveness(loop);
  Edits edits(static_cast<size_t>(loop.size()));
  int64_t dropped = 0;
  for (int64_t i = 0; i < loop.size(); ++i) {
    if (liveness.IsLive(i)) continue;
    edits[static_cast<size_t>(i)] = {.keep = false, .outside = UnchangedValue(loop, i)};
    ++dropped;
  }
  // Invariant elements that the loop still needs: only their value after it is known.
  bool forwarded = false;
  const llvm::SmallVector<Instruction*, 8> users(loop.loop->users().begin(), loop.loop->users().end());
  for (Instruction* read : users) {
    if (read->kind() != OpKind::GetTupleElement || read->has_extras()) continue;
    const int64_t i = read->attr<GetTupleElementAttrs>().index;
    Instruction* value = liveness.IsLive(i) ? UnchangedValue(loop, i) : nullptr;
    if (!value || !context.TakeRewrite({}, *read, *value)) continue;
    ReplaceWith(read, value);
    loop.loop->parent()->Remove(read);
    forwarded = true;
  }
  if (dropped == 0 || dropped == loop.size() || !context.TakeRewrite()) return swept || forwarded;
  DropLoopElements(loop, edits);
  return true;
}

bool RemoveConstantLoopElements(const TupleLoop& loop, PassContext& context) {
  Edits edits(static_cast<size_t>(loop.size()));
  int64_t dropped = 0;
  for (int64_t i = 0; i < loop.size(); ++i) {
    Instruction* constant = ConstantElement(loop, i);
    if (!constant || dropped + 1 == loop.size() || !context.TakeRewrite()) continue;
    edits[static_cast<size_t>(i)] = {.keep = false, .outside = constant};
    ++dropped;
  }
  if (dropped == 0) return false;
  const auto in_body = ReadsByElement(*loop.body_parameter);
  const auto in_condition = ReadsByElement(*loop.condition_parameter);
  for (int64_t i = 0; i < loop.size(); ++i) {
    const LoopElementEdit& edit = edits[static_cast<size_t>(i)];
    if (edit.keep) continue;
    // The body's own result may be the read itself; it goes with the element.
    ReplaceReads(loop.body_parameter, in_body[static_cast<size_t>(i)], *edit.outside);
    ReplaceReads(loop.condition_parameter, in_condition[static_cast<size_t>(i)], *edit.outside);
  }
  DropLoopElements(loop, edits);
  return true;
}

namespace {

/// Leaves of a value of nested tuples, as elements read from it.
void Flatten(Instruction* value, Maker& make, llvm::SmallVectorImpl<Instruction*>& leaves) {
  if (!value->shape().IsTuple()) return leaves.push_back(value);
  for (int64_t i = 0; i < value->shape().tuple_size(); ++i)
    Flatten(value->kind() == OpKind::Tuple ? value->operand(i) : make.Gte(value, i), make, leaves);
}

/// The nested value made of leaves that `flat` lists from `next` on.
Instruction* Nest(Instruction* flat, const Shape& shape, Maker& make, int64_t& next) {
  if (!shape.IsTuple()) return make.Gte(flat, next++);
  llvm::SmallVector<Instruction*, 8> elements;
  for (const Shape& element : shape.tuple_shapes()) elements.push_back(Nest(flat, element, make, next));
  return make.Tuple(elements);
}

/// `inst` gets the flat shape; what used it uses the nested value made from it.
void FlattenUses(Instruction* inst, const Shape& flat) {
  const llvm::SmallVector<Instruction*, 8> users(inst->users().begin(), inst->users().end());
  const bool is_root = inst->IsRoot();
  const Shape nested = inst->shape();
  SetStructure(*inst, flat);
  if (users.empty() && !is_root) return;
  Maker make(*inst->parent(), inst);
  int64_t next = 0;
  Instruction* whole = Nest(inst, nested, make, next);
  for (Instruction* user : users) user->ReplaceOperand(inst, whole);
  if (is_root) inst->parent()->set_root(whole);
}

}  // namespace

bool FlattenLoopState(const TupleLoop& loop, PassContext& context) {
  if (llvm::none_of(loop.loop->shape().tuple_shapes(), [](const Shape& s) { return s.IsTuple(); }))
    return false;
  // What is under way is ended as a whole.
  const auto under_way = [](const Instruction* i) {
    return i->info().Is(kStart) || i->kind() == OpKind::AsyncUpdate;
  };
  if (llvm::any_of(loop.init()->operands(), under_way) || llvm::any_of(loop.body_root->operands(), under_way))
    return false;
  if (loop.loop->shape().LeafCount() == 0 || loop.loop->extras().backend_config.contains("tuple_ind"))
    return false;
  if (!context.TakeRewrite()) return false;
  Maker outer(loop.loop), inner(loop.body_root);
  llvm::SmallVector<Instruction*, 8> inits, results;
  llvm::SmallVector<Shape, 8> shapes;
  Instruction* old_init = loop.init();
  Flatten(old_init, outer, inits);
  Flatten(loop.body_root, inner, results);
  for (const Instruction* init : inits) shapes.push_back(init->shape());
  const Shape flat = Shape::MakeTuple(shapes);
  Instruction* new_root = inner.Tuple(results);
  new_root->set_shape(flat);
  loop.body->set_root(new_root);
  RemoveIfDead(loop.body_root);
  FlattenUses(loop.body_parameter, flat);
  FlattenUses(loop.condition_parameter, flat);
  FlattenUses(loop.loop, flat);
  loop.loop->SetOperand(0, outer.Tuple(inits));
  if (IsDead(*old_init)) old_init->parent()->Remove(old_init);
  return true;
}

}  // namespace hlo
