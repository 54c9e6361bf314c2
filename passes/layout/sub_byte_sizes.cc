// sub-byte-size-setter, sub-byte-size-removal: whether layouts say that elements narrower than a byte are
// stored packed (passes.md §2.1).
//
// Require nothing. Preserve everything.
// Change: element_size_in_bits of all layouts of 1-, 2- and 4-bit types, in the entry's layout and constants
// too, becomes their width, or unset.
#include "passes/layout/element_widths.h"
#include "passes/pass.h"

namespace hlo {
namespace {

bool IsNarrow(ElementType type) {
  const int bits = Info(type).bits;
  return !IsPred(type) && (bits == 1 || bits == 2 || bits == 4);
}

/// Sets the sizes to the width of the type, or clears them.
Result<bool> SetSubByteSizes(Module& module, PassContext& context, bool packed) {
  const auto width = [&](ElementType type) -> std::optional<int64_t> {
    if (!IsNarrow(type)) return std::nullopt;
    return packed ? Info(type).bits : 0;
  };
  return SetElementWidths(module, context, width, [&] { return context.TakeRewrite(); });
}

Result<bool> RunSubByteSizeSetter(Module& module, const NoPassOptions&, PassContext& context) {
  return SetSubByteSizes(module, context, /*packed=*/true);
}
Result<bool> RunSubByteSizeRemoval(Module& module, const NoPassOptions&, PassContext& context) {
  return SetSubByteSizes(module, context, /*packed=*/false);
}

}  // namespace

HLO_DEFINE_PASS(SubByteSizeSetter, NoPassOptions);
HLO_DEFINE_PASS(SubByteSizeRemoval, NoPassOptions);

}  // namespace hlo
