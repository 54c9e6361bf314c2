// One call of a function that was compiled ahead of time, and the threads that work on it.
#pragma once
#include <atomic>
#include <csetjmp>

#include "backends/cpu/runtime/memory.h"
#include "backends/cpu/runtime/program.h"
#include "ir/eval/device.h"

namespace hlo::runtime {

/// Who helps: what the caller said at the start.
struct Helpers {
  int threads = 1;  // the caller's included
  Threads* run = nullptr;
  void* context = nullptr;
};

/// Bytes that the parts of a call need: of the calling thread, and of each that works on a piece of a loop.
struct PartBytes {
  PartSize outside, inside;
};

/// Lies on the stack of whoever calls. Nothing here is destroyed after GiveUp().
class Call {
 public:
  /// `memory`: BytesFor() of it, aligned to 64. `measures`: loops run on this thread alone, but take memory
  /// as if others helped.
  Call(const Helpers& helpers, const PartBytes& bytes, uint8_t* memory, bool measures = false);
  static size_t BytesFor(const Helpers& helpers, const PartBytes& bytes);

  [[nodiscard]] const Helpers& helpers() const { return helpers_; }
  [[nodiscard]] bool measures() const { return measures_; }
  /// Of the calling thread, or of the given one of those that work on a loop.
  [[nodiscard]] Memory OutsideLoops() const { return {parts_, begin_, end_}; }
  [[nodiscard]] Memory InLoop(int thread) const;
  /// How far the parts were filled.
  [[nodiscard]] PartBytes Peaks() const;
  /// After a step, on the calling thread: `before` is what its part had then, and of loops nothing is left.
  /// So a call needs as much as the largest of its steps, and not as all of them together.
  [[nodiscard]] Arena::Mark BeginStep() const { return parts_[0].arena.Here(); }
  void EndStep(const Arena::Mark& before);

  /// The first failure; kDone: there is none.
  [[nodiscard]] int code() const { return code_.load(std::memory_order_relaxed); }
  void Fail(int code);
  /// For ops that have one, with random counters as a program begins with them.
  Device& device();

 private:
  const Helpers& helpers_;
  PartBytes bytes_;
  bool measures_;
  uint8_t *begin_, *end_;
  Part* parts_;
  std::atomic<int> code_ = kDone;
  DeviceGroup* devices_ = nullptr;  // in memory of the call
};

/// What the calling thread works on, and where it goes on when it gives up; null: nothing.
struct Work {
  Call* call = nullptr;
  std::jmp_buf* way_out = nullptr;
  bool in_loop = false;
  int planned_threads = 1;  // outside of calls: for how many a program is made ready
};
extern thread_local constinit Work work;

/// Ends what this thread does for its call, which fails. Outside of calls it ends the program.
[[noreturn]] void GiveUp(int code);

/// Does `body` for a call on this thread, with `memory`; returns early if it gives up, which leaves nothing
/// changed of the thread itself.
void RunFor(Call& call, const Memory& memory, bool in_loop, void (*body)(void*), void* what);

}  // namespace hlo::runtime
