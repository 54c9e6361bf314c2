// What is drawn of a module before it takes a form: nodes, edges, groups (tools.md §5.2).
#pragma once
#include <string>
#include <vector>

#include "ir/module.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace hlo {

/// Which called computations are drawn inside.
enum DotExpand : uint8_t {
  kExpandNone = 0,
  kExpandFusion = 1,
  kExpandWhile = 2,
  kExpandConditional = 4,
  kExpandCall = 8,
  kExpandReduce = 16,  // everything else that calls, but for computations that NamedReducer() names
  kExpandAll = 31
};

/// The bit that decides about the computations an instruction calls.
DotExpand ExpandBit(OpKind kind);

/// What a drawing holds.
struct DrawingScope {
  std::vector<const Computation*> computations;  // drawn on their own; empty: the entry
  bool all_computations = false;                 // also those that the others do not hold
  uint8_t expand = kExpandFusion;                // DotExpand bits
  bool control = true;                           // edges of control dependencies
  llvm::DenseSet<const Instruction*> own_nodes;  // have nodes even if they could be written into users
};

struct DrawnNode {
  const Instruction* instruction = nullptr;  // null: the tag that marks the result of a computation
  int32_t group = 0;                         // the innermost one
  bool requested = false;                    // the user named it
  bool omitted = false;                      // some of its operands or users are not drawn
};

enum class EdgeKind : uint8_t { Value, Control, Result };
struct DrawnEdge {
  int32_t from = 0, to = 0;
  EdgeKind kind = EdgeKind::Value;
  bool large = false;    // of values: from kLargeElements elements on
  int32_t operand = -1;  // its number where there are several
};

enum class GroupKind : uint8_t {
  Computation,  // beside its caller, if it has one
  Fusion,       // stands in the place of its caller
  Part,         // of a computation: by name, source, …
  Piece,        // of what has no better order than that of the program; stays closed
  Sources       // parameters, or values that depend on nothing drawn; stays closed
};
/// True for groups that have names of their own.
inline bool IsPart(GroupKind kind) { return kind >= GroupKind::Part; }
struct DrawnGroup {
  GroupKind kind = GroupKind::Computation;
  int32_t parent = -1;                       // -1: of the drawing
  const Computation* computation = nullptr;  // that it is, or is part of
  const Instruction* caller = nullptr;
  std::string name;  // of parts, unique within the computation
  std::string label;
  bool collapsed = false;  // drawn as one node
  bool requested = false;  // a fusion that the user named
};

/// Nodes stand in the order in which they are drawn, operands before users; parents before their groups.
struct Drawing {
  const Module* module = nullptr;
  std::string title;
  std::vector<DrawnGroup> groups;
  std::vector<DrawnNode> nodes;
  std::vector<DrawnEdge> edges;
  llvm::DenseMap<const Instruction*, int32_t> node_of;  // of instructions with a node of their own

  /// The node whose result a value is: that of a tuple's origin, of a fusion's inner root; -1 if there is
  /// none.
  [[nodiscard]] int32_t NodeOf(const Instruction* value) const;
  /// Computations with a group.
  llvm::DenseMap<const Computation*, int32_t> group_of;
  /// True for a fusion whose body is drawn in its place.
  [[nodiscard]] bool IsExpandedFusion(const Instruction& instruction) const;
  /// True for a constant or tuple element without a node of its own.
  [[nodiscard]] bool IsWritten(const Instruction& instruction) const;

  /// Only these nodes and the edges between them stay; neighbours of others become `omitted`.
  void Keep(llvm::ArrayRef<bool> kept);
};

/// At most so many edges lead from one node to another.
inline constexpr int kMostParallelEdges = 64;

Drawing MakeDrawing(const Module& module, const DrawingScope& scope);

}  // namespace hlo
