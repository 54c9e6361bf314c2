#include "ir/support/guarded_memory.h"

#include "gtest/gtest.h"

namespace hlo {
namespace {

/// What code without instrumentation does.
__attribute__((no_sanitize("address"), noinline)) void WriteAt(volatile uint8_t* place) { *place = 1; }

void WriteBeside(size_t block, int64_t offset) {
  const GuardedMemory memory("somebody", 20, 3, /*zones=*/true);
  WriteAt(memory.block(block) + offset);
}

TEST(GuardedMemory, EndsTheProgramIfBytesBesideBlocksChange) {
  EXPECT_DEATH(WriteBeside(0, -1),
               "somebody wrote beyond its memory: 1 bytes before block 0 of 3, which has 20 bytes");
  EXPECT_DEATH(WriteBeside(0, 20), "somebody wrote beyond its memory: 0 bytes behind block 0 of 3");
  EXPECT_DEATH(WriteBeside(1, 275), "somebody wrote beyond its memory: 255 bytes behind block 1 of 3");
  EXPECT_DEATH(WriteBeside(2, 29), "somebody wrote beyond its memory: 9 bytes behind block 2 of 3");
}

TEST(GuardedMemory, IsZeroAndMayBeWrittenWithinBlocks) {
  for (const bool zones : {false, true}) {
    GuardedMemory memory("somebody", 20, 3, zones);
    EXPECT_EQ(memory.contiguous(), !zones);
    for (size_t b = 0; b < 3; ++b)
      for (size_t i = 0; i < 20; ++i) EXPECT_EQ(memory.block(b)[i]++, 0);
    memory.Check();
    GuardedMemory other = std::move(memory);
    other = GuardedMemory("somebody else", 1, 1, zones);
    EXPECT_EQ(other.block_bytes(), 1U);
  }
}

}  // namespace
}  // namespace hlo
