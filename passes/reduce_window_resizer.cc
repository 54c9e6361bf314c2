#include "passes/reduce_window_resizer.h"

#include "passes/rewrite/expander.h"
#include "passes/rewrite/vector_windows.h"

namespace hlo {

Result<bool> RunReduceWindowResizer(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(module, context, HasVectorWindows, WithMatrixWindows);
}

HLO_DEFINE_PASS(ReduceWindowResizer, NoPassOptions);

}  // namespace hlo
