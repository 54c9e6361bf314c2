#include "backends/kernel/parse.h"
#include "backends/kernel/selection.h"
#include "backends/kernel/threads.h"
#include "backends/kernel/value_bounds.h"

namespace hlo::kernel {
namespace {

class Verifier {
 public:
  Verifier(const Kernel& kernel, llvm::ArrayRef<int> lines)
      : kernel_(kernel),
        lines_(lines),
        defined_(kernel.value_types.size()),
        known_(kernel.value_types.size()),
        open_(static_cast<size_t>(kernel.loop_count)) {}

  Status Run() {
    for (size_t i = 0; i < kernel_.buffers.size(); ++i) HLO_CHECK_OK(VerifyPlace(static_cast<BufferId>(i)));
    return Verify(kernel_.body);
  }

 private:
  template <class... Args>
  tl::unexpected<Diagnostic> Fail(const char* format, Args&&... args) const {
    return Error("kernel-invalid", {}, (LineOf(lines_, at_) + format).c_str(), std::forward<Args>(args)...);
  }

  static int64_t BytesOf(const Buffer& buffer) { return buffer.count * Info(buffer.type).host_bytes(); }
  Status VerifyPlace(BufferId id) {
    const Buffer& buffer = kernel_.buffers[static_cast<size_t>(id)];
    // Bytes change places within lines of 128 bytes only, by what says which line it is.
    constexpr int32_t kWhole = 16, kLine = 128, kMostShift = 16;
    if (const auto [shift, mask] = buffer.swizzle; mask != 0)
      if (buffer.space != Space::Shared || mask % kWhole != 0 || mask >= kLine || shift < 1 ||
          shift > kMostShift || (mask << shift) % kLine != 0 || BytesOf(buffer) % kLine != 0)
        return Error(
            "kernel-invalid", {},
            "b{0} is no shared array of lines of 128 bytes, pieces of which change places by the line", id);
    if (buffer.over < 0) return {};
    if (buffer.over >= id)
      return Error("kernel-invalid", {}, "b{0} lies over b{1}, which is not before it", id, buffer.over);
    const Buffer& below = kernel_.buffers[static_cast<size_t>(buffer.over)];
    if (buffer.space != Space::Shared || below.space != Space::Shared || below.over >= 0 ||
        BytesOf(buffer) > BytesOf(below))
      return Error("kernel-invalid", {},
                   "b{0} lies over b{1}: expected a larger shared array with memory of its own", id,
                   buffer.over);
    return {};
  }

  Status Use(ValueId value) {
    if (value < 0 || static_cast<size_t>(value) >= known_.size() || !known_[static_cast<size_t>(value)])
      return Fail("%{0} is used where it is not defined", value);
    return {};
  }
  Status Use(llvm::ArrayRef<ValueId> values) {
    for (const ValueId value : values) HLO_CHECK_OK(Use(value));
    return {};
  }
  Status UseAs(ValueId value, ElementType type) {
    HLO_CHECK_OK(Use(value));
    if (kernel_.TypeOf(value) != type)
      return Fail("%{0} is {1}, expected {2}", value, ToString(kernel_.TypeOf(value)), ToString(type));
    return {};
  }
  Status Define(ValueId value) {
    const auto i = static_cast<size_t>(value);
    if (value < 0 || i >= known_.size()) return Fail("%{0} has no type", value);
    if (defined_[i]) return Fail("%{0} is defined twice", value);
    defined_[i] = known_[i] = true;
    visible_.push_back(value);
    return {};
  }
  Status DefineAs(ValueId value, ElementType type) {
    HLO_CHECK_OK(Define(value));
    return UseAs(value, type);
  }
  Status UseLoop(LoopId loop) {
    if (loop < 0 || loop >= kernel_.loop_count || !open_[static_cast<size_t>(loop)])
      return Fail("i{0} is used outside of its loop", loop);
    return {};
  }
  Status Verify(const Address& address) {
    for (const auto& term : address.loops) HLO_CHECK_OK(UseLoop(term.id));
    for (const auto& term : address.values) HLO_CHECK_OK(UseAs(term.id, ElementType::S64));
    return {};
  }
  Result<const Buffer*> BufferAt(BufferId id) {
    if (id < 0 || static_cast<size_t>(id) >= kernel_.buffers.size())
      return Fail("there is no buffer b{0}", id);
    return &kernel_.buffers[static_cast<size_t>(id)];
  }

  /// Values defined in a region are not known after it.
  Status Verify(const Region& region) {
    const size_t before = visible_.size(), around = at_;
    for (const Stmt& stmt : region.stmts) {
      at_ = next_++;
      HLO_CHECK_OK(std::visit([&](const auto& s) { return Verify(s); }, stmt));
    }
    at_ = around;
    HLO_CHECK_OK(Use(region.yields));
    for (; visible_.size() > before; visible_.pop_back())
      known_[static_cast<size_t>(visible_.back())] = false;
    return {};
  }

  Status Verify(const ConstantStmt& s) { return DefineAs(s.result, s.type); }
  Status Verify(const IndexStmt& s) {
    HLO_CHECK_OK(Verify(s.address));
    return DefineAs(s.result, ElementType::S64);
  }
  Status Verify(const OpStmt& s) {
    HLO_CHECK_OK(Use(s.operands));
    const OpInfo& info = Info(s.kind);
    if (!MayCompute(s.kind)) return Fail("%{0}: {1} is not elementwise", s.result, info.text);
    if (s.kind == OpKind::Compare && s.attrs.GetIf<CompareAttrs>() == nullptr)
      return Fail("%{0}: compare has no direction", s.result);
    if (s.bounded && !MayBeBounded(s.kind)) return Fail("%{0}: {1} bounded", s.result, info.text);
    return DefineAs(s.result, s.type);
  }
  Status VerifyMask(ValueId mask) { return mask < 0 ? Status() : UseAs(mask, ElementType::Pred); }
  Status Verify(const LoadStmt& s) {
    HLO_TRY(const Buffer* buffer, BufferAt(s.buffer));
    HLO_CHECK_OK(Verify(s.address));
    HLO_CHECK_OK(VerifyMask(s.mask));
    if (s.mask >= 0) HLO_CHECK_OK(UseAs(s.otherwise, buffer->type));
    return DefineAs(s.result, buffer->type);
  }
  Status Verify(const StoreStmt& s) {
    HLO_TRY(const Buffer* buffer, BufferAt(s.buffer));
    if (!buffer->written) return Fail("store to b{0}, which is no output", s.buffer);
    HLO_CHECK_OK(Verify(s.address));
    HLO_CHECK_OK(VerifyMask(s.mask));
    return UseAs(s.value, buffer->type);
  }
  Status Verify(const BarrierStmt&) { return {}; }
  Status Verify(const AtomicStmt& s) {
    HLO_TRY(const Buffer* buffer, BufferAt(s.buffer));
    if (!buffer->written) return Fail("atomic on b{0}, which is no output", s.buffer);
    if (!MayBeAtomic(s.op, buffer->type))
      return Fail("atomic {0} on b{1}: there is none of {2}", ToString(s.op), s.buffer,
                  ToString(buffer->type));
    HLO_CHECK_OK(Verify(s.address));
    HLO_CHECK_OK(VerifyMask(s.mask));
    HLO_CHECK_OK(UseAs(s.value, buffer->type));
    if ((s.op == AtomicOp::CompareExchange) != (s.expected >= 0) ||
        (s.otherwise >= 0) != (s.mask >= 0 && s.result >= 0))
      return Fail("atomic on b{0}: its operands do not go together", s.buffer);
    if (s.expected >= 0) HLO_CHECK_OK(UseAs(s.expected, buffer->type));
    if (s.otherwise >= 0) HLO_CHECK_OK(UseAs(s.otherwise, buffer->type));
    return s.result < 0 ? Status() : DefineAs(s.result, buffer->type);
  }
  Status Verify(const ShuffleStmt& s) {
    HLO_CHECK_OK(Use(s.value));
    HLO_CHECK_OK(Verify(s.by));
    const ElementType type = kernel_.TypeOf(s.value);
    if (IsComplex(type)) return Fail("%{0}: there is no shuffle of {1}", s.result, ToString(type));
    return DefineAs(s.result, type);
  }
  Status Verify(const LaneReduceStmt& s) {
    HLO_CHECK_OK(Use(s.value));
    const ElementType type = kernel_.TypeOf(s.value);
    const bool of_bits = s.kind == OpKind::And || s.kind == OpKind::Or || s.kind == OpKind::Xor;
    if (!IsReductionOp(s.kind) || IsComplex(type) || (of_bits ? IsFloat(type) : IsPred(type)))
      return Fail("%{0}: there is no lane-reduce {1} of {2}", s.result, Info(s.kind).text, ToString(type));
    return DefineAs(s.result, type);
  }
  /// An array of one kind, at a place that is known.
  Result<const Buffer*> BufferIn(BufferId id, const Address& address, Space space, const char* what) {
    HLO_TRY(const Buffer* buffer, BufferAt(id));
    if (buffer->space != space) return Fail("b{0} is {1}", id, what);
    HLO_CHECK_OK(Verify(address));
    return buffer;
  }
  Status VerifyWords(BufferId id, const Address& address, ElementType type) {
    HLO_TRY(const Buffer* buffer, BufferIn(id, address, Space::Local, "no array of each thread's own"));
    if (buffer->type != type)
      return Fail("b{0} is of {1}, its words are {2}", id, ToString(buffer->type), ToString(type));
    return {};
  }
  Status VerifyUnit(const MatrixUnit& unit) {
    return IsKnown(unit) ? Status() : Fail("there are no tiles {0}", ToString(unit));
  }
  Status Verify(const LoadMatrixStmt& s) {
    HLO_CHECK_OK(VerifyUnit(s.unit));
    HLO_CHECK_OK(VerifyWords(s.into, s.at, WordTypeOf(s.unit)));
    HLO_TRY(const Buffer* from, BufferIn(s.from, s.address, Space::Shared, "not shared"));
    if (from->type != s.unit.type)
      return Fail("b{0} is of {1}, its tile of {2}", s.from, ToString(from->type), ToString(s.unit.type));
    return {};
  }
  Status Verify(const MultiplyMatrixStmt& s) {
    HLO_CHECK_OK(VerifyUnit(s.unit));
    HLO_CHECK_OK(VerifyWords(s.sums.buffer, s.sums.address, SumTypeOf(s.unit)));
    for (const MultiplyMatrixStmt::Words& words : {s.left, s.right})
      HLO_CHECK_OK(VerifyWords(words.buffer, words.address, WordTypeOf(s.unit)));
    return {};
  }
  Status Verify(const CopyStmt& s) {
    HLO_TRY(const Buffer* into, BufferIn(s.into, s.at, Space::Shared, "not shared"));
    HLO_TRY(const Buffer* from, BufferIn(s.from, s.address, Space::Global, "no array of the caller's"));
    HLO_CHECK_OK(VerifyMask(s.mask));
    if (from->written) return Fail("b{0} is copied from, but written", s.from);
    const int64_t bytes = s.count * Info(into->type).host_bytes();
    constexpr int64_t kCopied[] = {4, 8, 16};
    if (into->type != from->type || !llvm::is_contained(kCopied, bytes))
      return Fail("a copy of {0} of {1} to {2}: expected 4, 8 or 16 bytes of one type", s.count,
                  ToString(from->type), ToString(into->type));
    return {};
  }
  Status Verify(const CommitCopiesStmt&) { return {}; }
  Status Verify(const WaitForCopiesStmt& s) {
    return s.pending < 0 ? Fail("a wait for {0} groups of copies", s.pending) : Status();
  }
  Status Open(const Dimension& d) {
    if (d.id < 0 || d.id >= kernel_.loop_count) return Fail("there is no loop i{0}", d.id);
    if (open_[static_cast<size_t>(d.id)]) return Fail("i{0} is inside of itself", d.id);
    if (d.extent < 1) return Fail("i{0} has extent {1}", d.id, d.extent);
    if (d.ordered && (d.parallel || d.width > 1))
      return Fail("i{0} is ordered, but vector or parallel", d.id);
    if (d.outer >= 0) HLO_CHECK_OK(UseLoop(d.outer));
    open_[static_cast<size_t>(d.id)] = true;
    return {};
  }
  Status VerifyCondition(const Dimension& d) {
    HLO_CHECK_OK(VerifyMask(d.when));
    if (d.extent != 1 || d.outer >= 0 || d.parallel || d.binding != Binding::None)
      return Fail("i{0} has a condition, but more than one iteration, or is bound or parallel", d.id);
    return {};
  }
  Status VerifyEnd(const Dimension& d) {
    HLO_CHECK_OK(Use(d.before));
    if (kernel_.TypeOf(d.before) != ElementType::S64) return Fail("i{0} ends before what is no s64", d.id);
    if (d.outer >= 0 || d.parallel || d.width > 1 || d.unroll > 1 || d.when >= 0 ||
        d.binding != Binding::None)
      return Fail(
          "i{0} ends before a value, but is cut, bound, parallel, a vector, written out or has a condition",
          d.id);
    return {};
  }
  void Close(const Dimension& d) { open_[static_cast<size_t>(d.id)] = false; }
  Status Verify(const LoopStmt& s) {
    HLO_CHECK_OK(Open(s.loop));
    if (s.loop.when >= 0) HLO_CHECK_OK(VerifyCondition(s.loop));
    if (s.loop.before >= 0) HLO_CHECK_OK(VerifyEnd(s.loop));
    if (s.loop.width == 1 && s.loop.extent % s.loop.unroll != 0)
      return Fail("{0} iterations of i{1} at once do not divide {2}", s.loop.unroll, s.loop.id,
                  s.loop.extent);
    HLO_CHECK_OK(Verify(*s.body));
    Close(s.loop);
    return {};
  }
  Status Verify(const ReduceStmt& s) {
    HLO_CHECK_OK(Use(s.inits));
    const size_t count = s.inits.size();
    if (s.loops.empty() || s.results.size() != count || s.parameters.size() != 2 * count ||
        s.body->yields.size() != count || s.combiner->yields.size() != count)
      return Fail("a reduce of {0} values has other numbers of results, elements or parameters", count);
    for (const Dimension& d : s.loops) {
      HLO_CHECK_OK(Open(d));
      if (d.when >= 0 || d.before >= 0) return Fail("i{0} of a reduce has a condition", d.id);
      if (d.width > 1 && (&d != &s.loops.back() || !HasPartialResults(s, kernel_)))
        return Fail("i{0} is a vector, but its reduce has an order", d.id);
      if (d.width == 1 && d.unroll > 1 &&
          (d.unroll != d.extent || !(s.loops.size() == 1 ? ReductionOp(s).has_value() : IsWrittenInOrder(s))))
        return Fail("i{0} is written out, but its reduce has an order or other loops", d.id);
    }
    HLO_CHECK_OK(Verify(*s.body));
    for (const Dimension& d : s.loops) Close(d);
    const size_t before = visible_.size();
    for (size_t i = 0; i < 2 * count; ++i)
      HLO_CHECK_OK(
          DefineAs(s.parameters[i], kernel_.TypeOf(i < count ? s.inits[i] : s.body->yields[i - count])));
    HLO_CHECK_OK(Verify(*s.combiner));
    for (; visible_.size() > before; visible_.pop_back())
      known_[static_cast<size_t>(visible_.back())] = false;
    for (size_t i = 0; i < count; ++i) HLO_CHECK_OK(DefineAs(s.results[i], kernel_.TypeOf(s.inits[i])));
    return {};
  }

  const Kernel& kernel_;
  llvm::ArrayRef<int> lines_;
  size_t at_ = 0, next_ = 0;  // the statement being looked at, and how many have begun
  std::vector<bool> defined_, known_;
  std::vector<ValueId> visible_;  // those known, in order
  std::vector<bool> open_;        // loops
};

}  // namespace

bool MayCompute(OpKind kind) { return Info(kind).Is(kElementwise) || kind == OpKind::BitcastConvert; }

std::string LineOf(llvm::ArrayRef<int> lines, size_t number) {
  return number < lines.size() ? "line " + std::to_string(lines[number]) + ": " : "";
}

Status VerifyKernel(const Kernel& kernel, llvm::ArrayRef<int> lines) {
  HLO_CHECK_OK(Verifier(kernel, lines).Run());
  return VerifyThreads(kernel, lines);
}

}  // namespace hlo::kernel
