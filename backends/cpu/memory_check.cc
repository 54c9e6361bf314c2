#include "backends/cpu/memory_check.h"

#include <cstring>

#include "ir/op.h"
#include "ir/support/buffer.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"

namespace hlo::cpu {
namespace {

/// What it computes, its steps have computed.
bool IsControl(const Instruction& inst) {
  return inst.kind() == OpKind::While || inst.kind() == OpKind::Conditional || inst.kind() == OpKind::Call;
}

/// Bytes of [begin, begin + kRedZone) that changed.
int64_t Damage(const uint8_t* begin, uint8_t filling) {
  if (begin[0] == filling && std::memcmp(begin, begin + 1, MemoryCheck::kRedZone - 1) == 0) return 0;
  return std::count_if(begin, begin + MemoryCheck::kRedZone, [=](uint8_t b) { return b != filling; });
}

std::string ElementText(const Shape& shape, int64_t linear) {
  if (shape.rank() == 0) return "its value";
  llvm::SmallVector<int64_t> index(static_cast<size_t>(shape.rank()));
  for (int64_t d = shape.rank() - 1; d >= 0; --d) {
    index[static_cast<size_t>(d)] = linear % shape.dim(d);
    linear /= shape.dim(d);
  }
  return llvm::formatv("element [{0:$[,]}]", llvm::make_range(index.begin(), index.end())).str();
}

const char* KindOf(const Buffer& buffer) {
  constexpr const char* kNames[] = {"argument", "constant", "result", "temporary"};
  return kNames[static_cast<size_t>(buffer.kind)];
}

}  // namespace

MemoryCheck::MemoryCheck(const Program& program, const BufferAssignment& assignment, Mode mode, StepLog& log)
    : program_(program),
      assignment_(assignment),
      mode_(mode),
      filling_(Filling(mode)),
      log_(log),
      memory_(program.buffers.size()),
      bases_(program.buffers.size()),
      read_only_(program.buffers.size()) {
  if (mode == Mode::Record || mode == Mode::Thorough) log_ = {};
}

uint8_t* MemoryCheck::Place(size_t number, const Literal& value) {
  const Buffer& buffer = program_.buffers[number];
  const auto bytes = static_cast<size_t>(buffer.size + 2 * kRedZone);
  memory_[number] = AllocateBuffer(bytes);
  std::memset(memory_[number].get(), filling_, bytes);
  uint8_t* base = bases_[number] = static_cast<uint8_t*>(memory_[number].get()) + kRedZone;
  if (value.valid()) {
    std::memcpy(base, value.data(), value.byte_size());
    const bool written = buffer.kind == BufferKind::Parameter && buffer.written;
    if (!written) read_only_[number] = value;
  }
  const Allocation& allocation = assignment_.allocations()[number];
  if (buffer.kind != BufferKind::Temporary && !allocation.values.empty())
    SetGuard(base, buffer.size, *allocation.values.front().instruction, KindOf(buffer));
  return base;
}

/// What lay on these bytes before is gone.
void MemoryCheck::SetGuard(uint8_t* begin, int64_t size, const Instruction& inst, const char* kind) {
  uint8_t* const end = begin + size;
  auto it = guards_.lower_bound(end + 2 * kRedZone);
  while (it != guards_.begin() && std::prev(it)->second.end > begin - 2 * kRedZone)
    it = guards_.erase(std::prev(it));
  std::memset(begin - kRedZone, filling_, kRedZone);
  std::memset(end, filling_, kRedZone);
  guards_[begin] = {end, &inst, kind};
}

bool MemoryCheck::LiesOnOperand(const Instruction& inst, const BufferSlice& slice) const {
  return llvm::any_of(inst.operands(), [&](const Instruction* operand) {
    bool overlaps = false;
    ForEachLeaf(operand->shape(), [&](const ShapeIndex& index, const Shape&) {
      const BufferSlice at = assignment_.Of(*operand, index);
      overlaps |= at.allocation == slice.allocation && at.offset < slice.offset + slice.size &&
                  slice.offset < at.offset + at.size;
    });
    return overlaps;
  });
}

const std::vector<MemoryCheck::Output>& MemoryCheck::OutputsOf(const Instruction& inst) {
  const auto [it, added] = outputs_.try_emplace(&inst);
  if (!added || IsControl(inst)) return it->second;
  std::vector<Output>& outputs = it->second;
  const Dataflow& flow = assignment_.flow();
  ForEachLeaf(inst.shape(), [&](const ShapeIndex& index, const Shape& shape) {
    const hlo::Place place = flow.Of(inst, index);
    const BufferSlice at = assignment_.Of(inst, index);
    if (!shape.IsArray() || place == kNoPlace || !flow.Defines(inst, place) || at.allocation < 0 ||
        at.size == 0)
      return;
    const auto buffer = static_cast<size_t>(at.allocation);
    outputs.push_back({bases_[buffer] + at.offset, shape, BufferBytes(shape), at.size,
                       program_.buffers[buffer].kind == BufferKind::Temporary, LiesOnOperand(inst, at)});
  });
  return outputs;
}

bool MemoryCheck::Begin(const Instruction& inst) {
  for (const Output& output : OutputsOf(inst)) {
    if (output.in_place) continue;
    if (output.temporary) SetGuard(output.data, output.room, inst, "temporary");
    std::memset(output.data, filling_, static_cast<size_t>(output.room));
  }
  return true;
}

Status MemoryCheck::CheckZones(const Instruction& inst) const {
  for (const auto& [begin, guard] : guards_) {
    const int64_t before = Damage(begin - kRedZone, filling_), behind = Damage(guard.end, filling_);
    if (before + behind == 0) continue;
    return Error("memory-overrun", inst.loc(),
                 "%{0} wrote outside its buffers: {1} bytes {2} %{3} ({4}, {5}) changed", inst.name(),
                 before > 0 ? before : behind, before > 0 ? "before" : "behind", guard.instruction->name(),
                 ToString(guard.instruction->shape(), /*with_layout=*/false), guard.kind);
  }
  return {};
}

Status MemoryCheck::CheckReadOnly(const Instruction* inst) const {
  for (size_t i = 0; i < read_only_.size(); ++i) {
    const Literal& value = read_only_[i];
    if (!value.valid() || std::memcmp(bases_[i], value.data(), value.byte_size()) == 0) continue;
    const Instruction& changed = *assignment_.allocations()[i].values.front().instruction;
    return Error("memory-changed", inst == nullptr ? changed.loc() : inst->loc(),
                 "{0} wrote over {1} %{2} ({3}), which keeps its value",
                 inst == nullptr ? "a step" : "%" + inst->name().str(), KindOf(program_.buffers[i]),
                 changed.name(), ToString(changed.shape(), /*with_layout=*/false));
  }
  return {};
}

Status MemoryCheck::ExplainResults(const Instruction& inst, llvm::ArrayRef<Output> outputs) const {
  const uint8_t other = Filling(Mode::Compare);
  for (size_t i = 0; i < outputs.size() && i < log_.results.size(); ++i) {
    const Output& output = outputs[i];
    const uint8_t* before = log_.results[i].data();
    const int64_t size = output.bytes / std::max<int64_t>(output.shape.ElementCount(), 1);
    for (int64_t e = 0; e * size < output.bytes; ++e) {
      const uint8_t *a = output.data + e * size, *b = before + e * size;
      if (std::memcmp(a, b, static_cast<size_t>(size)) == 0) continue;
      const bool unwritten = std::all_of(a, a + size, [&](uint8_t x) { return x == filling_; }) &&
                             std::all_of(b, b + size, [&](uint8_t x) { return x == other; });
      return Error("memory-unwritten", inst.loc(),
                   unwritten ? "%{0} ({1}): {2} is unwritten memory, or a copy of some"
                             : "%{0} ({1}): {2} depends on memory that nothing has written",
                   inst.name(), ToString(inst.shape(), /*with_layout=*/false), ElementText(output.shape, e));
    }
  }
  return {};
}

std::vector<MemoryCheck::Output> MemoryCheck::ComparedOutputs(const Instruction& inst) {
  constexpr int64_t kLarge = 16 << 10;
  const auto is_update = [](const Output& output) { return output.in_place && output.bytes > kLarge; };
  std::vector<Output> outputs = OutputsOf(inst);
  if (llvm::any_of(outputs, is_update) && !llvm::isPowerOf2_64(++updates_[&inst]))
    llvm::erase_if(outputs, is_update);
  return outputs;
}

Status MemoryCheck::CheckResults(const Instruction& inst, llvm::ArrayRef<Output> outputs) {
  constexpr uint64_t kFactor = 31;  // of hashes in a row
  uint64_t hash = 0;
  for (const Output& output : outputs)
    // Of dynamic arrays only the elements within the run-time sizes are anybody's business.
    if (!output.shape.HasDynamicDimension())
      hash =
          hash * kFactor + llvm::xxh3_64bits(llvm::ArrayRef(output.data, static_cast<size_t>(output.bytes)));
  const size_t step = step_++;
  if (mode_ == Mode::Record || mode_ == Mode::Thorough) {
    log_.hashes.push_back(hash);
    return {};
  }
  const bool same = step < log_.hashes.size() && log_.hashes[step] == hash;
  if (mode_ == Mode::Compare && !same) {
    log_.suspect = step;
    for (const Output& output : outputs) log_.results.emplace_back(output.data, output.data + output.bytes);
    return Error("memory-unwritten", inst.loc(),
                 "%{0} ({1}) gives another result each time it runs, or depends on memory that nothing has "
                 "written",
                 inst.name(), ToString(inst.shape(), /*with_layout=*/false));
  }
  return mode_ == Mode::Explain && step == log_.suspect && same ? ExplainResults(inst, outputs) : Status();
}

Status MemoryCheck::End(const Instruction& inst) {
  HLO_CHECK_OK(CheckZones(inst));
  if (mode_ == Mode::Thorough) HLO_CHECK_OK(CheckReadOnly(&inst));
  return CheckResults(inst, ComparedOutputs(inst));
}

Status MemoryCheck::Finish() {
  HLO_CHECK_OK(CheckReadOnly(nullptr));
  std::vector<Output> results;
  for (const Leaf& leaf : program_.result.leaves)
    if (leaf.shape.IsArray() && leaf.slice.buffer >= 0)
      results.push_back({bases_[static_cast<size_t>(leaf.slice.buffer)] + leaf.slice.offset, leaf.shape,
                         BufferBytes(leaf.shape), leaf.slice.size, false, false});
  return CheckResults(*program_.module->entry()->root(), results);
}

}  // namespace hlo::cpu
