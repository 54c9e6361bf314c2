// slice-sinker: elementwise operations on slices of the same values become one operation (passes.md §2.2).
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: elementwise instructions that do the same to slices of the same arrays, each to the same part of
// all of them, become one instruction on the whole arrays and slices of its result, if together they compute
// at least as many elements. Left alone: control edges, dynamic shapes, layouts with properties.
#include <map>

#include "llvm/ADT/SetVector.h"
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

/// What is done to which whole arrays.
using Key = std::pair<OpKind, std::vector<const Instruction*>>;
using Pending = llvm::SetVector<Instruction*>;

/// Instructions that compute slices of one result.
struct Group {
  const Key* key = nullptr;
  const Instruction* first = nullptr;
  Pending members;               // that are not replaced yet
  Instruction* whole = nullptr;  // the instruction on the whole arrays, once it is made
};
bool HasPlainLayout(const Shape& shape) { return !shape.has_layout() || !shape.layout().HasProperties(); }

/// Elementwise on equal parts of arrays that have equal sizes.
bool WorksOnSlices(const Instruction& inst) {
  if (inst.operand_count() == 0 || inst.operand(0)->kind() != OpKind::Slice) return false;
  if (!inst.info().Is(kElementwise) || inst.kind() == OpKind::Map || inst.kind() == OpKind::Copy ||
      !HasStaticShapes(inst) || !HasPlainLayout(inst.shape()) || inst.extras().sharding)
    return false;
  const Instruction& first = *inst.operand(0);
  return llvm::all_of(inst.operands(), [&](const Instruction* o) {
    return o->kind() == OpKind::Slice && o->attrs() == first.attrs() && HasPlainLayout(o->shape()) &&
           SameDims(o->operand(0)->shape(), first.operand(0)->shape());
  });
}

Key KeyOf(const Instruction& inst) {
  Key key{inst.kind(), {}};
  for (const Instruction* o : inst.operands()) key.second.push_back(o->operand(0));
  return key;
}

bool Alike(const Instruction& a, const Instruction& b) {
  return a.attrs() == b.attrs() && a.shape().element_type() == b.shape().element_type() &&
         a.shape().has_layout() == b.shape().has_layout() &&
         (!a.shape().has_layout() || a.shape().layout() == b.shape().layout()) &&
         a.extras().result_accuracy == b.extras().result_accuracy;
}

class Sinker {
 public:
  explicit Sinker(PassContext& context) : context_(context) {}

  Result<bool> Run(const Computation& computation) {
    Pending pending;
    for (Instruction* inst : computation.instructions())
      if (WorksOnSlices(*inst)) pending.insert(inst);
    while (!pending.empty()) {
      HLO_CHECK_OK(context_.CheckInterrupt());
      pending = Round(pending);
    }
    // What is replaced goes last, so that no instruction of a key is freed before.
    for (Instruction* inst : replaced_) RemoveIfDead(inst);
    return !replaced_.empty();
  }

 private:
  /// Sorts instructions into groups and sinks the slices of those that are large enough; the instructions
  /// that may follow.
  Pending Round(const Pending& pending) {
    llvm::SetVector<Group*> grown;
    for (Instruction* inst : pending)
      if (WorksOnSlices(*inst) && !HasControlEdges(*inst)) grown.insert(AddToGroup(inst));
    Pending next;
    for (Group* group : grown) Sink(*group, next);
    return next;
  }

  Group* AddToGroup(Instruction* inst) {
    auto& [key, groups] = *groups_.try_emplace(KeyOf(*inst)).first;
    for (const std::unique_ptr<Group>& group : groups)
      if (Alike(*group->first, *inst)) {
        group->members.insert(inst);
        return group.get();
      }
    groups.push_back(std::make_unique<Group>());
    Group& group = *groups.back();
    group.key = &key;
    group.first = inst;
    group.members.insert(inst);
    return &group;
  }

  void Sink(Group& group, Pending& next) {
    // Sinking other groups may have changed what members read.
    group.members.remove_if(
        [&](Instruction* m) { return gone_.contains(m) || !WorksOnSlices(*m) || KeyOf(*m) != *group.key; });
    int64_t elements = 0;
    for (const Instruction* m : group.members) elements += m->shape().ElementCount();
    if (!group.whole) {
      const int64_t whole = group.key->second.front()->shape().ElementCount();
      if (group.members.empty() || whole == 0 || elements < whole) return;
    }
    for (Instruction* m : group.members)
      if (context_.TakeRewrite()) Replace(*m, group, next);
    group.members.clear();
  }

  void Replace(Instruction& member, Group& group, Pending& next) {
    Maker make(&member);
    if (!group.whole) {
      llvm::SmallVector<Instruction*, 3> sources;
      for (Instruction* o : member.operands()) sources.push_back(o->operand(0));
      Shape shape = Shape::Array(member.shape().element_type(), sources[0]->shape().dims());
      if (member.shape().has_layout()) shape = shape.WithLayout(member.shape().layout());
      group.whole = RemakeWith(make, member, shape, sources);
    }
    Instruction* slice =
        make.AddWithShape(OpKind::Slice, member.shape(), {group.whole}, member.operand(0)->attrs());
    ReplaceWith(&member, slice);
    gone_.insert(&member);
    replaced_.push_back(&member);
    for (Instruction* user : slice->users()) {
      next.insert(user);
      if (user->kind() == OpKind::Slice) next.insert(user->users().begin(), user->users().end());
    }
  }

  PassContext& context_;
  std::map<Key, std::vector<std::unique_ptr<Group>>> groups_;
  std::vector<Instruction*> replaced_;
  llvm::DenseSet<const Instruction*> gone_;
};

Result<bool> RunSliceSinker(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    HLO_TRY(const bool sunk, Sinker(context).Run(*c));
    changed |= sunk;
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(SliceSinker, NoPassOptions);

}  // namespace hlo
