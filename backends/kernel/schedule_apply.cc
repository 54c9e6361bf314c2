// Schedules: application.
#include "backends/kernel/atomic_updates.h"
#include "backends/kernel/parse.h"
#include "backends/kernel/schedule_steps.h"
#include "backends/kernel/selection.h"
#include "backends/kernel/team.h"
#include "backends/kernel/threads.h"
#include "backends/kernel/tile_steps.h"
#include "backends/kernel/visit.h"
#include "llvm/Support/MathExtras.h"

namespace hlo::kernel {
namespace {

using Kind = ScheduleStep::Kind;

constexpr LoopId kMaxLoops = 1 << 20;
constexpr int64_t kMaxLanes = 1024;

template <class... Args>
tl::unexpected<Diagnostic> Fail(const char* format, Args&&... args) {
  return ScheduleError(format, std::forward<Args>(args)...);
}

/// A loop of a kernel: a statement, or a dimension of a reduction.
struct Found {
  Dimension* dimension = nullptr;
  LoopStmt* loop = nullptr;
  ReduceStmt* reduce = nullptr;
};
Found Find(Kernel& kernel, LoopId id) {
  std::vector<Region*> work = {&kernel.body};
  while (!work.empty()) {
    Region& region = *work.back();
    work.pop_back();
    for (Stmt& stmt : region.stmts) {
      if (auto* loop = std::get_if<LoopStmt>(&stmt)) {
        if (loop->loop.id == id) return {&loop->loop, loop, nullptr};
        work.push_back(loop->body.get());
      }
      if (auto* reduce = std::get_if<ReduceStmt>(&stmt)) {
        for (Dimension& d : reduce->loops)
          if (d.id == id) return {&d, nullptr, reduce};
        work.push_back(reduce->body.get());
        work.push_back(reduce->combiner.get());
      }
    }
  }
  return {};
}
/// Whether no loop has this number. Numbers grow, so that most are known to be new without looking.
bool IsNew(Kernel& kernel, LoopId id) {
  return id >= kernel.loop_count || Find(kernel, id).dimension == nullptr;
}

/// i = outer * by + inner
void Substitute(Region& region, LoopId loop, LoopId outer, LoopId inner, int64_t by) {
  ForEachAddress(region, [&](Address& address) {
    const int64_t factor = address.FactorOf(loop);
    address.AddLoop(loop, -factor);
    address.AddLoop(outer, factor * by);
    address.AddLoop(inner, factor);
  });
}

Status Split(Kernel& kernel, const ScheduleStep& step) {
  const Found found = Find(kernel, step.loops[0]);
  const LoopId outer = step.loops[1], inner = step.loops[2];
  if (outer == inner || !IsNew(kernel, outer) || !IsNew(kernel, inner))
    return Fail("split i{0} into i{1} and i{2}, which are not new", step.loops[0], outer, inner);
  const Dimension whole = *found.dimension;
  if (whole.width > 1 || whole.unroll > 1 || whole.binding != Binding::None || HasEnd(whole) ||
      step.by >= whole.extent)
    return Fail("i{0} in {1} cannot be cut into pieces of {2}", whole.id, whole.extent, step.by);
  bool halves = false;
  ForEachStmt(kernel.body, [&](Stmt& stmt) {
    if (auto* loop = std::get_if<LoopStmt>(&stmt)) halves |= loop->loop.outer == whole.id;
    if (auto* reduce = std::get_if<ReduceStmt>(&stmt))
      for (const Dimension& d : reduce->loops) halves |= d.outer == whole.id;
  });
  if (halves) return Fail("i{0} is half of a cut whose pieces are not all whole", whole.id);
  if (outer >= kMaxLoops || inner >= kMaxLoops)
    return Fail("i{0} is too large a number", std::max(outer, inner));
  kernel.loop_count = std::max({kernel.loop_count, outer + 1, inner + 1});
  Dimension blocks = whole, rest = whole;
  blocks.id = outer, blocks.extent = (whole.extent + step.by - 1) / step.by;
  rest.id = inner, rest.extent = step.by, rest.parallel = false;
  if (whole.extent % step.by != 0) rest.outer = outer, rest.limit = whole.extent;
  if (found.loop != nullptr) {
    Substitute(*found.loop->body, whole.id, outer, inner, step.by);
    auto body = std::make_unique<Region>();
    body->stmts.emplace_back(LoopStmt{rest, std::move(found.loop->body)});
    *found.loop = LoopStmt{blocks, std::move(body)};
    return {};
  }
  Substitute(*found.reduce->body, whole.id, outer, inner, step.by);
  auto& loops = found.reduce->loops;
  *found.dimension = rest;
  loops.insert(loops.begin() + (found.dimension - loops.data()), blocks);
  return {};
}

/// Iterations are independent, but loads that move into an inner loop would see what that writes, and what a
/// thread keeps stays with its loops.
bool MovesReads(const Kernel& kernel, const LoopStmt& top, llvm::ArrayRef<LoopId> loops) {
  bool reads = false;
  ForEachStmt(*top.body, [&](const Stmt& stmt) {
    const auto* load = std::get_if<LoadStmt>(&stmt);
    reads |= load != nullptr && kernel.buffers[static_cast<size_t>(load->buffer)].IsLocal();
  });
  const LoopStmt* loop = &top;
  for (size_t depth = 1; depth < loops.size() && loop != nullptr; ++depth) {
    const LoopStmt* inner = nullptr;
    for (const Stmt& stmt : loop->body->stmts) {
      const auto* load = std::get_if<LoadStmt>(&stmt);
      reads |= load != nullptr && kernel.buffers[static_cast<size_t>(load->buffer)].written;
      if (const auto* one = std::get_if<LoopStmt>(&stmt)) inner = one;
    }
    loop = inner;
  }
  return reads;
}

Status ReorderReduce(ReduceStmt& reduce, const ScheduleStep& step) {
  if (!ReductionOp(reduce)) return Fail("i{0} belongs to a reduction that keeps an order", step.loops[0]);
  llvm::SmallVector<Dimension, 2> wanted;
  for (const LoopId id : step.loops)
    for (const Dimension& d : reduce.loops)
      if (d.id == id) wanted.push_back(d);
  if (wanted.size() != step.loops.size() || wanted.size() != reduce.loops.size())
    return Fail("reorder must name all loops of the reduction");
  for (size_t i = 0; i < wanted.size(); ++i)
    for (size_t j = i; j < wanted.size(); ++j)
      if (wanted[i].outer == wanted[j].id)
        return Fail("i{0} must stay inside of i{1}", wanted[i].id, wanted[j].id);
  reduce.loops = wanted;
  return {};
}

Status CheckHalves(const LoopStmt& top) {
  // Where pieces are not all whole the block has to be known.
  llvm::SmallVector<LoopId, 8> open;
  for (const LoopStmt* loop = &top; loop != nullptr;) {
    if (loop->loop.outer >= 0 && !llvm::is_contained(open, loop->loop.outer))
      return Fail("i{0} must stay inside of i{1}", loop->loop.id, loop->loop.outer);
    open.push_back(loop->loop.id);
    const auto& stmts = loop->body->stmts;
    loop = stmts.size() == 1 ? std::get_if<LoopStmt>(&stmts[0]) : nullptr;
  }
  return {};
}

/// The loops, which become a perfect nest, in the order in which they are nested.
Status FindNest(Kernel& kernel, llvm::ArrayRef<LoopId> loops, llvm::SmallVectorImpl<LoopStmt*>& nest) {
  LoopStmt* top = nullptr;
  for (const LoopId id : loops) {
    const Found found = Find(kernel, id);
    if (found.reduce != nullptr) return Fail("i{0} belongs to a reduction", id);
    if (found.dimension->ordered) return Fail("i{0} is ordered", id);
    // The outermost holds all others.
    bool all = true;
    for (const LoopId other : loops) {
      bool inside = other == id;
      ForEachStmt(*found.loop->body, [&](Stmt& stmt) {
        const auto* loop = std::get_if<LoopStmt>(&stmt);
        inside |= loop != nullptr && loop->loop.id == other;
      });
      all &= inside;
    }
    if (all) top = found.loop;
  }
  if (top == nullptr) return Fail("the loops to reorder are not nested in each other");
  if (MovesReads(kernel, *top, loops)) return Fail("i{0} reads what it writes", top->loop.id);
  return MakePerfect(*top, loops, nest);
}

Status Reorder(Kernel& kernel, const ScheduleStep& step) {
  if (ReduceStmt* reduce = Find(kernel, step.loops[0]).reduce) return ReorderReduce(*reduce, step);
  llvm::SmallVector<LoopStmt*, 4> nest;
  HLO_CHECK_OK(FindNest(kernel, step.loops, nest));
  llvm::SmallVector<Dimension, 4> wanted;
  for (const LoopId id : step.loops)
    for (const LoopStmt* loop : nest)
      if (loop->loop.id == id) wanted.push_back(loop->loop);
  for (size_t i = 0; i < nest.size(); ++i) nest[i]->loop = wanted[i];
  return CheckHalves(*nest[0]);
}

Status Fuse(Kernel& kernel, const ScheduleStep& step) {
  const LoopId into = step.loops.back();
  if (!IsNew(kernel, into) || into >= kMaxLoops) return Fail("i{0} is not new", into);
  llvm::SmallVector<LoopStmt*, 4> nest;
  HLO_CHECK_OK(FindNest(kernel, llvm::ArrayRef(step.loops).drop_back(), nest));
  for (size_t i = 0; i < nest.size(); ++i)
    if (nest[i]->loop.id != step.loops[i])
      return Fail("i{0} is not in i{1}, but around it", step.loops[i], nest[i]->loop.id);
  return FuseNest(kernel, nest, into);
}

Status Vector(Kernel& kernel, const ScheduleStep& step) {
  const Found found = Find(kernel, step.loops[0]);
  Dimension& d = *found.dimension;
  if (step.by < 2 || step.by > kMaxLanes || step.unroll > kMaxLanes / step.by ||
      !llvm::isPowerOf2_64(step.by) || !llvm::isPowerOf2_64(step.unroll))
    return Fail("vectors of {0} lanes, {1} of them: expected powers of two, together up to {2}", step.by,
                step.unroll, kMaxLanes);
  if (d.ordered || d.width > 1) return Fail("i{0} is ordered or a vector already", d.id);
  if (found.reduce != nullptr &&
      (!HasPartialResults(*found.reduce, kernel) || &d != &found.reduce->loops.back()))
    return Fail("i{0} is not the last loop of a reduction whose order is free", d.id);
  bool wide = false, shared = false, threads = false;
  Region& body = found.loop != nullptr ? *found.loop->body : *found.reduce->body;
  ForEachStmt(body, [&](Stmt& stmt) {
    if (const auto* loop = std::get_if<LoopStmt>(&stmt)) wide |= loop->loop.width > 1;
    if (const auto* reduce = std::get_if<ReduceStmt>(&stmt)) wide |= reduce->loops.back().width > 1;
    threads |= std::visit([](const auto& s) { return ThreadStmt<std::decay_t<decltype(s)>>; }, stmt);
  });
  if (wide) return Fail("i{0} holds another vector loop", d.id);
  if (threads || d.binding != Binding::None) return Fail("i{0} is bound, or holds what threads do", d.id);
  ForEachStmt(body, [&](Stmt& stmt) {
    const auto* store = std::get_if<StoreStmt>(&stmt);
    shared |= store != nullptr && kernel.buffers[static_cast<size_t>(store->buffer)].IsLocal() &&
              store->address.FactorOf(d.id) == 0;
  });
  if (shared) return Fail("iterations of i{0} would write the same place of a local buffer", d.id);
  d.width = static_cast<int32_t>(step.by);
  d.unroll = static_cast<int32_t>(step.unroll);
  return {};
}

Status Unroll(Kernel& kernel, const ScheduleStep& step) {
  const Found found = Find(kernel, step.loops[0]);
  if (found.loop != nullptr && MayRunSideBySide(kernel, *found.loop) && step.by <= kMaxLanes &&
      found.loop->loop.width == 1 && found.loop->loop.extent % step.by == 0) {
    found.loop->loop.unroll = static_cast<int32_t>(step.by);
    return {};
  }
  const bool is_free = found.reduce == nullptr ||
                       (found.reduce->loops.size() == 1
                            ? ReductionOp(*found.reduce).has_value()
                            : !ReductionOp(*found.reduce) && found.dimension == &found.reduce->loops.back());
  if (!is_free || found.dimension->width > 1 || found.dimension->before >= 0 ||
      step.by != found.dimension->extent || step.by > kMaxLanes)
    return Fail("i{0} cannot be written out {1} times", step.loops[0], step.by);
  found.dimension->unroll = static_cast<int32_t>(step.by);
  return {};
}

Status Parallel(Kernel& kernel, const ScheduleStep& step) {
  for (const LoopStmt* loop : OutermostLoops(kernel)) {
    if (loop->loop.id != step.loops[0] || loop->loop.ordered || loop->loop.binding != Binding::None) continue;
    const_cast<LoopStmt*>(loop)->loop.parallel = true;
    return {};
  }
  return Fail("i{0} is not an outermost loop, or ordered", step.loops[0]);
}

Status Once(Kernel& kernel, const ScheduleStep& step) {
  const LoopId id = step.loops[0];
  if (!IsNew(kernel, id) || id >= kMaxLoops) return Fail("i{0} is not new", id);
  kernel.loop_count = std::max(kernel.loop_count, id + 1);
  auto body = std::make_unique<Region>(std::move(kernel.body));
  kernel.body = Region();
  kernel.body.stmts.emplace_back(LoopStmt{{.id = id, .extent = 1}, std::move(body)});
  return {};
}

Status RunByTeam(Kernel& kernel, const ScheduleStep& step) {
  const Found found = Find(kernel, step.loops[0]);
  if (found.loop == nullptr || found.dimension->binding == Binding::None)
    return Fail("i{0} is not bound", step.loops[0]);
  if (step.unroll > kMaxLanes || !llvm::isPowerOf2_64(static_cast<uint64_t>(step.unroll)))
    return Fail("vectors of {0}: expected a power of two up to {1}", step.unroll, kMaxLanes);
  return ShareRow(kernel, *found.loop,
                  {.threads = step.by, .width = step.unroll, .keep = step.keep, .across = step.across});
}

Status Tile(Kernel& kernel, const ScheduleStep& step) {
  const LoopId into = step.loops.back();
  if (!IsNew(kernel, into) || into >= kMaxLoops) return Fail("i{0} is not new", into);
  if (step.unroll > kMaxLanes || !llvm::isPowerOf2_64(static_cast<uint64_t>(step.unroll)))
    return Fail("vectors of {0}: expected a power of two up to {1}", step.unroll, kMaxLanes);
  llvm::SmallVector<LoopStmt*, 4> nest;
  HLO_CHECK_OK(FindNest(kernel, llvm::ArrayRef(step.loops).drop_back(), nest));
  if (nest[0]->loop.id != step.loops[0])
    return Fail("i{0} is not in i{1}, but around it", step.loops[0], nest[0]->loop.id);
  return TileNest(kernel, nest, {.threads = step.by, .width = step.unroll}, into);
}

Status Multiply(Kernel& kernel, const ScheduleStep& step) {
  const LoopId into = step.loops.back();
  if (!IsNew(kernel, into) || into >= kMaxLoops) return Fail("i{0} is not new", into);
  llvm::SmallVector<LoopStmt*, 4> nest;
  HLO_CHECK_OK(FindNest(kernel, llvm::ArrayRef(step.loops).drop_back(), nest));
  return TileProduct(kernel, nest, step.product, into);
}

Status Atomic(Kernel& kernel, const ScheduleStep& step) {
  const Found found = Find(kernel, step.loops[0]);
  if (found.loop == nullptr || !found.loop->loop.ordered) return Fail("i{0} is not ordered", step.loops[0]);
  return MakeAtomic(kernel, *found.loop);
}

Status Join(Kernel& kernel, const ScheduleStep& step) {
  const LoopId into = step.loops.back();
  if (!IsNew(kernel, into) || into >= kMaxLoops) return Fail("i{0} is not new", into);
  return JoinLoops(kernel, llvm::ArrayRef(step.loops).drop_back(), into);
}

/// No lanes within lanes.
Status CheckVectors(const Region& region, const Dimension* around) {
  for (const Stmt& stmt : region.stmts) {
    const auto* loop = std::get_if<LoopStmt>(&stmt);
    const auto* reduce = std::get_if<ReduceStmt>(&stmt);
    if (loop == nullptr && reduce == nullptr) continue;
    const Dimension* inner = loop != nullptr ? &loop->loop : &reduce->loops.back();
    if (inner->width == 1) inner = nullptr;
    if (inner != nullptr && around != nullptr) return Fail("i{0} holds another vector loop", around->id);
    if (inner == nullptr) inner = around;
    HLO_CHECK_OK(CheckVectors(loop != nullptr ? *loop->body : *reduce->body, inner));
  }
  return {};
}

/// What pieces on several threads demand: each runs what stands beside the loops too, and knows of no other.
Status CheckPieces(const Kernel& kernel) {
  const auto loops = OutermostLoops(kernel);
  const auto is_parallel = [](const LoopStmt* loop) { return loop->loop.parallel; };
  if (llvm::none_of(loops, is_parallel)) return {};
  for (const LoopStmt* loop : loops)
    if (!is_parallel(loop)) return Fail("i{0} is not parallel, but another outermost loop is", loop->loop.id);
  if (llvm::any_of(kernel.body.stmts, [](const Stmt& s) { return std::holds_alternative<StoreStmt>(s); }))
    return Fail("i{0} is parallel, but beside it something is stored", loops[0]->loop.id);
  bool reads = false;
  ForEachStmt(kernel.body, [&](const Stmt& stmt) {
    if (const auto* load = std::get_if<LoadStmt>(&stmt))
      reads |= kernel.buffers[static_cast<size_t>(load->buffer)].written;
  });
  if (reads && loops.size() > 1)
    return Fail("i{0} is parallel, but one loop may read what another writes", loops[0]->loop.id);
  return {};
}

Status Bind(Kernel& kernel, const ScheduleStep& step) {
  const Found found = Find(kernel, step.loops[0]);
  const Dimension& d = *found.dimension;
  if (found.loop == nullptr || d.ordered || d.parallel || d.width > 1 || d.unroll > 1 ||
      d.binding != Binding::None)
    return Fail("i{0} belongs to a reduction, or is run in another way already", d.id);
  found.dimension->binding = step.binding;
  return {};
}

}  // namespace

bool MayRunSideBySide(const Kernel& kernel, const LoopStmt& loop) {
  const auto is_fixed = [&](const Stmt& stmt) {
    if (const auto* load = std::get_if<LoadStmt>(&stmt))
      return !kernel.buffers[static_cast<size_t>(load->buffer)].written;
    return ResultOf(stmt) >= 0 || std::holds_alternative<LoopStmt>(stmt);
  };
  return OutermostLoop(kernel) == &loop && !loop.loop.ordered && loop.loop.binding == Binding::None &&
         llvm::all_of(kernel.body.stmts, is_fixed);
}

namespace {

Status ApplyStep(Kernel& kernel, const ScheduleStep& step) {
  using Apply = Status (*)(Kernel&, const ScheduleStep&);
  constexpr Apply kApply[] = {Split, Reorder,   Vector, Unroll, Parallel, Bind,     Fuse,
                              Once,  RunByTeam, Join,   Tile,   Atomic,   Multiply, Distribute};
  const size_t existing = step.loops.size() - LoopsMade(step.kind);
  for (size_t i = 0; i < existing; ++i)
    if (llvm::is_contained(llvm::ArrayRef(step.loops).take_front(i), step.loops[i]))
      return Fail("i{0} is named twice", step.loops[i]);
  for (size_t i = 0; i < existing; ++i)
    if (Find(kernel, step.loops[i]).dimension == nullptr) return Fail("there is no loop i{0}", step.loops[i]);
  return kApply[static_cast<size_t>(step.kind)](kernel, step);
}

}  // namespace

Status ApplySchedule(Kernel& kernel, const Schedule& schedule) {
  for (const ScheduleStep& step : schedule)
    if (const Status status = ApplyStep(kernel, step); !status)
      return Fail("'{0}': {1}", ToString({step}), status.error().message);
  // Where blocks and threads may stand is known when all have their places.
  if (llvm::any_of(schedule, [](const ScheduleStep& step) { return step.kind == Kind::Bind; }))
    if (const Status status = VerifyKernel(kernel); !status) return Fail("{0}", status.error().message);
  HLO_CHECK_OK(CheckVectors(kernel.body, nullptr));
  return CheckPieces(kernel);
}

}  // namespace hlo::kernel
