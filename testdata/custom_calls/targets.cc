// Custom-call targets for tests of --custom-call-lib, in each convention. Built as a library of its own.
#include <malloc.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "ir/eval/custom_call_api.h"

namespace {

template <class T>
const T* In(const void** in, int i) {
  return static_cast<const T*>(in[i]);
}

}  // namespace

extern "C" {

/// f32[] count, f32[n] x, f32[n] y -> f32[n] x + y.
void add_floats(void* out, const void** in) {
  const int64_t count = *In<int64_t>(in, 0);
  for (int64_t i = 0; i < count; ++i) static_cast<float*>(out)[i] = In<float>(in, 1)[i] + In<float>(in, 2)[i];
}

/// s64[] count, f32[n] -> f32[n], the elements in memory order.
void copy_memory(void* out, const void** in) {
  std::memcpy(out, in[1], static_cast<size_t>(*In<int64_t>(in, 0)) * sizeof(float));
}

/// f32[2] -> f32[2], square roots; fails for negative numbers.
void checked_halves(void* out, const void** in, XlaCustomCallStatus* status) {
  for (int i = 0; i < 2; ++i) {
    const float x = In<float>(in, 0)[i];
    if (x < 0) {
      constexpr char kMessage[] = "a negative element (not in the message)";
      XlaCustomCallStatusSetFailure(status, kMessage, std::strlen("a negative element"));
      return;
    }
    static_cast<float*>(out)[i] = x / 2;
  }
  // Success is the default, and takes a failure back.
  XlaCustomCallStatusSetFailure(status, "", 0);
  XlaCustomCallStatusSetSuccess(status);
}

/// (s32[], (s32[], token[])) -> (s32[], (s32[], token[], pred[])): sum, length of opaque, whether tokens are
/// null.
void take_apart(void* out, const void** in, const char* opaque, size_t opaque_len,
                XlaCustomCallStatus* status) {
  void** const leaves = static_cast<void**>(out);
  if (opaque_len > 0 && opaque[0] == '!') return XlaCustomCallStatusSetFailure(status, opaque, opaque_len);
  *static_cast<int32_t*>(leaves[0]) = *In<int32_t>(in, 0) + *In<int32_t>(in, 1);
  *static_cast<int32_t*>(leaves[1]) = static_cast<int32_t>(opaque_len);
  // Any byte but 0 is true.
  *static_cast<uint8_t*>(leaves[3]) = in[2] == nullptr && leaves[2] == nullptr ? 7 : 0;
}

/// s32[4] -> s32[4] in place: only the first element is written.
void bump_first(void* out, const void** in) {
  *static_cast<int32_t*>(out) = *In<int32_t>(in, 0) + (out == in[0] ? 100 : 1000);
}

/// s4[2] -> s4[2]: bits that are not the element's.
void nibbles(void* out, const void** in) {
  for (int i = 0; i < 2; ++i) static_cast<uint8_t*>(out)[i] = In<uint8_t>(in, 0)[i] | 0x38;
}

void no_result(void*, const void**) {}

/// Crashes of three kinds.
void reads_nothing(void* out, const void**) {
  const volatile float* volatile nowhere = nullptr;
  *static_cast<float*>(out) = *nowhere;
}
void divides_by_zero(void* out, const void**) {
  const volatile int zero = 0;
  *static_cast<int*>(out) = 5000 / zero;
}
void gives_up(void*, const void**) { std::abort(); }
/// The allocator finds what lies behind the newest block damaged, and ends the process holding its lock.
void crashes_with_locks(void*, const void**) {
  constexpr size_t kSize = 100000;
  char* volatile block = nullptr;
  // Blocks of freed memory come first.
  for (int i = 0; i < 1000; ++i) block = static_cast<char*>(std::malloc(kSize));
  std::memset(block + malloc_usable_size(block), 0xff, 16);
  block = static_cast<char*>(std::malloc(kSize));
}
/// NOLINTNEXTLINE(misc-no-recursion)
int recurses(void* out, const void** in) {
  volatile char frame[4096];
  frame[0] = 1;
  return recurses(out, in) + frame[0];
}
/// And what is worse.
void leaves(void*, const void**) { std::exit(0); }
void does_not_return(void*, const void**) {
  for (volatile bool never = false; !never;) continue;
}

/// Has the name of a target with a meaning.
void Sharding(void*, const void**) { std::abort(); }
// For --check-memory.

/// f32[n] with n > 3 -> f32[4]; one element too many.
void writes_too_much(void* out, const void** in) {
  for (int i = 0; i < 5; ++i) static_cast<float*>(out)[i] = In<float>(in, 0)[i % 4];
}

/// f32[4] -> f32[4]; the last element of the result comes from behind the operand.
void reads_too_far(void* out, const void** in) {
  for (int i = 0; i < 4; ++i) static_cast<float*>(out)[i] = In<float>(in, 0)[i + 1];
}

/// f32[4] -> f32[4]; sums of neighbours, the last one with what lies behind the operand.
void adds_too_far(void* out, const void** in) {
  for (int i = 0; i < 4; ++i) static_cast<float*>(out)[i] = In<float>(in, 0)[i] + In<float>(in, 0)[i + 1];
}

/// f32[4] -> f32[4]; changes its operand.
void writes_to_operand(void* out, const void** in) {
  std::memcpy(out, in[0], 4 * sizeof(float));
  static_cast<float*>(const_cast<void*>(in[0]))[1] = 0;
}
}
