// algsimp: algebraic simplification by the tables of passes/rules (passes.md §3).
//
// Requires nothing. Preserves the flat call graph and fusions: bodies of fusions are left alone.
// Changes: replaces values by cheaper equal ones; which floats may change is each rule's licence.
#pragma once
#include "passes/pass.h"
#include "passes/rules/options.h"

namespace hlo {

Result<bool> RunAlgsimp(Module& module, const AlgsimpOptions& options, PassContext& context);

}  // namespace hlo
