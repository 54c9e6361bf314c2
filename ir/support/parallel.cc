#include "ir/support/parallel.h"

#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <thread>

#include "llvm/ADT/SmallVector.h"

namespace hlo {
namespace {

thread_local bool in_parallel_region = false;

/// One ParallelFor call; lives on the stack of its caller.
struct Job {
  int64_t begin, end, grain, pieces;
  llvm::function_ref<void(int64_t, int64_t)> body;
  std::atomic<int64_t> next{0};
  int helpers = 0;  // pool threads inside; guarded by the pool's mutex

  [[nodiscard]] bool exhausted() const { return next.load(std::memory_order_relaxed) >= pieces; }

  void Work() {
    in_parallel_region = true;
    for (int64_t piece; (piece = next.fetch_add(1, std::memory_order_relaxed)) < pieces;) {
      const int64_t b = begin + piece * grain;
      body(b, end - b < grain ? end : b + grain);
    }
    in_parallel_region = false;
  }
};

class Pool {
 public:
  void SetTarget(int count) {
    const std::lock_guard lock(mutex_);
    target_ = count > 0 ? count : AvailableThreads();
  }

  int target() {
    const std::lock_guard lock(mutex_);
    return target_;
  }

  void Run(Job& job) {
    {
      const std::lock_guard lock(mutex_);
      StartThreads();
      jobs_.push_back(&job);
      const int64_t wanted = std::min<int64_t>(job.pieces, target_) - 1;
      for (int64_t i = 0; i < wanted; ++i) work_.notify_one();
    }
    job.Work();
    std::unique_lock lock(mutex_);
    llvm::erase(jobs_, &job);  // no thread enters from here on
    done_.wait(lock, [&] { return job.helpers == 0; });
  }

 private:
  // Threads are never joined: the pool outlives main, and idle threads do not hinder exit.
  void StartThreads() {
    for (; started_ < target_ - 1; ++started_) std::thread([this] { Loop(); }).detach();
  }

  Job* FindJob() {
    // Threads beyond a lowered target stay idle.
    if (busy_ >= target_ - 1) return nullptr;
    for (Job* job : jobs_)
      if (!job->exhausted()) return job;
    return nullptr;
  }

  void Loop() {
    std::unique_lock lock(mutex_);
    for (;;) {
      Job* job = nullptr;
      work_.wait(lock, [&] { return (job = FindJob()) != nullptr; });
      ++busy_;
      ++job->helpers;
      lock.unlock();
      job->Work();
      lock.lock();
      --busy_;
      if (--job->helpers == 0) done_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable work_, done_;
  llvm::SmallVector<Job*> jobs_;
  int target_ = AvailableThreads();
  int started_ = 0;
  int busy_ = 0;
};

Pool& ThePool() {
  static auto* pool = new Pool;  // never destroyed, see StartThreads
  return *pool;
}

/// CPUs granted by the quota of a cgroup v2 folder; 0 if unlimited or unknown.
int CgroupV2Quota(const std::string& folder) {
  std::ifstream file(folder + "/cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0) return 0;
  return static_cast<int>(std::ceil(std::strtod(quota.c_str(), nullptr) / period));
}

/// The same for cgroup v1.
int CgroupV1Quota(const std::string& folder) {
  std::ifstream quota_file(folder + "/cpu.cfs_quota_us"), period_file(folder + "/cpu.cfs_period_us");
  double quota = 0, period = 0;
  if (!(quota_file >> quota) || !(period_file >> period) || quota <= 0 || period <= 0) return 0;
  return static_cast<int>(std::ceil(quota / period));
}

/// The tightest CPU quota of the groups this process is in, from its own group up to the root.
int CgroupQuota() {
  int best = 0;
  auto tighten = [&](int quota) {
    if (quota > 0 && (best == 0 || quota < best)) best = quota;
  };
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const auto [number, rest] = llvm::StringRef(line).split(':');
    const auto [controllers, path] = rest.split(':');
    if (!controllers.empty() && !llvm::is_contained(llvm::split(controllers, ','), "cpu")) continue;
    llvm::StringRef at = path;
    for (;;) {
      if (controllers.empty())
        tighten(CgroupV2Quota("/sys/fs/cgroup" + at.str()));
      else
        tighten(CgroupV1Quota("/sys/fs/cgroup/cpu" + at.str()));
      if (at.empty()) break;
      at = at.rsplit('/').first;
    }
  }
  return best;
}

}  // namespace

int AvailableThreads() {
  static const int available = [] {
    cpu_set_t set;
    CPU_ZERO(&set);
    int cpus = sched_getaffinity(0, sizeof set, &set) == 0
                   ? CPU_COUNT(&set)
                   : static_cast<int>(std::thread::hardware_concurrency());
    if (const int quota = CgroupQuota(); quota > 0) cpus = std::min(cpus, quota);
    return std::max(cpus, 1);
  }();
  return available;
}

int ThreadCount() { return ThePool().target(); }

void SetThreadCount(int count) { ThePool().SetTarget(count); }

bool InParallelRegion() { return in_parallel_region; }

void ParallelFor(int64_t begin, int64_t end, int64_t grain, llvm::function_ref<void(int64_t, int64_t)> body) {
  if (begin >= end) return;
  grain = std::max<int64_t>(grain, 1);
  const int64_t pieces = (end - begin - 1) / grain + 1;
  if (pieces > 1 && !in_parallel_region && ThreadCount() > 1) {
    Job job{begin, end, grain, pieces, body};
    ThePool().Run(job);
    return;
  }
  for (int64_t b = begin; b < end;) {
    const int64_t e = end - b < grain ? end : b + grain;
    body(b, e);
    b = e;
  }
}

}  // namespace hlo
