#include "backends/products/explain_ways.h"

#include "llvm/Support/FormatVariadic.h"

namespace hlo::gemm {
namespace {

/// `12 ns`, `3.4 us`, `1.2 ms`.
std::string TimeText(double ns) {
  const char* unit = "ns";
  for (const char* larger : {"us", "ms", "s"}) {
    if (ns < 1000) break;
    ns /= 1000;
    unit = larger;
  }
  return ns < 10 ? llvm::formatv("{0:F1} {1}", ns, unit).str() : llvm::formatv("{0:F0} {1}", ns, unit).str();
}

/// Ways by the reason why they are not taken.
class Reasons {
 public:
  void Add(const Assessment& a) {
    const auto same = llvm::find_if(rows_, [&](const auto& row) { return row.first == a.fit.why(); });
    if (same == rows_.end())
      rows_.emplace_back(a.fit.why(), a.way->name);
    else
      same->second += std::string(", ") + a.way->name;
  }
  [[nodiscard]] std::string Text(const char* heading) const {
    std::string text;
    for (const auto& [why, names] : rows_) {
      text += text.empty() ? std::string("    ") + heading + ": " : "; ";
      text += names + " (" + why + ")";
    }
    return text.empty() ? text : text + "\n";
  }

 private:
  std::vector<std::pair<std::string, std::string>> rows_;
};

}  // namespace

std::string ExplainWays(const Problem& problem, const Target& target, const Way& taken, bool forced) {
  std::string first = std::string("    by ") + taken.name + (forced ? ", forced" : ""), others;
  Reasons unsuited, unable;
  for (const Assessment& a : Assess(problem, target)) {
    const std::string time = a.fit.suits() ? TimeText(a.cost) : "";
    if (a.way == &taken)
      first += time.empty() ? "" : ", about " + time + " of one thread";
    else if (a.fit.suits())
      others += (others.empty() ? "; also suited: " : ", ") + (a.way->name + (" " + time));
    else
      (a.fit.can() ? unsuited : unable).Add(a);
  }
  return first + others + "\n" + unsuited.Text("able but not suited") + unable.Text("unable");
}

}  // namespace hlo::gemm
