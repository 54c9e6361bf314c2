#include "backends/kernel/kernel.h"

namespace hlo::kernel {
namespace {

template <class Terms, class Id>
void AddTerm(Terms& terms, Id id, int64_t factor) {
  if (factor == 0) return;
  auto at = llvm::lower_bound(terms, id, [](const auto& term, Id wanted) { return term.id < wanted; });
  if (at == terms.end() || at->id != id) {
    terms.insert(at, {id, factor});
    return;
  }
  at->factor += factor;
  if (at->factor == 0) terms.erase(at);
}

}  // namespace

void Address::AddLoop(LoopId loop, int64_t factor) { AddTerm(loops, loop, factor); }
void Address::AddValue(ValueId value, int64_t factor) { AddTerm(values, value, factor); }

void Address::Add(const Address& other, int64_t factor) {
  offset += other.offset * factor;
  for (const auto& term : other.loops) AddLoop(term.id, term.factor * factor);
  for (const auto& term : other.values) AddValue(term.id, term.factor * factor);
}

int64_t Address::FactorOf(LoopId loop) const {
  for (const auto& term : loops)
    if (term.id == loop) return term.factor;
  return 0;
}

namespace {

Region Clone(const Region& region);

template <class S>
S Clone(const S& stmt) {
  return stmt;
}
LoopStmt Clone(const LoopStmt& loop) { return {loop.loop, std::make_unique<Region>(Clone(*loop.body))}; }
ReduceStmt Clone(const ReduceStmt& reduce) {
  return {reduce.results,    reduce.loops,
          reduce.inits,      std::make_unique<Region>(Clone(*reduce.body)),
          reduce.parameters, std::make_unique<Region>(Clone(*reduce.combiner)),
          reduce.in_order,   reduce.origin,
          reduce.parts};
}

Region Clone(const Region& region) {
  Region copy;
  copy.stmts.reserve(region.stmts.size());
  for (const Stmt& stmt : region.stmts)
    std::visit([&](const auto& s) { copy.stmts.emplace_back(Clone(s)); }, stmt);
  copy.yields = region.yields;
  return copy;
}

}  // namespace

Kernel Clone(const Kernel& kernel) {
  return {kernel.name, kernel.buffers, kernel.value_types, kernel.loop_count, Clone(kernel.body)};
}

bool IsReductionOp(OpKind kind) { return Info(kind).Is(kMonoid); }

std::optional<OpKind> ReductionOp(const ReduceStmt& reduce) {
  if (reduce.in_order || reduce.parameters.size() != 2 || reduce.combiner->stmts.size() != 1) return {};
  const auto* op = std::get_if<OpStmt>(&reduce.combiner->stmts[0]);
  if (op == nullptr || op->operands.size() != 2 || reduce.combiner->yields[0] != op->result) return {};
  const ValueId x = reduce.parameters[0], y = reduce.parameters[1];
  const bool both =
      (op->operands[0] == x && op->operands[1] == y) || (op->operands[0] == y && op->operands[1] == x);
  if (!both || !IsReductionOp(op->kind)) return {};
  // One times an infinite complex number is not that number.
  if (IsComplex(op->type) && op->kind != OpKind::Add) return {};
  return op->kind;
}

bool FoldsPairwise(const ReduceStmt& reduce) {
  return reduce.loops.size() == 1 && reduce.loops[0].width == 1 && reduce.loops[0].unroll > 1;
}

bool IsWrittenInOrder(const ReduceStmt& reduce) {
  const Dimension& last = reduce.loops.back();
  return reduce.loops.size() > 1 && last.width == 1 && last.unroll > 1 && !ReductionOp(reduce);
}

llvm::SmallVector<const LoopStmt*, 2> OutermostLoops(const Kernel& kernel) {
  llvm::SmallVector<const LoopStmt*, 2> loops;
  for (const Stmt& stmt : kernel.body.stmts)
    if (const auto* loop = std::get_if<LoopStmt>(&stmt)) loops.push_back(loop);
  return loops;
}

const LoopStmt* OutermostLoop(const Kernel& kernel) {
  const auto loops = OutermostLoops(kernel);
  return loops.size() == 1 ? loops[0] : nullptr;
}

int64_t ParallelExtent(const Kernel& kernel) {
  int64_t extent = 0;
  for (const LoopStmt* loop : OutermostLoops(kernel))
    if (loop->loop.parallel) extent += loop->loop.extent;
  return std::max<int64_t>(extent, 1);
}

}  // namespace hlo::kernel
