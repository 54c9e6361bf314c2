// How products lie in shared memory, so that lanes meet in no bank.
#include "backends/kernel/product_steps.h"
#include "llvm/Support/MathExtras.h"

namespace hlo::kernel {
namespace {

/// Bytes of a bank, and of a line of all banks.
constexpr int64_t kBank = 4, kLine = 128;

int64_t BytesOf(ElementType type) { return Info(type).host_bytes(); }

/// Pieces of `least` bytes of lines of `bytes`, by the line of all banks that holds them, or by the last of
/// those.
Buffer::Swizzle SwizzleOf(int64_t bytes, int64_t least) {
  const auto log2 = [](int64_t x) { return static_cast<int32_t>(llvm::Log2_64(static_cast<uint64_t>(x))); };
  return {log2(std::max(bytes, kLine)) - log2(least), static_cast<int32_t>(std::min(bytes, kLine) - least)};
}

}  // namespace

Buffer::Swizzle SwizzleOfFactor(const MatrixUnit& unit, int64_t elements, int64_t run) {
  const bool has_pairs = BytesOf(unit.type) == 2 * kBank && !IsOfLanes(unit);
  const int64_t bytes = run * BytesOf(unit.type), least = kProductAccess * (has_pairs ? 2 : 1);
  if (elements * BytesOf(unit.type) % kLine != 0 || bytes <= least) return {};
  return SwizzleOf(bytes, least);
}

int64_t GapOfSums(const MatrixUnit& unit) {
  // Groups of lanes are one behind the other.
  return unit.columns * std::max(BytesOf(SumTypeOf(unit)) / kBank, int64_t{1}) * kBank /
         BytesOf(SumTypeOf(unit));
}

Buffer::Swizzle SwizzleOfSums(ElementType type, int64_t elements, int64_t width) {
  const int64_t bytes = width * BytesOf(type);
  if (bytes <= kProductAccess || elements * BytesOf(type) % kLine != 0) return {};
  return {static_cast<int32_t>(llvm::Log2_64(kLine / kProductAccess)),
          static_cast<int32_t>(std::min(bytes, kLine) - kProductAccess)};
}

}  // namespace hlo::kernel
