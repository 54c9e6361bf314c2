// Tile registers (AMX) for products of BF16 numbers and of 8-bit integers.
#pragma once
#include <cstdint>

namespace hlo::gemm {

/// What is multiplied: BF16 numbers into float sums, or signed (S) and unsigned (U) bytes into 32-bit sums.
enum class AmxKind : uint8_t { Bf16, SS, SU, US, UU };

inline constexpr int64_t kAmxRows = 32, kAmxColumns = 32;  // of the result at a time, in four registers
inline constexpr int64_t kAmxStepBytes = 64;               // of a row of the left factor, used at a time

struct AmxArgs {
  int64_t steps;  // of kAmxStepBytes
  const void* left;
  int64_t left_stride;  // between rows, bytes
  /// As AmxInterleave writes it.
  const void* right;
  void* sums;           // float or int32_t
  int64_t sums_stride;  // bytes
  bool accumulate;
};

/// True if this processor has tile registers and the system lets us use them.
bool HasAmx();
/// Prepares this thread's tile registers for `rows` <= kAmxRows rows; AmxRelease gives them back.
void AmxConfigure(int64_t rows);
void AmxRelease();
/// rows x kAmxColumns sums; `rows` as configured.
void AmxMultiply(AmxKind kind, int64_t rows, const AmxArgs& args);

/// Brings rows k of a right factor into the order of AmxMultiply: groups of 4 / sizeof(E) rows interleaved,
/// kAmxColumns columns, zero beyond `count` columns and from `depth` to `padded_depth` rows.
void AmxInterleave16(const uint16_t* in, int64_t in_stride, int64_t depth, int64_t padded_depth,
                     int64_t count, uint16_t* out);
void AmxInterleave8(const uint8_t* in, int64_t in_stride, int64_t depth, int64_t padded_depth, int64_t count,
                    uint8_t* out);

}  // namespace hlo::gemm
