// The arrays of a kernel that is interpreted, and whether its threads may use them as they do.
#pragma once
#include "backends/kernel/kernel.h"

namespace hlo::kernel {

/// Finds elements that are outside of their arrays, reads of what nobody wrote in arrays of blocks and
/// threads, and races: two threads use an element, one of them writes it, and no barrier stands between; of
/// different blocks none ever does. Atomics race with other accesses only.
class KernelMemory {
 public:
  enum class Use : uint8_t { Read, Write, Atomic };

  /// `buffers`: those of the caller, by number; of other arrays each block or thread gets its own.
  KernelMemory(const Kernel& kernel, llvm::ArrayRef<void*> buffers, size_t threads);

  /// The threads go on as those of another block.
  void BeginBlock();
  void Barrier() { ++epoch_; }
  /// The element, for the thread to use so. Errors: kernel-invalid.
  Result<uint8_t*> Element(BufferId buffer, int64_t element, int32_t thread, Use use);

 private:
  /// Who has used an element in one way.
  struct Mark {
    int64_t block = -1, epoch = 0;
    int32_t thread = kSeveral;
    bool other_blocks = false;
    static constexpr int32_t kSeveral = -1;
  };
  struct Marks {
    Mark by[3];  // Use
  };
  struct Array {
    uint8_t* data = nullptr;
    size_t width = 0;  // bytes of an element
    std::vector<uint8_t> own;
    std::vector<bool> written;  // of locals, thread by thread
    std::vector<Marks> marks;   // of what threads share and write
  };

  [[nodiscard]] bool IsConcurrent(const Mark& mark, int32_t thread) const;
  void Add(Mark& mark, int32_t thread) const;
  Status CheckRaces(BufferId buffer, int64_t element, int32_t thread, Use use);

  const Kernel& kernel_;
  std::vector<Array> arrays_;
  int64_t block_ = 0, epoch_ = 0;
};

}  // namespace hlo::kernel
