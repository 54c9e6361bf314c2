// Running pipelines on the modules of hlo-opt (tools.md §2.1).
#pragma once
#include "passes/pass_manager.h"
#include "tools/opt_options.h"

namespace hlo {

/// The passes that the options ask for, checked: the pipeline of --passes, in the order given; nothing
/// without. Names in --disable-passes, --enable-passes-only and --describe-pass exist.
Result<std::vector<PipelineItem>> ParsePasses(const OptOptions& options);

/// Runs the pipeline on the module, verifying as --verify says; `report` takes warnings of passes.
Status RunPasses(Module& module, llvm::ArrayRef<PipelineItem> pipeline, const OptOptions& options,
                 llvm::function_ref<void(Diagnostic)> report);

/// --list-passes, --list-pipelines, --describe-pass.
void ListPasses(llvm::raw_ostream& os, ListForm form);
void ListPipelines(llvm::raw_ostream& os);
void DescribePass(llvm::raw_ostream& os, const PassInfo& pass);

}  // namespace hlo
