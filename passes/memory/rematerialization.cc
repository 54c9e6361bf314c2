// rematerialization: values are computed again rather than kept (passes.md §5.8).
//
// Requires schedule. Preserves everything.
// Changes, while more than `memory_limit` bytes are in use at one time: at the moment of the highest peak, of
// the values that wait there for a later use, the one whose absence saves most is computed anew right before
// the first of these uses, in the same bits (`.remat`); if nothing read it before the peak, it moves there.
// The peak is that of values other than constants and entry parameters, as `hlo-memory-scheduler` counts it.
// No instruction is computed more than twice. Left alone: side effects, control flow, calls, custom-calls,
// collectives, random numbers, results of the program, values and operands in buffers that others share.
#include "passes/analysis/heap_simulator.h"
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"

namespace hlo {
namespace {

struct RematerializationOptions {
  int64_t memory_limit = 0;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&RematerializationOptions::memory_limit>("memory_limit", "bytes in use at one time; 0: any"),
};
constexpr int kMaxSteps = 4096;  // each looks at the whole module

using Order = std::vector<Instruction*>;

bool MayRunAgain(const Instruction& inst) {
  constexpr OpKind kKept[] = {OpKind::Parameter, OpKind::Constant, OpKind::Call, OpKind::While,
                              OpKind::Conditional};
  constexpr OpCategory kOthers[] = {OpCategory::Custom, OpCategory::Async, OpCategory::Communication,
                                    OpCategory::Random, OpCategory::Tuple};
  return inst.shape().IsArray() && !llvm::is_contained(kKept, inst.kind()) &&
         !llvm::is_contained(kOthers, inst.info().category) && !HasSideEffect(inst) && !HasControlEdges(inst);
}

/// What is in memory when, under the schedules of the module.
class Memory {
 public:
  explicit Memory(const Module& module)
      : calls_(module), flow_(module, calls_), timeline_(flow_, ScheduleOf(module)) {
    const std::vector<LiveRange> ranges = ValueLiveRanges(flow_, timeline_);
    const auto count = static_cast<Place>(flow_.place_count());
    for (Place p = 0; p < count; ++p) {
      if (!flow_.Defines(p) || flow_.shape(p).IsTuple()) continue;
      const Instruction& inst = flow_.instruction(p);
      Buffer& buffer = buffers_[flow_.Buffer(p)];
      ++buffer.values;
      buffer.outside |=
          inst.kind() == OpKind::Constant || (inst.kind() == OpKind::Parameter && inst.parent()->IsEntry());
      buffer.heap.size = std::max(buffer.heap.size, BufferBytes(flow_.shape(p)));
      buffer.heap.live = buffer.heap.live.Hull(ranges[static_cast<size_t>(p)]);
    }
    std::vector<HeapBuffer> list;
    for (Place p = 0; p < count; ++p)
      if (const auto it = buffers_.find(p); it != buffers_.end() && !it->second.outside)
        list.push_back(it->second.heap);
    peak_ = LiveBytesPeak(list);
  }

  [[nodiscard]] const HeapPeak& peak() const { return peak_; }
  /// The instruction of `computation` that runs at the peak; null if it does not run then.
  [[nodiscard]] const Instruction* AtPeak(const Computation& computation) const {
    const Instruction* at = &timeline_.At(peak_.time);
    while (at->parent() != &computation) {
      if (at->parent()->callers().empty()) return nullptr;
      at = at->parent()->callers().front();
    }
    return at;
  }
  /// The buffer of an array is its own.
  [[nodiscard]] bool IsAlone(const Instruction& inst) const {
    const Buffer* buffer = Find(inst);
    return buffer && buffer->values == 1 && flow_.Defines(inst, flow_.Of(inst));
  }
  /// Bytes less at the peak if the instruction's value is not there then, but its operands are.
  [[nodiscard]] int64_t Saved(const Instruction& inst) const {
    int64_t saved = Find(inst)->heap.size;
    llvm::SmallVector<const Instruction*, 4> operands(inst.operands());
    llvm::sort(operands);
    operands.erase(llvm::unique(operands), operands.end());
    for (const Instruction* operand : operands) {
      const Buffer* buffer = Find(*operand);
      if (!buffer || buffer->values != 1) return 0;  // may be overwritten
      if (!buffer->outside && buffer->heap.live.end < peak_.time) saved -= buffer->heap.size;
    }
    return saved;
  }

 private:
  struct Buffer {
    HeapBuffer heap;
    int64_t values = 0;
    bool outside = false;
  };
  [[nodiscard]] const Buffer* Find(const Instruction& inst) const {
    const Place place = flow_.Of(inst);
    if (place == kNoPlace || !inst.shape().IsArray()) return nullptr;
    const auto it = buffers_.find(flow_.Buffer(place));
    return it == buffers_.end() ? nullptr : &it->second;
  }

  CallGraph calls_;
  Dataflow flow_;
  Timeline timeline_;
  llvm::DenseMap<Place, Buffer> buffers_;
  HeapPeak peak_;
};

/// A value that waits at the peak for uses behind it.
struct Candidate {
  Instruction* inst = nullptr;
  llvm::SmallVector<Instruction*, 4> later;  // users, as they run
  bool moves = false;                        // nobody reads it before
  int64_t saved = 0;
};

/// The users of an instruction behind position `at` of a schedule. Nothing if one of them does not read the
/// array itself, or reads it at `at`.
std::optional<Candidate> Waiting(Instruction* inst, int64_t at,
                                 const llvm::DenseMap<const Instruction*, int64_t>& positions) {
  if (inst->IsRoot()) return std::nullopt;
  Candidate candidate;
  candidate.inst = inst;
  candidate.moves = true;
  for (Instruction* user : inst->users()) {
    const int64_t position = positions.lookup(user);
    if (user->info().category == OpCategory::Tuple || user->kind() == OpKind::Bitcast || position == at)
      return std::nullopt;
    if (position < at) candidate.moves = false;
    if (position > at && !llvm::is_contained(candidate.later, user)) candidate.later.push_back(user);
  }
  llvm::sort(candidate.later, [&](const Instruction* a, const Instruction* b) {
    return positions.lookup(a) < positions.lookup(b);
  });
  return candidate.later.empty() ? std::nullopt : std::optional(std::move(candidate));
}

/// The one that saves most; without instruction if none saves anything.
Candidate Best(const Module& module, const Memory& memory, const llvm::DenseSet<const Instruction*>& done) {
  Candidate best;
  for (const auto& computation : module.computations()) {
    const Order& order = computation->schedule();
    const Instruction* at = order.empty() ? nullptr : memory.AtPeak(*computation);
    if (!at) continue;
    llvm::DenseMap<const Instruction*, int64_t> positions;
    for (Instruction* inst : order) positions.try_emplace(inst, static_cast<int64_t>(positions.size()));
    const int64_t peak = positions.lookup(at);
    for (Instruction* inst : llvm::ArrayRef(order).take_front(static_cast<size_t>(peak))) {
      if (done.contains(inst) || !MayRunAgain(*inst) || !memory.IsAlone(*inst)) continue;
      auto candidate = Waiting(inst, peak, positions);
      if (!candidate) continue;
      candidate->saved = memory.Saved(*inst);
      if (candidate->saved > best.saved) best = *std::move(candidate);
    }
  }
  return best;
}

void PlaceBefore(Order& order, Instruction* user, Instruction* inst) {
  order.insert(llvm::find(order, user), inst);
}

/// Computes the value for its later users; the instruction that does.
Instruction* Apply(const Candidate& candidate) {
  Instruction* inst = candidate.inst;
  Computation& computation = *inst->parent();
  Order order = computation.schedule();
  Instruction* by = inst;
  if (candidate.moves) {
    llvm::erase(order, inst);
  } else {
    by = CloneWith(*inst, computation, inst->operands());
    Module& module = *computation.module();
    by->set_name(module.UniqueInstructionName(module.Save((inst->name() + ".remat").str())));
    if (inst->kind() == OpKind::Fusion) by->SetCallees({CloneComputation(*inst->callee())});
    for (Instruction* user : candidate.later)
      for (int64_t i = 0; i < user->operand_count(); ++i)
        if (user->operand(i) == inst) user->SetOperand(i, by);
  }
  PlaceBefore(order, candidate.later.front(), by);
  computation.set_schedule(std::move(order));
  return by;
}

/// Takes back what Apply did.
void Undo(const Candidate& candidate, Instruction* by, const Order& before) {
  Computation& computation = *candidate.inst->parent();
  computation.set_schedule(before);
  if (by == candidate.inst) return;
  for (Instruction* user : candidate.later)
    for (int64_t i = 0; i < user->operand_count(); ++i)
      if (user->operand(i) == by) user->SetOperand(i, candidate.inst);
  computation.Remove(by);
}

llvm::ArrayRef<PassOptionRow> RematerializationOptions::Rows() { return kRows; }

Result<bool> RunRematerialization(Module& module, const RematerializationOptions& options,
                                  PassContext& context) {
  if (options.memory_limit <= 0) return false;
  bool changed = false;
  llvm::DenseSet<const Instruction*> done;
  auto memory = std::make_unique<Memory>(module);
  context.Count("peak_bytes_before", memory->peak().bytes);
  for (int step = 0; step < kMaxSteps && memory->peak().bytes > options.memory_limit; ++step) {
    HLO_CHECK_OK(context.CheckInterrupt());
    const Candidate candidate = Best(module, *memory, done);
    if (!candidate.inst || !context.TakeRewrite()) break;
    const Order before = candidate.inst->parent()->schedule();
    Instruction* by = Apply(candidate);
    done.insert(candidate.inst);
    auto after = std::make_unique<Memory>(module);
    if (after->peak().bytes > memory->peak().bytes) {
      Undo(candidate, by, before);
      continue;
    }
    done.insert(by);
    memory = std::move(after);
    context.Count(candidate.moves ? "moved" : "computed_again");
    changed = true;
  }
  context.Count("peak_bytes_after", memory->peak().bytes);
  RemoveUnreachableComputations(module);
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(Rematerialization, RematerializationOptions);

}  // namespace hlo
