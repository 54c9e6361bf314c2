// reduce-window-resizer: windows over vectors become windows over matrices of one column (passes.md §2.2).
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: a reduce-window of rank 1, with any number of operands, works on reshapes of rank 2. Left alone:
// dynamic shapes.
#include "passes/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/vector_windows.h"

namespace hlo {
namespace {

Result<bool> RunReduceWindowResizer(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(module, context, HasVectorWindows, WithMatrixWindows);
}

}  // namespace

HLO_DEFINE_PASS(ReduceWindowResizer, NoPassOptions);

}  // namespace hlo
