// Who read and wrote each byte last, and since which barrier (ptx.md §3.4).
#pragma once
#include <cstdint>

#include "backends/gpu/emulator/device_memory.h"
#include "llvm/ADT/SmallVector.h"

namespace hlo::gpu {

/// A thread at some time. Times grow with every barrier of a block and every block; within one, warps that
/// synchronise have times of their own.
struct Moment {
  uint32_t time = 0;
  uint16_t thread = 0;  // of its block
  uint16_t warp_time = 0;
};

/// Times [begin, end) of work of other streams that nothing orders before what runs now.
using Concurrent = llvm::SmallVector<std::pair<uint32_t, uint32_t>, 2>;

/// Since when times matter to a block.
struct Since {
  uint32_t launch = 0;   // before: of other launches, which are ordered
  uint32_t block = 0;    // before: of other blocks
  uint32_t ordered = 0;  // up to here other blocks are ordered as well, by atomics and fences
  const Concurrent* concurrent = nullptr;  // which of what was before the launch is not ordered; null: all is
};

/// Accesses of bytes of one memory.
class RaceTable {
 public:
  enum class Order : uint8_t { Ordered, Race };
  struct Conflict {
    bool found = false;
    bool other_wrote = false;
    bool other_block = false;
    bool other_stream = false;
    Moment other;
  };
  /// Room for so many bytes; false: the host has none.
  bool Create(uint64_t bytes) {
    return words_.Map((bytes / kWord + 1) * sizeof(Record)) && bytes_.Map((bytes + kWord) * sizeof(Record));
  }

  /// What an access of the bytes at `at` conflicts with. `strong`: it races with no strong access.
  Conflict Access(uint64_t at, uint64_t bytes, bool store, bool strong, Moment now, const Since& since) {
    Conflict conflict;
    for (uint64_t end = at + bytes; at < end && !conflict.found;) {
      Record& word = Of(words_, at / kWord);
      const bool whole = at % kWord == 0 && end - at >= kWord;
      const uint64_t stop = std::min(end, at / kWord * kWord + kWord);
      if (!whole && word.wrote.time != kSplit) Split(word, at / kWord * kWord);
      if (word.wrote.time != kSplit) {
        Touch(word, store, strong, now, since, conflict);
        at = stop;
      }
      for (; at < stop && !conflict.found; ++at) Touch(Of(bytes_, at), store, strong, now, since, conflict);
    }
    return conflict;
  }

 private:
  static constexpr uint16_t kStrong = 0x8000, kManyInWarp = 0x4000, kMany = 0x2000, kOtherBlocks = 0x1000,
                            kThread = 0x0fff;
  struct Record {
    Moment wrote, read;  // `thread` with the flags above
  };

  static constexpr uint64_t kWord = 4;
  static constexpr uint32_t kSplit = ~0U;  // time of a word whose bytes have records of their own

  static Record& Of(LazyMemory& records, uint64_t number) {
    return reinterpret_cast<Record*>(records.data())[number];
  }
  /// Once a word has been accessed in part.
  void Split(Record& word, uint64_t at) {
    for (uint64_t i = 0; i < kWord; ++i) Of(bytes_, at + i) = word;
    word.wrote.time = kSplit;
  }

  static bool Holds(const Concurrent& times, uint32_t time) {
    for (const auto& [begin, end] : times)
      if (begin <= time && time < end) return true;
    return false;
  }
  static bool Races(const Moment& other, Moment now, bool strong, const Since& since) {
    if (other.time == 0) return false;
    if (other.time < since.launch) return since.concurrent != nullptr && Holds(*since.concurrent, other.time);
    if (strong && (other.thread & kStrong) != 0) return false;
    if (other.time < since.block) return other.time > since.ordered;
    if ((other.thread & kOtherBlocks) != 0 && since.ordered == 0) return true;
    if (other.time < now.time) return false;
    if ((other.thread & kMany) != 0) return true;
    const uint16_t thread = other.thread & kThread;
    if (thread / 32 == now.thread / 32 && other.warp_time != now.warp_time) return false;
    return thread != now.thread || (other.thread & kManyInWarp) != 0;
  }

  static void Touch(Record& record, bool store, bool strong, Moment now, const Since& since,
                    Conflict& conflict) {
    if (Races(record.wrote, now, strong, since)) {
      conflict = {true, true, record.wrote.time < since.block, record.wrote.time < since.launch,
                  record.wrote};
    } else if (store && Races(record.read, now, strong, since)) {
      const bool other_block = record.read.time < since.block || (record.read.thread & kOtherBlocks) != 0;
      conflict = {true, false, other_block, record.read.time < since.launch, record.read};
    }
    conflict.other.thread &= kThread;
    const auto mark = static_cast<uint16_t>(now.thread | (strong ? kStrong : 0));
    if (store)
      record.wrote = {now.time, mark, now.warp_time};
    else
      record.read = {now.time, static_cast<uint16_t>(mark | FlagsOf(record.read, now, strong, since)),
                     now.warp_time};
  }

  /// Who else has read since the last barrier, or in another block.
  static uint16_t FlagsOf(const Moment& last, Moment now, bool strong, const Since& since) {
    if (last.time < since.launch || last.time == 0) return 0;
    uint16_t flags = last.thread & kOtherBlocks;
    if (last.time < since.block && !(strong && (last.thread & kStrong) != 0)) flags |= kOtherBlocks;
    if (last.time != now.time) return flags;
    flags |= last.thread & (kMany | kManyInWarp);
    const uint16_t thread = last.thread & kThread;
    if (thread == now.thread) return flags;
    const bool together = thread / 32 == now.thread / 32 && last.warp_time == now.warp_time;
    return flags | (together ? kManyInWarp : kMany);
  }

  LazyMemory words_, bytes_;
};

}  // namespace hlo::gpu
