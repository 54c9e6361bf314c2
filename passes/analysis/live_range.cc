#include "passes/analysis/live_range.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"
#include "passes/analysis/heap_simulator.h"

namespace hlo {

std::vector<LiveRange> ValueLiveRanges(const Dataflow& flow, const Timeline& timeline) {
  std::vector<LiveRange> ranges(flow.place_count());
  for (Place p = 0; p < static_cast<Place>(flow.place_count()); ++p) {
    if (!flow.Defines(p)) continue;
    LiveRange& range = ranges[static_cast<size_t>(p)];
    range.start = range.end = timeline.Definition(flow, p);
    for (const Use& use : flow.Uses(p)) range.end = std::max(range.end, timeline.Time(use));
  }
  return ranges;
}

int64_t BufferBytes(const Shape& shape) {
  if (shape.IsBuffer()) return BufferBytes(shape.buffer_shape());
  if (shape.IsTuple()) return 8 * shape.tuple_size();
  if (!shape.IsArray()) return 0;
  int64_t bytes = ByteSize(shape);
  if (!shape.has_layout() || bytes < 0) return bytes;
  const int64_t bits = shape.layout().element_size_bits;
  if (bits > 0 && bits < 8) {
    const int64_t per_byte = 8 / bits;
    bytes = shape.ElementCount() / per_byte + (shape.ElementCount() % per_byte != 0 ? 1 : 0);
  }
  if (llvm::AddOverflow(bytes, shape.layout().dynamic_shape_metadata_prefix_bytes, bytes)) return -1;
  return bytes;
}

MemoryPeak PeakOf(const Module& module, const Schedule& schedule) {
  const CallGraph calls(module);
  const Dataflow flow(module, calls);
  const Timeline timeline(flow, schedule);
  const std::vector<LiveRange> values = ValueLiveRanges(flow, timeline);
  llvm::DenseMap<Place, HeapBuffer> buffers;
  llvm::DenseSet<Place> outside;  // buffers that others own
  for (Place p = 0; p < static_cast<Place>(values.size()); ++p) {
    if (!flow.Defines(p) || flow.shape(p).IsTuple()) continue;
    const Instruction& inst = flow.instruction(p);
    if (inst.kind() == OpKind::Constant || (inst.kind() == OpKind::Parameter && inst.parent()->IsEntry()))
      outside.insert(flow.Buffer(p));
    HeapBuffer& buffer = buffers[flow.Buffer(p)];
    buffer.size = std::max(buffer.size, std::max<int64_t>(BufferBytes(flow.shape(p)), 0));
    buffer.live = buffer.live.Hull(values[static_cast<size_t>(p)]);
  }
  std::vector<HeapBuffer> list;
  for (Place p = 0; p < static_cast<Place>(values.size()); ++p)
    if (const auto it = buffers.find(p); it != buffers.end() && !outside.contains(p))
      list.push_back(it->second);
  const HeapPeak peak = LiveBytesPeak(list);
  MemoryPeak result{peak.bytes, peak.time, nullptr};
  if (timeline.length() > 0) result.instruction = &timeline.At(peak.time);
  return result;
}

}  // namespace hlo
