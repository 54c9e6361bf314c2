#include "tools/run/memory.h"

#include <sys/resource.h>

#include "ir/module.h"
#include "ir/source_frames.h"
#include "llvm/Support/Format.h"
#include "tools/modules/inputs.h"

namespace hlo {
namespace {

constexpr size_t kLargest = 10;
constexpr size_t kShown = 5;  // in errors

const Shape& ShapeOf(const MemoryPlan::Value& value) {
  return *value.instruction->shape().Subshape(value.index);
}

std::string NameOf(const MemoryPlan::Value& value) {
  return "%" + value.instruction->name().str() + (value.index.empty() ? "" : ToString(value.index));
}

/// `   layers.py:57`; empty if the text does not say.
std::string SourceColumn(const Instruction& inst) {
  const std::string source = SourceText(inst);
  return source.empty() ? "" : "   " + source;
}

}  // namespace

void PrintMemory(llvm::raw_ostream& out, const Module& module, llvm::StringRef platform,
                 const MemoryPlan& plan, const std::vector<bool>& donated, bool peak) {
  int64_t given = 0;
  for (size_t p = 0; p < donated.size(); ++p) {
    if (!donated[p]) continue;
    ForEachLeaf(module.entry()->parameters()[p]->shape(), [&](const ShapeIndex&, const Shape& leaf) {
      if (leaf.IsArray()) given += ByteSize(leaf);
    });
  }
  out << llvm::formatv(
      "memory {0} {1}: arguments {2} (donated {3})  results {4} (aliased {5})  temp {6} (in use {7})  "
      "constants "
      "{8}\n",
      module.name(), platform, FormatBytes(plan.arguments), FormatBytes(given), FormatBytes(plan.results),
      FormatBytes(plan.aliased), FormatBytes(plan.temporaries), FormatBytes(plan.live_temporaries),
      FormatBytes(plan.constants));
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  out << "peak " << FormatBytes(plan.peak());
  if (plan.peak_at != nullptr)
    out << llvm::formatv(" at %{0} (instruction {1} of {2})", plan.peak_at->name(), plan.peak_time + 1,
                         plan.length);
  out << "; process " << FormatBytes(usage.ru_maxrss * 1024) << "; "
      << (peak ? "in use then:" : "largest temporaries:") << '\n';
  size_t shown = 0;
  for (const MemoryPlan::Value& value : plan.values) {
    const bool in_use = value.begin <= plan.peak_time && plan.peak_time <= value.end;
    if (peak ? !in_use : llvm::StringRef(value.kind) != "temp" || shown == kLargest) continue;
    ++shown;
    out << llvm::formatv("  {0,10}  {1}  {2}   live {3}..{4}{5}{6}\n", FormatBytes(value.bytes),
                         NameOf(value), ToString(ShapeOf(value), /*with_layout=*/false), value.begin + 1,
                         value.end + 1, peak ? llvm::StringRef("   ").str() + value.kind : "",
                         SourceColumn(*value.instruction));
  }
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

namespace {

std::vector<std::string> LargestOf(const MemoryPlan& plan) {
  std::vector<std::string> lines;
  for (const MemoryPlan::Value& value : llvm::ArrayRef(plan.values).take_front(kShown))
    lines.push_back(llvm::formatv("{0} of {1} {2} {3}", FormatBytes(value.bytes), value.kind, NameOf(value),
                                  ToString(ShapeOf(value), /*with_layout=*/false)));
  return lines;
}

}  // namespace

int64_t ShapeBytes(const Shape& shape) {
  int64_t total = 0;
  ForEachLeaf(shape, [&](const ShapeIndex&, const Shape& leaf) {
    const int64_t bytes = leaf.IsArray() ? ByteSize(leaf) : 0;
    total = bytes < 0 || total > INT64_MAX - bytes ? INT64_MAX : total + bytes;
  });
  return total;
}

Status CheckArgumentMemory(const Module& module, int64_t bytes, int64_t limit) {
  Status status = CheckMemory(bytes, limit, "arguments");
  if (status) return status;
  Diagnostic error = std::move(status).error();
  const auto& parameters = module.entry()->parameters();
  llvm::SmallVector<std::pair<int64_t, size_t>> sizes;  // largest first
  for (size_t p = 0; p < parameters.size(); ++p) sizes.emplace_back(-ShapeBytes(parameters[p]->shape()), p);
  llvm::sort(sizes);
  for (const auto& [size, p] : llvm::ArrayRef(sizes).take_front(kShown))
    error.Note(llvm::formatv("{0} of argument %{1} {2}", FormatBytes(-size), parameters[p]->name(),
                             ToString(parameters[p]->shape(), /*with_layout=*/false))
                   .str());
  return Error(std::move(error));
}

std::string LargestBuffers(const MemoryPlan& plan, llvm::StringRef prefix) {
  std::string text;
  for (const std::string& line : LargestOf(plan)) text += prefix.str() + line + "\n";
  return text;
}

Status CheckMemoryPlan(const MemoryPlan& plan, int64_t devices, int64_t limit) {
  const int64_t bytes = plan.peak() > INT64_MAX / devices ? INT64_MAX : plan.peak() * devices;
  Status status = CheckMemory(bytes, limit, "the program");
  if (status) return status;
  Diagnostic error = std::move(status).error();
  for (const std::string& line : LargestOf(plan)) error.Note(line);
  return Error(std::move(error));
}

}  // namespace hlo
