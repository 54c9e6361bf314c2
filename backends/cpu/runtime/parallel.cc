// Loops on the threads of whoever calls (ir/support/parallel.h).
#include "ir/support/parallel.h"

#include "backends/cpu/runtime/call.h"

namespace hlo {
namespace {

using runtime::Call;
using runtime::work;

/// One loop, whose pieces threads take one after the other.
struct Loop {
  Call& call;
  int64_t begin, end, grain, pieces;
  llvm::function_ref<void(int64_t, int64_t)> body;
  std::atomic<int64_t> next = 0;

  void RunPieces() {
    for (int64_t piece; (piece = next.fetch_add(1, std::memory_order_relaxed)) < pieces;) {
      if (call.code() != runtime::kDone) return;
      const int64_t b = begin + piece * grain;
      body(b, end - b < grain ? end : b + grain);
    }
  }
  static void Task(void* what, int thread) {
    auto& loop = *static_cast<Loop*>(what);
    if (thread < 0 || thread >= loop.call.helpers().threads) return;
    runtime::RunFor(
        loop.call, loop.call.InLoop(thread), /*in_loop=*/true,
        [](void* self) { static_cast<Loop*>(self)->RunPieces(); }, what);
  }
};

}  // namespace

int AvailableThreads() { return ThreadCount(); }
int ThreadCount() { return work.call == nullptr ? 1 : work.call->helpers().threads; }
void SetThreadCount(int) {}
bool InParallelRegion() { return work.in_loop; }

void ParallelFor(int64_t begin, int64_t end, int64_t grain, llvm::function_ref<void(int64_t, int64_t)> body) {
  if (begin >= end) return;
  grain = std::max<int64_t>(grain, 1);
  const int64_t pieces = (end - begin - 1) / grain + 1;
  if (pieces == 1 || work.in_loop || ThreadCount() == 1) {
    for (int64_t b = begin; b < end;) {
      const int64_t e = end - b < grain ? end : b + grain;
      body(b, e);
      b = e;
    }
    return;
  }
  Call& call = *work.call;
  Loop loop{call, begin, end, grain, pieces, body};
  const runtime::Helpers& helpers = call.helpers();
  if (call.measures())
    Loop::Task(&loop, 0);
  else
    helpers.run(helpers.context, static_cast<int>(std::min<int64_t>(pieces, helpers.threads)), &Loop::Task,
                &loop);
  if (call.code() != runtime::kDone) runtime::GiveUp(call.code());
}

// Nothing here starts threads.
ThreadPool::ThreadPool(int) {}
class ThreadPool::State {};
ThreadPool::~ThreadPool() = default;
std::thread TryThread(std::function<void()> body) { return body = nullptr, std::thread(); }
std::thread QuietThread(std::function<void()> body) { return TryThread(std::move(body)); }

}  // namespace hlo
