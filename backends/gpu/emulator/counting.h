// What accesses and branches of warps cost (design §2.9): counted where lanes do the same thing for the n-th
// time.
#pragma once
#include <vector>

#include "backends/gpu/emulator/device.h"
#include "backends/gpu/emulator/thread.h"
#include "llvm/ADT/DenseMap.h"

namespace hlo::gpu {

class WarpCounter {
 public:
  /// An access of memory, or a branch: `at` is then whether it is taken.
  void Note(const Thread& thread, const Site& site, bool shared, uint64_t at);
  /// Adds what was noted, and forgets it.
  void Finish(Counts& counts);

 private:
  struct Event {
    uint32_t bytes;  // 0: a branch
    bool shared, load;
    uint32_t lanes = 0;
    std::array<uint64_t, 32> at{};
  };
  static void CountGlobal(const Event& event, Counts& counts);
  static void CountShared(const Event& event, Counts& counts);
  static void CountBranch(const Event& event, Counts& counts);

  llvm::DenseMap<std::pair<uint32_t, uint32_t>, uint32_t> turns_;  // of a thread at a site
  llvm::DenseMap<std::pair<uint32_t, uint64_t>, size_t> events_;   // of a warp, at a site, for the n-th time
  std::vector<Event> list_;
};

}  // namespace hlo::gpu
