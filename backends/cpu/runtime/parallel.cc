// Loops on the threads of whoever calls (ir/support/parallel.h).
#include "ir/support/parallel.h"

#include "backends/cpu/runtime/call.h"
#include "ir/support/loop_shares.h"

namespace hlo {
namespace {

using runtime::Call;
using runtime::work;

/// One loop, whose pieces threads take.
struct Loop {
  Call& call;
  int64_t begin, end, grain;
  llvm::function_ref<void(int64_t, int64_t)> body;
  LoopShares shares;

  void RunPieces(int share) {
    shares.Run(share, [&](int64_t piece) {
      if (call.code() != runtime::kDone) return false;
      const int64_t b = begin + piece * grain;
      body(b, end - b < grain ? end : b + grain);
      return true;
    });
  }
  static void Task(void* what, int thread) {
    struct Part {
      Loop& loop;
      int share;
    } part{*static_cast<Loop*>(what), thread};
    Call& call = part.loop.call;
    if (thread < 0 || thread >= call.helpers().threads) return;
    // Callers always begin with the first, in whatever order threads come.
    if (work.call == &call)
      part.share = 0;
    else if (thread == 0)
      part.share = part.loop.shares.count() - 1;
    const auto run = [](void* self) {
      const Part& p = *static_cast<Part*>(self);
      p.loop.RunPieces(p.share);
    };
    runtime::RunFor(call, call.InLoop(thread), /*in_loop=*/true, run, &part);
  }
};

}  // namespace

int AvailableThreads() { return ThreadCount(); }
int ThreadCount() { return work.call == nullptr ? work.planned_threads : work.call->helpers().threads; }
void SetThreadCount(int) {}
bool InParallelRegion() { return work.in_loop; }

void ParallelFor(int64_t begin, int64_t end, int64_t grain, llvm::function_ref<void(int64_t, int64_t)> body) {
  if (begin >= end) return;
  grain = std::max<int64_t>(grain, 1);
  const int64_t pieces = (end - begin - 1) / grain + 1;
  if (pieces == 1 || work.in_loop || work.call == nullptr || ThreadCount() == 1) {
    for (int64_t b = begin; b < end;) {
      const int64_t e = end - b < grain ? end : b + grain;
      body(b, e);
      b = e;
    }
    return;
  }
  Call& call = *work.call;
  const runtime::Helpers& helpers = call.helpers();
  Loop loop{call, begin, end, grain, body, LoopShares(pieces, helpers.threads)};
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
