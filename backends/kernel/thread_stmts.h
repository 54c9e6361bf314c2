// What the steps of schedules that write code for threads share: statements at the end of what is being made.
#pragma once
#include "backends/kernel/kernel.h"

namespace hlo::kernel {

class ThreadStmts {
 protected:
  explicit ThreadStmts(Kernel& kernel) : kernel_(kernel) {}

  ValueId Constant(ElementType type, uint64_t bits, uint64_t high = 0);
  ValueId Integer(int64_t number) { return Constant(ElementType::S64, static_cast<uint64_t>(number)); }
  /// The element that changes no fold by `op`.
  ValueId Neutral(OpKind op, ElementType type);
  ValueId Index(const Address& address);
  ValueId Op(OpKind kind, ElementType type, llvm::ArrayRef<ValueId> operands, Attrs attrs = {});
  ValueId Compare(Direction direction, ValueId x, ValueId y);
  /// Both, or the one that is not -1.
  ValueId Both(ValueId x, ValueId y);
  ValueId Load(BufferId buffer, const Address& address, ValueId mask = -1, ValueId otherwise = -1);
  /// A new array that each block has.
  BufferId Shared(ElementType type, int64_t count);

  LoopId NewLoop() { return kernel_.loop_count++; }
  static Stmt Loop(const Dimension& d, Region body);
  static Stmt Bound(LoopId id, int64_t extent, Binding binding, Region body);
  /// An address that counts a loop, `factor` for each iteration.
  static Address Counting(LoopId loop, int64_t factor = 1);
  /// `by` in place of the loop.
  static void Substitute(Region& region, LoopId loop, const Address& by);
  /// What is loaded and stored in the region exists only where `exists` says so.
  void Mask(Region& region, ValueId exists);

  /// Statements go into `region` while it lives.
  class Into {
   public:
    Into(ThreadStmts& stmts, std::vector<Stmt>& to)
        : stmts_(stmts), before_(std::exchange(stmts.out_, &to)) {}
    ~Into() { stmts_.out_ = before_; }
    Into(const Into&) = delete;
    Into& operator=(const Into&) = delete;

   private:
    ThreadStmts& stmts_;
    std::vector<Stmt>* before_;
  };

  Kernel& kernel_;
  std::vector<Stmt>* out_ = nullptr;  // where statements go
};

}  // namespace hlo::kernel
