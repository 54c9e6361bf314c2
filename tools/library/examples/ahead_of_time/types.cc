// The same header in C++: references to arrays, whose shapes the compiler checks.
#include "functions.h"

#include <cstdio>
#include <cstdlib>
#include <type_traits>

static_assert(std::is_same_v<dense_result0, float[32][48]>);
static_assert(std::is_invocable_v<decltype(&ranks_typed), const float (&)[300][1000], float (&)[300][1000],
                                  int32_t (&)[300][1000], void*>);
static_assert(!std::is_invocable_v<decltype(&ranks_typed), const float (&)[1000][300], float (&)[300][1000],
                                   int32_t (&)[300][1000], void*>);

int main() {
  alignas(DENSE_ALIGN) static dense_arg0 x;
  alignas(DENSE_ALIGN) static dense_arg1 w;
  alignas(DENSE_ALIGN) static dense_arg2 b;
  alignas(DENSE_ALIGN) static dense_result0 y;
  b[7] = 3;
  if (dense_start(1, nullptr, nullptr) != 0) return 1;
  void* temp =
      std::aligned_alloc(DENSE_ALIGN, (DENSE_TEMP_BYTES + DENSE_ALIGN - 1) / DENSE_ALIGN * DENSE_ALIGN);
  if (dense_typed(x, w, b, y, temp) != 0 || y[31][7] != 3 || y[31][8] != 0) return 1;
  std::free(temp);
  dense_end();
  std::puts("the same in C++");
}
