// The last step of copy-insertion: copies that are not needed go.
#pragma once
#include <set>

#include "llvm/ADT/DenseSet.h"
#include "passes/analysis/ordering.h"
#include "passes/rewrite/context.h"

namespace hlo {

/// Decides which copies can go and removes them. The module must be flat, and all values that must share a
/// buffer must be able to (CopyAdder sees to that).
class CopyRemover {
 public:
  CopyRemover(const Ordering& ordering, PassContext& context);
  /// Chooses, of the copies in `made` first, so that others stay where either could; nothing changes yet.
  Status Choose(const llvm::DenseSet<const Instruction*>& made);
  /// Removes the chosen copies from the module; what the analyses say is void then.
  void Remove();
  [[nodiscard]] llvm::ArrayRef<Instruction*> chosen() const { return chosen_; }

 private:
  using Key = std::pair<int64_t, Place>;  // definition, value
  /// Values in one buffer.
  struct Class {
    std::set<Key> values;
    int results = 0;  // parts of the program's result
    bool read_only = false;
  };

  [[nodiscard]] Key KeyOf(Place value) const {
    return {ordering_.timeline().Definition(flow_, value), value};
  }
  size_t ClassOf(Place value);
  /// The value that a chosen copy's result now is.
  Place Current(Place value) const;
  bool TryElide(Instruction* copy);
  bool OverBefore(Place a, Place b, Place source, Place also) const;
  static std::vector<std::pair<Place, Place>> Neighbours(const Class& large, const Class& small, Place copy);
  static void RelayControl(Instruction& copy);

  const Ordering& ordering_;
  const Dataflow& flow_;
  PassContext& context_;
  std::vector<Class> classes_;
  llvm::DenseMap<Place, size_t> class_of_;  // by Dataflow::Buffer
  std::vector<size_t> merged_into_;
  llvm::DenseMap<Place, Place> replaced_by_;
  llvm::DenseMap<Place, std::vector<Use>> more_uses_;
  llvm::DenseSet<const Instruction*> gone_;
  std::vector<Instruction*> chosen_;
};

}  // namespace hlo
