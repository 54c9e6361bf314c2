// Memory for arrays made ready before it is asked for.
#pragma once
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace hlo {

/// Gets large blocks of these sizes (bytes) from the system on a thread of its own: the system clears them,
/// which takes as long as a pass over the data. Who asks for memory of such a size afterwards
/// (ir/support/buffer.h) is given one. Nothing is done for little memory, where only one thread is wanted, or
/// where address space is limited.
class BufferWarmUp {
 public:
  explicit BufferWarmUp(std::vector<size_t> sizes);
  /// Ends it; what is ready until then stays so.
  ~BufferWarmUp();
  BufferWarmUp(const BufferWarmUp&) = delete;
  BufferWarmUp& operator=(const BufferWarmUp&) = delete;

 private:
  void Run() const;

  std::vector<size_t> sizes_;
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

}  // namespace hlo
