#include "passes/sub_byte_size_setter.h"

#include "passes/sub_byte_sizes.h"

namespace hlo {

Result<bool> RunSubByteSizeSetter(Module& module, const NoPassOptions&, PassContext& context) {
  return SetSubByteSizes(module, context, /*packed=*/true);
}

HLO_DEFINE_PASS(SubByteSizeSetter, NoPassOptions);

}  // namespace hlo
