// The `cost` stage of hlo-opt.
#include <cmath>

#include "passes/analysis/cost.h"
#include "tools/opt/output.h"

namespace hlo {
namespace {

/// Whole numbers as such, others with three digits after the point; -1 is unknown.
std::string Number(double value) {
  if (value < 0) return "-";
  if (value == std::floor(value) && value < 9e15) return std::to_string(static_cast<int64_t>(value));
  return llvm::formatv("{0:F3}", value).str();
}

std::string CsvField(llvm::StringRef text) {
  if (!text.contains(',') && !text.contains('"')) return text.str();
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

std::string Intensity(const Cost& cost) {
  return cost.flops < 0 || cost.bytes <= 0 ? "-" : llvm::formatv("{0:F2}", cost.flops / cost.bytes).str();
}

void PrintCsv(llvm::raw_ostream& os, const Computation& entry, const CostAnalysis& analysis) {
  os << "name,deduplicated_name,bytes_accessed,flops,transcendentals\n";
  for (const Instruction* i : entry.PostOrder()) {
    const Cost& cost = analysis.Of(*i);
    os << CsvField(i->name()) << ',' << CsvField(i->metadata() ? i->metadata()->deduplicated_name : "") << ','
       << Number(cost.bytes) << ',' << Number(cost.flops) << ',' << Number(cost.transcendentals) << '\n';
  }
}

}  // namespace

void PrintCost(llvm::raw_ostream& os, const Module& module, bool csv) {
  const CostAnalysis analysis(module);
  if (!module.entry()) return;
  if (csv) {
    PrintCsv(os, *module.entry(), analysis);
    return;
  }
  os << llvm::formatv("{0,16} {1,16} {2,16} {3,10}  {4}\n", "flops", "transcendentals", "bytes", "flops/byte",
                      "instruction");
  const auto row = [&](const Cost& cost, const llvm::Twine& what) {
    os << llvm::formatv("{0,16} {1,16} {2,16} {3,10}  {4}\n", Number(cost.flops),
                        Number(cost.transcendentals), Number(cost.bytes), Intensity(cost), what.str());
  };
  for (const Instruction* i : module.entry()->PostOrder())
    row(analysis.Of(*i), "%" + i->name() + " = " + ToString(i->shape(), false) + " " + i->info().text);
  row(analysis.Of(*module.entry()), "total of " + module.name());
}

}  // namespace hlo
