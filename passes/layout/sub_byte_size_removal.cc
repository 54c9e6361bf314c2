// sub-byte-size-removal: layouts say nothing about packed elements (passes.md §2.1).
//
// Requires nothing. Preserves everything.
// Changes: element_size_in_bits of all layouts of 1-, 2- and 4-bit types becomes unset.
#include "passes/layout/sub_byte_sizes.h"
#include "passes/pass.h"

namespace hlo {
namespace {

Result<bool> RunSubByteSizeRemoval(Module& module, const NoPassOptions&, PassContext& context) {
  return SetSubByteSizes(module, context, /*packed=*/false);
}

}  // namespace

HLO_DEFINE_PASS(SubByteSizeRemoval, NoPassOptions);

}  // namespace hlo
