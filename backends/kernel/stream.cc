#include "backends/kernel/stream.h"

#include "backends/kernel/visit.h"

namespace hlo::kernel {
namespace {

class Streamer {
 public:
  Streamer(Kernel& kernel, BufferId buffer, const Target::Caches& caches)
      : kernel_(kernel),
        caches_(caches),
        buffer_(buffer),
        bytes_(Info(kernel.buffers[static_cast<size_t>(buffer)].type).host_bytes()) {}

  int64_t Run() {
    bool read = kernel_.buffers[static_cast<size_t>(buffer_)].count * bytes_ < caches_.streamed;
    ForEachStmt(kernel_.body, [&](Stmt& stmt) {
      read |= BufferOf(stmt) == buffer_ && !std::holds_alternative<StoreStmt>(stmt);
    });
    if (!read) Visit(kernel_.body);
    return marked_;
  }

 private:
  void Visit(Region& region) {
    for (Stmt& stmt : region.stmts) {
      if (auto* loop = std::get_if<LoopStmt>(&stmt)) {
        around_.push_back(&loop->loop);
        Visit(*loop->body);
        around_.pop_back();
      }
      if (auto* store = std::get_if<StoreStmt>(&stmt); store != nullptr && IsStream(*store)) {
        store->streaming = true;
        ++marked_;
      }
    }
  }

  [[nodiscard]] bool IsStream(const StoreStmt& store) const {
    if (store.buffer != buffer_ || store.mask >= 0 || !store.address.values.empty()) return false;
    const Dimension* vector = nullptr;
    int64_t written = bytes_;
    for (const Dimension* d : around_) {
      if (d->width > 1) vector = d;
      if (store.address.FactorOf(d->id) != 0) written *= d->extent;
    }
    // Pieces of several loops in a row may begin anywhere.
    if (vector != nullptr && vector->parallel && OutermostLoops(kernel_).size() > 1) return false;
    if (vector == nullptr || store.address.FactorOf(vector->id) != 1 || written < caches_.streamed)
      return false;
    const int64_t width = vector->width * bytes_;
    if (width < caches_.line && vector->extent * bytes_ < caches_.stream_run) return false;
    const int64_t align = std::min(width, caches_.line) / bytes_;
    bool aligned = store.address.offset % align == 0;
    for (const auto& term : store.address.loops) aligned &= term.id == vector->id || term.factor % align == 0;
    return aligned;
  }

  Kernel& kernel_;
  const Target::Caches& caches_;
  BufferId buffer_;
  int64_t bytes_;  // of an element
  llvm::SmallVector<const Dimension*, 6> around_;
  int64_t marked_ = 0;
};

}  // namespace

int64_t StreamStores(Kernel& kernel, BufferId buffer, const Target& target) {
  return Streamer(kernel, buffer, target.caches).Run();
}

}  // namespace hlo::kernel
