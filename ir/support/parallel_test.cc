#include "ir/support/parallel.h"

#include <dirent.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "ir/support/work.h"

namespace hlo {
namespace {

/// Restores the thread count when a test ends.
struct ThreadCountGuard {
  ~ThreadCountGuard() { SetThreadCount(0); }
};

/// Order-sensitive sum over the pieces, as a reduction would combine them.
double PieceSum(int64_t n, int64_t grain) {
  std::vector<double> partial(static_cast<size_t>((n + grain - 1) / grain));
  ParallelFor(0, n, grain, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i)
      partial[static_cast<size_t>(b / grain)] += 1.0 / static_cast<double>(i + 1);
  });
  double sum = 0;
  for (const double p : partial) sum += p;
  return sum;
}

TEST(ParallelFor, EveryIndexOnceForEveryThreadCount) {
  const ThreadCountGuard guard;
  for (const int threads : {1, 2, 7}) {
    SetThreadCount(threads);
    EXPECT_EQ(ThreadCount(), threads);
    std::vector<std::atomic<int>> hits(1003);
    ParallelFor(3, 1003, 10, [&](int64_t b, int64_t e) {
      EXPECT_TRUE(e - b == 10 || e == 1003);
      for (int64_t i = b; i < e; ++i) ++hits[static_cast<size_t>(i)];
    });
    for (size_t i = 0; i < hits.size(); ++i) EXPECT_EQ(hits[i], i < 3 ? 0 : 1);
  }
}

TEST(ParallelFor, ResultIndependentOfThreadCount) {
  const ThreadCountGuard guard;
  SetThreadCount(1);
  const double one = PieceSum(100'000, 97);
  SetThreadCount(5);
  EXPECT_EQ(PieceSum(100'000, 97), one);
}

TEST(ParallelFor, EmptyAndExtremeRanges) {
  ParallelFor(5, 5, 1, [](int64_t, int64_t) { FAIL(); });
  ParallelFor(5, 4, 1, [](int64_t, int64_t) { FAIL(); });
  std::atomic<int> calls = 0;
  ParallelFor(INT64_MAX - 3, INT64_MAX, 2, [&](int64_t, int64_t) { ++calls; });
  EXPECT_EQ(calls, 2);
  calls = 0;
  ParallelFor(0, 3, 0, [&](int64_t, int64_t) { ++calls; });
  EXPECT_EQ(calls, 3);
}

TEST(ParallelFor, NestedCallsRunInline) {
  const ThreadCountGuard guard;
  SetThreadCount(4);
  std::atomic<int> inner = 0;
  ParallelFor(0, 16, 1, [&](int64_t, int64_t) {
    EXPECT_TRUE(InParallelRegion());
    const auto self = std::this_thread::get_id();
    ParallelFor(0, 10, 1, [&](int64_t, int64_t) {
      EXPECT_EQ(std::this_thread::get_id(), self);
      ++inner;
    });
    EXPECT_TRUE(InParallelRegion());
  });
  EXPECT_EQ(inner, 160);
  EXPECT_FALSE(InParallelRegion());
}

TEST(ParallelFor, ManyCallersAtOnce) {
  const ThreadCountGuard guard;
  SetThreadCount(3);
  std::vector<std::thread> callers;
  std::atomic<int64_t> total = 0;
  for (int t = 0; t < 12; ++t)  // more than the pool has places for
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round)
        ParallelFor(0, 100, 7, [&](int64_t b, int64_t e) { total += e - b; });
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(total, 12 * 200 * 100);
}

TEST(ParallelFor, ThreadsSleepWakeAndRetire) {
  const ThreadCountGuard guard;
  for (const int threads : {4, 2, 1, 3}) {
    SetThreadCount(threads);
    for (int round = 0; round < 20; ++round) {
      std::atomic<int> calls = 0;
      ParallelFor(0, 8, 1, [&](int64_t, int64_t) { ++calls; });
      EXPECT_EQ(calls, 8);
      if (round % 5 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

TEST(ThreadPool, ServesTheWorkThatHasIt) {
  EXPECT_EQ(ThreadCount(), AvailableThreads());
  const double expected = PieceSum(100'000, 97);
  StopToken stop;
  for (int round = 0; round < 20; ++round) {
    ThreadPool pool(round % 4 + 1);
    const WorkScope scope({&stop, &pool});
    EXPECT_EQ(ThreadCount(), round % 4 + 1);
    EXPECT_EQ(PieceSum(100'000, 97), expected);
    std::atomic<int> strangers = 0;
    ParallelFor(0, 64, 1, [&](int64_t, int64_t) {
      if (CurrentWork().stop != &stop || CurrentWork().pool != &pool) ++strangers;
    });
    EXPECT_EQ(strangers, 0);
  }
  EXPECT_EQ(ThreadCount(), AvailableThreads());
  EXPECT_EQ(CurrentWork().pool, nullptr);
}

/// Threads of this process, and how many of them may run on the CPUs that this one may run on.
std::pair<int, int> ThreadsAndThoseAllowedAsThis() {
  cpu_set_t here;
  EXPECT_EQ(sched_getaffinity(0, sizeof here, &here), 0);
  std::pair<int, int> counts = {0, 0};
  DIR* threads = opendir("/proc/self/task");
  if (threads == nullptr) return counts;
  while (const dirent* entry = readdir(threads)) {
    if (entry->d_name[0] == '.') continue;
    cpu_set_t set;
    // A thread that has ended since has no CPUs.
    if (sched_getaffinity(std::atoi(entry->d_name), sizeof set, &set) != 0) continue;
    ++counts.first;
    counts.second += CPU_EQUAL(&set, &here) ? 1 : 0;
  }
  closedir(threads);
  return counts;
}

TEST(ParallelFor, MissedThreadsMayRunWhereTheyMightBefore) {
  const ThreadCountGuard guard;
  SetThreadCount(AvailableThreads() + 5);  // some are late
  const auto miss = [] {
    for (int job = 0; job < 20; ++job)
      ParallelFor(0, 200, 1, [](int64_t, int64_t) {
        const auto start = std::chrono::steady_clock::now();
        while (std::chrono::steady_clock::now() - start < std::chrono::microseconds(20)) {}
      });
  };
  std::vector<std::thread> callers;  // who miss the same threads
  for (int t = 0; t < 4; ++t) callers.emplace_back(miss);
  for (std::thread& caller : callers) caller.join();
  const auto [threads, same] = ThreadsAndThoseAllowedAsThis();
  EXPECT_EQ(same, threads);
}

}  // namespace
}  // namespace hlo
