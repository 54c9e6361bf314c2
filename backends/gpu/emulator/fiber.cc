#include "backends/gpu/emulator/fiber.h"

#include <sys/mman.h>

#include <cstring>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HLO_ASAN 1
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#endif

// Saves what a function must save of x86-64, changes stacks, and takes what was saved there.
extern "C" void HloSwitchFiber(void** save, void* go);
asm(R"(
.text
.globl HloSwitchFiber
.hidden HloSwitchFiber
.type HloSwitchFiber, @function
HloSwitchFiber:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size HloSwitchFiber, .-HloSwitchFiber
.globl HloStartFiber
.hidden HloStartFiber
.type HloStartFiber, @function
HloStartFiber:
  movq %r12, %rdi
  callq *%r13
  ud2
.size HloStartFiber, .-HloStartFiber
)");
extern "C" void HloStartFiber();

namespace hlo::gpu {
namespace {

constexpr size_t kGuard = 4096;

}  // namespace

StackPool::~StackPool() {
  for (uint8_t* stack : all_) ::munmap(stack - kGuard, kBytes + kGuard);
}

uint8_t* StackPool::Take() {
  if (!free_.empty()) {
    uint8_t* stack = free_.back();
    free_.pop_back();
    return stack;
  }
  void* memory = ::mmap(nullptr, kBytes + kGuard, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  ::mprotect(memory, kGuard, PROT_NONE);
  all_.push_back(static_cast<uint8_t*>(memory) + kGuard);
  return all_.back();
}

void Fiber::Main(Fiber* fiber) {
#ifdef HLO_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &fiber->caller_stack_, &fiber->caller_size_);
#endif
  fiber->function_(fiber->argument_);
  fiber->done_ = true;
  fiber->Yield();
}

void Fiber::Start(uint8_t* stack, Function* function, void* argument) {
  stack_ = stack;
  function_ = function;
  argument_ = argument;
  done_ = false;
#ifdef HLO_ASAN
  __asan_unpoison_memory_region(stack, StackPool::kBytes);
#endif
  // What HloSwitchFiber() takes: r15, r14, r13, r12, rbx, rbp, the address to return to.
  auto* top = reinterpret_cast<uint64_t*>(stack + StackPool::kBytes) - 2;
  uint64_t* frame = top - 7;
  std::memset(frame, 0, 9 * sizeof(uint64_t));
  frame[2] = reinterpret_cast<uint64_t>(&Main);
  frame[3] = reinterpret_cast<uint64_t>(this);
  frame[6] = reinterpret_cast<uint64_t>(&HloStartFiber);
  own_ = frame;
  SwitchIn();
}

void Fiber::Resume() { SwitchIn(); }

void Fiber::SwitchIn() {
#ifdef HLO_ASAN
  void* fake = nullptr;
  __sanitizer_start_switch_fiber(&fake, stack_, StackPool::kBytes);
#endif
  HloSwitchFiber(&caller_, own_);
#ifdef HLO_ASAN
  __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
}

void Fiber::Yield() {
#ifdef HLO_ASAN
  void* fake = nullptr;
  __sanitizer_start_switch_fiber(done_ ? nullptr : &fake, caller_stack_, caller_size_);
#endif
  HloSwitchFiber(&own_, caller_);
#ifdef HLO_ASAN
  __sanitizer_finish_switch_fiber(fake, &caller_stack_, &caller_size_);
#endif
}

}  // namespace hlo::gpu
