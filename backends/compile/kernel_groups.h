// Kernels to be (kernel_fusion), and what may become a part of one.
#pragma once
#include <vector>

#include "backends/compile/index_maps.h"
#include "backends/compile/kernel_ops.h"
#include "backends/compile/machine.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace hlo::compile {

/// The ways in which a kernel computes an instruction.
using Maps = llvm::SmallVector<IndexMap, 2>;

/// A kernel to be: a root, which makes its loops, and members that are computed in these.
struct Group {
  Group(Instruction* root_of, const Machine& machine)
      : root(root_of), loops(IterationShape(*root_of).dims(), machine) {}
  Instruction* root;
  LoopTable loops;
  std::vector<Instruction*> members;           // but the root, users first
  llvm::DenseSet<const Instruction*> outputs;  // of the members
  llvm::DenseMap<const Instruction*, Maps> maps;
  int64_t emitted = 0, reductions = 0;
  int64_t operations = 0;
  double repeated = 0;  // work of cheap members that other groups compute as well
  bool transposes = false, folds = false;
  bool of_block = false;                 // has a row that the threads of one block go through
  const Instruction* product = nullptr;  // the large one
  /// What the root changes in place; null if nothing.
  [[nodiscard]] const Instruction* target() const {
    const bool in_place = root->kind() == OpKind::DynamicUpdateSlice || root->kind() == OpKind::Scatter;
    return in_place ? root->operand(0) : nullptr;
  }
};

/// How many loops must have ended one after the other before each instruction of a computation.
class LoopsBefore {
 public:
  LoopsBefore() = default;
  /// `order`: operands before their users.
  explicit LoopsBefore(llvm::ArrayRef<Instruction*> order);
  /// Whether what is computed with its reader only when another loop has ended keeps clearly more bytes
  /// through that loop than it has itself.
  [[nodiscard]] bool WouldKeep(const Instruction& inst, const Instruction& reader) const;

 private:
  llvm::DenseMap<const Instruction*, int32_t> count_;  // nothing of those before all loops
};

/// Whether the nest of the root computes each element of the product once, its rows and columns in loops of
/// their own.
bool IsOfNest(const Instruction& product, const Group& group, const Maps& maps);
/// Whether the group may compute it in these ways: nothing that it changes in place is read elsewhere, no
/// fold is made again too often or leaves the others to single threads, and lanes stay what they are.
bool MayJoin(const Instruction& inst, const Group& group, const Maps& maps, const Machine& machine);
/// A reduction that threads share.
bool IsRow(const Instruction& inst, const Machine& machine);
/// Whether the threads of one block go through the row and the nest of the root, which is as short.
bool IsRowOfBlock(const Instruction& inst, const Group& group, const Machine& machine);
/// Whether several parts of what is updated make the update: each would be stored before, so it is better to
/// store the update itself.
bool IsMadeOfNeighbours(const Instruction& update, const Instruction& root, const Machine& machine);

}  // namespace hlo::compile
