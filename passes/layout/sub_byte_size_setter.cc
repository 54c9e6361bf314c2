// sub-byte-size-setter: layouts say that elements narrower than a byte are stored packed (passes.md §2.1).
//
// Requires nothing. Preserves everything.
// Changes: element_size_in_bits of all layouts of 1-, 2- and 4-bit types, in the entry's layout and constants
// too.
#include "passes/layout/sub_byte_sizes.h"
#include "passes/pass.h"

namespace hlo {
namespace {

Result<bool> RunSubByteSizeSetter(Module& module, const NoPassOptions&, PassContext& context) {
  return SetSubByteSizes(module, context, /*packed=*/true);
}

}  // namespace

HLO_DEFINE_PASS(SubByteSizeSetter, NoPassOptions);

}  // namespace hlo
