// Reductions.
#include <cstring>

#include "backends/kernel/interpret.h"
#include "backends/kernel/visit.h"
#include "backends/tile/compiler.h"

namespace hlo::tile {

using kernel::LoadStmt;
using kernel::OpStmt;
using kernel::ReduceStmt;
using kernel::Stmt;

Status Compiler::Compile(const ReduceStmt& stmt, size_t) {
  ReducePlan plan;
  for (const kernel::Dimension& loop : stmt.loops) plan.loops.push_back({loop.id, ExtentOf(loop)});
  const kernel::Dimension& last = stmt.loops.back();
  const bool list = kernel::FoldsPairwise(stmt);
  const bool tiles = !list && BecomesTiles(last, *stmt.body),
             groups = last.width > 1 && kernel::ReductionOp(stmt);
  plan.fold = list     ? ReducePlan::Fold::List
              : !tiles ? ReducePlan::Fold::Each
              : groups ? ReducePlan::Fold::Groups
                       : ReducePlan::Fold::InOrder;
  if (!tiles && groups) return Decline({}, "loop i{0} is wide inside of another wide loop", last.id);
  switch (plan.fold) {
    case ReducePlan::Fold::Each: HLO_CHECK_OK(FoldEach(stmt, plan)); break;
    case ReducePlan::Fold::InOrder: HLO_CHECK_OK(FoldInOrder(stmt, plan)); break;
    case ReducePlan::Fold::List: HLO_CHECK_OK(FoldList(stmt, plan)); break;
    case ReducePlan::Fold::Groups: HLO_CHECK_OK(FoldGroups(stmt, plan)); break;
  }
  Append(MakeReduce(std::move(plan)));
  return {};
}

bool Compiler::CombinerVaries(const ReduceStmt& stmt) const {
  bool varies = false;
  const auto uses = [&](ValueId value) { varies |= value >= 0 && Varies(value); };
  kernel::ForEachStmt(*stmt.combiner, [&](const Stmt& inner) {
    if (const auto* op = std::get_if<OpStmt>(&inner)) llvm::for_each(op->operands, uses);
    if (const auto* load = std::get_if<LoadStmt>(&inner)) varies |= Varies(load->address);
    if (const auto* index = std::get_if<kernel::IndexStmt>(&inner)) varies |= Varies(index->address);
  });
  llvm::for_each(stmt.combiner->yields, uses);
  return varies;
}

const OpStmt* Compiler::SingleOp(const ReduceStmt& stmt) const {
  if (stmt.inits.size() != 1 || stmt.combiner->stmts.size() != 1) return nullptr;
  const auto* op = std::get_if<OpStmt>(&stmt.combiner->stmts[0]);
  if (op == nullptr || stmt.combiner->yields[0] != op->result) return nullptr;
  const bool same = llvm::all_of(op->operands, [&](ValueId v) { return Width(v) == Width(op->result); });
  return same ? op : nullptr;
}

Status Compiler::Combine(const ReduceStmt& stmt, ReducePlan& plan, Lanes lanes) {
  const size_t count = stmt.inits.size();
  const auto& yields = stmt.combiner->yields;
  const OpStmt* single = SingleOp(stmt);
  if (single != nullptr && (lanes == Lanes::One || Varies(stmt.parameters[0])))
    Share(single->result, plan.folded[0].accumulator);
  HLO_CHECK_OK(CompileRegion(*stmt.combiner, plan.combine));
  if (single == nullptr) {
    // An accumulator that another one takes over must not be written before.
    llvm::SmallVector<ValueId, 2> from(yields.begin(), yields.end());
    for (size_t i = 0; i < count; ++i) {
      if (Width(from[i]) != plan.folded[i].width) return Decline({}, "a combiner changes the type");
      from[i] = InLanes(from[i], lanes);
      const auto* parameter = llvm::find(stmt.parameters, yields[i]);
      if (parameter == stmt.parameters.end() || parameter == stmt.parameters.begin() + i) continue;
      const ValueId copy = NewValue(types_[static_cast<size_t>(from[i])]);
      varies_.back() = lanes == Lanes::All;
      Hold(copy, lanes);
      Append(MakeCopy(copy, from[i], plan.folded[i].width, lanes));
      from[i] = copy;
    }
    for (size_t i = 0; i < count; ++i)
      if (yields[i] != stmt.parameters[i])
        Append(MakeCopy(plan.folded[i].accumulator, from[i], plan.folded[i].width, lanes));
  }
  EndScope();
  return {};
}

Status Compiler::FoldEach(const ReduceStmt& stmt, ReducePlan& plan) {
  const size_t count = stmt.inits.size();
  const Lanes most = tiled_ >= 0 ? Lanes::All : Lanes::One;
  for (const ValueId result : stmt.results) {
    Mark(result, Lanes::One);
    Hold(result, most);
    plan.folded.push_back({result, Width(result), -1, -1, false});
  }
  HLO_CHECK_OK(CompileRegion(*stmt.body, plan.body));
  const auto& elements = stmt.body->yields;
  const auto varies = [&](ValueId value) { return Varies(value); };
  const bool vary =
      llvm::any_of(stmt.inits, varies) || llvm::any_of(elements, varies) || CombinerVaries(stmt);
  const Lanes lanes = vary ? Lanes::All : Lanes::One;
  for (size_t i = 0; i < count; ++i) {
    const ValueId init = stmt.inits[i], x = stmt.parameters[i], y = stmt.parameters[count + i];
    plan.start.push_back(vary && !Varies(init) ? MakeSplat(stmt.results[i], init, Width(init), 0)
                                               : MakeCopy(stmt.results[i], init, Width(init), lanes));
    Mark(x, lanes);
    Share(x, stmt.results[i]);
    const ValueId element = InLanes(elements[i], lanes);
    Mark(y, lanes);
    Append(MakeAlias(y, element));
  }
  HLO_CHECK_OK(Combine(stmt, plan, lanes));
  EndScope();  // of the body, whose elements the combiner has used
  for (const ValueId result : stmt.results) Mark(result, lanes);
  return {};
}

Status Compiler::FoldInOrder(const ReduceStmt& stmt, ReducePlan& plan) {
  const size_t count = stmt.inits.size();
  for (size_t i = 0; i < count; ++i) {
    const ValueId result = stmt.results[i];
    Mark(result, Lanes::One);
    Hold(result, Lanes::One);
    plan.start.push_back(MakeCopy(result, stmt.inits[i], Width(result), Lanes::One));
    Share(stmt.parameters[i], result);
  }
  BeginTiles(stmt.loops.back(), *scopes_.back().block);
  HLO_CHECK_OK(CompileRegion(*stmt.body, plan.body));
  for (size_t i = 0; i < count; ++i) {
    const ValueId element = stmt.body->yields[i];
    plan.folded.push_back(
        {stmt.results[i], Width(stmt.results[i]), element, stmt.parameters[count + i], !Varies(element)});
  }
  // What the body computed keeps its place while the combiner runs.
  const LoopId loop = std::exchange(tiled_, -1);
  for (const ValueId parameter : stmt.parameters) Mark(parameter, Lanes::One);
  HLO_CHECK_OK(Combine(stmt, plan, Lanes::One));
  tiled_ = loop;
  EndScope();
  EndTiles();
  return {};
}

Status Compiler::FindFold(const ReduceStmt& stmt, ReducePlan& plan) const {
  const auto& op = std::get<OpStmt>(stmt.combiner->stmts[0]);
  const ElementType type = types_[static_cast<size_t>(stmt.inits[0])];
  const auto function = FindFunction(op.kind, {type, type}, type, op.attrs);
  if (!function) return Decline({}, "no code for {0} of {1}", Info(op.kind).text, ToString(type));
  plan.function = *function;
  plan.swapped = op.operands[0] == stmt.parameters[1];
  return {};
}

Status Compiler::FoldList(const ReduceStmt& stmt, ReducePlan& plan) {
  HLO_CHECK_OK(FindFold(stmt, plan));
  const Lanes most = tiled_ >= 0 ? Lanes::All : Lanes::One;
  const ValueId result = stmt.results[0], init = stmt.inits[0];
  const size_t width = Width(result);
  Hold(result, most);
  plan.list.push_back(result);
  for (int64_t i = 0; i < stmt.loops[0].extent; ++i) {
    plan.list.push_back(NewValue(types_[static_cast<size_t>(result)]));
    Hold(plan.list.back(), most);
  }
  HLO_CHECK_OK(CompileRegion(*stmt.body, plan.body));
  const bool vary = Varies(init) || Varies(stmt.body->yields[0]);
  plan.lanes = vary ? Lanes::All : Lanes::One;
  plan.start.push_back(vary && !Varies(init) ? MakeSplat(result, init, width, 0)
                                             : MakeCopy(result, init, width, plan.lanes));
  plan.folded.push_back({result, width, InLanes(stmt.body->yields[0], plan.lanes), -1, false});
  EndScope();
  Mark(result, plan.lanes);
  return {};
}

Status Compiler::FoldGroups(const ReduceStmt& stmt, ReducePlan& plan) {
  const auto& op = std::get<OpStmt>(stmt.combiner->stmts[0]);
  const kernel::Dimension& last = stmt.loops.back();
  const ElementType type = types_[static_cast<size_t>(stmt.inits[0])];
  const auto neutral = kernel::NeutralElement(op.kind, type);
  HLO_CHECK_OK(FindFold(stmt, plan));
  if (!neutral) return Decline({}, "{0} has no neutral elements", ToString(type));
  plan.neutral = *neutral;
  plan.width = last.width;
  plan.group = int64_t{last.width} * last.unroll;
  if (Program::kLanes % plan.group != 0) return Decline({}, "loop i{0} is wider than a tile", last.id);
  const ValueId result = stmt.results[0];
  Mark(result, Lanes::One);
  Hold(result, Lanes::One);
  plan.partial = NewValue(type);
  Hold(plan.partial, plan.group * static_cast<int64_t>(Width(result)), scopes_.back());
  plan.init = stmt.inits[0];
  BeginTiles(last, *scopes_.back().block);
  HLO_CHECK_OK(CompileRegion(*stmt.body, plan.body));
  const ValueId element = InLanes(stmt.body->yields[0], Lanes::All);
  plan.folded.push_back({result, Width(result), element, -1, false});
  EndScope();
  EndTiles();
  return {};
}

}  // namespace hlo::tile
