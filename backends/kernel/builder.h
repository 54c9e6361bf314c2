// Makes the statements of a kernel, each in the outermost region that knows its operands.
#pragma once
#include "backends/kernel/kernel.h"

namespace hlo::kernel {

/// Regions are opened and closed like brackets. A statement whose operands do not depend on a loop lands
/// outside of that loop.
class KernelBuilder {
 public:
  explicit KernelBuilder(Kernel& kernel) : kernel_(kernel) { regions_.push_back(&kernel.body); }

  LoopId NewLoop(int64_t extent) {
    extents_.push_back(extent);
    loop_levels_.push_back(-1);
    return kernel_.loop_count++;
  }
  [[nodiscard]] int64_t Extent(LoopId loop) const { return extents_[static_cast<size_t>(loop)]; }

  /// Statements go into `region` from now on, where `loops` and `values` are defined.
  void Open(Region& region, llvm::ArrayRef<LoopId> loops, llvm::ArrayRef<ValueId> values = {});
  void Close() { regions_.pop_back(); }
  /// Closes all regions below `level` for a while; Resume() opens them again.
  llvm::SmallVector<Region*> Suspend(int32_t level) {
    const auto keep = regions_.begin() + level + 1;
    llvm::SmallVector<Region*> rest(keep, regions_.end());
    regions_.erase(keep, regions_.end());
    return rest;
  }
  void Resume(llvm::ArrayRef<Region*> regions) { regions_.append(regions.begin(), regions.end()); }
  [[nodiscard]] int32_t level() const { return static_cast<int32_t>(regions_.size()) - 1; }
  /// The number of the outermost open region in which all of these are known.
  [[nodiscard]] int32_t LevelOf(ValueId value) const {
    return value < 0 ? 0 : value_levels_[static_cast<size_t>(value)];
  }
  [[nodiscard]] int32_t LevelOf(const Address& address) const;
  [[nodiscard]] int32_t LevelOfLoop(LoopId loop) const { return loop_levels_[static_cast<size_t>(loop)]; }

  /// A new value that is defined in the region being open.
  ValueId NewValue(ElementType type) { return NewValue(type, level()); }
  ValueId Constant(ElementType type, uint64_t bits, uint64_t high = 0);
  ValueId Integer(int64_t value) { return Constant(ElementType::S64, static_cast<uint64_t>(value)); }
  /// As s64.
  ValueId Index(const Address& address);
  ValueId Op(OpKind kind, ElementType type, llvm::ArrayRef<ValueId> operands, Attrs attrs = {},
             bool bounded = false);
  ValueId Compare(Direction direction, ValueId x, ValueId y);
  ValueId Load(BufferId buffer, const Address& address, ValueId mask = -1, ValueId otherwise = -1);
  void Store(BufferId buffer, const Address& address, ValueId value, ValueId mask = -1);
  /// Both, or the one that is not -1.
  ValueId And(ValueId x, ValueId y);
  void Append(Stmt stmt) { regions_.back()->stmts.push_back(std::move(stmt)); }

 private:
  ValueId NewValue(ElementType type, int32_t level) {
    value_levels_.push_back(level);
    return kernel_.NewValue(type);
  }
  void Put(Stmt stmt, int32_t level) {
    regions_[static_cast<size_t>(level)]->stmts.push_back(std::move(stmt));
  }

  Kernel& kernel_;
  llvm::SmallVector<Region*> regions_;
  std::vector<int64_t> extents_;
  std::vector<int32_t> loop_levels_, value_levels_;
};

}  // namespace hlo::kernel
