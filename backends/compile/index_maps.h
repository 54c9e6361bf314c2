// Which loops of a kernel an instruction's elements are computed in: what grouping counts with.
#pragma once
#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "backends/compile/machine.h"
#include "ir/module.h"
#include "llvm/ADT/DenseMap.h"

namespace hlo::compile {

/// For each dimension of an array the loop that runs along it, or AtPosition where one element only is read.
using IndexMap = llvm::SmallVector<int32_t, 4>;
constexpr int32_t AtPosition(int64_t position) {
  return static_cast<int32_t>(-1 - std::clamp<int64_t>(position, 0, INT32_MAX - 1));
}
constexpr bool IsLoop(int32_t index) { return index >= 0; }
constexpr int64_t PositionOf(int32_t index) { return -1 - int64_t{index}; }
constexpr int32_t kNoLoop = AtPosition(0);  // all there is in a dimension of size one

/// The loops of a kernel to be. An element is computed in the innermost loop that its indices name: as often
/// as that loop's body runs.
class LoopTable {
 public:
  /// The nest of the root.
  LoopTable(llvm::ArrayRef<int64_t> dims, const Machine& machine)
      : machine_(&machine), nest_(Append({}, dims)) {
    in_nest_.assign(times_.size(), true);
  }
  /// The root's own elements.
  [[nodiscard]] const IndexMap& nest() const { return nest_; }
  /// Whether an element with these indices is computed in the nest of the root, not before it.
  [[nodiscard]] bool IsInNest(const IndexMap& map) const;
  /// How often an element with these indices is computed.
  [[nodiscard]] int64_t TimesOf(const IndexMap& map) const;
  /// For each dimension the loops of the nest whose numbers make up its index, all of which it then takes
  /// once for each number of the others; nothing if not all do so.
  [[nodiscard]] std::optional<std::vector<IndexMap>> NestLoops(const IndexMap& map) const;
  /// What is equal for maps that name the same elements in neighbouring loops of the same extents.
  [[nodiscard]] std::vector<int64_t> RowOf(const IndexMap& map) const;
  /// The indices with which operand `k` is read if `user` is computed with `map`; equal arguments have equal
  /// answers.
  const IndexMap& OperandMap(const Instruction& user, int64_t k, const IndexMap& map);

 private:
  using MapOf = IndexMap (LoopTable::*)(const Instruction& user, int64_t k, const IndexMap& map);
  static MapOf FindRule(OpKind kind);
  /// Loops over `dims`, one in the other, in the loops of `map`.
  IndexMap Append(const IndexMap& map, llvm::ArrayRef<int64_t> dims);
  /// Indices that are made of those of `map`, for `shape`: none of them is simply a loop.
  IndexMap Mixed(const IndexMap& map, const Shape& shape);
  /// Another index that changes with `loop`, or one place that only the running program knows.
  int32_t Derived(int32_t loop);
  IndexMap Same(const Instruction& user, int64_t k, const IndexMap& map);
  IndexMap Anywhere(const Instruction& user, int64_t k, const IndexMap& map);
  IndexMap Bitcast(const Instruction& user, int64_t k, const IndexMap& map);
  IndexMap Broadcast(const Instruction& user, int64_t k, const IndexMap& map);
  IndexMap Transpose(const Instruction& user, int64_t k, const IndexMap& map);
  IndexMap Reshape(const Instruction& user, int64_t k, const IndexMap& map);
  IndexMap Shifted(const Instruction& user, int64_t k, const IndexMap& map);
  IndexMap Sliced(const Instruction& user, int64_t k, const IndexMap& map);
  IndexMap Reduce(const Instruction& user, int64_t k, const IndexMap& map);
  IndexMap Repeated(const Instruction& user, int64_t k, const IndexMap& map);
  IndexMap Own(const Instruction& user, int64_t k, const IndexMap& map);

  /// A loop in those of `map`; how often its body runs.
  int32_t AddLoop(const IndexMap& map, int64_t times);

  std::vector<int64_t> times_;                  // by loop: how often its body runs
  int64_t least_times_ = 1;                     // how often what no loop is around is computed
  llvm::DenseMap<int32_t, IndexMap> reshaped_;  // the loops of the nest that are others behind a reshape
  std::vector<bool> in_nest_;  // by loop: whether it is one of the nest of the root, or in one
  std::map<std::tuple<const Instruction*, int64_t, IndexMap>, IndexMap> known_;
  const Machine* machine_;
  IndexMap nest_;
};

}  // namespace hlo::compile
