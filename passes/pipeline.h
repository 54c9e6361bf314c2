// Pipelines: passes in order, nested, to a fixed point (tools.md §2.1 SPEC).
#pragma once
#include <memory>
#include <vector>

#include "passes/pass.h"

namespace hlo {

/// A step of a pipeline: a pass with its options, or a list of steps.
struct PipelineItem {
  const PassInfo* pass = nullptr;       // null: a list
  std::shared_ptr<const void> options;  // of the pass
  std::string name;                     // of a list: `simplify` for @simplify, `fix` for fix(…)
  int64_t max_rounds = 1;               // of a list: more than 1 repeats it until nothing changes
  std::vector<PipelineItem> items;
};

inline constexpr int64_t kDefaultRounds = 25;

/// SPEC: `item,item,…`; item = `pass`, `pass{opt=val opt=val}`, `@pipeline`, `fix[N](SPEC)`. Empty: no
/// items. Errors: usage-pass, usage-pipeline, usage-pass-option, telling the column where the text goes
/// wrong.
Result<std::vector<PipelineItem>> ParsePipeline(llvm::StringRef spec);
/// The text that reads back as these items; options that have their default value are left out, named
/// pipelines stay `@name` unless `expand`.
std::string PipelineText(llvm::ArrayRef<PipelineItem> items, bool expand = false);

/// Calls f with every pass of the items, in order.
void ForEachPass(llvm::ArrayRef<PipelineItem> items, llvm::function_ref<void(const PassInfo&)> f);

/// A row of pipelines.def.
struct PipelineInfo {
  llvm::StringRef name, summary, spec;
};
llvm::ArrayRef<PipelineInfo> AllPipelines();
const PipelineInfo* FindPipeline(llvm::StringRef name);

}  // namespace hlo
