// Colours of instructions in drawings (tools.md §5.2).
#pragma once
#include "ir/module.h"

namespace hlo {

enum class Scheme : uint8_t {
#define HLO_SCHEME(Name, ...) Name,
#include "tools/viz/palette.def"
};

struct SchemeColours {
  llvm::StringRef fill, border, text;
};
const SchemeColours& ColoursOf(Scheme scheme);

/// Elements from which on arrays count as large.
inline constexpr int64_t kLargeElements = 4096;
/// Elements of all arrays in a shape; saturates.
int64_t TotalElements(const Shape& shape);

/// How an instruction is coloured where it stands.
Scheme SchemeOf(const Instruction& instruction);

}  // namespace hlo
