// Shrinking a module while a test stays interesting (tools.md §2.5).
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ir/module.h"
#include "ir/support/result.h"
#include "tools/reduce/observed.h"

namespace hlo {

/// Changes a module that nobody else uses; false: there was nothing to change.
using ReduceEdit = std::function<bool(Module& module)>;

/// A way to make modules smaller. Either things in a row that can go (`count`, `remove`), of which ever
/// smaller ranges are tried; or single edits made for the module as it is.
struct ReduceStrategy {
  llvm::StringRef name;
  int64_t (*count)(const Module& module) = nullptr;
  bool (*remove)(Module& module, int64_t begin, int64_t end, const ObservedValues& observed) = nullptr;
  std::vector<ReduceEdit> (*edits)(const Module& module) = nullptr;
  bool restart = false;   // after a success all edits are worth a try again, not only those that follow
  bool cosmetic = false;  // changes text only: candidates are told apart by text, not by fingerprint
};
llvm::ArrayRef<ReduceStrategy> ReduceStrategies();

/// Drops what an edit left over (dead instructions, unused parameters, unreached computations) and brings
/// entry layout, aliases and schedules in line.
void TidyReduced(Module& module);

struct ReduceOptions {
  int64_t max_tests = 5000;
  int64_t jobs = 1;          // candidates tested at a time; no influence on the result
  int64_t memory_limit = 0;  // bytes; 0: what the machine has
  /// Told to the user, a sentence; may be empty.
  std::function<void(const std::string& text)> remark = {};
  /// The module's text is still interesting. Called from several threads. Errors end the reduction.
  std::function<Result<bool>(const std::string& text)> interesting;
  /// Sees every improvement: strategy, and the module.
  std::function<Status(llvm::StringRef strategy, const Module& module)> improved;
};

struct ReduceResult {
  std::unique_ptr<Module> module;
  int64_t tests = 0;
  bool exhausted = false;  // max_tests were not enough
};

/// Shrinks an interesting module until no strategy helps. When interrupted the best module so far is the
/// result, like when max_tests are used up.
Result<ReduceResult> ReduceModule(const Module& module, const ReduceOptions& options);

/// The text candidates are tested as.
std::string ReducedText(const Module& module);

}  // namespace hlo
