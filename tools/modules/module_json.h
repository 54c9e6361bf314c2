// `hlo.graph/1`: modules as JSON (tools.md §1.8).
#pragma once
#include "ir/print.h"

namespace hlo {

/// Writes one object and a line end; `indent` spaces per level, 0: on one line. `options` decides about
/// large constants, layouts and the like. Only `selected` instructions,
/// and computations that have some.
void WriteGraphJson(llvm::raw_ostream& os, const Module& module, const PrintOptions& options, unsigned indent,
                    llvm::function_ref<bool(const Instruction&)> selected = {},
                    llvm::StringRef tool = "hlo-opt");

/// How a computation is used: entry, fusion, while_body, while_cond, branch, to_apply or called.
llvm::StringRef ComputationKind(const Computation& computation);

/// The op table as a JSON array of objects.
void WriteOpsJson(llvm::raw_ostream& os, unsigned indent);

}  // namespace hlo
