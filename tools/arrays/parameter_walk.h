// Following what a parameter holds through calls, loops and tuples to the instructions that use it.
#pragma once
#include <set>
#include <vector>

#include "ir/module.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace hlo {

/// Which operands of a user an instruction is. Remembers those of users with many operands.
class OperandPositions {
 public:
  using Positions = llvm::SmallVector<int64_t, 2>;
  /// In ascending order.
  Positions Of(const Instruction& user, const Instruction& value) {
    constexpr int64_t kMany = 16;
    Positions found;
    if (user.operand_count() <= kMany) {
      for (int64_t i = 0; i < user.operand_count(); ++i)
        if (user.operand(i) == &value) found.push_back(i);
      return found;
    }
    auto [at, added] = known_.try_emplace(&user);
    if (added)
      for (int64_t i = 0; i < user.operand_count(); ++i) at->second[user.operand(i)].push_back(i);
    return at->second.lookup(&value);
  }

 private:
  llvm::DenseMap<const Instruction*, llvm::DenseMap<const Instruction*, Positions>> known_;
};

/// A walk over the uses of one array. `State` says what has become of it on the way, and is ordered.
template <class State>
class ParameterWalk {
 public:
  /// A value somewhere in the module that holds the array at `index`.
  struct Place {
    const Instruction* inst;
    ShapeIndex index;
    State state;
    bool operator<(const Place& o) const {
      if (inst != o.inst) return inst < o.inst;
      if (state < o.state || o.state < state) return state < o.state;
      return std::lexicographical_compare(index.begin(), index.end(), o.index.begin(), o.index.end());
    }
  };
  using Use = llvm::function_ref<void(const Place& place, const Instruction& user, int64_t operand)>;

  explicit ParameterWalk(OperandPositions& positions) : positions_(positions) {}

  /// Once each; of hostile modules, which have very many paths, not all.
  void Push(Place place) {
    constexpr size_t kMaxPlaces = 100'000;
    if (seen_.size() < kMaxPlaces && seen_.insert(place).second) stack_.push_back(std::move(place));
  }

  /// Calls use() for each use of each place that was and will be pushed.
  void Run(Use use) {
    while (!stack_.empty()) {
      const Place place = std::move(stack_.back());
      stack_.pop_back();
      for (const Instruction* user : place.inst->users())
        for (const int64_t i : positions_.Of(*user, *place.inst)) use(place, *user, i);
      if (!place.inst->IsRoot()) continue;
      for (const Instruction* caller : place.inst->parent()->callers())
        if (caller->kind() == OpKind::Fusion || caller->kind() == OpKind::Call)
          Push({caller, place.index, place.state});
    }
  }

  /// Goes on where a call, a loop (with `in_loop`), a tuple or get-tuple-element takes the array; true if the
  /// user is one of these.
  bool Enter(const Place& place, const Instruction& user, int64_t operand, State in_loop) {
    switch (user.kind()) {
      case OpKind::Fusion:
      case OpKind::Call:
        if (operand < static_cast<int64_t>(user.callee()->parameters().size()))
          Push({user.callee()->parameter(operand), place.index, place.state});
        return true;
      case OpKind::While:
        for (const Computation* callee : user.callees()) Push({callee->parameter(0), place.index, in_loop});
        return true;
      case OpKind::Tuple: {
        ShapeIndex index = place.index;
        index.insert(index.begin(), operand);
        Push({&user, index, place.state});
        return true;
      }
      case OpKind::GetTupleElement:
        if (!place.index.empty() && place.index[0] == user.attr<GetTupleElementAttrs>().index)
          Push({&user, ShapeIndex(place.index.begin() + 1, place.index.end()), place.state});
        return true;
      default: return false;
    }
  }

 private:
  OperandPositions& positions_;
  std::set<Place> seen_;
  std::vector<Place> stack_;
};

}  // namespace hlo
