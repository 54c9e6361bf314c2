// Times a function of an object of hlo-opt --aot: arguments.bin, then the least time of a call in seconds.
//
//   program ARGUMENTS THREADS CALLS
//
// object.h is the header of the object, sizes.h says what its arrays take.
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "object.h"
#include "sizes.h"

namespace {

/// Threads that look for the next loop for a while before they sleep.
class Pool {
 public:
  explicit Pool(int helpers) {
    for (int i = 0; i < helpers; ++i) std::thread([this] { Help(); }).detach();
  }

  void Run(int count, void (*task)(void*, int), void* what) {
    task_ = task, what_ = what;
    done_.store(0, std::memory_order_relaxed);
    // Loop, pieces, and the next piece to take, in one number.
    const uint64_t loop = (ticket_.load(std::memory_order_relaxed) >> 32) + 1;
    ticket_.store(loop << 32 | static_cast<uint64_t>(count) << 16);
    if (asleep_.load() > 0) ticket_.notify_all();
    while (TakePiece()) {}
    while (done_.load(std::memory_order_acquire) < count) Pause();
  }

 private:
  static constexpr int kLooks = 20000;

  static void Pause() { __builtin_ia32_pause(); }

  bool TakePiece() {
    uint64_t ticket = ticket_.load(std::memory_order_acquire);
    do {
      if ((ticket & 0xffff) >= (ticket >> 16 & 0xffff)) return false;
    } while (!ticket_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_acq_rel));
    task_(what_, static_cast<int>(ticket & 0xffff));
    done_.fetch_add(1, std::memory_order_release);
    return true;
  }

  void Help() {
    for (;;) {
      while (TakePiece()) {}
      const uint64_t seen = ticket_.load();
      if ((seen & 0xffff) < (seen >> 16 & 0xffff)) continue;
      int looks = 0;
      while (ticket_.load(std::memory_order_relaxed) == seen && looks < kLooks) Pause(), ++looks;
      if (looks < kLooks) continue;
      ++asleep_;
      ticket_.wait(seen);
      --asleep_;
    }
  }

  std::atomic<uint64_t> ticket_ = 0;
  std::atomic<int> done_ = 0, asleep_ = 0;
  void (*task_)(void*, int) = nullptr;
  void* what_ = nullptr;
};

[[maybe_unused]] void Run(void* pool, int count, void (*task)(void*, int), void* what) {
  static_cast<Pool*>(pool)->Run(count, task, what);
}

/// As arrays of hlo-run lie: large ones on large pages, where the system has them for who asks.
void* Take(size_t bytes) {
  constexpr size_t kLargePage = size_t{2} << 20;
  const size_t alignment = bytes >= kLargePage / 4 ? kLargePage : 64;
  const size_t size = bytes / alignment * alignment + alignment;
  void* block = std::aligned_alloc(alignment, size);
  if (alignment == kLargePage) madvise(block, size, MADV_HUGEPAGE);
  return block;
}

template <size_t n>
std::vector<void*> Allocate(const size_t (&bytes)[n]) {
  std::vector<void*> arrays;
  for (const size_t b : bytes) arrays.push_back(Take(b));
  return arrays;
}

void Check(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "%s\n", what);
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  Check(argc == 4, "usage: program ARGUMENTS THREADS CALLS");
  const int threads = std::atoi(argv[2]), calls = std::atoi(argv[3]);
  std::FILE* file = std::fopen(argv[1], "rb");
  Check(file != nullptr, "no arguments");
  const std::vector<void*> arguments = Allocate(kArguments), results = Allocate(kResults);
  for (size_t i = 0; i < arguments.size(); ++i)
    Check(std::fread(arguments[i], 1, kArguments[i], file) == kArguments[i], "too few arguments");
  std::fclose(file);
  static Pool pool(threads - 1);
#ifdef ROW_NOT_STARTED
  Check(row_start(threads, &Run, &pool) == 0, "the start");
#endif
  void* temp = Take(ROW_TEMP_BYTES);
  double least = 1e9;
  for (int i = 0; i < calls + 2; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const int code = row(arguments.data(), results.data(), temp);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    Check(code == 0, "a call");
    if (i >= 2 && time.count() < least) least = time.count();
  }
  std::printf("%.9f\n", least);
  std::fflush(stdout);
  std::_Exit(0);
}
