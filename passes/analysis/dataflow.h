// Where values come from, where they are read, and which must lie in one buffer (passes.md §5.6).
#pragma once
#include <vector>

#include "llvm/ADT/DenseSet.h"
#include "passes/analysis/call_graph.h"
#include "passes/analysis/sharing.h"

namespace hlo {

/// A place: one part (shape index) of one instruction, as a dense number. Places of one instruction are
/// consecutive, the whole first, then its parts in depth-first order.
using Place = int32_t;
inline constexpr Place kNoPlace = -1;

/// One read of a value.
struct Use {
  const Instruction* user = nullptr;  // null: the value must last until `scope` ends
  int64_t operand = -1;               // -1: the user waits for the value without naming it
  Place place = kNoPlace;             // the part of the operand that is read
  const Computation* scope = nullptr;
};

/// The values of all computations that control flow reaches from the entry; instructions of others have no
/// places. Each place holds the value that some place defines:
///  - tuple, get-tuple-element, bitcast, opt-barrier, domain, add-dependency and the pass-through parts of
///    asynchronous starts and dones hold their operand's values;
///  - a called computation holds what it is given, a call holds the callee's result, and so do loops
///    and branches for what goes through unchanged;
///  - other loop elements and conditional results are values of their own, in one buffer with what they
///  merge.
/// Where a computation has several callers its parameters and results are merged likewise.
class Dataflow {
 public:
  Dataflow(const Module& module, const CallGraph& calls);

  [[nodiscard]] size_t place_count() const { return nodes_.size(); }
  /// The whole result of an instruction; kNoPlace where there is none.
  [[nodiscard]] Place Of(const Instruction& instruction) const {
    const auto it = first_.find(&instruction);
    return it == first_.end() ? kNoPlace : it->second;
  }
  /// The place of a part, or kNoPlace if the shape has no such part.
  [[nodiscard]] Place Of(const Instruction& instruction, llvm::ArrayRef<int64_t> index) const;
  [[nodiscard]] const Instruction& instruction(Place place) const { return *Node(place).instruction; }
  [[nodiscard]] const Shape& shape(Place place) const { return *Node(place).shape; }
  [[nodiscard]] ShapeIndex IndexOf(Place place) const;
  /// Part `i` of a tuple.
  [[nodiscard]] Place Child(Place tuple, int64_t i) const {
    return children_[static_cast<size_t>(Node(tuple).first_child + i)];
  }
  /// One past the last part of `place`; its parts are the places from `place` to there.
  [[nodiscard]] Place End(Place place) const { return Node(place).end; }

  /// The place that defines the value held at `place`.
  [[nodiscard]] Place Value(Place place) const { return value_[static_cast<size_t>(place)]; }
  [[nodiscard]] bool Defines(Place place) const { return Value(place) == place; }
  /// One value of the class of values that must share a buffer, the same for all of them.
  [[nodiscard]] Place Buffer(Place place) const { return buffer_[static_cast<size_t>(Value(place))]; }
  [[nodiscard]] llvm::ArrayRef<Use> Uses(Place value) const {
    const auto i = static_cast<size_t>(value);
    return llvm::ArrayRef(uses_).slice(use_begin_[i], use_begin_[i + 1] - use_begin_[i]);
  }
  /// The part of an entry parameter whose buffer a result of the module takes.
  [[nodiscard]] bool IsAliasedInput(Place place) const { return aliased_inputs_.contains(place); }
  /// The operation that ends what an asynchronous start begins; null if there is none.
  static const Instruction* DoneOf(const Instruction& start);

  /// The computations with places, callees before callers.
  [[nodiscard]] llvm::ArrayRef<const Computation*> computations() const { return computations_; }
  [[nodiscard]] const CallGraph& calls() const { return calls_; }
  [[nodiscard]] const Module& module() const { return module_; }
  /// `%name` or `%name{1}`.
  [[nodiscard]] std::string Name(Place place) const;

 private:
  friend class DataflowBuilder;
  struct PlaceNode {
    const Instruction* instruction;
    const Shape* shape;
    Place parent;
    Place end;
    int32_t first_child;  // into children_
    int32_t ordinal;      // among the parent's children
  };
  [[nodiscard]] const PlaceNode& Node(Place place) const { return nodes_[static_cast<size_t>(place)]; }

  const Module& module_;
  const CallGraph& calls_;
  std::vector<const Computation*> computations_;
  std::vector<PlaceNode> nodes_;
  std::vector<Place> children_;
  llvm::DenseMap<const Instruction*, Place> first_;
  std::vector<Place> value_, buffer_;
  llvm::DenseSet<Place> aliased_inputs_;
  std::vector<Use> uses_;
  std::vector<size_t> use_begin_;
};

}  // namespace hlo
