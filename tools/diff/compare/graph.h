// A module as arrays, for matching: instructions and computations have dense numbers.
#pragma once
#include <vector>

#include "ir/module.h"
#include "llvm/ADT/DenseMap.h"

namespace hlo {

/// Number of an instruction or computation in its DiffGraph.
using DiffId = int32_t;
inline constexpr DiffId kNoDiffId = -1;
/// Its place in an array of all of them.
inline size_t Index(DiffId id) { return static_cast<size_t>(id); }

/// Whether the instruction only gives its operand another form: passes move such about.
bool Reshapes(const Instruction& inst);

/// A value at a place of the operands of its user.
struct DiffUse {
  DiffId user;
  int32_t position;
};

/// All instructions of a module, computation by computation, callers before callees, each in list order.
class DiffGraph {
 public:
  explicit DiffGraph(const Module& module);

  [[nodiscard]] const Module& module() const { return module_; }
  [[nodiscard]] DiffId size() const { return static_cast<DiffId>(instructions_.size()); }
  [[nodiscard]] const Instruction& operator[](DiffId id) const { return *instructions_[Index(id)]; }
  [[nodiscard]] DiffId IdOf(const Instruction* inst) const { return ids_.lookup(inst) - 1; }

  [[nodiscard]] DiffId computation_count() const { return static_cast<DiffId>(computations_.size()); }
  [[nodiscard]] const Computation& computation(DiffId c) const { return *computations_[Index(c)]; }
  [[nodiscard]] DiffId IdOf(const Computation* computation) const {
    return computation_ids_.lookup(computation) - 1;
  }
  [[nodiscard]] DiffId ComputationOf(DiffId id) const { return computation_of_[Index(id)]; }
  /// The instructions of a computation are first(c) … first(c + 1) - 1.
  [[nodiscard]] DiffId first(DiffId c) const { return first_[Index(c)]; }
  [[nodiscard]] DiffId count(DiffId c) const { return first(c + 1) - first(c); }
  /// kNoDiffId if it has none.
  [[nodiscard]] DiffId root(DiffId c) const { return roots_[Index(c)]; }
  [[nodiscard]] bool IsRoot(DiffId id) const { return root(ComputationOf(id)) == id; }

  [[nodiscard]] llvm::ArrayRef<DiffId> Operands(DiffId id) const {
    return Slice(operands_, operand_begin_, id);
  }
  /// By user, then by position.
  [[nodiscard]] llvm::ArrayRef<DiffUse> Uses(DiffId id) const { return Slice(uses_, use_begin_, id); }
  /// Instructions that call the computation, each with the computation's place among its callees.
  [[nodiscard]] llvm::ArrayRef<DiffUse> Callers(DiffId c) const { return callers_[Index(c)]; }

  /// True if the computation runs once, as part of its only caller, a fusion or call: values flow through.
  [[nodiscard]] bool IsInline(DiffId c) const { return inline_caller_[Index(c)] != kNoDiffId; }
  /// The fusion or call that an inline computation belongs to.
  [[nodiscard]] DiffId InlineCaller(DiffId c) const { return inline_caller_[Index(c)]; }
  /// Where the value comes from if one looks through fusions, calls and tuples: `id` itself for most.
  [[nodiscard]] DiffId Source(DiffId id) const { return source_[Index(id)]; }
  /// Operands before users, also through inline computations.
  [[nodiscard]] llvm::ArrayRef<DiffId> TopologicalOrder() const { return topological_; }
  /// The same by computation.
  [[nodiscard]] llvm::ArrayRef<DiffId> TopologicalOrder(DiffId c) const {
    return llvm::ArrayRef(by_computation_).slice(Index(first(c)), Index(count(c)));
  }
  /// The inline computation that a fusion or call consists of; kNoDiffId for others.
  [[nodiscard]] DiffId InlineBody(DiffId id) const;

 private:
  template <class T>
  static llvm::ArrayRef<T> Slice(const std::vector<T>& all, const std::vector<uint32_t>& begin, DiffId id) {
    return llvm::ArrayRef(all).slice(begin[Index(id)], begin[Index(id) + 1] - begin[Index(id)]);
  }
  void NumberAll();
  void FindEdges();
  void FindInlineBodies();
  void FindOrder();
  /// The instruction whose value `id` hands on, one step back; kNoDiffId if it makes its own.
  [[nodiscard]] DiffId Behind(DiffId id) const;
  void FindSources();

  const Module& module_;
  std::vector<const Instruction*> instructions_;
  std::vector<const Computation*> computations_;
  llvm::DenseMap<const Instruction*, DiffId> ids_;  // plus 1
  llvm::DenseMap<const Computation*, DiffId> computation_ids_;
  std::vector<DiffId> computation_of_, first_, roots_, inline_caller_, source_, topological_, by_computation_,
      operands_;
  std::vector<uint32_t> operand_begin_, use_begin_;
  std::vector<DiffUse> uses_;
  std::vector<std::vector<DiffUse>> callers_;
};

}  // namespace hlo
