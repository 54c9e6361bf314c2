#include "ir/support/stack.h"

#include <sys/resource.h>

#include "gtest/gtest.h"
#include "ir/support/parallel.h"

namespace hlo {
namespace {

/// Goes down so many levels with frames of 4 KiB.
int Descend(int levels) {
  volatile char frame[4096] = {};
  frame[levels % 4096] = 1;
  return levels == 0 ? 0 : Descend(levels - 1) + frame[levels % 4096];
}

TEST(Stack, ThreadsGoAsDeepAsTheMainOne) {
  rlimit limit = {};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY) GTEST_SKIP();
  size_t left = 0;
  int depth = 0;
  std::thread thread = TryThread([&] {
    left = StackLeft();
    depth = Descend(2 * kMaxNesting);
  });
  ASSERT_TRUE(thread.joinable());
  thread.join();
  EXPECT_EQ(depth, 2 * kMaxNesting);
  EXPECT_GT(left, kStackBytes - (size_t{1} << 20));
  EXPECT_LE(left, kStackBytes);
}

TEST(Stack, LeftIsLessFurtherDown) {
  const size_t here = StackLeft();
  size_t below = 0;
  const auto descend = [&](auto&& self, int levels) -> void {
    volatile char frame[4096] = {};
    if (levels == 0)
      below = StackLeft();
    else
      self(self, levels - 1);
    frame[0] = 1;
  };
  descend(descend, 16);
  EXPECT_LT(below + size_t{16} * 4096, here + 1);
}

}  // namespace
}  // namespace hlo
