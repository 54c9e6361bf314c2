// Where values come from, where they are read, and which must lie in one buffer (passes.md §5.6).
#pragma once
#include <vector>

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Sequence.h"
#include "passes/analysis/call_graph.h"
#include "passes/analysis/sharing.h"

namespace hlo {

/// A place: one part (shape index) of what an instruction gives, as a dense number. What an instruction only
/// names has no places of its own: a tuple has one, for its table, above the places of its operands, and what
/// is taken out of a tuple is where the tuple has it. So levels upon levels of tuples take no more places
/// than there are instructions.
using Place = int32_t;
inline constexpr Place kNoPlace = -1;

/// One read of a value.
struct Use {
  const Instruction* user = nullptr;  // null: the value must last until `scope` ends
  int64_t operand = -1;               // -1: the user waits for the value without naming it
  int64_t part = -1;                  // of the operand, that is read (Dataflow::Parts)
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
    const auto it = places_.find(&instruction);
    return it == places_.end() ? kNoPlace : it->second.whole;
  }
  /// The place of a part, or kNoPlace if the shape has no such part.
  [[nodiscard]] Place Of(const Instruction& instruction, llvm::ArrayRef<int64_t> index) const {
    return Part(Of(instruction), index);
  }
  /// The place of a part of what is at `place`, or kNoPlace.
  [[nodiscard]] Place Part(Place place, llvm::ArrayRef<int64_t> index) const;
  /// The places that are the instruction's own, the whole first, then its parts in depth-first order.
  [[nodiscard]] llvm::iota_range<Place> Own(const Instruction& instruction) const {
    const auto it = places_.find(&instruction);
    return it == places_.end() ? llvm::seq<Place>(0, 0) : llvm::seq<Place>(it->second.begin, it->second.end);
  }
  /// Whose own place it is, and which part of that.
  [[nodiscard]] const Instruction& instruction(Place place) const { return *Node(place).instruction; }
  [[nodiscard]] ShapeIndex IndexOf(Place place) const;
  /// How long that index is.
  [[nodiscard]] int64_t Depth(Place place) const { return Node(place).depth; }
  [[nodiscard]] const Shape& shape(Place place) const { return *Node(place).shape; }
  /// Part `i` of a tuple.
  [[nodiscard]] Place Child(Place tuple, int64_t i) const {
    return children_[static_cast<size_t>(Node(tuple).first_child + i)];
  }
  /// What is at `place` and all parts of it, in depth-first order: part 0 is the whole.
  [[nodiscard]] std::vector<Place> Parts(Place place) const;
  [[nodiscard]] int64_t PartCount(Place place) const { return Node(place).parts; }
  /// The shape index of a part by its number.
  [[nodiscard]] ShapeIndex IndexOfPart(Place place, int64_t part) const;
  /// The number of a part by its shape index, or -1 if there is no such part.
  [[nodiscard]] int64_t PartAt(Place place, llvm::ArrayRef<int64_t> index) const;

  /// The place that defines the value held at `place`.
  [[nodiscard]] Place Value(Place place) const { return value_[static_cast<size_t>(place)]; }
  [[nodiscard]] bool Defines(Place place) const { return Value(place) == place; }
  /// Whether what is at `place` comes into being with the instruction.
  [[nodiscard]] bool Defines(const Instruction& instruction, Place place) const {
    return Defines(place) && Node(place).instruction == &instruction;
  }
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
    int64_t parts;        // with all below; INT64_MAX if they are too many to count
    Place parent;         // of the same instruction
    int32_t first_child;  // into children_
    int32_t ordinal;      // among the parent's children
    int32_t depth;
  };
  struct InstructionPlaces {
    Place whole;
    Place begin, end;  // its own
  };
  [[nodiscard]] const PlaceNode& Node(Place place) const { return nodes_[static_cast<size_t>(place)]; }
  /// Of a tuple: how many parts come before each child, the tuple itself aside.
  [[nodiscard]] llvm::ArrayRef<int64_t> PartsBeforeChildren(Place tuple) const {
    return llvm::ArrayRef(parts_before_)
        .slice(static_cast<size_t>(Node(tuple).first_child), static_cast<size_t>(shape(tuple).tuple_size()));
  }

  const Module& module_;
  const CallGraph& calls_;
  std::vector<const Computation*> computations_;
  std::vector<PlaceNode> nodes_;
  std::vector<Place> children_;
  std::vector<int64_t> parts_before_;  // of each of children_
  llvm::DenseMap<const Instruction*, InstructionPlaces> places_;
  std::vector<Place> value_, buffer_;
  llvm::DenseSet<Place> aliased_inputs_;
  std::vector<Use> uses_;
  std::vector<size_t> use_begin_;
};

}  // namespace hlo
