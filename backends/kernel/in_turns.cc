#include "backends/kernel/in_turns.h"

#include "backends/kernel/renumber.h"
#include "backends/kernel/threads.h"
#include "backends/kernel/visit.h"

namespace hlo::kernel {
namespace {

bool IsBoundLoop(const Stmt& stmt) {
  const auto* loop = std::get_if<LoopStmt>(&stmt);
  return loop != nullptr && loop->loop.binding != Binding::None;
}

/// Bound loops, each in the one before, and no others; empty if there are others beside them, or more than
/// values.
std::optional<llvm::SmallVector<LoopStmt*, 3>> NestOf(Region& body) {
  llvm::SmallVector<LoopStmt*, 3> nest;
  for (Region* region = &body;; region = nest.back()->body.get()) {
    const auto bound = llvm::count_if(region->stmts, IsBoundLoop);
    if (bound == 0) return nest;
    for (Stmt& stmt : region->stmts) {
      auto* loop = std::get_if<LoopStmt>(&stmt);
      if (loop != nullptr ? bound > 1 || loop->loop.binding == Binding::None : ResultOf(stmt) < 0) return {};
      if (loop != nullptr) nest.push_back(loop);
    }
  }
}

bool IsOfThreads(const Stmt& stmt) {
  return std::visit([](const auto& s) { return ThreadStmt<std::decay_t<decltype(s)>>; }, stmt);
}

/// What each thread needs stands in front of what it does: others may have written it in a turn before.
Region TakeInside(Region body, llvm::ArrayRef<LoopStmt*> nest) {
  if (nest.empty()) return body;
  std::vector<Stmt> before;
  const auto take = [&](std::vector<Stmt>& stmts) {
    for (Stmt& stmt : stmts)
      if (!IsBoundLoop(stmt)) before.push_back(std::move(stmt));
  };
  take(body.stmts);
  for (LoopStmt* loop : nest.drop_back()) take(loop->body->stmts);
  Region inside = std::move(*nest.back()->body);
  inside.stmts.insert(inside.stmts.begin(), std::make_move_iterator(before.begin()),
                      std::make_move_iterator(before.end()));
  return inside;
}

Region Only(Stmt stmt) {
  Region region;
  region.stmts.push_back(std::move(stmt));
  return region;
}

}  // namespace

std::optional<TurnShape> ShapeInTurn(const Kernel& kernel) {
  auto nest = NestOf(const_cast<Kernel&>(kernel).body);
  if (!nest) return {};
  bool plain = llvm::all_of(kernel.buffers, [](const Buffer& b) { return b.space != Space::Shared; });
  size_t bound = 0;  // loops, of which those in sections are none of the nest
  ForEachStmt(kernel.body, [&](const Stmt& stmt) {
    plain &= !IsOfThreads(stmt);
    bound += IsBoundLoop(stmt) ? 1 : 0;
  });
  plain &= bound == nest->size();
  TurnShape shape;
  for (const LoopStmt* loop : *nest) {
    const Binding binding = loop->loop.binding;
    if (binding == Binding::BlockX)
      shape.y = loop->loop.extent;
    else if (binding == Binding::ThreadX)
      shape.x = loop->loop.extent;
    else
      plain = false;
  }
  return plain ? std::optional(shape) : std::nullopt;
}

TurnsBuilder::TurnsBuilder(llvm::StringRef name, llvm::ArrayRef<Buffer> arrays) {
  whole_.name = name.str();
  whole_.buffers.assign(arrays.begin(), arrays.end());
  open_.emplace_back().loop = {.id = whole_.loop_count++, .extent = 1, .binding = Binding::BlockX};
}

void TurnsBuilder::Add(const Kernel& kernel, llvm::ArrayRef<BufferId> arrays) {
  Kernel part = Clone(kernel);
  TakeNumbers(whole_, part, PlacesIn(whole_, part, arrays));
  const auto nest = *NestOf(part.body);
  // In both directions, so that no other thread does the same.
  std::array<Dimension, 2> loops = {Dimension{.id = whole_.loop_count, .extent = 1},
                                    Dimension{.id = whole_.loop_count + 1, .extent = 1}};
  whole_.loop_count += 2;
  for (const LoopStmt* loop : nest) loops[IsBlock(loop->loop.binding) ? 0 : 1] = loop->loop;
  loops[0].binding = Binding::ThreadY, loops[1].binding = Binding::ThreadX;
  Region body = TakeInside(std::move(part.body), nest);
  for (const Dimension& d : llvm::reverse(loops))
    body = Only(LoopStmt{d, std::make_unique<Region>(std::move(body))});
  std::vector<Stmt>& stmts = open_.back().body.stmts;
  stmts.push_back(std::move(body.stmts[0]));
  stmts.emplace_back(BarrierStmt{});
}

void TurnsBuilder::BeginLoop(int64_t times) {
  open_.emplace_back().loop = {.id = whole_.loop_count++, .extent = times, .ordered = true};
}

void TurnsBuilder::EndLoop() {
  Open loop = std::move(open_.back());
  open_.pop_back();
  open_.back().body.stmts.emplace_back(LoopStmt{loop.loop, std::make_unique<Region>(std::move(loop.body))});
}

Kernel TurnsBuilder::Finish() {
  whole_.body = Only(LoopStmt{open_[0].loop, std::make_unique<Region>(std::move(open_[0].body))});
  return std::move(whole_);
}

}  // namespace hlo::kernel
