// The few types in which contractions and sums are computed, and conversions to and from them.
#pragma once
#include <cstdint>
#include <memory>

#include "ir/literal.h"
#include "ir/support/buffer.h"
#include "ir/types.h"

namespace hlo {

/// Integers compute modulo 2^32 or 2^64, which is exact modulo every narrower width; PRED counts in U32.
enum class ComputeType : uint8_t { F32, F64, U32, U64 };

/// Calls f(T{}) with the C++ type of a ComputeType.
template <class F>
decltype(auto) VisitComputeType(ComputeType type, F&& f) {
  switch (type) {
    case ComputeType::F32: return f(float{});
    case ComputeType::F64: return f(double{});
    case ComputeType::U32: return f(uint32_t{});
    case ComputeType::U64: break;
  }
  return f(uint64_t{});
}

/// How elements of `result` are computed when the operands have types `a` and `b`: floating results in
/// F64 if a 64-bit floating type takes part, else in F32 (the parts, for complex types).
ComputeType ComputeTypeFor(ElementType result, ElementType a, ElementType b);

/// Elements in a compute type; complex ones as pairs. Either the literal's own data or a converted copy.
struct ComputeBuffer {
  const void* data = nullptr;
  bool bf16 = false;  // data are BF16 codes
  Literal keep;       // owner of borrowed data
  std::shared_ptr<void> storage;
};

/// Converts the elements of `from` to the type `to` (the result type of an op, ops-elementwise §2) and
/// represents them in `type`. Floating values are not rounded to a narrower floating `to`. If `to` is
/// complex the buffer holds pairs. With `allow_bf16`, BF16 elements may stay as they are.
ComputeBuffer ToCompute(const Literal& from, ElementType to, ComputeType type, bool allow_bf16);

/// Converts one row of elements; `out` has `count` T (2 * count for complex `to`).
template <class T>
void ConvertToCompute(ElementType from, const void* in, ElementType to, int64_t count, T* out);

/// Rounds or wraps `count` values (pairs for complex types) to elements of `type`.
template <class T>
void ConvertFromCompute(const T* in, ElementType type, int64_t count, void* out);

/// True if elements of `type` are stored just as values of `compute`.
bool IsStoredAs(ElementType type, ComputeType compute);

/// An uninitialised array of `count` T, aligned to 64 bytes.
template <class T>
std::shared_ptr<T> AllocateAligned(int64_t count) {
  const std::shared_ptr<void> buffer = AllocateBuffer(static_cast<size_t>(count) * sizeof(T));
  return {buffer, static_cast<T*>(buffer.get())};
}

}  // namespace hlo
