#include "backends/gpu/runtime/turns.h"

#include <deque>

#include "backends/gpu/runtime/program.h"
#include "backends/gpu/runtime/steps.h"
#include "backends/kernel/in_turns.h"
#include "backends/kernel/parse.h"
#include "backends/kernel/threads.h"
#include "backends/kernel/visit.h"

namespace hlo::gpu {
namespace {

/// Steps of one kernel, and instructions of its code: the compiler's time grows faster than that.
constexpr int64_t kMostSteps = 256, kMostInstructions = 4096;
/// That a loop runs, and statements of one thread in all of them: a launch that takes seconds cannot be
/// interrupted.
constexpr int64_t kMostTurns = int64_t{1} << 18, kMostWork = int64_t{1} << 26;
/// What a thread does in a turn, in statements.
constexpr int64_t kMostOfThread = 4096;
/// What all threads do that were several blocks: with more, other multiprocessors help.
constexpr int64_t kMostOfBlocks = int64_t{1} << 16;

/// Statements that one thread runs, of one iteration of the bound loops.
int64_t WorkOf(const kernel::Region& region) {
  int64_t work = 0;
  for (const kernel::Stmt& stmt : region.stmts) {
    ++work;
    if (const auto* loop = std::get_if<kernel::LoopStmt>(&stmt)) {
      const bool bound = loop->loop.binding != kernel::Binding::None;
      work += WorkOf(*loop->body) * (bound ? 1 : loop->loop.extent);
    }
    if (const auto* reduce = std::get_if<kernel::ReduceStmt>(&stmt)) {
      int64_t each = WorkOf(*reduce->body) + WorkOf(*reduce->combiner);
      for (const kernel::Dimension& d : reduce->loops)
        each = std::min(each, kMostOfThread) * std::min(d.extent, kMostOfThread);
      work += each;
    }
    if (work > kMostOfThread) return kMostOfThread + 1;
  }
  return work;
}

/// Threads that copy an array element by element.
kernel::Kernel CopyKernel(const Shape& shape) {
  kernel::Kernel kernel;
  const ElementType type = shape.element_type();
  const int64_t count = shape.ElementCount();
  kernel.buffers = {{.type = type, .count = count}, {.type = type, .count = count, .written = true}};
  kernel.loop_count = 2;
  kernel::Address place;
  place.AddLoop(1, 1);
  const kernel::ValueId value = kernel.NewValue(type);
  auto body = std::make_unique<kernel::Region>();
  body->stmts.emplace_back(kernel::LoadStmt{value, 0, place});
  body->stmts.emplace_back(kernel::StoreStmt{1, place, value});
  auto block = std::make_unique<kernel::Region>();
  block->stmts.emplace_back(
      kernel::LoopStmt{{.id = 1, .extent = count, .binding = kernel::Binding::ThreadX}, std::move(body)});
  kernel.body.stmts.emplace_back(
      kernel::LoopStmt{{.id = 0, .extent = 1, .binding = kernel::Binding::BlockX}, std::move(block)});
  return kernel;
}

/// The arrays of steps: equal slices are one, others share no bytes.
class Arrays {
 public:
  /// Nothing if it shares bytes with another one, or lies nowhere.
  std::optional<kernel::BufferId> Find(const Slice& slice, const kernel::Buffer& buffer) {
    if (slice.buffer < 0 || slice.size == 0) return {};
    for (size_t i = 0; i < slices_.size(); ++i) {
      if (!slices_[i].Overlaps(slice)) continue;
      kernel::Buffer& known = buffers_[i];
      if (slices_[i].offset != slice.offset || slices_[i].size != slice.size || known.type != buffer.type ||
          known.count != buffer.count)
        return {};
      known.written |= buffer.written;
      return static_cast<kernel::BufferId>(i);
    }
    slices_.push_back(slice);
    buffers_.push_back(buffer);
    return static_cast<kernel::BufferId>(slices_.size()) - 1;
  }
  /// Those that are only read come first. Where each is.
  std::vector<kernel::BufferId> Sort(KernelCall& call, std::vector<kernel::Buffer>& buffers) const {
    std::vector<kernel::BufferId> places(slices_.size());
    for (const bool written : {false, true}) {
      if (written) call.first_result = call.buffers.size();
      for (size_t i = 0; i < slices_.size(); ++i) {
        if (buffers_[i].written != written) continue;
        places[i] = static_cast<kernel::BufferId>(buffers.size());
        call.buffers.push_back(slices_[i]);
        buffers.push_back(buffers_[i]);
      }
    }
    return places;
  }

 private:
  std::vector<Slice> slices_;
  std::vector<kernel::Buffer> buffers_;
};

/// A kernel in its turn, or where a loop begins and ends.
struct Turn {
  const kernel::Kernel* kernel = nullptr;
  std::vector<kernel::BufferId> arrays;
  int64_t times = 0;  // of the loop that begins; 0 without a kernel: one ends
};

/// What is taken together so far.
struct Group {
  Arrays arrays;
  std::vector<Turn> turns;
  kernel::TurnShape shape;
  int64_t steps = 0, instructions = 0, work = 0;
  const Step* first = nullptr;  // of a kernel or a copy
};

class TurnTaker {
 public:
  TurnTaker(KernelTable& kernels, const kernel::Target& target) : kernels_(kernels), target_(target) {}

  void Run(Sequence& sequence) {
    Sequence all = std::exchange(sequence, {});
    for (size_t i = 0; i < all.size();) {
      Group group;
      size_t end = i;
      while (end < all.size()) {
        // A step that does not fit must leave no traces.
        Group more = group;
        if (!Add(*all[end], 1, more)) break;
        group = std::move(more);
        ++end;
      }
      if (const bool worthwhile = end > i + 1 || (end > i && all[i]->kind == StepKind::While);
          worthwhile && Join(group, llvm::MutableArrayRef(all).slice(i, end - i), sequence)) {
        i = end;
        continue;
      }
      for (Sequence& part : all[i]->parts) Run(part);
      sequence.push_back(std::move(all[i++]));
    }
  }

 private:
  bool Add(const Step& step, int64_t times, Group& group) {
    if (step.kind == StepKind::While) return AddLoop(step, times, group);
    const kernel::Kernel* kernel = nullptr;
    std::vector<Slice> slices;
    if (step.kind == StepKind::Kernel) {
      kernel = &kernels_.kernel(step.call.kernel);
      slices.assign(step.call.buffers.begin(), step.call.buffers.end());
      const auto moves = [](const auto& copy) { return copy.first != copy.second && copy.second.size > 0; };
      if (llvm::any_of(step.call.copies, moves)) return false;
    } else if (step.kind == StepKind::Copy && MayCopy(step)) {
      kernel = &copies_.emplace_back(CopyKernel(step.result.shape));
      slices = {step.operands[0].leaves[0].slice, step.result.leaves[0].slice};
      if (slices[0] == slices[1]) return true;
    }
    if (kernel == nullptr || !Fits(*kernel, times, group)) return false;
    Turn turn{kernel, {}};
    for (size_t i = 0; i < slices.size(); ++i) {
      const auto array = group.arrays.Find(slices[i], kernel->buffers[i]);
      if (!array) return false;
      turn.arrays.push_back(*array);
    }
    group.turns.push_back(std::move(turn));
    if (group.first == nullptr) group.first = &step;
    kernel::ForEachStmt(kernel->body, [&](const kernel::Stmt& stmt) {
      const auto* op = std::get_if<kernel::OpStmt>(&stmt);
      group.instructions += op == nullptr ? 1 : target_.CostOf(op->kind).instructions;
    });
    return ++group.steps <= kMostSteps && group.instructions <= kMostInstructions;
  }

  bool AddLoop(const Step& loop, int64_t times, Group& group) {
    const std::optional<int64_t> trips = loop.Trips();
    const auto most = kMostTurns / times / static_cast<int64_t>(loop.parts[1].size() + 1);
    if (!trips || *trips < 1 || *trips > most) return false;
    group.turns.push_back({.kernel = nullptr, .arrays = {}, .times = *trips});
    for (const auto& step : loop.parts[1])
      if (!Add(*step, times * *trips, group)) return false;
    group.turns.emplace_back();
    return true;
  }

  static bool MayCopy(const Step& step) {
    const Shape& shape = step.result.shape;
    return shape.IsArray() && shape.ElementCount() > 0 && shape.ElementCount() <= kernel::kMaxThreads &&
           shape.element_type() == step.operands[0].shape.element_type() && !IsComplex(shape.element_type());
  }

  /// Within one block, so often, beside the others.
  static bool Fits(const kernel::Kernel& kernel, int64_t times, Group& group) {
    const auto shape = kernel::ShapeInTurn(kernel);
    if (!shape) return false;
    const int64_t work = WorkOf(kernel.body);
    if (work > kMostOfThread || (shape->y > 1 && shape->x * shape->y > kMostOfBlocks / work)) return false;
    group.work += times * work;
    kernel::TurnShape& all = group.shape;
    all.x = std::max(all.x, shape->x);
    all.y = std::max(all.y, shape->y);
    return group.work <= kMostWork && all.x <= kernel::kMaxThreads && all.x * all.y <= kernel::kMaxThreads;
  }

  /// False if there is no such kernel after all.
  bool Join(const Group& group, llvm::MutableArrayRef<std::unique_ptr<Step>> steps, Sequence& sequence) {
    if (group.first == nullptr) return false;
    KernelCall call;
    std::vector<kernel::Buffer> buffers;
    const auto places = group.arrays.Sort(call, buffers);
    kernel::TurnsBuilder builder("turns_" + group.first->instruction->name().str(), buffers);
    for (const Turn& turn : group.turns) {
      if (turn.kernel == nullptr) {
        turn.times > 0 ? builder.BeginLoop(turn.times) : builder.EndLoop();
        continue;
      }
      llvm::SmallVector<kernel::BufferId, 8> arrays;
      for (const kernel::BufferId array : turn.arrays) arrays.push_back(places[static_cast<size_t>(array)]);
      builder.Add(*turn.kernel, arrays);
    }
    kernel::Kernel whole = builder.Finish();
    if (!kernel::VerifyKernel(whole)) return false;
    const Result<int32_t> number = kernels_.Add(std::move(whole));
    if (!number) return false;
    auto step = std::make_unique<Step>();
    step->kind = StepKind::Kernel;
    step->instruction = group.first->instruction;
    step->operands = group.first->operands;
    step->result = group.first->result;
    step->call = std::move(call);
    step->call.kernel = *number;
    Sequence& parts = step->parts.emplace_back();
    for (std::unique_ptr<Step>& each : steps) parts.push_back(std::move(each));
    sequence.push_back(std::move(step));
    return true;
  }

  KernelTable& kernels_;
  const kernel::Target& target_;
  std::deque<kernel::Kernel> copies_;
};

}  // namespace

void TakeTurns(Sequence& sequence, KernelTable& kernels, const kernel::Target& target) {
  TurnTaker(kernels, target).Run(sequence);
}

}  // namespace hlo::gpu
