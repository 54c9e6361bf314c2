// `hlo.graph/1`: modules as JSON (tools.md §1.8).
#pragma once
#include "ir/print.h"

namespace hlo {

/// Writes one object and a line end; `indent` spaces per level, 0: on one line. `options` decides about
/// large constants, layouts and the like.
void WriteGraphJson(llvm::raw_ostream& os, const Module& module, const PrintOptions& options,
                    unsigned indent);

/// The op table as a JSON array of objects.
void WriteOpsJson(llvm::raw_ostream& os, unsigned indent);

}  // namespace hlo
