#include "ir/support/buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "ir/support/buffer_warm_up.h"
#include "ir/support/parallel.h"

namespace hlo {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

TEST(Buffer, BlocksDoNotOverlap) {
  // Sizes of the heap, of shared areas of both kinds, and of blocks with pages of their own.
  const std::vector<size_t> sizes = {1,      100,      32 << 10, 33000,    200 << 10, 256 << 10,
                                     300001, kMiB - 1, kMiB,     kMiB + 1, 3 * kMiB};
  for (int round = 0; round < 3; ++round) {
    std::vector<std::pair<Buffer<uint8_t>, size_t>> blocks;
    // More than fits the shared areas.
    for (int copy = 0; copy < 20; ++copy)
      for (const size_t size : sizes) {
        blocks.emplace_back(MakeBuffer<uint8_t>(size), size);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(blocks.back().first.get()) % 64, 0U);
        std::memset(blocks.back().first.get(), static_cast<int>(blocks.size() % 251), size);
      }
    for (size_t i = 0; i < blocks.size(); ++i) {
      const auto& [block, size] = blocks[i];
      const auto expected = static_cast<uint8_t>((i + 1) % 251);
      EXPECT_EQ(block[0], expected);
      EXPECT_EQ(block[size / 2], expected);
      EXPECT_EQ(block[size - 1], expected);
    }
  }
}

#if !__has_feature(address_sanitizer) && !__has_feature(memory_sanitizer)
TEST(Buffer, WhatIsGivenBackIsGivenOutAgain) {
  for (const size_t size : {size_t{40} << 10, size_t{700} << 10, 5 * kMiB}) {
    auto block = MakeBuffer<uint8_t>(size);
    const uint8_t* const place = block.get();
    block.reset();
    EXPECT_EQ(MakeBuffer<uint8_t>(size).get(), place) << size;
  }
}

/// Pages of the process that are in memory.
size_t ResidentBytes() {
  size_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

TEST(BufferWarmUp, BlocksAreInMemoryBeforeTheyAreTaken) {
  const int threads = ThreadCount();
  SetThreadCount(2);
  constexpr size_t kSize = 38 * kMiB;  // of no other test
  const size_t before = ResidentBytes();
  {
    const BufferWarmUp warm_up({kSize, kSize});
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (ResidentBytes() < before + 2 * kSize && std::chrono::steady_clock::now() < limit) usleep(1000);
  }
  SetThreadCount(threads);
  const auto first = MakeBuffer<uint8_t>(kSize), second = MakeBuffer<uint8_t>(kSize);
  for (uint8_t* const block : {first.get(), second.get()}) {
    std::vector<unsigned char> pages(kSize / static_cast<size_t>(sysconf(_SC_PAGESIZE)));
    ASSERT_EQ(mincore(block, kSize, pages.data()), 0);
    EXPECT_TRUE(llvm::all_of(pages, [](unsigned char page) { return (page & 1) != 0; }));
  }
}
#endif

TEST(Buffer, SmallBlocksMayEndOnOtherThreads) {
  std::vector<Buffer<uint8_t>> blocks;
  for (int round = 0; round < 3; ++round) {
    for (size_t size : {0, 1, 63, 64, 65, 511, 512, 513, 1000, 1024, 4097, 30000, 31743, 32767, 32768, 40000})
      for (int copy = 0; copy < 5; ++copy) {
        blocks.push_back(MakeBuffer<uint8_t>(size));
        EXPECT_EQ(reinterpret_cast<uintptr_t>(blocks.back().get()) % 64, 0);
        std::memset(blocks.back().get(), static_cast<int>(blocks.size()), size);
      }
    std::thread([&] {
      for (Buffer<uint8_t>& block : blocks) block.reset();
      thread_local const auto late = MakeBuffer<uint8_t>(100);  // ends with the thread
      blocks.clear();
      blocks.push_back(MakeBuffer<uint8_t>(100));
    }).join();
    EXPECT_NE(blocks[0].get(), nullptr);
  }
}

TEST(BufferWarmUp, EndsAtOnce) {
  for (int i = 0; i < 20; ++i) const BufferWarmUp warm_up({64 * kMiB, size_t{1} << 40});
}

}  // namespace
}  // namespace hlo
