// Fibres: functions with stacks of their own that wait for each other within one thread of the host.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace hlo::gpu {

/// Stacks that are used again and again. A guard page lies below each.
class StackPool {
 public:
  StackPool() = default;
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;
  ~StackPool();
  /// Its lowest byte; null: there is no memory.
  uint8_t* Take();
  void GiveBack(uint8_t* stack) { free_.push_back(stack); }
  static constexpr size_t kBytes = 256 << 10;

 private:
  std::vector<uint8_t*> free_, all_;
};

/// A function that runs on a stack and can stop in its midst.
class Fiber {
 public:
  using Function = void(void* argument);
  /// Begins `function` on the stack and returns when it calls Yield() or returns itself.
  void Start(uint8_t* stack, Function* function, void* argument);
  /// Goes on after Yield().
  void Resume();
  /// Called on the fibre: goes back to who started or resumed it. A fibre that is not resumed any more may
  /// just be forgotten; what is on its stack is not destroyed.
  void Yield();
  [[nodiscard]] bool done() const { return done_; }

 private:
  static void Main(Fiber* fiber);
  void SwitchIn();

  void* own_ = nullptr;     // stack pointer of the fibre while it waits
  void* caller_ = nullptr;  // of who resumed it
  uint8_t* stack_ = nullptr;
  Function* function_ = nullptr;
  void* argument_ = nullptr;
  bool done_ = true;
  [[maybe_unused]] const void* caller_stack_ = nullptr;  // for the address sanitizer
  [[maybe_unused]] size_t caller_size_ = 0;
};

}  // namespace hlo::gpu
