#include "passes/sub_byte_size_removal.h"

#include "passes/sub_byte_sizes.h"

namespace hlo {

Result<bool> RunSubByteSizeRemoval(Module& module, const NoPassOptions&, PassContext& context) {
  return SetSubByteSizes(module, context, /*packed=*/false);
}

HLO_DEFINE_PASS(SubByteSizeRemoval, NoPassOptions);

}  // namespace hlo
