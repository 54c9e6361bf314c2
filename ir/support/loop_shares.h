// How the pieces of a loop are shared out among threads.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>

namespace hlo {

/// Pieces 0 to `pieces` - 1 of a loop. Each thread begins with a share of its own, the same in each loop of
/// that size: what it has written last time, or in the step before, is in its cache. Who is done helps the
/// others.
class LoopShares {
 public:
  LoopShares(int64_t pieces, int threads)
      : count_(static_cast<int>(std::min<int64_t>(pieces, threads < kMost ? threads : kMost))) {
    for (int i = 0; i < count_; ++i) {
      shares_[i].next.store(pieces * i / count_, std::memory_order_relaxed);
      shares_[i].end = pieces * (i + 1) / count_;
    }
  }

  [[nodiscard]] int count() const { return count_; }
  /// All are taken.
  [[nodiscard]] bool exhausted() const {
    for (int i = 0; i < count_; ++i)
      if (shares_[i].next.load(std::memory_order_relaxed) < shares_[i].end) return false;
    return true;
  }
  /// Calls `body` with one piece after the other until all are taken, or `body` returns false. For each of
  /// the threads, with its number from 0 on.
  template <class F>
  void Run(int thread, const F& body) {
    for (int i = 0; i < count_; ++i) {
      Share& share = shares_[(thread + i) % count_];
      for (int64_t piece; (piece = share.next.fetch_add(1, std::memory_order_relaxed)) < share.end;)
        if (!body(piece)) return;
    }
  }

 private:
  static constexpr int kMost = 16;  // threads beyond begin with a share of others
  struct alignas(64) Share {
    std::atomic<int64_t> next;
    int64_t end;
  };

  int count_;
  Share shares_[kMost];
};

}  // namespace hlo
