#include "backends/kernel/trim.h"

#include <limits>

#include "backends/kernel/visit.h"
#include "llvm/Support/MathExtras.h"

namespace hlo::kernel {
namespace {

struct Range {
  int64_t first = std::numeric_limits<int64_t>::max(), last = -1;
};

class Trimmer {
 public:
  explicit Trimmer(Kernel& kernel)
      : kernel_(kernel), extents_(static_cast<size_t>(kernel.loop_count)), touched_(kernel.buffers.size()) {}

  llvm::SmallVector<int64_t, 8> Run(int64_t small) {
    ForEachStmt(kernel_.body, [&](Stmt& stmt) {
      if (const auto* loop = std::get_if<LoopStmt>(&stmt)) Enter(loop->loop);
      if (const auto* reduce = std::get_if<ReduceStmt>(&stmt))
        for (const Dimension& loop : reduce->loops) Enter(loop);
      if (const Address* place = PlaceOf(stmt)) Touch(BufferOf(stmt), *place);
    });
    llvm::SmallVector<int64_t, 8> gone;
    for (size_t i = 0; i < kernel_.buffers.size(); ++i) {
      Buffer& buffer = kernel_.buffers[i];
      const Range& range = touched_[i];
      const bool stays =
          buffer.space != Space::Global || buffer.count * Info(buffer.type).host_bytes() <= small;
      gone.push_back(stays || range.last < range.first ? 0 : range.first);
      if (stays || range.last < range.first) continue;
      buffer.count = range.last - range.first + 1;
    }
    ForEachStmt(kernel_.body, [&](Stmt& stmt) {
      if (Address* place = PlaceOf(stmt)) place->offset -= gone[static_cast<size_t>(BufferOf(stmt))];
    });
    return gone;
  }

 private:
  void Enter(const Dimension& loop) { extents_[static_cast<size_t>(loop.id)] = loop.extent; }

  /// Masked-out elements may lie outside of the array.
  void Touch(BufferId buffer, const Address& address) {
    const int64_t count = kernel_.buffers[static_cast<size_t>(buffer)].count;
    int64_t first = address.offset, last = address.offset;
    bool known = address.values.empty();
    for (const auto& term : address.loops) {
      int64_t way = 0;
      const int64_t steps = std::max<int64_t>(extents_[static_cast<size_t>(term.id)] - 1, 0);
      known &= !llvm::MulOverflow(steps, term.factor, way);
      known &= !llvm::AddOverflow(way < 0 ? first : last, way, way < 0 ? first : last);
    }
    if (!known) first = 0, last = count - 1;
    Range& range = touched_[static_cast<size_t>(buffer)];
    range.first = std::min(range.first, std::clamp<int64_t>(first, 0, count));
    range.last = std::max(range.last, std::clamp<int64_t>(last, -1, count - 1));
  }

  Kernel& kernel_;
  std::vector<int64_t> extents_;  // by loop
  std::vector<Range> touched_;    // by buffer
};

}  // namespace

llvm::SmallVector<int64_t, 8> TrimBuffers(Kernel& kernel, int64_t small) {
  return Trimmer(kernel).Run(small);
}

}  // namespace hlo::kernel
