// What text cannot reach of the analyses of memory: labels instead of tables, and the heap against brute
// force.
#include <random>

#include "gtest/gtest.h"
#include "ir/builder.h"
#include "passes/analysis/heap_simulator.h"
#include "passes/analysis/reachability.h"

namespace hlo {
namespace {

TEST(Reachability, LabelsAnswerAsTheTableDoes) {
  std::mt19937 random(7);
  const Shape shape = Shape::ArrayWithDefaultLayout(ElementType::F32, {4});
  for (const int near : {2, 8, 60}) {
    Module module("m");
    Computation* entry = module.AddComputation("e");
    module.set_entry(entry);
    Builder builder(*entry);
    std::vector<Instruction*> all = {builder.Parameter(0, shape, "p")};
    for (int i = 0; i < 150; ++i) {
      const auto pick = [&] {
        const auto back = std::min<size_t>(all.size(), static_cast<size_t>(near));
        return all[all.size() - 1 - random() % back];
      };
      all.push_back(*builder.Add(OpKind::Add, {pick(), pick()}));
      if (i % 9 == 0 && all[all.size() - 2] != all.back())
        all.back()->AddControlPredecessor(all[random() % (all.size() - 1)]);
    }
    entry->set_root(all.back());
    const Reachability table(*entry), labels(*entry, 0);
    for (const Instruction* a : all)
      for (const Instruction* b : all)
        ASSERT_EQ(table.Reaches(*a, *b), labels.Reaches(*a, *b)) << a->name().str() << ' ' << b->name().str();
  }
}

TEST(HeapSimulator, BuffersThatLiveTogetherShareNoBytes) {
  std::mt19937 random(11);
  for (int round = 0; round < 60; ++round) {
    std::vector<HeapBuffer> buffers;
    for (unsigned i = 0; i < 80; ++i) {
      const int64_t start = random() % 100;
      buffers.push_back(
          {static_cast<int64_t>(random() % 5000), {start, start + static_cast<int64_t>(random() % 30)}});
    }
    const HeapPeak peak = LiveBytesPeak(buffers);
    int64_t most = 0;
    for (int64_t t = 0; t < 140; ++t) {
      int64_t live = 0;
      for (const HeapBuffer& b : buffers) live += b.live.start <= t && t <= b.live.end ? b.size : 0;
      most = std::max(most, live);
    }
    EXPECT_EQ(peak.bytes, most);
    int64_t smallest = INT64_MAX;
    for (const HeapOrder order : {HeapOrder::Spatial, HeapOrder::Temporal, HeapOrder::Running}) {
      const auto heap = PlaceBuffers(buffers, 16, order);
      ASSERT_TRUE(heap);
      smallest = std::min(smallest, heap->size);
      EXPECT_GE(heap->size, peak.bytes);
      for (size_t i = 0; i < buffers.size(); ++i) {
        EXPECT_EQ(heap->offsets[i] % 16, 0);
        EXPECT_LE(heap->offsets[i] + buffers[i].size, heap->size);
        for (size_t j = 0; j < i; ++j) {
          if (!buffers[i].live.Overlaps(buffers[j].live) || buffers[i].size == 0 || buffers[j].size == 0)
            continue;
          EXPECT_TRUE(heap->offsets[i] + buffers[i].size <= heap->offsets[j] ||
                      heap->offsets[j] + buffers[j].size <= heap->offsets[i])
              << ToString(order).str() << ' ' << i << ' ' << j;
        }
      }
    }
    EXPECT_EQ(PlaceBuffers(buffers, 16)->size, smallest);
  }
}

TEST(HeapSimulator, GivesUpWhereSizesOrWorkGrowTooLarge) {
  const std::vector<HeapBuffer> huge(4, HeapBuffer{INT64_MAX / 8, {0, 1}});
  EXPECT_FALSE(PlaceBuffers(huge, 64));
  const std::vector<HeapBuffer> many(100, HeapBuffer{64, {0, 1}});
  EXPECT_FALSE(PlaceBuffers(many, 64, HeapOrder::Spatial, 1000));
  EXPECT_EQ(PlaceBuffers(many, 64, HeapOrder::Running, 0)->size, 6400);
}

}  // namespace
}  // namespace hlo
