// The rules of blocks and threads.
#include "backends/kernel/parse.h"
#include "backends/kernel/threads.h"
#include "backends/kernel/visit.h"
#include "llvm/Support/MathExtras.h"

namespace hlo::kernel {
namespace {

class ThreadVerifier {
 public:
  ThreadVerifier(const Kernel& kernel, llvm::ArrayRef<int> lines)
      : kernel_(kernel), lines_(lines), shape_(ShapeOfBlocks(kernel)) {
    ForEachStmt(kernel.body, [&](const Stmt& stmt) {
      const auto* loop = std::get_if<LoopStmt>(&stmt);
      if (loop == nullptr) return;
      has_threads_ |= IsThread(loop->loop.binding);
      has_sections_ |= IsSection(*loop);
    });
  }

  Status Run() { return Verify(kernel_.body); }

 private:
  /// A loop, or a dimension of a reduce, around the statement being looked at.
  struct Around {
    const Dimension* d;
    bool of_reduce;
  };

  template <class... Args>
  tl::unexpected<Diagnostic> Fail(const char* format, Args&&... args) const {
    return Error("kernel-invalid", {}, (LineOf(lines_, at_) + format).c_str(), std::forward<Args>(args)...);
  }

  [[nodiscard]] bool AroundAre(bool (*kind)(Binding)) const {
    return llvm::any_of(around_, [&](const Around& a) { return kind(a.d->binding); });
  }
  [[nodiscard]] bool AroundThreads() const {
    return AroundAre([](Binding b) { return IsThread(b); });
  }
  [[nodiscard]] const Dimension* Open(LoopId id) const {
    const auto it = llvm::find_if(around_, [&](const Around& a) { return a.d->id == id; });
    return it == around_.end() ? nullptr : it->d;
  }
  static bool IsBound(const Stmt& stmt, bool (*kind)(Binding)) {
    const auto* loop = std::get_if<LoopStmt>(&stmt);
    return loop != nullptr && kind(loop->loop.binding);
  }
  static bool IsBlockLoop(const Stmt& stmt) {
    return IsBound(stmt, [](Binding b) { return IsBlock(b); });
  }
  static bool IsThreadLoop(const Stmt& stmt) {
    return IsBound(stmt, [](Binding b) { return IsThread(b); });
  }

  Status Verify(const Region& region) {
    const size_t around = at_;
    const bool of_blocks = llvm::any_of(region.stmts, IsBlockLoop);
    const bool threads = AroundThreads();
    const bool of_threads =
        threads && IsThread(around_.back().d->binding) && llvm::any_of(region.stmts, IsThreadLoop);
    const bool in_block = !of_blocks && AroundAre([](Binding b) { return IsBlock(b); });
    for (const Stmt& stmt : region.stmts) {
      at_ = next_++;
      in_block_ = in_block, innermost_ = threads && !of_threads;
      if (of_blocks && !IsBlockLoop(stmt) && ResultOf(stmt) < 0)
        return Fail("beside a block loop there are values only");
      if (of_threads && !IsThreadLoop(stmt) && ResultOf(stmt) < 0)
        return Fail("beside a thread loop inside of another there are values only");
      HLO_CHECK_OK(std::visit([&](const auto& s) { return Verify(s); }, stmt));
    }
    at_ = around;
    return {};
  }

  static Status Verify(const ConstantStmt&) { return {}; }
  static Status Verify(const IndexStmt&) { return {}; }
  static Status Verify(const OpStmt&) { return {}; }
  Status Verify(const LoadStmt& s) { return VerifyAccess(s.buffer, "load of"); }
  Status Verify(const StoreStmt& s) { return VerifyAccess(s.buffer, "store to"); }
  Status Verify(const AtomicStmt& s) {
    if (kernel_.buffers[static_cast<size_t>(s.buffer)].IsLocal())
      return Fail("atomic on b{0}, which each thread has for itself", s.buffer);
    return VerifyAccess(s.buffer, "atomic on");
  }
  /// What is written is used where one block and one thread does so.
  Status VerifyAccess(BufferId id, const char* what) const {
    const Buffer& buffer = kernel_.buffers[static_cast<size_t>(id)];
    if (buffer.space == Space::Shared && !in_block_)
      return Fail("{0} b{1}, which is shared by the threads of a block, outside of the block loops", what,
                  id);
    if (buffer.written && has_threads_ && !innermost_)
      return Fail("{0} b{1} outside of the thread loops: every thread would do it", what, id);
    return {};
  }

  Status Verify(const LoopStmt& s) {
    if (s.loop.binding != Binding::None) HLO_CHECK_OK(VerifyBound(s.loop));
    if (section_ == nullptr && !AroundThreads() && IsSection(s)) return VerifySection(s);
    return VerifyBody(s);
  }
  Status VerifyBody(const LoopStmt& s) {
    around_.push_back({&s.loop, false});
    HLO_CHECK_OK(Verify(*s.body));
    around_.pop_back();
    return {};
  }
  Status VerifySection(const LoopStmt& s) {
    const BlockShape whole = std::exchange(shape_, ShapeOfThreads(*s.body));
    section_ = &s.loop;
    HLO_CHECK_OK(VerifyBody(s));
    section_ = nullptr;
    shape_ = whole;
    return {};
  }
  Status Verify(const ReduceStmt& s) {
    for (const Dimension& d : s.loops) {
      if (d.binding != Binding::None)
        return Fail("i{0} of a reduce is bound to {1}", d.id, ToString(d.binding));
      around_.push_back({&d, true});
    }
    HLO_CHECK_OK(Verify(*s.body));
    in_combiner_ = true;
    HLO_CHECK_OK(Verify(*s.combiner));
    in_combiner_ = false;
    around_.truncate(around_.size() - s.loops.size());
    return {};
  }

  Status VerifyBound(const Dimension& d) {
    const llvm::StringRef to = ToString(d.binding);
    if (d.parallel || d.ordered || d.width > 1 || d.unroll > 1)
      return Fail("i{0} is bound to {1}, but ordered, parallel, a vector or written out", d.id, to);
    for (const Around& a : around_)
      if (a.of_reduce || a.d->width > 1 || a.d->parallel)
        return Fail("i{0} is bound to {1} inside of i{2}, which is parallel, a vector or of a reduce", d.id,
                    to, a.d->id);
      else if (a.d->binding == d.binding)
        return Fail("i{0} is bound to {1}, as i{2} around it", d.id, to, a.d->id);
    return IsBlock(d.binding) ? VerifyBlock(d) : VerifyThread(d);
  }
  Status VerifyBlock(const Dimension& d) {
    for (const Around& a : around_)
      if (!IsBlock(a.d->binding))
        return Fail("i{0} is bound to {1} inside of i{2}, which is not", d.id, ToString(d.binding), a.d->id);
    if (d.outer >= 0)
      return Fail("i{0} is bound to {1}, but has not the same extent everywhere", d.id, ToString(d.binding));
    const auto open = llvm::count_if(around_, [](const Around& a) { return IsBlock(a.d->binding); });
    if (blocks_++ != open)
      return Fail("i{0} is bound to {1}, but there are blocks before", d.id, ToString(d.binding));
    return {};
  }
  Status VerifyThread(const Dimension& d) const {
    const llvm::StringRef to = ToString(d.binding);
    if (!in_block_) return Fail("i{0} is bound to {1} outside of a block loop", d.id, to);
    if (has_sections_ && section_ == nullptr) return Fail("i{0} is bound to {1} beside a section", d.id, to);
    if (shape_.count() > kMaxThreads)
      return Fail("i{0} is bound to {1}: {2} threads of a block, expected at most {3}", d.id, to,
                  shape_.count(), kMaxThreads);
    const bool inside = AroundThreads();
    if (inside && !IsThread(around_.back().d->binding))
      return Fail("i{0} is bound to {1} inside of i{2}, which is not bound, inside of threads", d.id, to,
                  around_.back().d->id);
    if (inside && around_.back().d->binding == Binding::Lane)
      return Fail("i{0} is bound to {1} inside of i{2}: lanes are the innermost", d.id, to,
                  around_.back().d->id);
    if (d.binding == Binding::Lane && (d.outer >= 0 || !llvm::isPowerOf2_64(static_cast<uint64_t>(d.extent))))
      return Fail("i{0} is bound to {1}: expected a power of two of lanes, all of which exist", d.id, to);
    if (d.binding == Binding::Lane && d.extent != shape_.extents[0])
      return Fail("i{0} is bound to {1}: expected {2} lanes, as elsewhere", d.id, to, shape_.extents[0]);
    return {};
  }

  Status Verify(const BarrierStmt&) {
    if (!in_block_) return Fail("a barrier outside of a block loop");
    if (in_combiner_) return Fail("a barrier in what a reduce folds by");
    std::array<bool, 4> bound{};
    for (const Around& a : around_) {
      const Dimension& d = *a.d;
      if (IsBlock(d.binding)) continue;
      if (d.width > 1) return Fail("a barrier in i{0}, which is a vector", d.id);
      if (d.when >= 0 && &d != section_) return Fail("a barrier in i{0}, which has a condition", d.id);
      if (d.before >= 0)
        return Fail("a barrier in i{0}, of which threads have different numbers of iterations", d.id);
      const Dimension* outer = d.outer < 0 ? nullptr : Open(d.outer);
      if (outer != nullptr && IsThread(outer->binding))
        return Fail("a barrier in i{0}, of which threads have different numbers of iterations", d.id);
      if (!IsThread(d.binding)) continue;
      const size_t direction = DirectionOf(d.binding);
      bound[direction] = true;
      if (d.outer >= 0 || d.extent != shape_.extents[direction])
        return Fail("a barrier in i{0}, which not all threads of the block run", d.id);
    }
    if (!AroundThreads()) return {};
    for (size_t i = 0; i < bound.size(); ++i)
      if (!bound[i] && shape_.extents[i] > 1)
        return Fail("a barrier in a nest of loops that not all threads of the block run");
    return {};
  }

  Status Verify(const ShuffleStmt&) const { return VerifyLanes("shuffle"); }
  Status Verify(const LaneReduceStmt&) const { return VerifyLanes("lane-reduce"); }
  Status Verify(const LoadMatrixStmt& s) {
    HLO_CHECK_OK(VerifyAccess(s.from, "load of"));
    HLO_CHECK_OK(VerifyAccess(s.into, "store to"));
    return VerifyMatrixLanes("load-matrix");
  }
  Status Verify(const MultiplyMatrixStmt& s) {
    HLO_CHECK_OK(VerifyAccess(s.sums.buffer, "store to"));
    return VerifyMatrixLanes("multiply-matrix");
  }
  Status Verify(const CopyStmt& s) {
    for (const Around& a : around_)
      if (a.d->width > 1) return Fail("a copy in i{0}, which is a vector", a.d->id);
    return VerifyAccess(s.into, "copy to");
  }
  static Status Verify(const CommitCopiesStmt&) { return {}; }
  static Status Verify(const WaitForCopiesStmt&) { return {}; }
  Status VerifyMatrixLanes(const char* what) const {
    HLO_CHECK_OK(VerifyLanes(what));
    if (shape_.extents[0] != kMatrixLanes)
      return Fail("a {0} of {1} lanes, expected {2}", what, shape_.extents[0], kMatrixLanes);
    return {};
  }
  Status VerifyLanes(const char* what) const {
    const auto lanes = llvm::find_if(around_, [](const Around& a) { return a.d->binding == Binding::Lane; });
    if (lanes == around_.end()) return Fail("a {0} outside of a lane loop", what);
    for (auto a = lanes + 1; a != around_.end(); ++a) {
      if (a->d->width > 1) return Fail("a {0} in i{1}, which is a vector", what, a->d->id);
      if (a->d->when >= 0) return Fail("a {0} in i{1}, which has a condition", what, a->d->id);
      if (a->d->outer == lanes->d->id || a->d->before >= 0)
        return Fail("a {0} in i{1}, of which lanes have different numbers of iterations", what, a->d->id);
    }
    return {};
  }

  const Kernel& kernel_;
  llvm::ArrayRef<int> lines_;
  size_t at_ = 0, next_ = 0;  // the statement being looked at, and how many have begun
  BlockShape shape_;
  bool has_threads_ = false;  // thread loops
  bool has_sections_ = false;
  const Dimension* section_ = nullptr;  // around the statement, if there is one
  llvm::SmallVector<Around, 8> around_;
  int64_t blocks_ = 0;      // block loops that have begun
  bool in_block_ = false;   // inside of all block loops
  bool innermost_ = false;  // in a thread loop that holds no other
  bool in_combiner_ = false;
};

}  // namespace

Status VerifyThreads(const Kernel& kernel, llvm::ArrayRef<int> lines) {
  return ThreadVerifier(kernel, lines).Run();
}

}  // namespace hlo::kernel
