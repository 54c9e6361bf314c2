#include "ir/findings.h"

#include <mutex>

#include "llvm/ADT/DenseMap.h"

namespace hlo {
namespace {

/// Few modules have any.
struct Table {
  std::mutex mutex;
  llvm::DenseMap<const Module*, std::shared_ptr<void>> findings;
};
Table& All() {
  static Table& table = *new Table;  // modules may end last of all
  return table;
}

}  // namespace

std::shared_ptr<void> FindingsOf(const Module& module) {
  Table& table = All();
  const std::lock_guard lock(table.mutex);
  return table.findings.lookup(&module);
}

void SetFindings(const Module& module, std::shared_ptr<void> findings) {
  Table& table = All();
  const std::lock_guard lock(table.mutex);
  if (findings == nullptr) {
    const auto it = table.findings.find(&module);
    if (it == table.findings.end()) return;
    findings = std::move(it->second);  // ends when nobody waits
    table.findings.erase(it);
  } else {
    table.findings[&module] = std::move(findings);
  }
}

}  // namespace hlo
