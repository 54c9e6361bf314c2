// host-offloader: values that programs move to the host lie in its memory (passes.md §2.5).
//
// Requires nothing. Preserves everything but the schedule and copies.
// Changes: what a call of MoveToHost makes, and all that must share its buffer or hands it on (tuples, loops,
// calls, bitcasts, in-place updates), gets memory space S(5); the call becomes a copy, and so does
// MoveToDevice where it ends this. Where the moved value is only written into another by
// dynamic-update-slice, that lies on the host, and the update moves it; a dynamic-slice that is moved to the
// device moves it itself. A MoveToDevice of what was never moved to the host goes. Parameters and results
// that the entry's layout has on the host count as moved. Left alone: values on the host that anything else
// computes with, or that come from elsewhere; calls with control edges.
#include <map>
#include <set>

#include "llvm/ADT/SetVector.h"
#include "passes/analysis/dataflow.h"
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"
#include "passes/rewrite/memory_spaces.h"

namespace hlo {
namespace {

/// A call of the target that hands its operand on.
bool Calls(const Instruction& inst, llvm::StringRef target) {
  const auto* call = inst.attrs().GetIf<CustomCallAttrs>();
  return call && call->custom_call_target == target && inst.operand_count() == 1 && inst.shape().IsArray() &&
         inst.shape().has_layout() && inst.operand(0)->shape().IsArray() && !HasControlEdges(inst);
}
bool MovesToHost(const Instruction& inst) { return Calls(inst, "MoveToHost"); }
bool MovesToDevice(const Instruction& inst) { return Calls(inst, "MoveToDevice"); }

/// Loops, branches and calls: what they read is what their computations do with it.
bool IsControlFlow(const Instruction& inst) {
  return inst.info().category == OpCategory::Control && !inst.callees().empty() &&
         inst.kind() != OpKind::Fusion;
}

bool HandsOn(const Instruction& inst) {
  return inst.kind() == OpKind::Bitcast || inst.kind() == OpKind::Reshape;
}

/// All readers, through bitcasts and reshapes, satisfy the test; there is one.
template <class Test>
bool AllReaders(const Instruction& inst, const Test& test) {
  llvm::SmallVector<const Instruction*, 8> todo = {&inst};
  while (!todo.empty()) {
    const Instruction* value = todo.pop_back_val();
    if (value->users().empty() || value->IsRoot()) return false;
    for (const Instruction* user : value->users()) {
      if (HandsOn(*user))
        todo.push_back(user);
      else if (!test(*user, *value))
        return false;
    }
  }
  return true;
}

/// The value is only written into others.
bool IsOnlyWritten(const Instruction& moved) {
  return AllReaders(moved, [](const Instruction& user, const Instruction& value) {
    return user.kind() == OpKind::DynamicUpdateSlice && user.operand(1) == &value &&
           user.operand(0) != &value;
  });
}
/// The part that is taken of a value is moved to the device.
bool IsOnlyFetched(const Instruction& slice) {
  return slice.kind() == OpKind::DynamicSlice &&
         AllReaders(slice, [](const Instruction& user, const Instruction&) { return MovesToDevice(user); });
}

class Offloader {
 public:
  Offloader(Module& module, PassContext& context)
      : module_(module), context_(context), calls_(module), flow_(module, calls_) {
    for (const Computation* c : flow_.computations())
      for (Instruction* inst : c->instructions())
        ForEachLeaf(inst->shape(), [&](const ShapeIndex& index, const Shape& leaf) {
          const Place p = leaf.IsArray() ? flow_.Of(*inst, index) : kNoPlace;
          if (p != kNoPlace) classes_[flow_.Buffer(p)].push_back({inst, index, p});
        });
  }

  bool Run() {
    FindBuffers();
    Changes changes;
    bool changed = false;
    for (const Place buffer : wanted_) {
      if (!MayLieOnHost(buffer)) continue;
      if (!context_.TakeRewrite()) break;
      AddChanges(buffer, changes);
      changed = true;
    }
    // From here on the places are those of the module before.
    for (const auto& [inst, index] : changes.on_host)
      inst->set_shape(WithSpace(inst->shape(), index, kHostSpace));
    for (Instruction* move : changes.moves) Become(move, CopyOf(move, move->operand(0), kHostSpace));
    for (Instruction* broadcast : changes.broadcasts) MoveBroadcast(broadcast, changes.readers);
    for (Instruction* move : changes.fetches) Fetch(move);
    if (changed) DropWritten();
    return DropIdleMoves() || changed;
  }

 private:
  /// An array that an instruction gives.
  struct Part {
    Instruction* inst;
    ShapeIndex index;
    Place place;
  };
  /// What becomes of the instructions whose values come to lie on the host.
  struct Changes {
    std::vector<std::pair<Instruction*, ShapeIndex>> on_host;
    llvm::SetVector<Instruction*> moves, fetches, broadcasts;
    llvm::DenseSet<Instruction*> readers;  // those on the host that may read a broadcast
  };

  void Want(Place p) {
    if (p != kNoPlace) wanted_.insert(flow_.Buffer(p));
  }
  void FindBuffers() {
    for (const Computation* c : flow_.computations())
      for (const Instruction* inst : c->instructions()) {
        if (inst->kind() == OpKind::Parameter && c->IsEntry()) {
          ForEachLeaf(inst->shape(), [&](const ShapeIndex& index, const Shape& leaf) {
            if (SpaceOf(leaf) == kHostSpace) Want(flow_.Of(*inst, index));
          });
        }
        if (!MovesToHost(*inst)) continue;
        if (IsOnlyWritten(*inst))
          WantTargets(*inst);
        else
          Want(flow_.Of(*inst));
      }
  }
  void WantTargets(const Instruction& written) {
    llvm::SmallVector<const Instruction*, 8> todo = {&written};
    while (!todo.empty())
      for (const Instruction* user : todo.pop_back_val()->users()) {
        if (user->kind() == OpKind::DynamicUpdateSlice)
          Want(flow_.Of(*user));
        else
          todo.push_back(user);
      }
  }

  /// The value may come to lie on the host where it is made.
  bool MayComeFrom(Place value) const {
    const Instruction& maker = flow_.instruction(value);
    if (maker.kind() == OpKind::Parameter)  // of a loop or branch, or there already
      return !maker.parent()->IsEntry() || SpaceOf(flow_.shape(value)) == kHostSpace;
    return maker.kind() == OpKind::Broadcast || maker.kind() == OpKind::DynamicUpdateSlice ||
           IsControlFlow(maker) || MovesToHost(maker);
  }
  /// Results of the module lie where its layout says.
  [[nodiscard]] bool FitsResult(const Part& part) const {
    if (part.inst != module_.entry()->root()) return true;
    return module_.config.entry_layout &&
           SpaceOf(module_.config.entry_layout->result, part.index) == kHostSpace;
  }
  [[nodiscard]] bool MayBeReadBy(const Use& use) const {
    if (!use.user) return true;  // what is behind it counts
    const Instruction& user = *use.user;
    const bool hands_on = IsControlFlow(user) || user.info().category == OpCategory::Tuple;
    if (hands_on || user.kind() == OpKind::Copy || MovesToDevice(user) || MovesToHost(user)) return true;
    if (use.operand != 0) return false;
    return user.kind() == OpKind::DynamicUpdateSlice ||
           (user.kind() == OpKind::DynamicSlice &&
            (IsOnlyFetched(user) || SpaceOf(user.shape()) == kHostSpace));
  }
  /// Who reads a broadcast itself may go on reading it on the device.
  static bool ReadsBroadcast(const Use& use) {
    return use.operand >= 0 && use.user->operand(use.operand)->kind() == OpKind::Broadcast;
  }
  bool MayLieOnHost(Place buffer) {
    return llvm::all_of(classes_[buffer], [&](const Part& part) {
      const Shape& array = *part.inst->shape().Subshape(part.index);
      if (!array.has_layout() || part.inst->kind() == OpKind::Constant || !FitsResult(part)) return false;
      if (!flow_.Defines(*part.inst, part.place)) return true;
      return MayComeFrom(part.place) && llvm::all_of(flow_.Uses(part.place), [&](const Use& use) {
               return MayBeReadBy(use) || ReadsBroadcast(use);
             });
    });
  }

  void AddChanges(Place buffer, Changes& changes) {
    for (const Part& part : classes_[buffer]) {
      if (part.inst->kind() == OpKind::Broadcast) {
        changes.broadcasts.insert(part.inst);
      } else {
        changes.on_host.emplace_back(part.inst, part.index);
        changes.readers.insert(part.inst);
        if (MovesToHost(*part.inst)) changes.moves.insert(part.inst);
      }
      if (!flow_.Defines(*part.inst, part.place)) continue;
      for (const Use& use : flow_.Uses(part.place))
        if (use.user) Collect(const_cast<Instruction*>(use.user), changes.fetches);
    }
  }

  /// Those on the host read a copy of the broadcast there.
  static void MoveBroadcast(Instruction* value, const llvm::DenseSet<Instruction*>& readers) {
    const llvm::SmallVector<Instruction*, 4> users(value->users());
    const bool was_root = value->IsRoot();
    Instruction* copy = Maker(*value->parent(), value)
                            .AddWithShape(OpKind::Copy, WithSpace(value->shape(), {}, kHostSpace), {value});
    for (Instruction* user : users)
      if (readers.contains(user)) user->ReplaceOperand(value, copy);
    if (was_root) value->parent()->set_root(copy);
    RemoveIfDead(copy);
  }

  static void Become(Instruction* old, Instruction* by) {
    ReplaceWith(old, by);
    old->parent()->Remove(old);
  }

  static Instruction* CopyOf(Instruction* at, Instruction* value, int64_t space) {
    if (SpaceOf(value->shape()) == space && value->shape() == at->shape()) return value;
    return Maker(at).AddWithShape(OpKind::Copy, WithSpace(at->shape(), {}, space), {value});
  }

  /// The moves to the device that end what `user` reads.
  static void Collect(Instruction* user, llvm::SetVector<Instruction*>& moves) {
    llvm::SmallVector<Instruction*, 8> todo = {user};
    while (!todo.empty()) {
      Instruction* at = todo.pop_back_val();
      if (MovesToDevice(*at)) moves.insert(at);
      if (at->kind() == OpKind::DynamicSlice || HandsOn(*at))
        todo.append(at->users().begin(), at->users().end());
    }
  }
  /// What is moved to the device lies on the host, or has been fetched from there.
  static void Fetch(Instruction* move) {
    Instruction* value = move->operand(0);
    Become(move, SpaceOf(value->shape()) == kHostSpace ? CopyOf(move, value, 0) : value);
  }
  /// Values that updates on the host write are moved by these.
  void DropWritten() {
    for (const Computation* c : flow_.computations())
      for (Instruction* inst : c->InstructionsOf(OpKind::CustomCall)) {
        const bool written = MovesToHost(*inst) && IsOnlyWritten(*inst) && WritesHost(*inst);
        if (written) Become(inst, inst->operand(0));
      }
  }
  static bool WritesHost(const Instruction& moved) {
    return AllReaders(moved, [](const Instruction& user, const Instruction&) {
      return SpaceOf(user.shape()) == kHostSpace;
    });
  }

  /// Moves to the device of what is there.
  bool DropIdleMoves() {
    bool changed = false;
    const bool left = llvm::any_of(flow_.computations(), [](const Computation* c) {
      return llvm::any_of(c->instructions(), [](const Instruction* i) { return MovesToHost(*i); });
    });
    if (left) return false;  // they may end what these begin
    for (const Computation* c : flow_.computations())
      for (Instruction* inst : c->InstructionsOf(OpKind::CustomCall)) {
        if (!MovesToDevice(*inst) || SpaceOf(inst->operand(0)->shape()) == kHostSpace ||
            inst->operand(0)->shape() != inst->shape())
          continue;
        if (!context_.TakeRewrite()) return changed;
        Become(inst, inst->operand(0));
        changed = true;
      }
    return changed;
  }

  Module& module_;
  PassContext& context_;
  CallGraph calls_;
  Dataflow flow_;
  std::map<Place, std::vector<Part>> classes_;  // arrays by their buffer
  std::set<Place> wanted_;
};

/// Nothing is said about the host's memory.
bool HasNothingToMove(const Module& module) {
  const bool parameters = llvm::any_of(module.entry()->parameters(), [](const Instruction* parameter) {
    bool on_host = false;
    ForEachLeaf(parameter->shape(),
                [&](const ShapeIndex&, const Shape& leaf) { on_host |= SpaceOf(leaf) == kHostSpace; });
    return on_host;
  });
  return !parameters && llvm::none_of(module.computations(), [](const auto& c) {
    return llvm::any_of(c->InstructionsOf(OpKind::CustomCall),
                        [](const Instruction* i) { return MovesToHost(*i) || MovesToDevice(*i); });
  });
}

Result<bool> RunHostOffloader(Module& module, const NoPassOptions&, PassContext& context) {
  if (!module.entry() || HasNothingToMove(module)) return false;
  return Offloader(module, context).Run();
}

}  // namespace

HLO_DEFINE_PASS(HostOffloader, NoPassOptions);

}  // namespace hlo
