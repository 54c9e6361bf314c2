// Nesting of input, and the stacks of threads that go down with it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>

namespace hlo {

/// Levels that the text, its shapes and its literals may nest (hlo-text §9), and calls of computations, too.
inline constexpr int kMaxNesting = 8192;

/// Dimensions that an array may have: what visits elements goes down with them.
inline constexpr int64_t kMaxRank = 1 << 16;

/// Enough for whatever goes down kMaxNesting levels. The usual 8 MiB are not.
inline constexpr size_t kStackBytes = size_t{120} << 20;

/// Lets the stack of the main thread grow to kStackBytes.
void DeepenMainStack();
/// A thread with a stack of kStackBytes, of which it takes only what it uses; less where address space is
/// limited. Not joinable if the system grants none.
std::thread StartThread(std::function<void()> body);
/// Bytes that the stack of the calling thread can still grow.
size_t StackLeft();

}  // namespace hlo
