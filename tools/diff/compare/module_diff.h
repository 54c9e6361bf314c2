// What differs between two modules, seen as graphs (tools.md §4.1).
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/module.h"

namespace hlo {

/// What became of an instruction. Every instruction of both modules is in exactly one entry.
enum class DiffKind : uint8_t {
  Unchanged,  // same opcode, shape, attributes, computation, matched operands
  Moved,      // in another computation, or at another place of the schedule if both modules have one
  Changed,    // matched, with at least one property that differs; it may have moved too
  Removed,    // only on the left
  Added       // only on the right
};
inline constexpr int kDiffKindCount = static_cast<int>(DiffKind::Added) + 1;
/// `unchanged`, `moved`, …
llvm::StringRef ToString(DiffKind kind);
/// The mark of a kind in texts and drawings: ` `, `>`, `~`, `-`, `+`.
char MarkOf(DiffKind kind);
/// The kind of that word; nothing if there is none.
std::optional<DiffKind> ParseDiffKind(llvm::StringRef word);

/// How two instructions found each other.
enum class MatchedBy : uint8_t {
  Nothing,      // they did not
  Hint,         // --map
  Fingerprint,  // the same computation of the same values
  Operands,     // equal operands in equal positions, or the only candidates among the users
  Similarity    // the likeliest of one opcode
};
llvm::StringRef ToString(MatchedBy by);

/// Properties that a comparison does not look at; each an option word of `--ignore`.
enum class DiffProperty : uint8_t {
  Metadata,
  Names,
  Layout,
  Shape,
  Sharding,
  BackendConfig,
  FrontendAttributes,
  Constants,
  Schedule,
  ControlDeps,
  MemorySpace,
  Precision,
  ChannelId
};
inline constexpr int kDiffPropertyCount = static_cast<int>(DiffProperty::ChannelId) + 1;

/// DiffEntry::note of an instruction that stays in its computation but not at its place of the schedule.
inline constexpr llvm::StringLiteral kMovedInSchedule = "in the schedule";

struct DiffOptions {
  /// Bits of DiffProperty.
  uint32_t ignored =
      1u << static_cast<int>(DiffProperty::Metadata) | 1u << static_cast<int>(DiffProperty::Names);
  bool strict_order = false;  // operands of commutative operations in another order are a change
  /// Steps after which matching gets cheaper; ModuleDiff::cut_short tells. Never makes "equal" wrong.
  int64_t max_effort = 200'000'000;
  // Left, right: certainly the same.
  std::vector<std::pair<const Instruction*, const Instruction*>> hints;
  std::vector<std::pair<const Computation*, const Computation*>> computation_hints;

  [[nodiscard]] bool Ignores(DiffProperty p) const { return (ignored >> static_cast<int>(p) & 1u) != 0; }
};

/// One property that differs: `shape.layout`, `operand 1`, `rhs_contracting_dims`, `metadata.op_name`.
struct PropertyChange {
  std::string path;
  std::string left, right;  // texts as HLO spells them; empty: not there
  std::string note;         // why, if that is known: `transpose folded`
};

/// An unchanged entry has both sides, but for further copies of a computation that the other module has in
/// fewer: these have one side, and a note.
struct DiffEntry {
  DiffKind kind = DiffKind::Unchanged;
  MatchedBy matched_by = MatchedBy::Nothing;
  bool moved = false;                   // also where kind is Changed
  const Instruction* left = nullptr;    // null: added
  const Instruction* right = nullptr;   // null: removed
  std::vector<PropertyChange> changes;  // in the order of printing
  std::string note;                     // what a move is: `fused`, `hoisted`, `outlined`, kMovedInSchedule
  int32_t group = -1;                   // entries that are the same change in several places share a number
  bool hidden = false;  // counted, but left out of the report by --only, --opcode or --computation
};

/// Two computations that correspond, or one that has no counterpart (the other is null).
struct ComputationMatch {
  const Computation* left = nullptr;
  const Computation* right = nullptr;
  MatchedBy matched_by = MatchedBy::Nothing;
};

/// The result; it refers to both modules, which must outlive it.
struct ModuleDiff {
  const Module* left = nullptr;
  const Module* right = nullptr;
  /// The attributes of the modules' headers that differ.
  std::vector<PropertyChange> header;
  std::vector<ComputationMatch> computations;  // callers before callees, in the order of the right module
  /// By computation (as in `computations`), then in the order of the right module; removed instructions
  /// stand where they stood among their neighbours. The same for all numbers of threads.
  std::vector<DiffEntry> entries;
  int64_t counts[kDiffKindCount] = {};
  bool cut_short = false;  // matching went on more cheaply after DiffOptions::max_effort

  [[nodiscard]] int64_t Count(DiffKind kind) const { return counts[static_cast<int>(kind)]; }
  /// True if nothing that is looked at differs.
  [[nodiscard]] bool Equal() const {
    return header.empty() && Count(DiffKind::Unchanged) == static_cast<int64_t>(entries.size());
  }
};

ModuleDiff CompareModules(const Module& left, const Module& right, const DiffOptions& options = {});

}  // namespace hlo
