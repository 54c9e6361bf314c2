// Hashes that bring likely counterparts together. Nothing is decided by them: what they match is compared.
#pragma once
#include <vector>

#include "ir/support/hash.h"
#include "tools/diff/compare/graph.h"
#include "tools/diff/compare/module_diff.h"

namespace hlo {

/// How much of an instruction its hash looks at.
enum class DiffLevel : uint8_t {
  Exact,    // everything but what is ignored
  Meaning,  // opcode, element types, sizes, attributes; no layouts and annotations
  Opcode    // the opcode, and which element of a tuple
};
inline constexpr int kDiffLevelCount = static_cast<int>(DiffLevel::Opcode) + 1;

/// By DiffId. Equal numbers: probably the same.
struct DiffHashes {
  std::vector<uint64_t> own;   // the instruction by itself
  std::vector<uint64_t> up;    // with what its value is computed from
  std::vector<uint64_t> down;  // with what becomes of its value
};

/// `tags` numbers computations (by DiffId) whose parameters may be the same: equal on both sides for
/// counterparts.
struct DiffHasher {
  const DiffGraph& graph;
  const DiffOptions& options;
  DiffLevel level = DiffLevel::Exact;

  /// Within computations; called ones count by what they hold. `computations`: hashes of these.
  [[nodiscard]] DiffHashes Local(std::vector<uint64_t>& computations) const;
  /// Looking through inline computations and tuples. Parameters of other computations are told apart by
  /// `tags`.
  [[nodiscard]] DiffHashes Through(const DiffHashes& local, llvm::ArrayRef<uint64_t> computations,
                                   llvm::ArrayRef<uint64_t> tags) const;

 private:
  [[nodiscard]] uint64_t Own(const Instruction& inst) const;
  [[nodiscard]] uint64_t Annotations(const Instruction& inst) const;
  /// Operands in any order where they commute.
  template <class F>
  [[nodiscard]] uint64_t CombineOperands(DiffId id, uint64_t seed, F&& hash_of) const;
  [[nodiscard]] bool Commutes(const Instruction& inst) const;
  [[nodiscard]] uint64_t Position(DiffId user, int32_t position) const;
};

}  // namespace hlo
