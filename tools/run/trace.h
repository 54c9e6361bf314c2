// A trace of runs in Chrome's format (tools.md §3.5, --trace).
#pragma once
#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "ir/instruction.h"

namespace hlo {

/// Collects what happened when, per thread. All members may be called from any thread.
class RunTrace {
 public:
  using Clock = std::chrono::steady_clock;
  void Add(llvm::StringRef name, llvm::StringRef category, Clock::time_point begin, Clock::time_point end);
  /// `inst` begins on this thread, and what ran there before has ended.
  void Begin(const Instruction& inst);
  /// A library does what runs on this thread.
  void DoneBy(llvm::StringRef library);
  /// An execution is over: nothing runs any more.
  void EndExecution();
  /// The object with `traceEvents`; times in microseconds since the trace was made.
  [[nodiscard]] std::string Json() const;

 private:
  struct Event {
    std::string name, category;
    int thread;
    Clock::time_point begin, end;
    std::string library = {};  // that did it; empty: none
  };
  struct Open {
    std::string name, opcode;
    Clock::time_point begin;
    std::string library = {};
  };
  int Thread();
  /// A value of the memory counter; seldom enough not to disturb.
  void CountMemory(Clock::time_point now);
  void Close(std::thread::id thread, Clock::time_point now);

  mutable std::mutex mutex_;
  Clock::time_point start_ = Clock::now();
  std::map<std::thread::id, int> threads_;
  std::map<std::thread::id, Open> open_;
  std::vector<Event> events_;
  struct Memory {
    Clock::time_point at;
    int64_t bytes;
  };
  std::vector<Memory> memory_;
};

}  // namespace hlo
