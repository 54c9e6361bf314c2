// What was found out while a program was built.
#pragma once
#include <string>
#include <vector>

#include "backends/cpu/kernel_step.h"

namespace hlo::cpu {

/// What the building of a program asks of buffer assignment, lowering and the choice of tiers, in the order
/// in which it asks: with it the same program is built of the same module without them.
struct BuildRecord {
  struct RecordedBuffer {
    BufferKind kind = BufferKind::Temporary;
    int64_t size = 0, offset = 0, parameter = -1;
    ShapeIndex index;
    bool written = false;
    uint64_t constant = 0;  // which of the module's constants, in the order of computations and instructions
    ShapeIndex part;        // of it
  };
  struct RecordedLeaf {
    Slice slice;
    bool written = true, aligned = false;
  };
  /// Of a fusion: how its kernel is called, or why it has none.
  struct RecordedCall {
    KernelCall call;
    std::string why;
  };
  /// Of the table: what is compiled has a number in the Jit, what is interpreted a text.
  struct RecordedKernel {
    int32_t compiled = -1;
    std::string text, why;
  };
  std::vector<RecordedBuffer> buffers;
  std::vector<RecordedLeaf> leaves;
  std::vector<RecordedCall> calls;
  std::vector<RecordedKernel> kernels;
  int64_t arena_bytes = 0;
  int32_t sizes_count = 0;
};

std::string ToBinary(const BuildRecord& record);
/// Nothing for bytes that are none.
std::optional<BuildRecord> BuildRecordFromBinary(llvm::StringRef bytes);

}  // namespace hlo::cpu
