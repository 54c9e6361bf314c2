// A block of threads: runs them as fibres until all have ended or one has done something wrong.
#pragma once
#include <deque>
#include <map>

#include "backends/gpu/emulator/counting.h"
#include "backends/gpu/emulator/device.h"
#include "backends/gpu/emulator/thread.h"
#include "llvm/ADT/SmallVector.h"

namespace hlo::gpu {

class Block;

/// The lanes of a warp that meet at an instruction, with their arguments, which results replace.
struct Meeting {
  Block& block;
  const Site& site;
  uint32_t mask = 0;                   // of lanes that are here
  std::array<uint64_t*, 32> values{};  // by lane
  uint32_t warp = 0;
  [[nodiscard]] bool Has(unsigned lane) const { return (mask >> lane & 1) != 0; }
};
/// What a warp does together; by kind of instruction.
using WarpFunction = void (*)(Meeting& meeting);
WarpFunction WarpFunctionOf(ptx::Kind kind);

class Block {
 public:
  Block(Device& device, const LoadedModule& module, const ptx::Function& entry, const LaunchSize& size,
        const uint8_t* params, KernelCode* code, uint64_t shared_bytes);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  /// Code that does the same, from the next block on.
  void SetCode(KernelCode* code) { code_ = code; }
  /// Runs the block with this number in the grid.
  void Run(uint64_t number, uint32_t launch_begin);
  [[nodiscard]] const Fault& fault() const { return fault_; }

  // What generated code asks for.
  uint8_t* Access(Thread& thread, uint64_t address, const Site& site, uint32_t bytes);
  void Wait(Thread& thread, const Site& site, uint64_t* values);
  void Fence(Thread& thread);
  /// A thread of the warp that meets.
  Thread& ThreadOf(const Meeting& meeting, unsigned lane);
  [[noreturn]] void Leave(Thread& thread);
  /// Notes what a thread did wrong; Leave() must follow.
  void Report(const Thread& thread, const Site& site, FaultKind kind, const llvm::Twine& what);
  /// Bytes on their way from global to shared memory; those beyond `bytes` become zero.
  struct Copy {
    const Site* site;
    uint64_t to, from, size, bytes;
    std::array<uint8_t, 16> data{};  // as they were when it was asked for
  };
  /// Asynchronous copies of a thread that are not done: groups, the last one open.
  std::deque<std::vector<Copy>>& CopiesOf(const Thread& thread) { return copies_[thread.linear]; }
  /// What a copy begins with: until it is done nobody may touch where it goes, nor write where it is from.
  void Begin(Thread& thread, Copy& copy);
  void Complete(Thread& thread, const Copy& copy);
  /// An object of ptx.md §5.2.
  struct Mbarrier {
    uint64_t phase = 0, pending = 0, expected = 0;
  };
  std::map<uint64_t, Mbarrier>& mbarriers() { return mbarriers_; }
  /// Those that asked for the end of a phase may ask again.
  void PhaseDone() { idle_rounds_ = 0; }
  void Arrive(uint32_t barrier, uint32_t threads) { arrivals_[barrier] += threads; }
  [[nodiscard]] uint64_t Clock() { return ++clock_; }
  Device& device() { return device_; }
  void NoteBranch(const Thread& thread, const Site& site, bool taken) {
    counter_.Note(thread, site, false, taken ? 1 : 0);
  }
  void NoteAtomic(Thread& thread, uint64_t address);

 private:
  static void Main(void* thread);
  void Prepare(uint64_t number);
  void RunThreads();
  void RunThread(Thread& thread);
  bool RunWarp(uint32_t warp);
  bool ReleaseWarp(uint32_t warp);
  bool ReleaseBarriers();
  bool ReleaseTesters();
  bool ReleaseBarrier(uint32_t barrier, llvm::ArrayRef<Thread*> waiting);
  void ReportDeadlock();
  void CheckRace(Thread& thread, const Site& site, bool shared, uint64_t at, uint32_t bytes);
  uint8_t* AccessGlobal(Thread& thread, uint64_t address, const Site& site, uint32_t bytes);
  uint8_t* AccessShared(Thread& thread, uint64_t at, const Site& site, uint32_t bytes);
  void ReportCopied(const Thread& thread, const Site& site, uint64_t at, uint32_t bytes);
  uint8_t* AccessLocal(Thread& thread, uint64_t at, const Site& site, uint32_t bytes);
  uint8_t* AccessParam(Thread& thread, uint64_t at, const Site& site, uint32_t bytes);
  [[nodiscard]] Moment Now(const Thread& thread) const {
    return {time_, static_cast<uint16_t>(thread.linear), warp_times_[thread.warp]};
  }

  Device& device_;
  const LoadedModule& module_;
  const ptx::Function& entry_;
  const LaunchSize& size_;
  KernelCode* code_;
  std::vector<Thread> threads_;
  std::vector<uint32_t> warp_order_, lane_order_;
  LazyMemory shared_, shared_states_, local_;
  RaceTable shared_races_;
  uint64_t shared_bytes_ = 0;
  std::map<uint32_t, std::deque<std::vector<Copy>>> copies_;
  std::array<uint32_t, 16> arrivals_{};     // of bar.arrive, by barrier
  std::map<uint64_t, Mbarrier> mbarriers_;  // by address in shared memory
  unsigned idle_rounds_ = 0;                // in which threads only asked for the end of phases
  uint64_t number_ = 0;
  uint32_t time_ = 0;
  std::vector<uint16_t> warp_times_;
  Since since_;
  bool fenced_ = false;                // a fence since …
  std::map<uint64_t, uint32_t> seen_;  // atomics that this block has done, at which times others released
  WarpCounter counter_;
  uint64_t clock_ = 0;
  Fault fault_;
};

}  // namespace hlo::gpu
