#include "backends/gpu/emulator/counting.h"

#include "llvm/ADT/SmallVector.h"

namespace hlo::gpu {
namespace {

constexpr uint64_t kSector = 32;  // bytes
constexpr uint64_t kBanks = 32, kBankBytes = 4;

/// How many different numbers there are; sorts them.
size_t CountDistinct(llvm::SmallVectorImpl<uint64_t>& numbers) {
  llvm::sort(numbers);
  return static_cast<size_t>(std::unique(numbers.begin(), numbers.end()) - numbers.begin());
}

}  // namespace

void WarpCounter::Note(const Thread& thread, const Site& site, bool shared, uint64_t at) {
  const uint64_t turn = turns_[{thread.linear, site.number}]++;
  const auto [it, added] =
      events_.try_emplace({thread.warp, uint64_t{site.number} << 32 | turn}, list_.size());
  if (added) list_.push_back({site.bytes, shared, site.access == Site::Access::Load, 0, {}});
  Event& event = list_[it->second];
  event.lanes |= 1U << thread.lane;
  event.at[thread.lane] = at;
}

void WarpCounter::Finish(Counts& counts) {
  for (const Event& event : list_) {
    if (event.bytes == 0)
      CountBranch(event, counts);
    else if (event.shared)
      CountShared(event, counts);
    else
      CountGlobal(event, counts);
  }
  list_.clear();
  events_.clear();
  turns_.clear();
}

/// Sectors that the warp touches, and into how many its different bytes would go.
void WarpCounter::CountGlobal(const Event& event, Counts& counts) {
  llvm::SmallVector<uint64_t, 128> sectors, pieces;
  const uint64_t bytes = event.bytes;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((event.lanes >> lane & 1) == 0) continue;
    sectors.push_back(event.at[lane] / kSector);
    pieces.push_back(event.at[lane]);
    (event.load ? counts.bytes_read : counts.bytes_written) += bytes;
  }
  counts.sectors += CountDistinct(sectors);
  counts.fewest_sectors += (CountDistinct(pieces) * bytes + kSector - 1) / kSector;
}

/// Lanes that fill all banks go at once; words of one bank go one after the other.
void WarpCounter::CountShared(const Event& event, Counts& counts) {
  const uint64_t bytes = event.bytes;
  const auto lanes = static_cast<unsigned>(std::clamp<uint64_t>(kBanks * kBankBytes / bytes, 1, 32));
  for (unsigned first = 0; first < 32; first += lanes) {
    std::array<llvm::SmallVector<uint64_t, 4>, kBanks> words;
    bool any = false;
    for (unsigned lane = first; lane < first + lanes; ++lane) {
      if ((event.lanes >> lane & 1) == 0) continue;
      any = true;
      for (uint64_t word = event.at[lane] / kBankBytes; word * kBankBytes < event.at[lane] + bytes; ++word)
        words[word % kBanks].push_back(word);
    }
    size_t most = 0;
    for (auto& bank : words) most = std::max(most, CountDistinct(bank));
    counts.shared_cycles += most;
    counts.fewest_shared_cycles += any ? 1 : 0;
  }
}

void WarpCounter::CountBranch(const Event& event, Counts& counts) {
  uint32_t taken = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    if (event.at[lane] != 0) taken |= 1U << lane;
  taken &= event.lanes;
  ++counts.branches;
  if (taken != 0 && taken != event.lanes) ++counts.divergent_branches;
}

}  // namespace hlo::gpu
