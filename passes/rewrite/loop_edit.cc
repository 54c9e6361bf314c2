#include "passes/rewrite/loop_edit.h"

#include "ir/support/json.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "passes/analysis/side_effects.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"
#include "passes/rewrite/restructure.h"

namespace hlo {
namespace {

bool OnlyElementsRead(const Instruction& tuple) {
  return llvm::all_of(tuple.users(),
                      [](const Instruction* u) { return u->kind() == OpKind::GetTupleElement; });
}

int64_t& IndexOf(Instruction* read) { return read->mutable_attrs().Mutable<GetTupleElementAttrs>().index; }

/// The trip count annotation names an element by number.
void RenumberAnnotation(Instruction& loop, llvm::ArrayRef<int64_t> new_index) {
  const llvm::StringRef text = loop.extras().backend_config;
  if (!text.contains("known_induction_variable")) return;
  auto config = ParseJson(text);
  if (!config || !config->Object("known_induction_variable")) return;
  JsonValue variable = *config->Object("known_induction_variable");
  size_t index = 0;
  const auto value = variable.String("tuple_index");
  if (value && !value->getAsInteger(10, index) && index < new_index.size() && new_index[index] >= 0) {
    variable.Set("tuple_index", JsonValue(std::to_string(new_index[index])));
    config->Set("known_induction_variable", std::move(variable));
  } else {
    config->Erase("known_induction_variable");
  }
  config->Sort();
  loop.MutableExtras().backend_config = loop.module()->Save(ToString(*config));
}

/// Puts `whole` in the place of the loop's value except where single elements are read.
void ReplaceWholeUses(Instruction* loop, llvm::ArrayRef<Instruction*> users, bool is_root,
                      Instruction* whole) {
  for (Instruction* user : users) user->ReplaceOperand(loop, whole);
  if (is_root) loop->parent()->set_root(whole);
}

llvm::SmallVector<Instruction*, 4> WholeUsers(const Instruction& loop) {
  llvm::SmallVector<Instruction*, 4> users;
  for (Instruction* user : loop.users())
    if (user->kind() != OpKind::GetTupleElement) users.push_back(user);
  return users;
}

void SetStateShape(const TupleLoop& loop, const Shape& shape) {
  for (Instruction* inst : {loop.loop, loop.body_parameter, loop.condition_parameter, loop.body_root})
    SetStructure(*inst, shape);
}

Instruction* InitElement(const TupleLoop& loop, int64_t i) {
  return loop.InitElement(i) ? loop.InitElement(i) : Maker(loop.loop).Gte(loop.init(), i);
}

Shape StateShape(llvm::ArrayRef<Shape> old, llvm::ArrayRef<Instruction*> added) {
  llvm::SmallVector<Shape, 8> shapes(old.begin(), old.end());
  for (const Instruction* value : added) shapes.push_back(value->shape());
  return Shape::MakeTuple(shapes);
}

/// Removes a dead instruction outside the loop, but not what it used: callers may hold that.
void RemoveAlone(Instruction* inst) {
  if (IsDead(*inst)) inst->parent()->Remove(inst);
}

/// Appends elements to state and init; the body still has to return them.
void Widen(const TupleLoop& loop, llvm::ArrayRef<Instruction*> values) {
  const int64_t old_size = loop.size();
  const auto whole_users = WholeUsers(*loop.loop);
  const bool is_root = loop.loop->IsRoot();
  llvm::SmallVector<Instruction*, 8> elements;
  for (int64_t i = 0; i < old_size; ++i) elements.push_back(InitElement(loop, i));
  elements.append(values.begin(), values.end());
  Instruction* old_init = loop.init();
  loop.loop->SetOperand(0, Maker(loop.loop).Tuple(elements));
  RemoveAlone(old_init);
  SetStateShape(loop, StateShape(loop.loop->shape().tuple_shapes(), values));
  if (whole_users.empty() && !is_root) return;
  Maker make(loop.loop);
  llvm::SmallVector<Instruction*, 8> reads;
  for (int64_t i = 0; i < old_size; ++i) reads.push_back(make.Gte(loop.loop, i));
  ReplaceWholeUses(loop.loop, whole_users, is_root, make.Tuple(reads));
}

/// What waits for a dead read waits for what this waits for; the read goes.
void RemoveDeadRead(Instruction* read) {
  if (!read->users().empty() || read->IsRoot()) return;
  if (HasControlEdges(*read)) {
    const std::vector<Instruction*> before = read->extras().control_predecessors;
    const std::vector<Instruction*> after = read->extras().control_successors;
    read->DropControlEdges();
    for (Instruction* a : after)
      for (Instruction* b : before) a->AddControlPredecessor(b);
  }
  read->parent()->Remove(read);
}

/// Reads of elements that stay get their new numbers, dead ones of others go.
void RenumberReads(const Instruction& parameter, llvm::ArrayRef<int64_t> new_index) {
  const llvm::SmallVector<Instruction*, 8> reads(parameter.users().begin(), parameter.users().end());
  for (Instruction* read : reads) {
    const int64_t place = new_index[static_cast<size_t>(IndexOf(read))];
    if (place >= 0)
      IndexOf(read) = place;
    else
      RemoveDeadRead(read);
  }
}

/// The uses of a loop's final state, as they were before it was edited.
class Results {
 public:
  Results(const TupleLoop& loop, llvm::ArrayRef<LoopElementEdit> edits, llvm::ArrayRef<int64_t> new_index)
      : loop_(loop.loop),
        edits_(edits),
        new_index_(new_index),
        users_(loop.loop->users().begin(), loop.loop->users().end()),
        whole_users_(WholeUsers(*loop.loop)),
        is_root_(loop.loop->IsRoot()) {}

  /// Points them at the new state, or at what stands for dropped elements.
  void Replace() const {
    for (Instruction* read : users_) {
      if (read->kind() != OpKind::GetTupleElement) continue;
      const int64_t old = IndexOf(read);
      const LoopElementEdit& edit = edits_[static_cast<size_t>(old)];
      if (const int64_t place = Place(old); place >= 0)
        IndexOf(read) = place;
      else {
        if (edit.outside) ReplaceWith(read, edit.outside);
        RemoveDeadRead(read);
      }
    }
    if (whole_users_.empty() && !is_root_) return;
    Maker make(loop_);
    llvm::SmallVector<Instruction*, 8> elements;
    for (size_t i = 0; i < edits_.size(); ++i) {
      const int64_t place = Place(static_cast<int64_t>(i));
      elements.push_back(place >= 0 ? make.Gte(loop_, place) : edits_[i].outside);
    }
    ReplaceWholeUses(loop_, whole_users_, is_root_, make.Tuple(elements));
  }

 private:
  [[nodiscard]] int64_t Place(int64_t old) const {
    const int64_t same_as = edits_[static_cast<size_t>(old)].same_as;
    return new_index_[static_cast<size_t>(same_as >= 0 ? same_as : old)];
  }

  Instruction* loop_;
  llvm::ArrayRef<LoopElementEdit> edits_;
  llvm::ArrayRef<int64_t> new_index_;
  llvm::SmallVector<Instruction*, 8> users_;
  llvm::SmallVector<Instruction*, 4> whole_users_;
  bool is_root_;
};

}  // namespace

std::vector<llvm::SmallVector<Instruction*, 2>> ReadsByElement(const Instruction& tuple) {
  std::vector<llvm::SmallVector<Instruction*, 2>> reads(static_cast<size_t>(tuple.shape().tuple_size()));
  for (Instruction* user : tuple.users())
    if (user->kind() == OpKind::GetTupleElement)
      reads[static_cast<size_t>(user->attr<GetTupleElementAttrs>().index)].push_back(user);
  return reads;
}

bool MayReshapeLoop(const TupleLoop& loop) {
  if (loop.body == loop.condition || loop.body->callers().size() != 1 ||
      loop.condition->callers().size() != 1 || !OnlyElementsRead(*loop.body_parameter) ||
      !OnlyElementsRead(*loop.condition_parameter) || loop.body_root->operand_count() != loop.size())
    return false;
  for (const Instruction* inst :
       {loop.loop, loop.init(), loop.body_parameter, loop.condition_parameter, loop.body_root})
    if (inst->extras().sharding || inst->shape() != loop.loop->shape()) return false;
  return loop.body_root->users().empty();
}

void DropLoopElements(const TupleLoop& loop, llvm::ArrayRef<LoopElementEdit> edits) {
  llvm::SmallVector<int64_t, 8> new_index;
  llvm::SmallVector<Instruction*, 8> inits, results, dropped;
  llvm::SmallVector<Shape, 8> shapes;
  Instruction* old_init = loop.init();
  for (int64_t i = 0; i < loop.size(); ++i) {
    const bool keep = edits[static_cast<size_t>(i)].keep;
    new_index.push_back(keep ? static_cast<int64_t>(inits.size()) : -1);
    Instruction* result = loop.body_root->operand(i);
    if (!keep) {
      dropped.push_back(result);
      continue;
    }
    inits.push_back(InitElement(loop, i));
    results.push_back(result);
    shapes.push_back(loop.loop->shape().tuple_shape(i));
  }
  const Results outside(loop, edits, new_index);
  loop.body_root->SetOperands(results);
  SetStateShape(loop, Shape::MakeTuple(shapes));
  loop.loop->SetOperand(0, Maker(loop.loop).Tuple(inits));
  RenumberAnnotation(*loop.loop, new_index);
  llvm::DenseSet<Instruction*> gone;
  for (Instruction* inst : dropped)
    if (!gone.contains(inst)) RemoveIfDead(inst, [&](Instruction* dead) { gone.insert(dead); });
  RenumberReads(*loop.body_parameter, new_index);
  RenumberReads(*loop.condition_parameter, new_index);
  outside.Replace();
  RemoveAlone(old_init);  // only now: what it held may stand for results
}

llvm::SmallVector<Instruction*, 4> AddLoopInvariants(const TupleLoop& loop,
                                                     llvm::ArrayRef<Instruction*> values) {
  const int64_t old_size = loop.size();
  Widen(loop, values);
  Maker make(loop.body_root);
  llvm::SmallVector<Instruction*, 4> reads;
  llvm::SmallVector<Instruction*, 8> results(loop.body_root->operands().begin(),
                                             loop.body_root->operands().end());
  for (size_t i = 0; i < values.size(); ++i) {
    reads.push_back(make.Gte(loop.body_parameter, old_size + static_cast<int64_t>(i)));
    results.push_back(reads.back());
  }
  loop.body_root->SetOperands(results);
  return reads;
}

Instruction* AddLoopElement(const TupleLoop& loop, Instruction* init,
                            llvm::function_ref<Instruction*(Instruction*)> update) {
  const int64_t index = loop.size();
  Widen(loop, {init});
  Instruction* read = Maker(loop.body_root).Gte(loop.body_parameter, index);
  llvm::SmallVector<Instruction*, 8> results(loop.body_root->operands().begin(),
                                             loop.body_root->operands().end());
  results.push_back(update(read));
  loop.body_root->SetOperands(results);
  return read;
}

Result<bool> ForEachLoop(Module& module, const PassContext& context,
                         llvm::function_ref<bool(Instruction* loop)> change) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    const std::vector<Instruction*> loops = c->InstructionsOf(OpKind::While);
    for (Instruction* inst : loops) {
      HLO_CHECK_OK(context.CheckInterrupt());
      changed |= change(inst);
    }
  }
  return changed;
}

std::optional<std::string> WithTripCount(llvm::StringRef config, const LoopCount& counted) {
  auto value = config.trim().empty() ? JsonValue(JsonObject()) : ParseJson(config);
  if (!value || !value->AsObject()) return std::nullopt;
  // Numbers of 64 bits are strings, as protocol buffers have them.
  using Facts = std::initializer_list<std::pair<llvm::StringRef, int64_t>>;
  const auto set = [&](llvm::StringRef key, Facts facts) {
    JsonValue object;
    for (const auto& [part, number] : facts) object.Set(part, JsonValue(std::to_string(number)));
    value->Set(key, std::move(object));
  };
  set("known_trip_count", {{"n", counted.count}});
  if (counted.induction >= 0) set("known_induction_variable", {{"tuple_index", counted.induction}});
  if (counted.init) set("known_init_step", {{"init", *counted.init}, {"step", *counted.step}});
  value->Sort();
  return ToString(*value);
}

std::optional<LoopCount> NotedTripCount(const Instruction& loop) {
  const auto config = ParseJson(loop.extras().backend_config);
  if (!config) return std::nullopt;
  const auto number = [&](llvm::StringRef key, llvm::StringRef part) -> std::optional<int64_t> {
    const JsonValue* object = config->Object(key);
    int64_t value = 0;
    if (object == nullptr || object->String(part).value_or("").getAsInteger(10, value)) return std::nullopt;
    return value;
  };
  const auto count = number("known_trip_count", "n");
  if (!count || *count < 0) return std::nullopt;
  LoopCount counted{*count, number("known_induction_variable", "tuple_index").value_or(-1),
                    number("known_init_step", "init"), number("known_init_step", "step")};
  if (!counted.init || !counted.step) counted.init = counted.step = std::nullopt;
  return counted;
}

void NoteTripCount(Instruction& loop, const LoopCount& counted) {
  if (const auto config = WithTripCount(loop.extras().backend_config, counted))
    loop.MutableExtras().backend_config = loop.module()->Save(*config);
}

}  // namespace hlo
