#include "backends/cpu/build_record.h"

#include "ir/support/binary.h"

namespace hlo::kernel {
HLO_BINARY_MEMBERS(OuterLoop, v.extent, v.strides)
}  // namespace hlo::kernel

namespace hlo::cpu {

HLO_BINARY_MEMBERS(Slice, v.buffer, v.sizes, v.offset, v.size)
HLO_BINARY_MEMBERS(KernelCall, v.kernel, v.buffers, v.first_result, v.copies, v.extent, v.grain, v.outer)
HLO_BINARY_MEMBERS(BuildRecord::RecordedBuffer, v.kind, v.size, v.offset, v.parameter, v.index, v.written,
                   v.constant, v.part)
HLO_BINARY_MEMBERS(BuildRecord::RecordedLeaf, v.slice, v.written, v.aligned)
HLO_BINARY_MEMBERS(BuildRecord::RecordedCall, v.call, v.why)
HLO_BINARY_MEMBERS(BuildRecord::RecordedKernel, v.compiled, v.text, v.why)
HLO_BINARY_MEMBERS(BuildRecord, v.buffers, v.leaves, v.calls, v.kernels, v.arena_bytes, v.sizes_count)

std::string ToBinary(const BuildRecord& record) {
  BinaryWriter writer;
  Archive(writer, const_cast<BuildRecord&>(record));
  return std::move(writer).Take();
}

std::optional<BuildRecord> BuildRecordFromBinary(llvm::StringRef bytes) {
  BinaryReader reader(bytes);
  BuildRecord record;
  Archive(reader, record);
  if (reader.failed() || !reader.at_end()) return {};
  return record;
}

}  // namespace hlo::cpu
