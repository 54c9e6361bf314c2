#include "backends/tile/program.h"

#include <cstdlib>

#include "backends/tile/nodes.h"

namespace hlo::tile {
namespace {

/// Memory of a thread for the programs that it runs; they do not call each other.
class Workspace {
 public:
  Workspace() = default;
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace() { std::free(memory_); }  // NOLINT(cppcoreguidelines-no-malloc)
  uint8_t* OfSize(size_t bytes) {
    if (bytes > size_) {
      std::free(memory_);  // NOLINT(cppcoreguidelines-no-malloc)
      size_ = (bytes + kGrain - 1) / kGrain * kGrain;
      memory_ = static_cast<uint8_t*>(std::aligned_alloc(kGrain, size_));
      if (memory_ == nullptr) llvm::report_bad_alloc_error("memory of a kernel");
    }
    return memory_;
  }

 private:
  static constexpr size_t kGrain = 4096;
  uint8_t* memory_ = nullptr;
  size_t size_ = 0;
};

}  // namespace

Program::Program() = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

void Program::Run(void* const* buffers, int64_t begin, int64_t end) const {
  thread_local Workspace workspace;
  const size_t words = value_count_ + loop_count_ + buffer_count_;
  const size_t frame = (words * sizeof(void*) + 63) / 64 * 64;
  uint8_t* const memory = workspace.OfSize(frame + static_cast<size_t>(frame_bytes_));
  State state{};
  state.at = reinterpret_cast<uint8_t**>(memory);
  state.bases = state.at + value_count_;
  state.loops = reinterpret_cast<int64_t*>(state.bases + buffer_count_);
  state.lanes = 1;
  state.begin = begin;
  state.end = end;
  for (const Slot& slot : slots_) state.at[slot.value] = memory + frame + slot.offset;
  for (const kernel::BufferId i : given_) state.bases[i] = static_cast<uint8_t*>(buffers[i]);
  for (const auto& [buffer, offset] : locals_) state.bases[buffer] = memory + frame + offset;
  RunBlock(body_, state);
}

double Nanoseconds(const Block& block, int64_t lanes) {
  double sum = 0;
  for (const auto& node : block) sum += node->Nanoseconds(lanes);
  return sum;
}

double Program::Nanoseconds() const { return tile::Nanoseconds(body_, 1); }

}  // namespace hlo::tile
