// Memory for arrays: aligned, in huge pages where possible, large blocks reused.
#pragma once
#include <cstddef>
#include <memory>

namespace hlo {

/// Uninitialised memory of at least `bytes` bytes (0 is allowed), aligned to 64. Large blocks, from 32 KiB
/// on, come from and go back to a cache of bounded size, because fresh pages cost more than most array ops;
/// those of up to 1 MiB lie side by side in areas that are never given back, 32 MiB at most.
std::shared_ptr<void> AllocateBuffer(size_t bytes);

/// The same with a single owner, for scratch memory.
struct BufferDeleter {
  size_t bytes = 0;
  void operator()(void* p) const;
};
template <class T>
using Buffer = std::unique_ptr<T[], BufferDeleter>;

namespace internal {
/// Memory and its size, which may exceed what was asked for.
struct Block {
  void* data;
  size_t bytes;
};
Block TakeBlock(size_t bytes);
/// A block of that size has pages of its own and is kept for reuse.
bool IsKept(size_t bytes);
}  // namespace internal

/// `count` uninitialised T of a trivial type.
template <class T>
Buffer<T> MakeBuffer(size_t count) {
  const internal::Block block = internal::TakeBlock(count * sizeof(T));
  return Buffer<T>(static_cast<T*>(block.data), BufferDeleter{block.bytes});
}

}  // namespace hlo
