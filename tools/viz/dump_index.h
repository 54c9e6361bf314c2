// `hlo-viz DUMPDIR -o index.html`: a page that leads through the modules of a dump directory, the steps of
// their compilations and what each step changed (tools.md §5.3).
#pragma once
#include "ir/support/result.h"
#include "tools/common/common_options.h"
#include "tools/common/sink.h"

namespace hlo {

/// Reads every dump of `directory` once and writes the page and, in the folder `STEM_files` beside it, a
/// drawing of every module that differs from the step before. All files appear at the end, together, or not
/// at all. Dumps that cannot be read are reported and stand on the page as such. Errors: input-open,
/// input-empty, usage-option if there is no file to write to, output-*, interrupted.
Status WriteDumpIndex(const CommonOptions& options, const std::string& directory, DiagnosticSink& sink,
                      llvm::raw_ostream& standard_output);

}  // namespace hlo
