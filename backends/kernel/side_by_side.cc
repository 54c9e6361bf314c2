#include "backends/kernel/side_by_side.h"

#include "backends/kernel/renumber.h"
#include "backends/kernel/team.h"
#include "backends/kernel/thread_stmts.h"
#include "backends/kernel/threads.h"
#include "backends/kernel/visit.h"

namespace hlo::kernel {
namespace {

/// The loop of the blocks; null: there is none.
LoopStmt* BlockLoop(Kernel& kernel) {
  for (Stmt& stmt : kernel.body.stmts)
    if (auto* loop = std::get_if<LoopStmt>(&stmt); loop != nullptr && loop->loop.binding == Binding::BlockX)
      return loop;
  return nullptr;
}

class Joiner : ThreadStmts {
 public:
  Joiner(Kernel& whole, int64_t blocks) : ThreadStmts(whole), all_(blocks) {}

  void Run(llvm::ArrayRef<KernelPart> parts) {
    block_ = NewLoop();
    Region body;
    {
      const Into into(*this, body.stmts);
      number_ = Index(Counting(block_));
      for (const KernelPart& part : parts) Append(part);
    }
    kernel_.body.stmts.push_back(Bound(block_, all_, Binding::BlockX, std::move(body)));
  }

 private:
  void Append(const KernelPart& part) {
    Kernel copy = Clone(*part.kernel);
    const Dimension blocks = BlockLoop(copy)->loop;
    const ValueId mine = Begins(blocks.extent);
    const auto places = PlacesIn(kernel_, *part.kernel, part.arrays);
    TakeNumbers(kernel_, copy, places, {blocks.id, block_, begin_});
    Region section;
    for (Stmt& stmt : copy.body.stmts) {
      auto* loop = std::get_if<LoopStmt>(&stmt);
      if (loop == nullptr)
        section.stmts.push_back(std::move(stmt));
      else
        section.stmts.insert(section.stmts.end(), std::make_move_iterator(loop->body->stmts.begin()),
                             std::make_move_iterator(loop->body->stmts.end()));
    }
    out_->push_back(Loop({.id = NewLoop(), .extent = 1, .when = mine}, std::move(section)));
    begin_ += blocks.extent;
  }

  /// Whether a block is one of those that begin here.
  ValueId Begins(int64_t count) {
    const ValueId after = begin_ == 0 ? -1 : Compare(Direction::GE, number_, Integer(begin_));
    const int64_t end = begin_ + count;
    return Both(after, end == all_ && after >= 0 ? -1 : Compare(Direction::LT, number_, Integer(end)));
  }

  int64_t all_;
  LoopId block_ = -1;
  ValueId number_ = -1;  // of the block
  int64_t begin_ = 0;
};

}  // namespace

bool MayBePart(const Kernel& kernel) {
  const LoopStmt* blocks = BlockLoop(const_cast<Kernel&>(kernel));
  if (blocks == nullptr) return false;
  const bool alone = llvm::all_of(kernel.body.stmts, [&](const Stmt& stmt) {
    return std::get_if<LoopStmt>(&stmt) == blocks ||
           (!std::holds_alternative<LoopStmt>(stmt) &&
            (ResultOf(stmt) >= 0 || std::holds_alternative<ReduceStmt>(stmt)));
  });
  bool threads = false, others = false;
  ForEachStmt(*blocks->body, [&](const Stmt& stmt) {
    const auto* loop = std::get_if<LoopStmt>(&stmt);
    if (loop == nullptr) return;
    threads |= IsThread(loop->loop.binding);
    others |= IsBlock(loop->loop.binding) || IsSection(*loop);
  });
  // Threads beyond those of a section wait for none of its barriers, which are those of whole warps.
  bool waits = false;
  ForEachStmt(kernel.body, [&](const Stmt& stmt) { waits |= std::holds_alternative<BarrierStmt>(stmt); });
  others |= waits && ShapeOfBlocks(kernel).count() % kTeamLanes != 0;
  return alone && threads && !others;
}

int64_t SharedBytes(const Kernel& kernel) {
  int64_t bytes = 0;
  for (const Buffer& buffer : kernel.buffers)
    if (buffer.space == Space::Shared && buffer.over < 0)
      bytes += buffer.count * Info(buffer.type).host_bytes();
  return bytes;
}

Kernel SideBySide(llvm::StringRef name, llvm::ArrayRef<Buffer> arrays, llvm::ArrayRef<KernelPart> parts) {
  Kernel whole;
  whole.name = name.str();
  whole.buffers.assign(arrays.begin(), arrays.end());
  int64_t blocks = 0;
  for (const KernelPart& part : parts) blocks += BlockLoop(const_cast<Kernel&>(*part.kernel))->loop.extent;
  Joiner(whole, blocks).Run(parts);
  return whole;
}

}  // namespace hlo::kernel
