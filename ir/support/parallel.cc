#include "ir/support/parallel.h"

#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "ir/support/loop_shares.h"
#include "ir/support/stack.h"
#include "ir/support/work.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

namespace hlo {
namespace {

thread_local bool in_parallel_region = false;

/// How often an idle thread looks for work before it sleeps: about 50 us, longer than most steps that run on
/// one thread alone, and short beside a time slice that it might keep from others.
constexpr int kSpins = 1000;

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// One ParallelFor call; lives on the stack of its caller.
class Job {
 public:
  Job(int64_t begin, int64_t end, int64_t grain, int64_t pieces, int threads,
      llvm::function_ref<void(int64_t, int64_t)> body)
      : begin_(begin), end_(end), grain_(grain), body_(body), shares_(pieces, threads) {}

  [[nodiscard]] bool exhausted() const { return shares_.exhausted(); }

  /// `thread`: 0 for the caller, who is called back after each piece while not all others have come.
  void Help(int thread, llvm::function_ref<void()> others_missing) {
    const WorkScope scope(work_);
    if (thread > 0) helpers_.fetch_add(1, std::memory_order_relaxed);
    in_parallel_region = true;
    shares_.Run(thread, [&](int64_t piece) {
      const int64_t b = begin_ + piece * grain_;
      body_(b, end_ - b < grain_ ? end_ : b + grain_);
      if (thread == 0 && helpers_.load(std::memory_order_relaxed) < shares_.count() - 1) others_missing();
      return true;
    });
    in_parallel_region = false;
  }

 private:
  int64_t begin_, end_, grain_;
  WorkContext work_ = CurrentWork();
  llvm::function_ref<void(int64_t, int64_t)> body_;
  std::atomic<int> helpers_{0};
  LoopShares shares_;
};

/// A place where callers offer their jobs. A thread counts itself as a visitor before it reads `job`, and a
/// caller withdraws the job before it waits for the visitors to leave: so no thread works on a job that is
/// gone.
struct alignas(64) Slot {
  std::atomic<Job*> job{nullptr};
  std::atomic<int> visitors{0};
};

/// Gets a thread that waits for the caller's CPU to another: some schedulers wake threads where somebody else
/// runs, and leave them there for tens of milliseconds though other CPUs have nothing to do. One caller at a
/// time: another one would take the CPUs of the meantime for those that the thread may use.
void MoveAwayFromHere(pid_t thread) {
  cpu_set_t allowed, others;
  const int here = sched_getcpu();
  if (here < 0 || here >= CPU_SETSIZE || sched_getaffinity(thread, sizeof allowed, &allowed) != 0) return;
  others = allowed;
  CPU_CLR(static_cast<size_t>(here), &others);
  if (CPU_COUNT(&others) == 0) return;
  sched_setaffinity(thread, sizeof others, &others);
  sched_setaffinity(thread, sizeof allowed, &allowed);
}

/// What callers know of a thread of the pool.
class alignas(64) Helper {
 public:
  void Start() { thread_.store(gettid(), std::memory_order_relaxed); }
  /// By the thread itself, whenever it has looked for work.
  void Saw(uint32_t offers) { seen_.store(offers, std::memory_order_relaxed); }

  /// By a caller who misses it: gets the thread away from here if it has seen nothing for kLate.
  void LookAfter(uint32_t offer) {
    const uint32_t seen = seen_.load(std::memory_order_relaxed);
    const pid_t thread = thread_.load(std::memory_order_relaxed);
    if (static_cast<int32_t>(offer - seen) <= 0 || thread == 0) return;
    const int64_t now = std::chrono::steady_clock::now().time_since_epoch() / std::chrono::microseconds(1);
    if (missed_seen_.exchange(seen, std::memory_order_relaxed) != seen) {
      missed_at_.store(now, std::memory_order_relaxed);
    } else if (now - missed_at_.load(std::memory_order_relaxed) > kLate) {
      missed_at_.store(now, std::memory_order_relaxed);
      if (const std::unique_lock lock(moving_, std::try_to_lock); lock) MoveAwayFromHere(thread);
    }
  }

 private:
  static constexpr int64_t kLate = 150;  // us; threads wake up within 100
  std::atomic<pid_t> thread_{0};
  std::atomic<uint32_t> seen_{0};
  std::atomic<uint32_t> missed_seen_{~0U};  // what it had seen when it was first missed
  std::atomic<int64_t> missed_at_{0};
  std::mutex moving_;
};

}  // namespace

/// The threads of a pool.
class ThreadPool::State {
 public:
  State() = default;
  explicit State(int count) : target_(std::max(count, 0)) {}
  ~State() {
    closing_ = true;
    offers_.fetch_add(1);
    offers_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void SetTarget(int count) { target_.store(std::max(count, 0)); }
  /// What the system grants is asked only where nobody has said a number.
  [[nodiscard]] int target() const {
    const int count = target_.load(std::memory_order_relaxed);
    return count > 0 ? count : AvailableThreads();
  }

  void Run(Job& job) {
    if (started_.load(std::memory_order_relaxed) < target() - 1 && !refused_) StartThreads();
    uint32_t offer = 0;
    Slot* slot = Offer(job, offer);
    job.Help(0, [&] {
      const int wanted = std::min({started_.load(std::memory_order_relaxed), target() - 1, kWatched});
      for (int i = 0; slot != nullptr && i < wanted; ++i) helpers_[i].LookAfter(offer);
    });
    if (slot != nullptr) Withdraw(*slot);
  }

 private:
  static constexpr int kSlots = 8;  // callers beyond so many at once work alone
  static constexpr int kWatched = 64;

  void StartThreads() {
    const std::lock_guard lock(starting_);
    for (int started = started_.load(); started < target() - 1 && !refused_;) {
      std::thread thread = TryThread([this, number = started] { Loop(number); });
      if (thread.joinable()) {
        threads_.push_back(std::move(thread));
        started_.store(++started);
      } else {
        refused_ = true;
      }
    }
  }

  Slot* Offer(Job& job, uint32_t& offer) {
    for (Slot& slot : slots_) {
      Job* none = nullptr;
      if (slot.job.load(std::memory_order_relaxed) != nullptr ||
          !slot.job.compare_exchange_strong(none, &job))
        continue;
      offer = offers_.fetch_add(1) + 1;
      if (sleepers_.load() > 0) offers_.notify_all();
      return &slot;
    }
    return nullptr;
  }

  /// Waits for those who still work on a piece.
  static void Withdraw(Slot& slot) {
    slot.job.store(nullptr);
    int visitors = slot.visitors.load();
    for (int spins = 0; visitors != 0; visitors = slot.visitors.load(), ++spins)
      if (spins < kSpins)
        Pause();
      else
        slot.visitors.wait(visitors);
  }

  void Visit(Slot& slot, int thread) {
    if (slot.job.load(std::memory_order_relaxed) == nullptr) return;
    slot.visitors.fetch_add(1);
    if (Job* job = slot.job.load(); job != nullptr && !job->exhausted()) job->Help(thread, [] {});
    if (slot.visitors.fetch_sub(1) == 1) slot.visitors.notify_all();
  }

  void Loop(int number) {
    if (number < kWatched) helpers_[number].Start();
    for (uint32_t seen = 0;;) {
      WaitForOffer(seen, number);
      if (closing_.load()) return;
      seen = offers_.load();
      if (number < kWatched) helpers_[number].Saw(seen);
      for (Slot& slot : slots_) Visit(slot, number + 1);
    }
  }

  /// Returns when the number of offers is not `seen`, or at the end; threads beyond a lowered target stay
  /// idle.
  void WaitForOffer(uint32_t seen, int number) {
    const auto is_wanted = [&](uint32_t offers) {
      return closing_.load() || (offers != seen && number < target() - 1);
    };
    for (int spins = 0; spins < kSpins; ++spins, Pause())
      if (is_wanted(offers_.load())) return;
    sleepers_.fetch_add(1);
    for (uint32_t offers; !is_wanted(offers = offers_.load());) offers_.wait(offers);
    sleepers_.fetch_sub(1);
  }

  Slot slots_[kSlots];
  Helper helpers_[kWatched];
  alignas(64) std::atomic<uint32_t> offers_{0};  // so far
  std::atomic<int> sleepers_{0};
  alignas(64) std::atomic<int> target_{0};  // 0: as many as there are
  std::atomic<int> started_{0};
  std::atomic<bool> refused_{false};  // the system grants no more threads: those there are have to do
  std::atomic<bool> closing_{false};
  std::mutex starting_;
  std::vector<std::thread> threads_;  // guarded by starting_
};

ThreadPool::ThreadPool(int count) : state_(std::make_unique<State>(count)) {}
ThreadPool::~ThreadPool() = default;

namespace {

/// That of work which has none of its own.
ThreadPool::State& PoolOfProcess() {
  // Never destroyed, so its threads are never joined: it outlives main, and idle threads do not hinder exit.
  static auto* pool = new ThreadPool::State;
  return *pool;
}

ThreadPool::State& ThePool() {
  ThreadPool* const own = CurrentWork().pool;
  return own == nullptr ? PoolOfProcess() : own->state();
}

/// A stack for the signal handlers of a thread: that its own has run out can be reported, too.
class SignalStack {
 public:
  SignalStack() {
    const stack_t stack = {memory_.get(), 0, kSize};
    sigaltstack(&stack, &before_);
  }
  ~SignalStack() { sigaltstack(&before_, nullptr); }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  static constexpr size_t kSize = 64 << 10;
  std::unique_ptr<char[]> memory_{new char[kSize]};  // not cleared: seldom used
  stack_t before_{};
};

/// What a file of the system says; empty if it cannot be read.
std::string ReadSystemFile(const std::string& path) {
  const auto file = llvm::MemoryBuffer::getFileAsStream(path);
  return file ? (*file)->getBuffer().str() : "";
}

/// The number at the start of the text; 0 if there is none.
double LeadingNumber(llvm::StringRef text) { return std::strtod(text.str().c_str(), nullptr); }

/// CPUs granted by that quota per period; 0 if unlimited or unknown.
int GrantedCpus(double quota, double period) {
  return quota > 0 && period > 0 ? static_cast<int>(std::ceil(quota / period)) : 0;
}

/// CPUs granted by the quota of a cgroup v2 folder; 0 if unlimited or unknown.
int CgroupV2Quota(const std::string& folder) {
  const std::string text = ReadSystemFile(folder + "/cpu.max");
  const auto [quota, period] = llvm::StringRef(text).split(' ');
  return quota == "max" ? 0 : GrantedCpus(LeadingNumber(quota), LeadingNumber(period));
}

/// The same for cgroup v1.
int CgroupV1Quota(const std::string& folder) {
  const double quota = LeadingNumber(ReadSystemFile(folder + "/cpu.cfs_quota_us"));
  return quota > 0 ? GrantedCpus(quota, LeadingNumber(ReadSystemFile(folder + "/cpu.cfs_period_us"))) : 0;
}

/// The tightest CPU quota of the groups this process is in, from its own group up to the root.
int CgroupQuota() {
  int best = 0;
  auto tighten = [&](int quota) {
    if (quota > 0 && (best == 0 || quota < best)) best = quota;
  };
  const std::string groups = ReadSystemFile("/proc/self/cgroup");
  for (const llvm::StringRef line : llvm::split(groups, '\n')) {
    const auto [number, rest] = line.split(':');
    if (line.empty()) continue;
    const auto [controllers, path] = rest.split(':');
    if (!controllers.empty() && !llvm::is_contained(llvm::split(controllers, ','), "cpu")) continue;
    llvm::StringRef at = path.rtrim('/');
    for (;;) {
      if (controllers.empty())
        tighten(CgroupV2Quota("/sys/fs/cgroup" + at.str()));
      else
        tighten(CgroupV1Quota("/sys/fs/cgroup/cpu" + at.str()));
      if (at.empty()) break;
      at = at.take_front(at.contains('/') ? at.rfind('/') : 0);
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

void SetThreadCount(int count) { PoolOfProcess().SetTarget(count); }

bool InParallelRegion() { return in_parallel_region; }

void ParallelFor(int64_t begin, int64_t end, int64_t grain, llvm::function_ref<void(int64_t, int64_t)> body) {
  if (begin >= end) return;
  grain = std::max<int64_t>(grain, 1);
  const int64_t pieces = (end - begin - 1) / grain + 1;
  if (pieces > 1 && !in_parallel_region && ThreadCount() > 1) {
    Job job(begin, end, grain, pieces, ThreadCount(), body);
    ThePool().Run(job);
    return;
  }
  for (int64_t b = begin; b < end;) {
    const int64_t e = end - b < grain ? end : b + grain;
    body(b, e);
    b = e;
  }
}

std::thread TryThread(std::function<void()> body) {
  return StartThread([body = std::move(body)] {
    const SignalStack stack;
    body();
  });
}

std::thread QuietThread(std::function<void()> body) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread = TryThread(std::move(body));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace hlo
