#include "tools/run/memory.h"

#include <sys/resource.h>

#include "ir/module.h"
#include "ir/source_frames.h"
#include "llvm/Support/Format.h"
#include "tools/common/options.h"

namespace hlo {
namespace {

constexpr size_t kLargest = 10;
constexpr size_t kShown = 5;  // in errors

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

}  // namespace hlo
