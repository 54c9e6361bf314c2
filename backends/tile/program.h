// Kernels that run without machine code of their own.
#pragma once
#include <memory>
#include <vector>

#include "backends/kernel/kernel.h"

namespace hlo::tile {

class Node;
using Block = std::vector<std::unique_ptr<Node>>;

/// A kernel as a tree of operations, each of which works on a tile: up to kLanes iterations of a loop at
/// once. Gives the bits that compiled code gives. Immutable: several threads may run it at once.
class Program {
 public:
  static constexpr int64_t kLanes = 512;

  /// For kernels with a schedule or without. Declines operations without meaning.
  static Result<Program> Make(const kernel::Kernel& kernel);
  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;
  ~Program();

  /// As compiled kernels are called: one pointer per buffer (those of local ones are not looked at), and the
  /// iterations of the parallel loops that this call is for.
  void Run(void* const* buffers, int64_t begin, int64_t end) const;

  /// About what all iterations take, in nanoseconds of one thread.
  [[nodiscard]] double Nanoseconds() const;

 private:
  friend class Compiler;
  struct Slot {
    int32_t value;   // whose place it is
    int64_t offset;  // in the frame
  };
  Program();

  Block body_;
  std::vector<Slot> slots_;                                   // values with a fixed place
  std::vector<std::pair<kernel::BufferId, int64_t>> locals_;  // local buffers and their places in the frame
  std::vector<kernel::BufferId> given_;                       // buffers of the caller
  size_t value_count_ = 0, loop_count_ = 0, buffer_count_ = 0;
  int64_t frame_bytes_ = 0;
};

}  // namespace hlo::tile
