#include "backends/kernel/routine.h"

#include "gtest/gtest.h"

namespace hlo::kernel {
namespace {

Slot Scalar(int64_t size, bool written) { return {size, true, written}; }
/// A call whose last buffer is a result, written as a whole if `defined`.
RoutineStep Call(llvm::SmallVector<SlotId, 4> slots, llvm::SmallVector<int64_t, 4> bytes,
                 bool defined = true) {
  const uint64_t bit = uint64_t{1} << (slots.size() - 1);
  return {CallStep{0, std::move(slots), 1, std::move(bytes), defined ? bit : 0}};
}
std::string Split(Routine routine) {
  SplitSlots(routine);
  return ToString(routine);
}

TEST(SplitSlots, ValuesThatTakeTurnsAreApart) {
  Routine routine;
  routine.slots = {Scalar(4, true), Scalar(4, false)};
  WhileStep loop{1, {}, {}};
  loop.condition.push_back(Call({0, 1}, {4, 1}));
  loop.body.push_back(Call({0, 1}, {4, 4}));
  loop.body.push_back(Call({1, 0}, {4, 4}));
  routine.body.push_back({std::move(loop)});
  EXPECT_EQ(Split(std::move(routine)), R"(  s0: 4 scalar written
  s1: 4 scalar
  s2: 1 scalar written local
  s3: 4 scalar written local
  while s2 {
    call k0(s0, s2)
  } do {
    call k0(s0, s3)
    call k0(s3, s0)
  }
)");
}

TEST(SplitSlots, HostsWriteValuesOfTheirOwn) {
  Routine routine;
  routine.slots = {Scalar(4, true), Scalar(1, false)};
  WhileStep loop{1, {}, {}};
  loop.condition.push_back(Call({0, 1}, {4, 1}));
  loop.body.push_back({HostStep{3, {0, 0}, {4, 4}, 2}});
  loop.body.push_back(Call({0, 0}, {4, 4}));
  routine.body.push_back({std::move(loop)});
  EXPECT_EQ(Split(std::move(routine)), R"(  s0: 4 scalar written
  s1: 1 scalar
  s2: 1 scalar written local
  s3: 4 scalar written local
  while s2 {
    call k0(s0, s2)
  } do {
    host 3(s0, s3)
    call k0(s3, s0)
  }
)");
}

TEST(SplitSlots, WhatTheNextRoundReadsIsOneValue) {
  Routine routine;
  routine.slots = {Scalar(4, true), Scalar(1, false), Scalar(4, false)};
  routine.body.push_back(Call({0, 2}, {4, 4}));
  WhileStep loop{1, {}, {}};
  loop.condition.push_back(Call({0, 1}, {4, 1}));
  loop.body.push_back(Call({2, 0}, {4, 4}));
  loop.body.push_back(Call({0, 2}, {4, 4}));
  routine.body.push_back({std::move(loop)});
  EXPECT_EQ(Split(std::move(routine)), R"(  s0: 4 scalar written
  s1: 1 scalar
  s2: 4 scalar
  s3: 4 scalar written local
  s4: 1 scalar written local
  call k0(s0, s3)
  while s4 {
    call k0(s0, s4)
  } do {
    call k0(s3, s0)
    call k0(s0, s3)
  }
)");
}

TEST(SplitSlots, PartsOfAValueStayTogether) {
  Routine routine;
  routine.slots = {Scalar(8, true), Scalar(8, false)};
  routine.body.push_back(Call({0, 1}, {8, 8}));
  routine.body.push_back(Call({0, 1}, {8, 4}));  // its first half again
  routine.body.push_back(Call({1, 0}, {8, 8}));
  EXPECT_EQ(Split(std::move(routine)), R"(  s0: 8 scalar written
  s1: 8 scalar
  s2: 8 scalar written local
  call k0(s0, s2)
  call k0(s0, s2)
  call k0(s2, s0)
)");
}

TEST(SplitSlots, PartialWritesAddToWhatIsThere) {
  Routine routine;
  routine.slots = {Scalar(28, true), Scalar(4, false)};
  routine.body.push_back(Call({1, 0}, {4, 28}, /*defined=*/false));
  EXPECT_EQ(Split(std::move(routine)), "  s0: 28 scalar written\n  s1: 4 scalar\n  call k0(s1, s0)\n");
}

TEST(SplitSlots, BranchesLeaveOneValue) {
  Routine routine;
  routine.slots = {Scalar(4, true), Scalar(4, false), Scalar(4, false)};
  BranchStep branch{2, false, {}};
  branch.branches.emplace_back().push_back(Call({0, 1}, {4, 4}));
  branch.branches.emplace_back().push_back({CopyStep{0, 1, 4}});
  routine.body.push_back({std::move(branch)});
  routine.body.push_back(Call({1, 0}, {4, 4}));
  EXPECT_EQ(Split(std::move(routine)), R"(  s0: 4 scalar written
  s1: 4 scalar
  s2: 4 scalar
  s3: 4 scalar written local
  branch s32 s2 {
    call k0(s0, s3)
  } {
    copy s3 = s0 bytes 4
  }
  call k0(s3, s0)
)");
}

}  // namespace
}  // namespace hlo::kernel
