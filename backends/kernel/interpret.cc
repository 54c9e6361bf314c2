#include "backends/kernel/interpret.h"

#include <cstring>
#include <deque>

#include "backends/kernel/interpret_memory.h"
#include "backends/kernel/threads.h"
#include "backends/kernel/visit.h"
#include "ir/eval/kernel.h"

namespace hlo::kernel {
namespace {

/// An element in unpacked storage.
struct Scalar {
  alignas(16) uint8_t bytes[16] = {};
};

Scalar FromBits(ElementType type, const uint64_t bits[2]) {
  Scalar scalar;
  const auto width = static_cast<size_t>(Info(type).host_bytes());
  if (IsComplex(type)) {
    std::memcpy(scalar.bytes, &bits[0], width / 2);
    std::memcpy(scalar.bytes + width / 2, &bits[1], width / 2);
  } else {
    std::memcpy(scalar.bytes, bits, width);
  }
  return scalar;
}

/// Runs each statement for all threads of a block before the next, so that none is ahead of another; what a
/// thread has not yet been told by a barrier KernelMemory knows. Blocks run one after the other, and kernels
/// without threads as one thread.
class Interpreter {
 public:
  Interpreter(const Kernel& kernel, llvm::ArrayRef<void*> buffers)
      : kernel_(kernel),
        shape_(ShapeOfBlocks(kernel)),
        threads_(static_cast<size_t>(shape_.count())),
        memory_(kernel, buffers, threads_),
        values_(kernel.value_types.size() * threads_),
        loops_(static_cast<size_t>(kernel.loop_count) * threads_),
        copies_(threads_, std::deque<std::vector<Copied>>(1)) {
    for (size_t t = 0; t < threads_; ++t) active_.push_back(static_cast<int32_t>(t));
  }
  Status Run() { return Run(kernel_.body); }

 private:
  using Scalars = llvm::SmallVector<Scalar, 1>;
  using Use = KernelMemory::Use;
  using Threads = std::vector<int32_t>;

  Scalar& At(ValueId value, int32_t thread) {
    return values_[static_cast<size_t>(value) * threads_ + static_cast<size_t>(thread)];
  }
  int64_t& Loop(LoopId loop, int32_t thread) {
    return loops_[static_cast<size_t>(loop) * threads_ + static_cast<size_t>(thread)];
  }
  bool IsTrue(ValueId mask, int32_t thread) { return mask < 0 || At(mask, thread).bytes[0] != 0; }
  size_t WidthOf(BufferId buffer) const {
    return static_cast<size_t>(Info(kernel_.buffers[static_cast<size_t>(buffer)].type).host_bytes());
  }
  int64_t IntegerAt(ValueId value, int32_t thread) {
    int64_t integer = 0;
    std::memcpy(&integer, At(value, thread).bytes, sizeof integer);
    return integer;
  }
  int64_t Value(const Address& address, int32_t thread) {
    int64_t sum = address.offset;
    for (const auto& term : address.loops) sum += Loop(term.id, thread) * term.factor;
    for (const auto& term : address.values) sum += IntegerAt(term.id, thread) * term.factor;
    return sum;
  }
  Result<uint8_t*> Element(BufferId buffer, const Address& address, int32_t thread, Use use) {
    return memory_.Element(buffer, Value(address, thread), thread, use);
  }
  int64_t Extent(const Dimension& d, int32_t thread) {
    if (d.outer < 0) return d.extent;
    return std::min(d.extent, d.limit - Loop(d.outer, thread) * d.extent);
  }
  /// The threads that are running and for which `f` holds.
  Threads Those(llvm::function_ref<bool(int32_t)> f) const {
    Threads threads;
    llvm::copy_if(active_, std::back_inserter(threads), f);
    return threads;
  }
  /// Runs `body` with fewer threads; not at all with none.
  Status With(Threads threads, llvm::function_ref<Status()> body) {
    if (threads.empty()) return {};
    std::swap(active_, threads);
    HLO_CHECK_OK(body());
    std::swap(active_, threads);
    return {};
  }
  /// Each thread runs its own number of iterations.
  Status ForEachIteration(const Dimension& d, llvm::function_ref<Status(int64_t)> body) {
    for (int64_t i = 0; i < d.extent; ++i) {
      for (const int32_t t : active_) Loop(d.id, t) = i;
      if (d.before >= 0) {
        const auto runs = [&](int32_t t) { return i < IntegerAt(d.before, t); };
        HLO_CHECK_OK(With(Those(runs), [&] { return body(i); }));
      } else if (d.outer < 0) {
        HLO_CHECK_OK(body(i));
      } else {
        HLO_CHECK_OK(With(Those([&](int32_t t) { return i < Extent(d, t); }), [&] { return body(i); }));
      }
    }
    return {};
  }

  Status Run(const Region& region) {
    for (const Stmt& stmt : region.stmts)
      HLO_CHECK_OK(std::visit([&](const auto& s) { return Run(s); }, stmt));
    return {};
  }
  Status Run(const ConstantStmt& s) {
    for (const int32_t t : active_) At(s.result, t) = FromBits(s.type, s.bits);
    return {};
  }
  Status Run(const IndexStmt& s) {
    for (const int32_t t : active_) {
      const int64_t value = Value(s.address, t);
      std::memcpy(At(s.result, t).bytes, &value, sizeof value);
    }
    return {};
  }
  Status Run(const OpStmt& s) {
    auto it = ops_.find(&s);
    if (it == ops_.end()) {
      llvm::SmallVector<ElementType, 3> types;
      for (const ValueId operand : s.operands) types.push_back(kernel_.TypeOf(operand));
      const auto found = FindKernel(s.kind, types, s.type, s.attrs);
      if (!found) return Decline({}, "%{0}: {1} is not known for these types", s.result, Info(s.kind).text);
      it = ops_.try_emplace(&s, *found).first;
    }
    for (const int32_t t : active_) {
      const void* in[hlo::Kernel::kMaxOperands] = {};
      for (size_t i = 0; i < s.operands.size(); ++i) in[i] = At(s.operands[i], t).bytes;
      Scalar result;
      it->second.Run(result.bytes, in, 1);
      At(s.result, t) = result;
    }
    return {};
  }
  Status Run(const LoadStmt& s) {
    for (const int32_t t : active_) {
      if (!IsTrue(s.mask, t)) {
        At(s.result, t) = At(s.otherwise, t);
        continue;
      }
      HLO_TRY(const uint8_t* element, Element(s.buffer, s.address, t, Use::Read));
      std::memcpy(At(s.result, t).bytes, element, WidthOf(s.buffer));
    }
    return {};
  }
  Status Run(const StoreStmt& s) {
    for (const int32_t t : active_) {
      if (!IsTrue(s.mask, t)) continue;
      HLO_TRY(uint8_t* element, Element(s.buffer, s.address, t, Use::Write));
      std::memcpy(element, At(s.value, t).bytes, WidthOf(s.buffer));
    }
    return {};
  }

  Status Run(const LoopStmt& s) {
    if (IsBlock(s.loop.binding)) return RunBlocks(s);
    if (IsThread(s.loop.binding)) return RunThreads(s);
    if (!in_threads_ && IsSection(s)) return RunSection(s);
    const auto run = [&] { return ForEachIteration(s.loop, [&](int64_t) { return Run(*s.body); }); };
    if (s.loop.when < 0) return run();
    return With(Those([&](int32_t t) { return IsTrue(s.loop.when, t); }), run);
  }
  Status RunBlocks(const LoopStmt& s) {
    return ForEachIteration(s.loop, [&](int64_t) {
      memory_.BeginBlock();
      sections_ = 0;
      return Run(*s.body);
    });
  }
  Status RunSection(const LoopStmt& s) {
    const BlockShape whole = std::exchange(shape_, ShapeOfThreads(*s.body));
    Threads threads = Those([&](int32_t t) { return t < shape_.count() && IsTrue(s.loop.when, t); });
    if (!threads.empty() && ++sections_ > 1)
      return Error("kernel-invalid", {}, "a block runs i{0}, a section, and another one", s.loop.id);
    HLO_CHECK_OK(With(std::move(threads),
                      [&] { return ForEachIteration(s.loop, [&](int64_t) { return Run(*s.body); }); }));
    shape_ = whole;
    return {};
  }
  /// The thread's number in one direction of the block.
  [[nodiscard]] int64_t NumberIn(size_t direction, int32_t thread) const {
    int64_t number = thread;
    for (size_t i = 0; i < direction; ++i) number /= shape_.extents[i];
    return number % shape_.extents[direction];
  }
  Status RunThreads(const LoopStmt& s) {
    // The outermost: threads that differ in no direction of the nest are one.
    std::array<bool, 4> bound{};
    bound[DirectionOf(s.loop.binding)] = true;
    ForEachStmt(std::as_const(*s.body), [&](const Stmt& stmt) {
      const auto* loop = std::get_if<LoopStmt>(&stmt);
      if (loop != nullptr && IsThread(loop->loop.binding)) bound[DirectionOf(loop->loop.binding)] = true;
    });
    const bool outermost = !std::exchange(in_threads_, true);
    Threads threads = Those([&](int32_t t) {
      for (size_t i = 0; outermost && i < bound.size(); ++i)
        if (!bound[i] && NumberIn(i, t) != 0) return false;
      return NumberIn(DirectionOf(s.loop.binding), t) < Extent(s.loop, t);
    });
    for (const int32_t t : threads) Loop(s.loop.id, t) = NumberIn(DirectionOf(s.loop.binding), t);
    HLO_CHECK_OK(With(std::move(threads), [&] { return Run(*s.body); }));
    if (outermost) in_threads_ = false;
    return {};
  }

  Status Run(const BarrierStmt&) {
    if (active_.size() != static_cast<size_t>(shape_.count()))
      return Error("kernel-invalid", {}, "{0} of the {1} threads of a block come to a barrier",
                   active_.size(), shape_.count());
    memory_.Barrier();
    return {};
  }
  Status Run(const AtomicStmt& s) {
    const ElementType type = kernel_.buffers[static_cast<size_t>(s.buffer)].type;
    const size_t width = WidthOf(s.buffer);
    std::optional<hlo::Kernel> op;
    if (const auto kind = OperationOf(s.op)) op = FindKernel(*kind, {type, type}, type);
    for (const int32_t t : active_) {
      if (!IsTrue(s.mask, t)) {
        if (s.result >= 0) At(s.result, t) = At(s.otherwise, t);
        continue;
      }
      HLO_TRY(uint8_t* element, Element(s.buffer, s.address, t, Use::Atomic));
      Scalar before;
      std::memcpy(before.bytes, element, width);
      const Scalar value = At(s.value, t);
      const void* in[] = {before.bytes, value.bytes};
      if (op)
        op->Run(element, in, 1);
      else if (s.expected < 0 || std::memcmp(before.bytes, At(s.expected, t).bytes, width) == 0)
        std::memcpy(element, value.bytes, width);
      if (s.result >= 0) At(s.result, t) = before;
    }
    return {};
  }
  Status Run(const ShuffleStmt& s) {
    const int64_t lanes = shape_.extents[0];
    std::vector<Scalar> results;
    for (const int32_t t : active_) {
      const int64_t lane = t % lanes, by = Value(s.by, t);
      int64_t from = by;
      if (s.mode == ShuffleMode::Up) from = lane - by;
      if (s.mode == ShuffleMode::Down) from = lane + by;
      if (s.mode == ShuffleMode::Xor) from = lane ^ by;
      if (from < 0 || from >= lanes) from = lane;
      const auto other = static_cast<int32_t>(t - lane + from);
      if (!std::binary_search(active_.begin(), active_.end(), other))
        return Error("kernel-invalid", {}, "thread {0} asks thread {1} for a value, which does not run", t,
                     other);
      results.push_back(At(s.value, other));
    }
    for (size_t i = 0; i < active_.size(); ++i) At(s.result, active_[i]) = results[i];
    return {};
  }
  Status Run(const LaneReduceStmt& s) {
    const auto lanes = static_cast<size_t>(shape_.extents[0]);
    const ElementType type = kernel_.TypeOf(s.value);
    const auto op = FindKernel(s.kind, {type, type}, type);
    // All lanes run, or none of a group.
    for (size_t i = 0; i < active_.size(); i += lanes) {
      HLO_CHECK_OK(CheckLanes(i, "lane-reduce"));
      Scalars list;
      for (size_t lane = 0; lane < lanes; ++lane) list.push_back(At(s.value, active_[i + lane]));
      for (size_t half = lanes / 2; half > 0; half /= 2)
        for (size_t lane = 0; lane < half; ++lane) {
          const void* in[] = {list[lane].bytes, list[lane + half].bytes};
          Scalar folded;
          op->Run(folded.bytes, in, 1);
          list[lane] = folded;
        }
      for (size_t lane = 0; lane < lanes; ++lane) At(s.result, active_[i + lane]) = list[0];
    }
    return {};
  }

  /// Words of all lanes beside a thread, of which `t` is the first.
  Result<std::vector<uint64_t>> Words(const MultiplyMatrixStmt::Words& words, int64_t count, int32_t t) {
    std::vector<uint64_t> all;
    for (int32_t lane = 0; lane < kMatrixLanes; ++lane)
      for (int64_t i = 0; i < count; ++i) {
        const int64_t at = Value(words.address, t + lane) + i;
        HLO_TRY(const uint8_t* word, memory_.Element(words.buffer, at, t + lane, Use::Read));
        std::memcpy(&all.emplace_back(), word, WidthOf(words.buffer));
      }
    return all;
  }
  Status CheckLanes(size_t i, const char* what) const {
    const auto lanes = static_cast<size_t>(shape_.extents[0]);
    if (i + lanes > active_.size() || active_[i + lanes - 1] - active_[i] + 1 != shape_.extents[0])
      return Error("kernel-invalid", {}, "not all lanes beside thread {0} come to a {1}", active_[i], what);
    return {};
  }
  Status Run(const LoadMatrixStmt& s) {
    for (size_t i = 0; i < active_.size(); i += kMatrixLanes) HLO_CHECK_OK(CheckLanes(i, "load-matrix"));
    const int64_t words = s.right ? RightWords(s.unit) : LeftWords(s.unit);
    const size_t width = WidthOf(s.from);
    for (const int32_t t : active_)
      for (int64_t word = 0; word < words; ++word) {
        const FactorPlace place = (s.right ? RightPlace : LeftPlace)(s.unit, t % kMatrixLanes, word);
        HLO_TRY(uint8_t* to, memory_.Element(s.into, Value(s.at, t) + word, t, Use::Write));
        for (int64_t e = 0; e < ElementsOfWord(s.unit); ++e) {
          const int64_t depth = place.depth + e;
          const int64_t at = s.across ? depth * s.pitch + place.line : place.line * s.pitch + depth;
          HLO_TRY(const uint8_t* element, memory_.Element(s.from, Value(s.address, t) + at, t, Use::Read));
          std::memcpy(to + static_cast<size_t>(e) * width, element, width);
        }
      }
    return {};
  }
  Status Run(const MultiplyMatrixStmt& s) {
    for (size_t i = 0; i < active_.size(); i += kMatrixLanes) {
      HLO_CHECK_OK(CheckLanes(i, "multiply-matrix"));
      const int32_t first = active_[i];
      HLO_TRY(const auto left, Words(s.left, LeftWords(s.unit), first));
      HLO_TRY(const auto right, Words(s.right, RightWords(s.unit), first));
      HLO_TRY(auto sums, Words(s.sums, SumWords(s.unit), first));
      MultiplyWords(s.unit, left, right, sums);
      const uint64_t* sum = sums.data();
      for (int32_t t = first; t < first + kMatrixLanes; ++t)
        for (int64_t word = 0; word < SumWords(s.unit); ++word) {
          const int64_t at = Value(s.sums.address, t) + word;
          HLO_TRY(uint8_t* to, memory_.Element(s.sums.buffer, at, t, Use::Write));
          std::memcpy(to, sum++, WidthOf(s.sums.buffer));
        }
    }
    return {};
  }
  /// Copies are made when they are waited for; but others must not use what they write before.
  Status Run(const CopyStmt& s) {
    for (const int32_t t : active_)
      for (int64_t i = 0; i < s.count; ++i) {
        HLO_TRY(uint8_t* to, memory_.Element(s.into, Value(s.at, t) + i, t, Use::Write));
        std::memset(to, kUnfinished, WidthOf(s.into));
        copies_[static_cast<size_t>(t)].back().push_back(
            {&s, Value(s.at, t) + i, Value(s.address, t) + i, IsTrue(s.mask, t)});
      }
    return {};
  }
  Status Run(const CommitCopiesStmt&) {
    for (const int32_t t : active_) copies_[static_cast<size_t>(t)].emplace_back();
    return {};
  }
  Status Run(const WaitForCopiesStmt& s) {
    for (const int32_t t : active_) {
      auto& groups = copies_[static_cast<size_t>(t)];
      // The last one is not committed yet.
      for (; groups.size() > static_cast<size_t>(s.pending) + 1; groups.pop_front())
        for (const Copied& copy : groups.front()) {
          HLO_TRY(uint8_t* to, memory_.Element(copy.stmt->into, copy.to, t, Use::Write));
          std::memset(to, 0, WidthOf(copy.stmt->into));
          if (!copy.exists) continue;
          HLO_TRY(const uint8_t* from, memory_.Element(copy.stmt->from, copy.from, t, Use::Read));
          std::memcpy(to, from, WidthOf(copy.stmt->into));
        }
    }
    return {};
  }

  /// into = combiner(x, y), each of them by the threads that are running.
  Status Combine(const ReduceStmt& s, llvm::function_ref<const Scalars&(int32_t)> x,
                 llvm::function_ref<const Scalars&(int32_t)> y, llvm::function_ref<Scalars&(int32_t)> into) {
    const size_t count = s.inits.size();
    for (const int32_t t : active_)
      for (size_t i = 0; i < count; ++i)
        At(s.parameters[i], t) = x(t)[i], At(s.parameters[count + i], t) = y(t)[i];
    HLO_CHECK_OK(Run(*s.combiner));
    for (const int32_t t : active_) into(t) = Get(s.combiner->yields, t);
    return {};
  }
  Scalars Get(llvm::ArrayRef<ValueId> values, int32_t thread) {
    Scalars scalars;
    for (const ValueId value : values) scalars.push_back(At(value, thread));
    return scalars;
  }
  /// The accumulator that iteration `i` of a wide loop folds into: groups are whole but for those at the end,
  /// which fold into the lanes of the first vector.
  static size_t LaneOf(const Dimension& d, int64_t extent, int64_t i) {
    const int64_t group = static_cast<int64_t>(d.width) * d.unroll;
    if (i < extent / group * group) return static_cast<size_t>(i % group);
    return static_cast<size_t>((i - extent / group * group) % d.width);
  }
  /// By thread: accumulators, or a list.
  using Lists = std::vector<std::vector<Scalars>>;

  Status Fold(const ReduceStmt& s, size_t level, Lists& accumulators) {
    const Dimension& d = s.loops[level];
    return ForEachIteration(d, [&](int64_t i) -> Status {
      if (level + 1 < s.loops.size()) return Fold(s, level + 1, accumulators);
      HLO_CHECK_OK(Run(*s.body));
      std::vector<Scalars> elements(threads_);
      for (const int32_t t : active_) elements[static_cast<size_t>(t)] = Get(s.body->yields, t);
      const auto into = [&](int32_t t) -> Scalars& {
        auto& list = accumulators[static_cast<size_t>(t)];
        return list[list.size() > 1 ? LaneOf(d, Extent(d, t), i) : 0];
      };
      return Combine(s, into, [&](int32_t t) -> Scalars& { return elements[static_cast<size_t>(t)]; }, into);
    });
  }
  /// The second half of a list is folded into the first until one value is left.
  Status FoldLists(const ReduceStmt& s, size_t size, Lists& lists) {
    const auto at = [&](size_t i) {
      return [&lists, i](int32_t t) -> Scalars& { return lists[static_cast<size_t>(t)][i]; };
    };
    for (; size > 1; size = (size + 1) / 2)
      for (size_t i = 0, half = (size + 1) / 2; i + half < size; ++i)
        HLO_CHECK_OK(Combine(s, at(i), at(i + half), at(i)));
    return {};
  }
  Status RunPairwise(const ReduceStmt& s) {
    Lists lists(threads_);
    for (const int32_t t : active_) lists[static_cast<size_t>(t)].push_back(Get(s.inits, t));
    HLO_CHECK_OK(ForEachIteration(s.loops[0], [&](int64_t) -> Status {
      HLO_CHECK_OK(Run(*s.body));
      for (const int32_t t : active_) lists[static_cast<size_t>(t)].push_back(Get(s.body->yields, t));
      return {};
    }));
    HLO_CHECK_OK(FoldLists(s, static_cast<size_t>(s.loops[0].extent) + 1, lists));
    for (const int32_t t : active_) At(s.results[0], t) = lists[static_cast<size_t>(t)][0][0];
    return {};
  }
  Status Run(const ReduceStmt& s) {
    if (FoldsPairwise(s)) return RunPairwise(s);
    const Dimension& last = s.loops.back();
    Lists accumulators(threads_), inits(threads_);
    for (const int32_t t : active_) inits[static_cast<size_t>(t)] = {Get(s.inits, t)};
    accumulators = inits;
    const bool in_lanes = last.width > 1 && ReductionOp(s);
    const size_t lanes = in_lanes ? static_cast<size_t>(last.width) * static_cast<size_t>(last.unroll) : 1;
    if (in_lanes) {
      const auto neutral = NeutralElement(*ReductionOp(s), kernel_.TypeOf(s.inits[0]));
      if (!neutral) return Decline({}, "{0} has no neutral elements", ToString(kernel_.TypeOf(s.inits[0])));
      Scalar scalar;
      llvm::copy(*neutral, scalar.bytes);
      for (const int32_t t : active_) accumulators[static_cast<size_t>(t)].assign(lanes, {scalar});
    }
    HLO_CHECK_OK(Fold(s, 0, accumulators));
    if (in_lanes) {
      HLO_CHECK_OK(FoldLists(s, lanes, accumulators));
      const auto folded = [&](int32_t t) -> Scalars& { return accumulators[static_cast<size_t>(t)][0]; };
      HLO_CHECK_OK(Combine(
          s, [&](int32_t t) -> Scalars& { return inits[static_cast<size_t>(t)][0]; }, folded, folded));
    }
    for (const int32_t t : active_)
      for (size_t i = 0; i < s.results.size(); ++i)
        At(s.results[i], t) = accumulators[static_cast<size_t>(t)][0][i];
    return {};
  }

  const Kernel& kernel_;
  BlockShape shape_;  // of the block, or of the section
  size_t threads_;    // of a block
  KernelMemory memory_;
  std::vector<Scalar> values_;  // by value, then thread
  std::vector<int64_t> loops_;  // by loop, then thread
  Threads active_;              // that are running, in order
  /// An element that is being copied.
  struct Copied {
    const CopyStmt* stmt;
    int64_t to, from;
    bool exists;
  };
  static constexpr int kUnfinished = 0xa5;
  std::vector<std::deque<std::vector<Copied>>> copies_;  // by thread: groups, the last not committed
  bool in_threads_ = false;
  int sections_ = 0;  // that the block has run
  llvm::DenseMap<const OpStmt*, hlo::Kernel> ops_;
};

}  // namespace

Status Interpret(const Kernel& kernel, llvm::ArrayRef<void*> buffers) {
  return Interpreter(kernel, buffers).Run();
}

}  // namespace hlo::kernel
