// Copies of regions within a kernel.
#pragma once
#include "backends/kernel/kernel.h"
#include "llvm/ADT/DenseMap.h"

namespace hlo::kernel {

/// Copies statements with new numbers for the values and loops that they define; others stay what they are.
/// There are no statements of threads in them.
class RegionCopier {
 public:
  explicit RegionCopier(Kernel& kernel) : kernel_(kernel) {}
  std::unique_ptr<Region> Copy(const Region& region);
  /// What the copies have instead of a value.
  [[nodiscard]] ValueId of(ValueId value) const {
    const auto it = values_.find(value);
    return it == values_.end() ? value : it->second;
  }
  ValueId Define(ValueId value) { return values_[value] = kernel_.NewValue(kernel_.TypeOf(value)); }

 private:
  Stmt Copied(const ConstantStmt& s);
  Stmt Copied(const IndexStmt& s);
  Stmt Copied(const OpStmt& s);
  Stmt Copied(const LoadStmt& s);
  Stmt Copied(const StoreStmt& s);
  Stmt Copied(const LoopStmt& s);
  Stmt Copied(const ReduceStmt& s);
  Stmt Copied(const ThreadStmt auto&) { llvm::report_fatal_error("a copy of what threads do"); }
  Address Copied(const Address& address) const;
  Dimension Copied(const Dimension& d);
  template <class List>
  List Uses(const List& values) const {
    List copies;
    for (const ValueId value : values) copies.push_back(of(value));
    return copies;
  }

  Kernel& kernel_;
  llvm::DenseMap<ValueId, ValueId> values_;
  llvm::DenseMap<LoopId, LoopId> loops_;
};

}  // namespace hlo::kernel
