// Long folds in order, as one thread runs them.
#include "backends/kernel/schedule_steps.h"
#include "backends/kernel/visit.h"

namespace hlo::kernel {
namespace {

/// Shorter folds stay as they are; pieces are of at most so many elements, and of so many statements
/// together.
constexpr int64_t kLong = 64, kPiece = 32, kLeastPiece = 4, kStmts = 512;

int64_t StmtsOf(const ReduceStmt& reduce) {
  int64_t count = 0;
  for (const Region* part : {reduce.body.get(), reduce.combiner.get()})
    ForEachStmt(*part, [&](const Stmt& stmt) {
      const bool loops = std::holds_alternative<LoopStmt>(stmt) || std::holds_alternative<ReduceStmt>(stmt);
      count += loops ? kStmts : 1;
    });
  return count;
}

}  // namespace

Schedule CutOrderedFolds(const Region& region, LoopId& next) {
  Schedule steps;
  for (const Stmt& stmt : region.stmts) {
    const auto* reduce = std::get_if<ReduceStmt>(&stmt);
    if (reduce == nullptr || ReductionOp(*reduce)) continue;
    const Dimension& last = reduce->loops.back();
    const int64_t stmts = StmtsOf(*reduce);
    int64_t piece = kPiece;
    while (piece > 1 && (last.extent % piece != 0 || piece * stmts > kStmts)) piece /= 2;
    if (last.extent < kLong || piece < kLeastPiece) continue;
    const LoopId pieces = next++, elements = next++;
    steps.push_back({ScheduleStep::Kind::Split, {last.id, pieces, elements}, piece});
    steps.push_back({ScheduleStep::Kind::Unroll, {elements}, piece});
  }
  return steps;
}

}  // namespace hlo::kernel
