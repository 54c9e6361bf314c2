#include "backends/memory_plan.h"

#include <unistd.h>

#include "ir/module.h"
#include "ir/support/byte_text.h"

namespace hlo {
namespace {

constexpr size_t kShown = 5;  // in errors

std::vector<std::string> LargestOf(const MemoryPlan& plan) {
  std::vector<std::string> lines;
  for (const MemoryPlan::Value& value : llvm::ArrayRef(plan.values).take_front(kShown))
    lines.push_back(llvm::formatv("{0} of {1} {2} {3}", FormatBytes(value.bytes), value.kind, NameOf(value),
                                  ToString(ShapeOf(value), /*with_layout=*/false)));
  return lines;
}

Status CheckLimit(int64_t bytes, int64_t limit, llvm::StringRef what) {
  if (limit == 0 || bytes <= limit) return {};
  return Error("limit-memory", {}, "{0} would take {1}, the limit is {2}", what, FormatBytes(bytes),
               FormatBytes(limit));
}

Status CheckHas(int64_t bytes, int64_t memory, llvm::StringRef what, llvm::StringRef owner) {
  if (bytes <= memory) return {};
  return Error("runtime-memory", {}, "out of memory: {0} would take {1}, {2} has {3}", what,
               FormatBytes(bytes), owner, FormatBytes(memory));
}

Status CheckDevices(const MemoryPlan& plan, int64_t devices, int64_t limit) {
  constexpr llvm::StringLiteral kProgram = "the program";
  const int64_t bytes = plan.peak() > INT64_MAX / devices ? INT64_MAX : plan.peak() * devices;
  if (plan.device_memory == 0) return CheckMemory(bytes, limit, kProgram);
  HLO_CHECK_OK(CheckLimit(bytes, limit, kProgram));
  return CheckHas(plan.peak(), plan.device_memory, kProgram, "the device");
}

}  // namespace

const Shape& ShapeOf(const MemoryPlan::Value& value) {
  return *value.instruction->shape().Subshape(value.index);
}

std::string NameOf(const MemoryPlan::Value& value) {
  return "%" + value.instruction->name().str() + (value.index.empty() ? "" : ToString(value.index));
}

bool HasManyBytes(const Module& module) {
  constexpr int64_t kManyBytes = int64_t{1} << 28;
  int64_t left = kManyBytes;
  return llvm::any_of(module.computations(), [&](const auto& computation) {
    return llvm::any_of(computation->instructions(), [&](const Instruction* inst) {
      if (!inst->shape().IsArray()) return false;
      // Below 0: too many to count.
      const int64_t bytes = ByteSize(inst->shape());
      if (bytes < 0 || bytes >= left) return true;
      left -= bytes;
      return false;
    });
  });
}

int64_t MachineMemory() {
  return static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<int64_t>(sysconf(_SC_PAGESIZE));
}

Status CheckMemory(int64_t bytes, int64_t limit, llvm::StringRef what) {
  HLO_CHECK_OK(CheckLimit(bytes, limit, what));
  return CheckHas(bytes, MachineMemory(), what, "the machine");
}

std::string LargestBuffers(const MemoryPlan& plan, llvm::StringRef prefix) {
  std::string text;
  for (const std::string& line : LargestOf(plan)) text += prefix.str() + line + "\n";
  return text;
}

Status CheckMemoryPlan(const MemoryPlan& plan, int64_t devices, int64_t limit) {
  Status status = CheckDevices(plan, devices, limit);
  if (status) return status;
  Diagnostic error = std::move(status).error();
  for (const std::string& line : LargestOf(plan)) error.Note(line);
  return Error(std::move(error));
}

}  // namespace hlo
