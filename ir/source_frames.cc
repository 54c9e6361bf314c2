#include "ir/source_frames.h"

#include "ir/module.h"

namespace hlo {
namespace {

/// The row of a table with that id, which counts from 1; or null.
template <class T>
const T* Row(const std::vector<T>& table, int32_t id) {
  return id > 0 && static_cast<size_t>(id) <= table.size() ? &table[static_cast<size_t>(id) - 1] : nullptr;
}

}  // namespace

std::vector<SourceFrame> StackFrames(const Instruction& inst, size_t most) {
  std::vector<SourceFrame> found;
  if (!inst.metadata()) return found;
  const StackTables& tables = inst.module()->stack_tables;
  size_t steps = tables.frames.size();
  for (const auto* frame = Row(tables.frames, inst.metadata()->stack_frame_id);
       frame && found.size() < most && steps-- > 0; frame = Row(tables.frames, frame->parent)) {
    const auto* location = Row(tables.locations, frame->location);
    if (!location) continue;
    const auto* file = Row(tables.files, location->file);
    const auto* function = Row(tables.functions, location->function);
    found.push_back(
        {file ? *file : llvm::StringRef(), function ? *function : llvm::StringRef(), location->line});
  }
  return found;
}

SourceFrame SourceOf(const Instruction& inst) {
  const OpMetadata* metadata = inst.metadata();
  if (!metadata) return {};
  if (!metadata->source_file.empty()) return {metadata->source_file, {}, metadata->source_line};
  const std::vector<SourceFrame> frames = StackFrames(inst, 1);
  return frames.empty() ? SourceFrame() : frames.front();
}

std::string SourceText(const Instruction& inst) {
  const SourceFrame source = SourceOf(inst);
  return source.file.empty() ? "" : source.file.str() + ":" + std::to_string(source.line);
}

}  // namespace hlo
